//! Random kernels, and a launch for them.

use wattle_ir::{
    Access, AtomicOp, BinaryOp, Builtin, Const, DivOp, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param,
    ParamId, ParamKind, Place, SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, TernaryOp, Type, UnaryOp,
    eval,
};
use wattle_machine::{Argument, Environment, LaunchShape};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

pub const TYPES: [Type; Type::ALL.len()] = Type::ALL;
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
/// The number of slots of each type that random statements may set.
const SLOTS: u32 = 2;
/// The number of the first view: a view of two dimensions, one of one dimension, and one for atomics; all of `u32`.
const VIEW: u32 = TYPES.len() as u32;
const ROW: Place = Place::Param(ParamId(VIEW + 1));
const ATOMIC: Place = Place::Param(ParamId(VIEW + 2));
const SCOPES: [Scope; 3] = [Scope::Block, Scope::Device, Scope::System];

pub struct Generator {
    entropy: Vec<u32>,
    position: usize,
    kernel: Kernel,
    types: Vec<Type>,
    labels: u32,
    memory: bool,
}

impl Generator {
    /// A generator; with `memory` the kernel also uses memory that is not its own.
    pub fn new(entropy: Vec<u32>, memory: bool) -> Generator {
        let site = Site::caller();
        let mut params: Vec<Param> =
            TYPES.iter().map(|&ty| Param { name: "scalar", kind: ParamKind::Scalar(ty), field: None }).collect();
        for (name, access, rank) in
            [("view", Access::Shared, 2), ("row", Access::Shared, 1), ("atomic", Access::Atomic, 1)]
        {
            params.push(Param { name, kind: ParamKind::View { access, element: Type::U32, rank }, field: None });
        }
        let shared = [SharedLen::AtLaunch, SharedLen::Static(9)];
        let shared = shared
            .map(|len| SharedArray { name: "shared", element: Type::F32, len, atomic: false, site, field: None })
            .to_vec();
        let slots = TYPES.iter().flat_map(|&ty| [Slot { ty, name: None }; SLOTS as usize]).collect();
        let locals = LOCALS.map(|(element, len)| LocalArray::new(element, len)).to_vec();
        let kernel = Kernel { params, shared, locals, slots, ..Kernel::new("random", site, 2) };
        Generator { entropy, position: 0, kernel, types: Vec::new(), labels: 0, memory }
    }

    fn next(&mut self) -> u32 {
        // Beyond the entropy the choices repeat, shifted so that they do not settle.
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
                    return self.push(ty, Expr::Ternary(TernaryOp::Fma, x, y, z));
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
                            // The payload of a NaN is unspecified.
                            let (nan, zero) =
                                (self.push(Type::Bool, Expr::Unary(UnaryOp::IsNan, x)), self.constant_zero(from));
                            x = self.push(from, Expr::Select(nan, zero, x));
                        }
                        return self.push(ty, Expr::Bits(ty, x));
                    }
                }
                _ => {}
            }
            // An existing expression is reused, so that some are shared.
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
        if self.memory && self.below(3) == 0 {
            return vec![self.memory_stmt(site)];
        }
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

    fn memory_stmt(&mut self, site: Site) -> Stmt {
        let scope = SCOPES[self.below(SCOPES.len())];
        let (tile, view) = (Place::Shared(SharedId(self.below(2) as u32)), Place::Param(ParamId(VIEW)));
        let (dst, place, index) = (self.slot(Type::U32), ATOMIC, vec![self.small_index()]);
        match self.below(10) {
            0 => Stmt::Load { dst, place: view, index: vec![self.small_index(), self.small_index()], site },
            1 => Stmt::Load { dst: self.slot(Type::F32), place: tile, index, site },
            2 => {
                let index = vec![self.small_index(), self.small_index()];
                Stmt::Store { place: view, index, value: self.expr(Type::U32, 2), site }
            }
            3 => Stmt::Store { place: tile, index, value: self.expr(Type::F32, 2), site },
            4 => Stmt::LoadLanes { dst: LocalId(self.below(2) as u32), place: ROW, index: index[0], site },
            5 => Stmt::AtomicLoad { dst, place, index, order: ReadOrder::Acquire, scope, site },
            6 => {
                let value = self.expr(Type::U32, 2);
                Stmt::AtomicStore { place, index, value, order: WriteOrder::Release, scope, site }
            }
            7 => {
                let (op, operand) = (AtomicOp::Max, self.expr(Type::U32, 2));
                Stmt::AtomicUpdate { dst, op, place, index, operand, order: UpdateOrder::AcqRel, scope, site }
            }
            8 => {
                let (expected, desired) = (self.expr(Type::U32, 1), self.expr(Type::U32, 2));
                let order = UpdateOrder::Relaxed;
                Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site }
            }
            _ if self.below(2) == 0 => Stmt::Barrier { site },
            _ => Stmt::Fence { order: FenceOrder::AcqRel, scope, site },
        }
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

    pub fn kernel(mut self) -> Kernel {
        let count = 3 + self.below(6);
        let body = (0..count).flat_map(|_| self.stmts(3, &mut Vec::new())).collect();
        self.kernel.body = body;
        self.kernel
    }
}

/// A launch for these kernels: a value for each type, and the views.
pub fn environment(scalars: [u64; TYPES.len()]) -> Environment {
    let mut arguments: Vec<Argument> =
        scalars.iter().zip(TYPES).map(|(&raw, ty)| Argument::Scalar(valid(ty, raw))).collect();
    arguments.extend([[7, 6, 1, 1], [8, 1, 1, 1], [5, 1, 1, 1]].map(|extent| Argument::whole(0u64, extent)));
    let shape = LaunchShape {
        block_extent: [2, 3, 1, 1],
        grid_extent: [4, 5, 1, 1],
        frame_count: [6, 7, 1, 1],
        frame_extent: [8, 9, 1, 1],
        warp_size: 1,
    };
    Environment { shape, arguments, shared_len: 11 }
}

/// Converts these bits to a valid value of the type.
pub fn valid(ty: Type, raw: u64) -> u64 {
    if ty == Type::Bool { raw & 1 } else { raw & (u64::MAX >> (64 - 8 * ty.size())) }
}

/// Whether two values are equal; the payload of a NaN is unspecified.
pub fn same(ty: Type, x: u64, y: u64) -> bool {
    x == y || (ty.is_float() && eval::unary(UnaryOp::IsNan, ty, x) & eval::unary(UnaryOp::IsNan, ty, y) == 1)
}
