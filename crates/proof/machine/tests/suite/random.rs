//! Random kernels: the flat code and an evaluator that walks the tree must agree on every slot, array and fault.

use std::collections::HashMap;
use std::sync::Arc;

use crate::generator::{Generator, environment, same};
use proptest::prelude::*;
use wattle_ir::{Builtin, Expr, ExprId, Kernel, Label, LocalId, ParamKind, Place, SharedLen, Site, Stmt, Type, eval};
use wattle_machine::{Argument, Environment, Fault, Program, Request, Thread};

/// The way in which control leaves a statement.
enum Exit {
    Next,
    Break(Label),
    Continue(Label),
    Return,
}

/// An evaluator that walks the tree.
struct Walker<'k> {
    kernel: &'k Kernel,
    environment: &'k Environment,
    thread: &'k Thread,
    slots: Vec<u64>,
    locals: Vec<Vec<u64>>,
    faults: Vec<Fault>,
}

impl Walker<'_> {
    fn value(&self, id: ExprId) -> u64 {
        self.typed(id, &mut HashMap::new()).1
    }

    fn typed(&self, id: ExprId, known: &mut HashMap<ExprId, (Type, u64)>) -> (Type, u64) {
        if let Some(&value) = known.get(&id) {
            return value;
        }
        let value = match self.kernel.exprs[id.index()] {
            Expr::Const(constant) => (constant.ty, constant.raw),
            Expr::Slot(slot) => (self.kernel.slots[slot.index()].ty, self.slots[slot.index()]),
            Expr::Param(id) => match (self.kernel.params[id.index()].kind, self.environment.arguments[id.index()]) {
                (ParamKind::Scalar(ty), Argument::Scalar(raw)) => (ty, raw),
                other => panic!("{other:?}"),
            },
            Expr::Extent(Place::Param(id), dimension) => match self.environment.arguments[id.index()] {
                Argument::View(view) => (Type::U32, view.extent[dimension as usize]),
                other => panic!("{other:?}"),
            },
            Expr::Extent(Place::Shared(id), dimension) => match self.kernel.shared[id.index()].len {
                SharedLen::Static(len) => (Type::U32, len as u64),
                SharedLen::Grid(extents) => (Type::U32, extents.each[dimension as usize] as u64),
                SharedLen::AtLaunch => (Type::U32, self.environment.shared_len as u64),
            },
            Expr::Extent(Place::Local(id), _) => (Type::U32, self.kernel.locals[id.index()].len as u64),
            Expr::Builtin(builtin, dimension) => {
                let (shape, position) = (&self.environment.shape, self.thread.position());
                let values = match builtin {
                    Builtin::ThreadInBlock => position.thread,
                    Builtin::BlockInGrid => position.block,
                    Builtin::BlockExtent => shape.block_extent,
                    Builtin::GridExtent => shape.grid_extent,
                    Builtin::FrameCount => shape.frame_count,
                    Builtin::FrameExtent => shape.frame_extent,
                    Builtin::Device(property) => [property.on_host(shape.warp_size); 4],
                    // A warp of one lane.
                    Builtin::WarpSize => [shape.warp_size; 4],
                    Builtin::Lane => [0; 4],
                    Builtin::WarpInBlock => [shape.number_in_block(&position); 4],
                };
                (Type::U32, values[dimension as usize] as u64)
            }
            Expr::Unary(op, x) => {
                let (ty, x) = self.typed(x, known);
                (op.result(ty).unwrap(), eval::unary(op, ty, x))
            }
            Expr::Binary(op, x, y) => {
                let ((ty, x), (right, y)) = (self.typed(x, known), self.typed(y, known));
                (op.result(ty, right).unwrap(), eval::binary(op, ty, x, y))
            }
            Expr::Ternary(op, x, y, z) => {
                let ((ty, x), (_, y), (_, z)) = (self.typed(x, known), self.typed(y, known), self.typed(z, known));
                (ty, eval::ternary(op, ty, x, y, z))
            }
            Expr::Select(condition, x, y) => {
                let (x, y) = (self.typed(x, known), self.typed(y, known));
                if self.typed(condition, known).1 == 1 { x } else { y }
            }
            Expr::Cast(to, x) => {
                let (from, x) = self.typed(x, known);
                (to, eval::cast(from, to, x))
            }
            Expr::Bits(to, x) => (to, self.typed(x, known).1),
        };
        known.insert(id, value);
        value
    }

    fn block(&mut self, block: &[Stmt]) -> Exit {
        for stmt in block {
            match self.stmt(stmt) {
                Exit::Next => {}
                exit => return exit,
            }
        }
        Exit::Next
    }

    fn array(&self, place: Place) -> usize {
        match place {
            Place::Local(id) => id.index(),
            other => panic!("{other:?}"),
        }
    }

    fn outside(&mut self, place: Place, index: u64, lanes: usize, site: Site) -> bool {
        let len = self.locals[self.array(place)].len();
        let inside = if lanes == 1 { index < len as u64 } else { index + lanes as u64 <= len as u64 };
        if !inside {
            let (index, extent) = (vec![index], vec![len as u64]);
            self.faults.push(Fault::OutOfBounds { place, index, lanes: lanes as u32, extent, site });
        }
        !inside
    }

    fn stmt(&mut self, stmt: &Stmt) -> Exit {
        match stmt {
            Stmt::Assign { slot, value } => self.slots[slot.index()] = self.value(*value),
            Stmt::Divide { dst, op, left, right, site } => {
                let ty = self.kernel.slots[dst.index()].ty;
                let quotient = eval::divide(*op, ty, self.value(*left), self.value(*right));
                if quotient.is_none() {
                    self.faults.push(Fault::DivisionByZero { site: *site });
                }
                self.slots[dst.index()] = quotient.unwrap_or(0);
            }
            Stmt::Load { dst, place, index, site } => {
                let index = self.value(index[0]);
                self.slots[dst.index()] = if self.outside(*place, index, 1, *site) {
                    0
                } else {
                    self.locals[self.array(*place)][index as usize]
                };
            }
            Stmt::Store { place, index, value, site } => {
                let (index, value) = (self.value(index[0]), self.value(*value));
                if !self.outside(*place, index, 1, *site) {
                    let array = self.array(*place);
                    self.locals[array][index as usize] = value;
                }
            }
            Stmt::LoadLanes { dst, place, index, site } => {
                let (index, lanes) = (self.value(*index), self.locals[dst.index()].len());
                self.locals[dst.index()] = if self.outside(*place, index, lanes, *site) {
                    vec![0; lanes]
                } else {
                    self.locals[self.array(*place)][index as usize..index as usize + lanes].to_vec()
                };
            }
            Stmt::If { condition, then, otherwise } => {
                let then = if self.value(*condition) == 1 { then } else { otherwise };
                return self.block(then);
            }
            Stmt::Loop { label, body, continuing, .. } => loop {
                match self.block(body) {
                    Exit::Next => {}
                    Exit::Continue(to) if to == *label => {}
                    Exit::Break(to) if to == *label => return Exit::Next,
                    exit => return exit,
                }
                match self.block(continuing) {
                    Exit::Next => {}
                    exit => return exit,
                }
            },
            Stmt::Block { label, body } => match self.block(body) {
                Exit::Break(to) if to == *label => {}
                exit => return exit,
            },
            Stmt::Break(label) => return Exit::Break(*label),
            Stmt::Continue(label) => return Exit::Continue(*label),
            Stmt::Return => return Exit::Return,
            Stmt::Fault { .. } => panic!("no source says a fault"),
            Stmt::Assert { condition, message, site } => {
                if self.value(*condition) == 0 {
                    self.faults.push(Fault::Assertion { message: message.text.to_string().into(), site: *site });
                }
            }
            other => panic!("{other:?}"),
        }
        Exit::Next
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_flat_code_does_what_the_tree_says(
        entropy in prop::collection::vec(any::<u32>(), 16..400),
        scalars in prop::array::uniform13(any::<u64>()),
        slice in 1u64..9,
    ) {
        let kernel = Generator::new(entropy, false).kernel();
        let program = Program::compile(Arc::new(kernel.clone())).unwrap();
        let environment = environment(scalars);
        environment.check(&kernel).unwrap();
        let mut thread = Thread::new(&program, environment.shape.position(13, 4));
        let start = thread.clone();

        let mut faults = Vec::new();
        loop {
            let mut fuel = slice;
            match thread.run(&program, &environment, &mut fuel) {
                Request::Fault(fault) => faults.push(fault),
                Request::BackEdge { .. } | Request::OutOfFuel => {}
                Request::Done => break,
                other => panic!("{other:?}"),
            }
        }
        let mut walker = Walker {
            kernel: &kernel,
            environment: &environment,
            thread: &start,
            slots: vec![0; kernel.slots.len()],
            locals: kernel.locals.iter().map(|local| vec![0; local.len as usize]).collect(),
            faults: Vec::new(),
        };
        walker.block(&kernel.body);

        prop_assert_eq!(faults, walker.faults);
        for (index, slot) in kernel.slots.iter().enumerate() {
            let (found, expected) = (thread.slots(&program)[index], walker.slots[index]);
            prop_assert!(same(slot.ty, found, expected), "slot {} of {}: {:#x}, {:#x}", index, slot.ty, found, expected);
        }
        for (index, local) in kernel.locals.iter().enumerate() {
            let found = thread.local(&program, LocalId(index as u32));
            let expected = &walker.locals[index];
            prop_assert_eq!(found.len(), expected.len());
            for (&found, &expected) in found.iter().zip(expected) {
                prop_assert!(same(local.element, found, expected));
            }
        }
    }
}
