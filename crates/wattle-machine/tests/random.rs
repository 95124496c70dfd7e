//! Random kernels: the flat code and an evaluator that walks the tree must agree on every slot, array and fault.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use wattle_ir::{
    Access, BinaryOp, Builtin, Const, DivOp, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId,
    ParamKind, Place, SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type, UnaryOp, eval,
};
use wattle_machine::{Argument, Environment, Fault, LaunchShape, Program, Request, Thread};

const TYPES: [Type; 11] = [
    Type::Bool,
    Type::U8,
    Type::I8,
    Type::U16,
    Type::I16,
    Type::U32,
    Type::I32,
    Type::U64,
    Type::I64,
    Type::F32,
    Type::F64,
];
const UNARY: [UnaryOp; 17] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::Abs,
    UnaryOp::Sqrt,
    UnaryOp::Rsqrt,
    UnaryOp::Exp,
    UnaryOp::Ln,
    UnaryOp::Sin,
    UnaryOp::Cos,
    UnaryOp::Tanh,
    UnaryOp::Floor,
    UnaryOp::Ceil,
    UnaryOp::Round,
    UnaryOp::IsNan,
    UnaryOp::CountOnes,
    UnaryOp::LeadingZeros,
    UnaryOp::TrailingZeros,
];
const BINARY: [BinaryOp; 18] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::Pow,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
];
const BUILTINS: [Builtin; 6] = [
    Builtin::ThreadInBlock,
    Builtin::BlockInGrid,
    Builtin::BlockExtent,
    Builtin::GridExtent,
    Builtin::FrameCount,
    Builtin::FrameExtent,
];
const LOCALS: [(Type, u32); 4] = [(Type::U32, 4), (Type::U32, 2), (Type::F64, 3), (Type::I8, 5)];
/// Slots of each type that random statements may set.
const SLOTS: u32 = 2;
const VIEW: u32 = TYPES.len() as u32;

struct Generator {
    entropy: Vec<u32>,
    position: usize,
    kernel: Kernel,
    types: Vec<Type>,
    labels: u32,
}

impl Generator {
    fn new(entropy: Vec<u32>) -> Generator {
        let site = Site::caller();
        let mut params: Vec<Param> =
            TYPES.iter().map(|&ty| Param { name: "scalar", kind: ParamKind::Scalar(ty) }).collect();
        let kind = ParamKind::View { access: Access::Shared, element: Type::U32, rank: 2 };
        params.push(Param { name: "view", kind });
        let shared = [SharedLen::AtLaunch, SharedLen::Static(9)];
        let shared =
            shared.map(|len| SharedArray { name: "shared", element: Type::F32, len, atomic: false, site }).to_vec();
        let slots = TYPES.iter().flat_map(|&ty| [Slot { ty, name: None }; SLOTS as usize]).collect();
        let locals = LOCALS.map(|(element, len)| LocalArray { element, len }).to_vec();
        let name = "random".into();
        let kernel = Kernel { name, site, rank: 2, params, shared, locals, slots, exprs: vec![], body: vec![] };
        Generator { entropy, position: 0, kernel, types: Vec::new(), labels: 0 }
    }

    fn next(&mut self) -> u32 {
        // Beyond the entropy the choices repeat, turned a little so that they do not settle.
        let len = self.entropy.len().max(1);
        let raw = self.entropy.get(self.position % len).copied().unwrap_or(0);
        let turned = raw.rotate_left((self.position / len) as u32 * 7);
        self.position += 1;
        turned
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next().wrapping_mul(0x9e37_79b9) >> 8) as usize % bound
    }

    fn push(&mut self, ty: Type, expr: Expr) -> ExprId {
        self.kernel.exprs.push(expr);
        self.types.push(ty);
        ExprId(self.types.len() as u32 - 1)
    }

    fn constant(&mut self, ty: Type) -> ExprId {
        let raw = match self.below(3) {
            0 => self.below(4) as u64,
            1 => u64::MAX,
            _ => (self.next() as u64) << 32 | self.next() as u64,
        };
        let raw = if ty == Type::Bool { raw & 1 } else { raw & (u64::MAX >> (64 - 8 * ty.size())) };
        self.push(ty, Expr::Const(Const { ty, raw }))
    }

    fn leaf(&mut self, ty: Type) -> ExprId {
        let index = TYPES.iter().position(|&other| other == ty).unwrap() as u32;
        let expr = match self.below(5) {
            0 => return self.constant(ty),
            1 => Expr::Param(ParamId(index)),
            2 if ty == Type::U32 => {
                let builtin = BUILTINS[self.below(BUILTINS.len())];
                Expr::Builtin(builtin, self.below(2) as u8)
            }
            3 if ty == Type::U32 => match self.below(4) {
                0 => Expr::Extent(Place::Param(ParamId(VIEW)), 1),
                1 => Expr::Extent(Place::Shared(SharedId(0)), 0),
                2 => Expr::Extent(Place::Shared(SharedId(1)), 0),
                _ => Expr::Extent(Place::Local(LocalId(3)), 0),
            },
            _ => Expr::Slot(SlotId(index * SLOTS + self.below(SLOTS as usize) as u32)),
        };
        self.push(ty, expr)
    }

    fn expr(&mut self, ty: Type, depth: u32) -> ExprId {
        if depth == 0 {
            return self.leaf(ty);
        }
        for _ in 0..12 {
            match self.below(8) {
                0 => {
                    let (op, from) = (UNARY[self.below(UNARY.len())], TYPES[self.below(TYPES.len())]);
                    if op.result(from) == Some(ty) {
                        let x = self.expr(from, depth - 1);
                        return self.push(ty, Expr::Unary(op, x));
                    }
                }
                1..=3 => {
                    let (op, left) = (BINARY[self.below(BINARY.len())], TYPES[self.below(TYPES.len())]);
                    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
                    let right = if shift { Type::U32 } else { left };
                    if op.result(left, right) == Some(ty) {
                        let (x, y) = (self.expr(left, depth - 1), self.expr(right, depth - 1));
                        return self.push(ty, Expr::Binary(op, x, y));
                    }
                }
                4 if ty.is_float() => {
                    let [x, y, z] = [(); 3].map(|()| self.expr(ty, depth - 1));
                    return self.push(ty, Expr::Fma(x, y, z));
                }
                4 | 5 => {
                    let condition = self.expr(Type::Bool, depth - 1);
                    let (x, y) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                    return self.push(ty, Expr::Select(condition, x, y));
                }
                6 => {
                    let from = TYPES[self.below(TYPES.len())];
                    if ty != Type::Bool || from == Type::Bool {
                        let x = self.expr(from, depth - 1);
                        return self.push(ty, Expr::Cast(ty, x));
                    }
                }
                7 => {
                    let from = TYPES[self.below(TYPES.len())];
                    if from.size() == ty.size() && from != Type::Bool && ty != Type::Bool {
                        let mut x = self.expr(from, depth - 1);
                        if from.is_float() {
                            // The payload of a NaN is not promised.
                            let (nan, zero) =
                                (self.push(Type::Bool, Expr::Unary(UnaryOp::IsNan, x)), self.constant_zero(from));
                            x = self.push(from, Expr::Select(nan, zero, x));
                        }
                        return self.push(ty, Expr::Bits(ty, x));
                    }
                }
                _ => {}
            }
            // An expression that is there already, so that some are shared.
            let known: Vec<u32> = (0..self.types.len() as u32).filter(|&id| self.types[id as usize] == ty).collect();
            if !known.is_empty() && self.below(4) == 0 {
                return ExprId(known[self.below(known.len())]);
            }
        }
        self.leaf(ty)
    }

    fn constant_zero(&mut self, ty: Type) -> ExprId {
        self.push(ty, Expr::Const(Const { ty, raw: 0 }))
    }

    fn slot(&mut self, ty: Type) -> SlotId {
        let index = TYPES.iter().position(|&other| other == ty).unwrap() as u32;
        SlotId(index * SLOTS + self.below(SLOTS as usize) as u32)
    }

    fn small_index(&mut self) -> ExprId {
        let index = self.expr(Type::U32, 1);
        let mask = self.push(Type::U32, Expr::Const(Const::of(3u32)));
        if self.below(8) == 0 { index } else { self.push(Type::U32, Expr::Binary(BinaryOp::And, index, mask)) }
    }

    fn block(&mut self, depth: u32, labels: &mut Vec<(Label, bool)>) -> Vec<Stmt> {
        (0..1 + self.below(4)).flat_map(|_| self.stmts(depth, labels)).collect()
    }

    fn stmts(&mut self, depth: u32, labels: &mut Vec<(Label, bool)>) -> Vec<Stmt> {
        let site = Site { file: "random", line: self.below(1000) as u32, column: 1 };
        let local = self.below(LOCALS.len());
        let (place, element) = (Place::Local(LocalId(local as u32)), LOCALS[local].0);
        vec![match self.below(if depth == 0 { 9 } else { 14 }) {
            0..=2 => {
                let ty = TYPES[self.below(TYPES.len())];
                let value = self.expr(ty, 3);
                Stmt::Assign { slot: self.slot(ty), value }
            }
            3 => {
                let ty = TYPES[1 + self.below(8)];
                let (left, right) = (self.expr(ty, 2), self.expr(ty, 2));
                let op = if self.below(2) == 0 { DivOp::Div } else { DivOp::Rem };
                Stmt::Divide { dst: self.slot(ty), op, left, right, site }
            }
            4 => Stmt::Load { dst: self.slot(element), place, index: vec![self.small_index()], site },
            5 => {
                let (index, value) = (vec![self.small_index()], self.expr(element, 2));
                Stmt::Store { place, index, value, site }
            }
            6 => {
                let (dst, from) = [(1, 0), (0, 0), (1, 1), (2, 2)][self.below(4)];
                let index = self.small_index();
                Stmt::LoadLanes { dst: LocalId(dst), place: Place::Local(LocalId(from)), index, site }
            }
            7 => Stmt::Assert { condition: self.expr(Type::Bool, 2), message: "holds".into(), site },
            8 => match (self.below(12), labels.len()) {
                (0, _) => Stmt::Return,
                (_, 0) => return Vec::new(),
                (choice, _) => {
                    let (label, is_loop) = labels[self.below(labels.len())];
                    if is_loop && choice % 2 == 0 { Stmt::Continue(label) } else { Stmt::Break(label) }
                }
            },
            9 | 10 => {
                let condition = self.expr(Type::Bool, 2);
                let then = self.block(depth - 1, labels);
                let otherwise = if self.below(2) == 0 { Vec::new() } else { self.block(depth - 1, labels) };
                Stmt::If { condition, then, otherwise }
            }
            11 => {
                let label = self.label();
                labels.push((label, false));
                let body = self.block(depth - 1, labels);
                labels.pop();
                Stmt::Block { label, body }
            }
            _ => return self.loop_with_counter(site, depth, labels),
        }]
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    fn loop_with_counter(&mut self, site: Site, depth: u32, labels: &mut Vec<(Label, bool)>) -> Vec<Stmt> {
        let counter = SlotId(self.kernel.slots.len() as u32);
        self.kernel.slots.push(Slot { ty: Type::U32, name: None });
        let label = self.label();
        let zero = self.constant_zero(Type::U32);
        let one = self.push(Type::U32, Expr::Const(Const::of(1u32)));
        let bound = self.below(4) as u32;
        let bound = self.push(Type::U32, Expr::Const(Const::of(bound)));
        let count = self.push(Type::U32, Expr::Slot(counter));
        let over = self.push(Type::Bool, Expr::Binary(BinaryOp::Ge, count, bound));
        let next = self.push(Type::U32, Expr::Binary(BinaryOp::Add, count, one));
        let mut body = vec![Stmt::If { condition: over, then: vec![Stmt::Break(label)], otherwise: vec![] }];
        labels.push((label, true));
        body.extend(self.block(depth - 1, labels));
        labels.pop();
        let mut continuing = self.block(0, &mut Vec::new());
        continuing.push(Stmt::Assign { slot: counter, value: next });
        let bounded = self.below(2) == 0;
        vec![Stmt::Assign { slot: counter, value: zero }, Stmt::Loop { label, body, continuing, bounded, site }]
    }

    fn kernel(mut self) -> Kernel {
        let count = 3 + self.below(6);
        let body = (0..count).flat_map(|_| self.stmts(3, &mut Vec::new())).collect();
        self.kernel.body = body;
        self.kernel
    }
}

/// How a statement leaves.
enum Exit {
    Next,
    Break(Label),
    Continue(Label),
    Return,
}

/// Walks the tree.
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
                Argument::View(extent) => (Type::U32, extent[dimension as usize] as u64),
                other => panic!("{other:?}"),
            },
            Expr::Extent(Place::Shared(id), _) => match self.kernel.shared[id.index()].len {
                SharedLen::Static(len) => (Type::U32, len as u64),
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
            Expr::Fma(x, y, z) => {
                let ((ty, x), (_, y), (_, z)) = (self.typed(x, known), self.typed(y, known), self.typed(z, known));
                (ty, eval::fma(ty, x, y, z))
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
            let (index, extent) = (vec![index as u32], vec![len as u32]);
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
            Stmt::Assert { condition, message, site } => {
                if self.value(*condition) == 0 {
                    self.faults.push(Fault::Assertion { message: message.as_str().into(), site: *site });
                }
            }
            other => panic!("{other:?}"),
        }
        Exit::Next
    }
}

fn same(ty: Type, x: u64, y: u64) -> bool {
    x == y || (ty.is_float() && eval::unary(UnaryOp::IsNan, ty, x) & eval::unary(UnaryOp::IsNan, ty, y) == 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_flat_code_does_what_the_tree_says(
        entropy in prop::collection::vec(any::<u32>(), 16..400),
        scalars in prop::array::uniform11(any::<u64>()),
        slice in 1u64..9,
    ) {
        let kernel = Generator::new(entropy).kernel();
        let program = Program::compile(Arc::new(kernel.clone())).unwrap();
        let mut arguments: Vec<Argument> = scalars
            .iter()
            .zip(TYPES)
            .map(|(&raw, ty)| if ty == Type::Bool { raw & 1 } else { raw & (u64::MAX >> (64 - 8 * ty.size())) })
            .map(Argument::Scalar)
            .collect();
        arguments.push(Argument::View([7, 6, 1, 1]));
        let shape = LaunchShape {
            block_extent: [2, 3, 1, 1],
            grid_extent: [4, 5, 1, 1],
            frame_count: [6, 7, 1, 1],
            frame_extent: [8, 9, 1, 1],
        };
        let environment = Environment { shape, arguments, shared_len: 11 };
        environment.check(&kernel).unwrap();
        let mut thread = Thread::new(&program, shape.position(13, 4));
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
