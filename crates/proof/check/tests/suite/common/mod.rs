//! Small kernels built by hand; each statement's line is where the test calls the function that makes it.

use std::sync::Arc;

use wattle_check::simulate::{Argument, Finding, Findings, Init, LaunchRequest, MemoryId, Options, Race, Simulator};
use wattle_ir::{
    Access, AtomicOp, BinaryOp, Builtin, Const, Expr, ExprId, Kernel, Label, Param, ParamId, ParamKind, Place,
    SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type,
};
use wattle_machine::{LaunchShape, Program};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// A kernel under construction.
pub struct Build {
    pub kernel: Kernel,
    labels: u32,
}

impl Build {
    pub fn new(name: &str) -> Build {
        Build { kernel: Kernel::new(name, Site::caller(), 1), labels: 0 }
    }

    pub fn view(&mut self, name: &'static str, access: Access) -> Place {
        self.kernel.params.push(Param {
            name,
            kind: ParamKind::View { access, element: Type::U32, rank: 1 },
            field: None,
        });
        Place::Param(ParamId(self.kernel.params.len() as u32 - 1))
    }

    pub fn shared(&mut self, name: &'static str, len: u32, atomic: bool) -> Place {
        let (len, site) = (SharedLen::Static(len), Site::caller());
        self.kernel.shared.push(SharedArray { name, element: Type::U32, len, atomic, site, field: None });
        Place::Shared(SharedId(self.kernel.shared.len() as u32 - 1))
    }

    pub fn slot(&mut self) -> SlotId {
        self.kernel.slots.push(Slot { ty: Type::U32, name: None });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    pub fn expr(&mut self, expr: Expr) -> ExprId {
        self.kernel.exprs.push(expr);
        ExprId(self.kernel.exprs.len() as u32 - 1)
    }

    pub fn c(&mut self, value: u32) -> ExprId {
        self.expr(Expr::Const(Const::of(value)))
    }

    pub fn get(&mut self, slot: SlotId) -> ExprId {
        self.expr(Expr::Slot(slot))
    }

    pub fn thread(&mut self) -> ExprId {
        self.expr(Expr::Builtin(Builtin::ThreadInBlock, 0))
    }

    pub fn block(&mut self) -> ExprId {
        self.expr(Expr::Builtin(Builtin::BlockInGrid, 0))
    }

    pub fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.expr(Expr::Binary(op, x, y))
    }

    pub fn is(&mut self, x: ExprId, value: u32) -> ExprId {
        let value = self.c(value);
        self.binary(BinaryOp::Eq, x, value)
    }

    /// Builds `if x == value { then }`.
    pub fn when(&mut self, x: ExprId, value: u32, then: Vec<Stmt>) -> Stmt {
        Stmt::If { condition: self.is(x, value), then, otherwise: vec![] }
    }

    /// Runs each part in the block (or thread) with its number.
    pub fn parts(&mut self, who: ExprId, parts: Vec<Vec<Stmt>>) -> Vec<Stmt> {
        parts.into_iter().enumerate().map(|(number, part)| self.when(who, number as u32, part)).collect()
    }

    #[track_caller]
    pub fn store(&mut self, place: Place, index: u32, value: u32) -> Stmt {
        let (index, value) = (vec![self.c(index)], self.c(value));
        Stmt::Store { place, index, value, site: Site::caller() }
    }

    #[track_caller]
    pub fn load(&mut self, dst: SlotId, place: Place, index: u32) -> Stmt {
        Stmt::Load { dst, place, index: vec![self.c(index)], site: Site::caller() }
    }

    #[track_caller]
    pub fn write(&mut self, place: Place, index: u32, value: u32, order: WriteOrder, scope: Scope) -> Stmt {
        let (index, value) = (vec![self.c(index)], self.c(value));
        Stmt::AtomicStore { place, index, value, order, scope, site: Site::caller() }
    }

    #[track_caller]
    pub fn read(&mut self, dst: SlotId, place: Place, index: u32, order: ReadOrder, scope: Scope) -> Stmt {
        Stmt::AtomicLoad { dst, place, index: vec![self.c(index)], order, scope, site: Site::caller() }
    }

    #[track_caller]
    pub fn add(&mut self, dst: SlotId, place: Place, index: u32, order: UpdateOrder, scope: Scope) -> Stmt {
        let (index, operand, op) = (vec![self.c(index)], self.c(1), AtomicOp::Add);
        Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site: Site::caller() }
    }

    /// Builds `while place[index] != value {}`, at `scope`.
    #[track_caller]
    pub fn wait(&mut self, place: Place, index: u32, value: u32, order: ReadOrder, scope: Scope) -> Stmt {
        let (slot, label, site) = (self.slot(), self.label(), Site::caller());
        let load = self.read(slot, place, index, order, scope);
        let found = self.get(slot);
        let body = vec![load, self.when(found, value, vec![Stmt::Break(label)])];
        Stmt::Loop { label, body, continuing: vec![], bounded: false, site }
    }

    /// Builds `for _ in 0..count { body }`.
    #[track_caller]
    pub fn repeat(&mut self, count: u32, counter: SlotId, body: Vec<Stmt>) -> Stmt {
        let (label, site) = (self.label(), Site::caller());
        let (now, bound, one) = (self.get(counter), self.c(count), self.c(1));
        let over = self.binary(BinaryOp::Ge, now, bound);
        let next = self.binary(BinaryOp::Add, now, one);
        let mut all = vec![Stmt::If { condition: over, then: vec![Stmt::Break(label)], otherwise: vec![] }];
        all.extend(body);
        let continuing = vec![Stmt::Assign { slot: counter, value: next }];
        Stmt::Loop { label, body: all, continuing, bounded: true, site }
    }

    pub fn program(mut self, body: Vec<Stmt>) -> Arc<Program> {
        self.kernel.body = body;
        Arc::new(Program::compile(Arc::new(self.kernel)).unwrap())
    }
}

#[track_caller]
pub fn fence(order: FenceOrder, scope: Scope) -> Stmt {
    Stmt::Fence { order, scope, site: Site::caller() }
}

#[track_caller]
pub fn barrier() -> Stmt {
    Stmt::Barrier { site: Site::caller() }
}

/// A simulator with zeroed views of four elements for all parameters of a program.
pub fn simulator(seed: u64, views: usize) -> (Simulator, Vec<MemoryId>) {
    let mut simulator = Simulator::new(Options::seeded(seed));
    let memories = (0..views).map(|_| simulator.allocate(Type::U32, 4, Init::Zero).unwrap()).collect();
    (simulator, memories)
}

pub fn request(program: &Arc<Program>, shape: LaunchShape, memories: &[MemoryId]) -> LaunchRequest {
    let arguments = memories.iter().map(|&memory| Argument::whole(memory, [4, 1, 1, 1])).collect();
    LaunchRequest::new(program.clone(), shape, arguments)
}

/// Runs a program alone with zeroed views.
pub fn run(seed: u64, program: &Arc<Program>, shape: LaunchShape) -> Result<(), Findings> {
    let (mut simulator, memories) = simulator(seed, program.kernel().params.len());
    let launch = simulator.launch(request(program, shape, &memories)).unwrap();
    simulator.finish(launch)
}

/// Runs with several seeds; no run may have a finding.
#[track_caller]
pub fn well(program: &Arc<Program>, shape: LaunchShape) {
    for seed in 0..40 {
        if let Err(findings) = run(seed, program, shape) {
            panic!("seed {seed}: {findings}");
        }
    }
}

/// Runs with several seeds; each must report a race, unless the accesses did not both happen.
#[track_caller]
pub fn races(program: &Arc<Program>, shape: LaunchShape) -> Race {
    let found: Vec<Race> = (0..40).filter_map(|seed| race(run(seed, program, shape))).collect();
    assert!(found.len() >= 10, "a race in {} of 40 runs", found.len());
    found[0].clone()
}

pub fn race(result: Result<(), Findings>) -> Option<Race> {
    let findings = result.err()?.0;
    findings.into_iter().next().map(|finding| match finding {
        Finding::Race(race) => *race,
        other => panic!("{other}"),
    })
}
