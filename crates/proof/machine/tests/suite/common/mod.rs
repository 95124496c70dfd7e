//! Kernels built by hand, and a thread of one that runs with deferred values.

use std::sync::Arc;

use wattle_ir::{
    Access, BinaryOp, Const, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId, ParamKind, Place,
    Scalar, Site, Slot, SlotId, Stmt, Type,
};
use wattle_machine::{Argument, Deferred, Environment, LaunchShape, Location, Position, Program, Request, Thread};
use wattle_memory::{ReadOrder, Scope};

pub const DATA: Place = Place::Param(ParamId(0));
pub const FLAGS: Place = Place::Param(ParamId(1));
pub const MATRIX: Place = Place::Param(ParamId(2));
/// The number of slots, all of type `u32`.
pub const SLOTS: u32 = 8;

/// The kernel's own arrays: number 0 has 4 elements, number 1 has 2.
pub fn local(number: u32) -> Place {
    Place::Local(LocalId(number))
}

/// The source line of all statements.
pub fn site() -> Site {
    Site { file: "kernel.rs", line: 7, column: 5 }
}

/// A builder of expressions.
#[derive(Clone, Default)]
pub struct Build(Vec<Expr>);

impl Build {
    pub fn expr(&mut self, expr: Expr) -> ExprId {
        self.0.push(expr);
        ExprId(self.0.len() as u32 - 1)
    }

    pub fn c<T: Scalar>(&mut self, value: T) -> ExprId {
        self.expr(Expr::Const(Const::of(value)))
    }

    pub fn slot(&mut self, slot: u32) -> ExprId {
        self.expr(Expr::Slot(SlotId(slot)))
    }

    pub fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.expr(Expr::Binary(op, x, y))
    }

    /// Builds `slot = value`.
    pub fn set(&mut self, slot: u32, value: u32) -> Stmt {
        Stmt::Assign { slot: SlotId(slot), value: self.c(value) }
    }

    /// Builds `slot += 1`.
    pub fn count(&mut self, slot: u32) -> Stmt {
        let (x, one) = (self.slot(slot), self.c(1u32));
        Stmt::Assign { slot: SlotId(slot), value: self.binary(BinaryOp::Add, x, one) }
    }

    /// Builds `slot = place[index]`.
    pub fn load(&mut self, slot: u32, place: Place, index: u32) -> Stmt {
        Stmt::Load { dst: SlotId(slot), place, index: vec![self.c(index)], site: site() }
    }

    /// Builds `slot = flags[index]`.
    pub fn flag(&mut self, slot: u32, index: u32) -> Stmt {
        let (order, scope, index) = (ReadOrder::Relaxed, Scope::Device, vec![self.c(index)]);
        Stmt::AtomicLoad { dst: SlotId(slot), place: FLAGS, index, order, scope, site: site() }
    }

    /// Builds `place[index] = value`.
    pub fn store(&mut self, place: Place, index: u32, value: ExprId) -> Stmt {
        Stmt::Store { place, index: vec![self.c(index)], value, site: site() }
    }

    /// Builds `data[7] = slot`.
    pub fn read(&mut self, slot: u32) -> Stmt {
        let value = self.slot(slot);
        self.store(DATA, 7, value)
    }

    /// Builds `if slot != 0 { then }`.
    pub fn when(&mut self, slot: u32, then: Vec<Stmt>) -> Stmt {
        let (x, zero) = (self.slot(slot), self.c(0u32));
        Stmt::If { condition: self.binary(BinaryOp::Ne, x, zero), then, otherwise: vec![] }
    }

    pub fn run(self, body: Vec<Stmt>) -> Run {
        let view = |access, rank| ParamKind::View { access, element: Type::U32, rank };
        let kernel = Kernel {
            params: vec![
                Param { name: "data", kind: view(Access::Shared, 1), field: None },
                Param { name: "flags", kind: view(Access::Atomic, 1), field: None },
                Param { name: "matrix", kind: view(Access::Shared, 2), field: None },
            ],
            locals: [4, 2].map(|len| LocalArray::new(Type::U32, len)).to_vec(),
            slots: vec![Slot { ty: Type::U32, name: None }; SLOTS as usize],
            exprs: self.0,
            body,
            ..Kernel::new("test", site(), 1)
        };
        Run::new(kernel)
    }
}

/// Builds a loop without a bound.
pub fn forever(label: u32, body: Vec<Stmt>, continuing: Vec<Stmt>) -> Stmt {
    Stmt::Loop { label: Label(label), body, continuing, bounded: false, site: site() }
}

pub fn leave(label: u32) -> Stmt {
    Stmt::Break(Label(label))
}

pub fn again(label: u32) -> Stmt {
    Stmt::Continue(Label(label))
}

/// A thread with deferred values, with its program and environment.
#[derive(Clone)]
pub struct Run {
    pub program: Arc<Program>,
    pub thread: Thread<Deferred>,
}

impl Run {
    pub fn new(kernel: Kernel) -> Run {
        let program = Arc::new(Program::compile(Arc::new(kernel)).unwrap());
        let thread = Thread::start(&program, Position::default());
        Run { program, thread }
    }

    pub fn next(&mut self) -> Request<Deferred> {
        let arguments = [[8, 1, 1, 1], [8, 1, 1, 1], [3, 4, 1, 1]].map(|extent| Argument::whole(0u64, extent)).to_vec();
        let environment = Environment { shape: LaunchShape::linear(1, 1), arguments, shared_len: 0 };
        self.thread.run(&self.program, &environment, &mut 1000)
    }

    /// Runs to the next load and answers it.
    #[track_caller]
    pub fn answer(&mut self, value: Deferred) {
        let request = self.next();
        assert!(matches!(request, Request::Load(_) | Request::AtomicLoad { .. }), "{request:?}");
        self.thread.answer(value);
    }

    /// Runs to the next store; returns the stored value.
    #[track_caller]
    pub fn stored(&mut self) -> Deferred {
        match self.next() {
            Request::Store { value, .. } => value,
            other => panic!("{other:?}"),
        }
    }

    /// Runs to the entry of a loop.
    #[track_caller]
    pub fn head(&mut self, label: u32) {
        assert_eq!(self.next(), Request::LoopHead { label: Label(label), site: site() });
    }
}

pub fn at(place: Place, index: &[u32]) -> Location<Deferred> {
    let mut all = [0; 4];
    all[..index.len()].copy_from_slice(index);
    Location { index: Some(all.map(u64::from)), ..somewhere(place, index.len()) }
}

/// The location of an element whose index is not known.
pub fn somewhere(place: Place, rank: usize) -> Location<Deferred> {
    Location { place, element: Type::U32, rank, index: None, site: site() }
}
