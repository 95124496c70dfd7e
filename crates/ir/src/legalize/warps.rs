//! Operations of warps that a target lacks, in parts: reductions and scans as shuffles, shuffles of what is no 32-bit
//! word by words, and lanes that do not exist.
//!
//! This comes before expressions are expanded, since it makes new ones. The order in which values are combined is that
//! of [`evaluate`](crate::warp::evaluate), so that sums of floats have the same bits on all devices with warps of one
//! size.

use super::Native;
use crate::warp::{MAX_LANES, ShuffleBy, WarpKind};
use crate::{BinaryOp, Builtin, Const, Expr, ExprId, Kernel, Site, Slot, SlotId, Stmt, Type, TypeKind, WarpOp};

/// What a target's warps do by themselves.
pub struct Warps<'t> {
    /// The number of lanes of every warp, where the target has one.
    pub size: Option<u32>,
    /// Whether all warps have that many threads.
    pub are_whole: bool,
    /// Whether the target has all kinds of shuffles; otherwise [`WarpOp::Shuffle`] alone.
    pub shuffles_by_distance: bool,
    /// Whether the target shuffles values of a type.
    pub shuffles: &'t dyn Fn(Type) -> bool,
    /// Whether the target has a reduction or scan of a type.
    pub combines: &'t dyn Fn(WarpOp, Type) -> bool,
}

/// A target without warps, whose kernels have none.
pub const NO_WARPS: Warps<'static> =
    Warps { size: None, are_whole: false, shuffles_by_distance: true, shuffles: &|_| true, combines: &|_, _| true };

/// Replaces what the target lacks. Of what is left, the operand of a shuffle is less than the warp's size, and that of
/// [`WarpOp::Shuffle`] is the number of a lane that has a thread where [`Warps::are_whole`].
pub(super) fn warps(kernel: &Kernel, native: &Native<'_>) -> Kernel {
    let mut parts = Parts { kernel: kernel.clone(), types: kernel.expr_types(), warps: &native.warps };
    if let Some(size) = native.warps.size {
        for expr in &mut parts.kernel.exprs {
            if let Expr::Builtin(Builtin::WarpSize, _) = expr {
                *expr = Expr::Const(Const::of(size));
            }
        }
    }
    let body = std::mem::take(&mut parts.kernel.body);
    let body = parts.block(body);
    Kernel { body, ..parts.kernel }
}

struct Parts<'t> {
    kernel: Kernel,
    types: Vec<Type>,
    warps: &'t Warps<'t>,
}

/// A shuffle's statement: what is done, by which operand, and where it stands.
#[derive(Clone, Copy)]
struct By {
    op: WarpOp,
    operand: ExprId,
    site: Site,
}

impl Parts<'_> {
    fn block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::with_capacity(block.len());
        for mut stmt in block {
            stmt.blocks_mut().for_each(|inner| *inner = self.block(std::mem::take(inner)));
            match stmt {
                Stmt::Warp { dst, op, value, operand, site } => match (op.kind(), operand) {
                    (WarpKind::Shuffle, Some(operand)) => {
                        self.shuffle(dst, value, By { op, operand, site }, &mut made);
                    }
                    (WarpKind::Reduce | WarpKind::InclusiveScan | WarpKind::ExclusiveScan, _)
                        if !(self.warps.combines)(op, self.ty(value)) =>
                    {
                        self.combine(dst, op, value, site, &mut made);
                    }
                    (WarpKind::Ballot, Some(word)) if self.is_beyond(word) => {
                        let zero = self.word(0);
                        made.push(Stmt::Assign { slot: dst, value: zero });
                    }
                    (
                        WarpKind::Shuffle
                        | WarpKind::Ballot
                        | WarpKind::Vote
                        | WarpKind::Reduce
                        | WarpKind::InclusiveScan
                        | WarpKind::ExclusiveScan,
                        _,
                    ) => made.push(stmt),
                },
                stmt => made.push(stmt),
            }
        }
        made
    }

    fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        let ty = self.kernel.type_of(&expr, &self.types).unwrap_or(Type::U32);
        self.kernel.exprs.push(expr);
        self.types.push(ty);
        ExprId(self.types.len() as u32 - 1)
    }

    fn word(&mut self, value: u32) -> ExprId {
        self.add(Expr::Const(Const::of(value)))
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.add(Expr::Binary(op, x, y))
    }

    fn lane(&mut self) -> ExprId {
        self.add(Expr::Builtin(Builtin::Lane, 0))
    }

    fn size(&mut self) -> ExprId {
        match self.warps.size {
            Some(size) => self.word(size),
            None => self.add(Expr::Builtin(Builtin::WarpSize, 0)),
        }
    }

    /// How many lanes of the warp have a thread.
    fn count(&mut self) -> ExprId {
        let size = self.size();
        if self.warps.are_whole {
            return size;
        }
        let mut threads = self.add(Expr::Builtin(Builtin::BlockExtent, 0));
        for dimension in 1..self.kernel.rank as u8 {
            let extent = self.add(Expr::Builtin(Builtin::BlockExtent, dimension));
            threads = self.binary(BinaryOp::Mul, threads, extent);
        }
        let warp = self.add(Expr::Builtin(Builtin::WarpInBlock, 0));
        let first = self.binary(BinaryOp::Mul, warp, size);
        let rest = self.binary(BinaryOp::Sub, threads, first);
        self.binary(BinaryOp::Min, rest, size)
    }

    fn slot(&mut self, ty: Type) -> SlotId {
        self.kernel.slots.push(Slot { ty, name: None });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    /// The value, in a slot of its own.
    fn held(&mut self, value: ExprId, made: &mut Vec<Stmt>) -> (SlotId, ExprId) {
        let slot = self.slot(self.ty(value));
        made.push(Stmt::Assign { slot, value });
        (slot, self.add(Expr::Slot(slot)))
    }

    fn constant(&self, id: ExprId) -> Option<u64> {
        self.kernel.constant(id).map(|constant| constant.raw)
    }

    /// Whether no lane of a warp is in the mask's word with this number.
    fn is_beyond(&self, word: ExprId) -> bool {
        match (self.constant(word), self.warps.size) {
            (Some(word), Some(size)) => word * 32 >= u64::from(size),
            _ => false,
        }
    }

    /// Whether a number is surely less than the warp's size.
    fn is_below_size(&self, id: ExprId) -> bool {
        let Some(size) = self.warps.size.map(u64::from) else { return false };
        match self.kernel.exprs[id.index()] {
            Expr::Const(constant) => constant.raw < size,
            Expr::Builtin(Builtin::Lane, _) => true,
            Expr::Binary(BinaryOp::And, x, y) => self.is_below_size(x) || self.is_below_size(y),
            _ => false,
        }
    }

    /// A shuffle whose operand may be anything.
    fn shuffle(&mut self, dst: SlotId, value: ExprId, by: By, made: &mut Vec<Stmt>) {
        let operand = if self.warps.shuffles_by_distance {
            if self.is_below_size(by.operand) {
                by.operand
            } else {
                // Beyond the size no lane has another one's value: it is as far away as itself.
                let (size, own) = (self.size(), if by.op == WarpOp::Shuffle { self.lane() } else { self.word(0) });
                let is_below = self.binary(BinaryOp::Lt, by.operand, size);
                self.add(Expr::Select(is_below, by.operand, own))
            }
        } else {
            let lane = self.lane();
            let source = match by.op.shuffle() {
                // With a distance that is a lane's number it is beyond the last lane where it wraps.
                Some(distance @ (ShuffleBy::Up | ShuffleBy::Down)) => {
                    let op = if distance == ShuffleBy::Up { BinaryOp::Sub } else { BinaryOp::Add };
                    let (size, zero) = (self.size(), self.word(0));
                    let is_below = self.binary(BinaryOp::Lt, by.operand, size);
                    let distance = self.add(Expr::Select(is_below, by.operand, zero));
                    self.binary(op, lane, distance)
                }
                Some(ShuffleBy::Xor) => self.binary(BinaryOp::Xor, lane, by.operand),
                Some(ShuffleBy::Lane) | None => by.operand,
            };
            let (source, count) = (self.held(source, made).1, self.count());
            let exists = self.binary(BinaryOp::Lt, source, count);
            self.add(Expr::Select(exists, source, lane))
        };
        let op = if self.warps.shuffles_by_distance { by.op } else { WarpOp::Shuffle };
        self.words(dst, value, By { op, operand, ..by }, made);
    }

    /// A shuffle of a value of any type, by words of 32 bits where the target cannot do it at once.
    fn words(&mut self, dst: SlotId, value: ExprId, by: By, made: &mut Vec<Stmt>) {
        let (ty, By { op, operand, site }) = (self.ty(value), by);
        if (self.warps.shuffles)(ty) {
            return made.push(Stmt::Warp { dst, op, value, operand: Some(operand), site });
        }
        let operand = self.held(operand, made).1;
        let raw = if ty.is_float() { self.add(Expr::Bits(ty.bits_type(), value)) } else { value };
        let mut shuffled = |parts: &mut Self, word: ExprId| {
            let slot = parts.slot(Type::U32);
            made.push(Stmt::Warp { dst: slot, op, value: word, operand: Some(operand), site });
            parts.add(Expr::Slot(slot))
        };
        let low = self.add(Expr::Cast(Type::U32, raw));
        let low = shuffled(self, low);
        let zero = self.word(0);
        let back = if ty.bits() > Type::U32.bits() {
            let (wide, half) = (self.add(Expr::Cast(Type::U64, raw)), self.word(32));
            let high = self.binary(BinaryOp::Shr, wide, half);
            let high = self.add(Expr::Cast(Type::U32, high));
            let high = shuffled(self, high);
            let [low, high] = [low, high].map(|word| self.add(Expr::Cast(Type::U64, word)));
            let high = self.binary(BinaryOp::Shl, high, half);
            self.binary(BinaryOp::Or, low, high)
        } else {
            low
        };
        let back = match ty.kind() {
            TypeKind::Bool => self.binary(BinaryOp::Ne, back, zero),
            TypeKind::Float => {
                let bits = self.converted(ty.bits_type(), back);
                self.add(Expr::Bits(ty, bits))
            }
            TypeKind::Unsigned | TypeKind::Signed => self.converted(ty, back),
        };
        made.push(Stmt::Assign { slot: dst, value: back });
    }

    fn converted(&mut self, to: Type, x: ExprId) -> ExprId {
        if self.ty(x) == to { x } else { self.add(Expr::Cast(to, x)) }
    }

    /// A reduction or a scan by shuffles.
    fn combine(&mut self, dst: SlotId, op: WarpOp, value: ExprId, site: Site, made: &mut Vec<Stmt>) {
        let Some(by) = op.combines() else { return };
        let (slot, sum) = self.held(value, made);
        let (reduces, lane) = (op.kind() == WarpKind::Reduce, self.lane());
        let most = self.warps.size.unwrap_or(MAX_LANES);
        let mut distances: Vec<u32> = (0..most.ilog2()).map(|power| 1 << power).collect();
        if reduces {
            distances.reverse();
        }
        for distance in distances {
            let mut step = Vec::new();
            let (away, other) = (self.word(distance), self.slot(self.ty(value)));
            let op = if reduces { WarpOp::ShuffleDown } else { WarpOp::ShuffleUp };
            self.shuffle(other, sum, By { op, operand: away, site }, &mut step);
            let other = self.add(Expr::Slot(other));
            let exists = if reduces {
                let (source, count) = (self.binary(BinaryOp::Add, lane, away), self.count());
                self.binary(BinaryOp::Lt, source, count)
            } else {
                self.binary(BinaryOp::Ge, lane, away)
            };
            let combined = if reduces { self.binary(by, sum, other) } else { self.binary(by, other, sum) };
            // The least and the greatest of a value and itself are itself.
            let is_idempotent = matches!(by, BinaryOp::Min | BinaryOp::Max | BinaryOp::And | BinaryOp::Or);
            let value = if is_idempotent { combined } else { self.add(Expr::Select(exists, combined, sum)) };
            step.push(Stmt::Assign { slot, value });
            match self.warps.size {
                Some(_) => made.append(&mut step),
                None => {
                    let size = self.size();
                    let condition = self.binary(BinaryOp::Lt, away, size);
                    made.push(Stmt::If { condition, then: step, otherwise: vec![] });
                }
            }
        }
        let zero = self.word(0);
        match op.kind() {
            WarpKind::Reduce => self.shuffle(dst, sum, By { op: WarpOp::Shuffle, operand: zero, site }, made),
            WarpKind::ExclusiveScan => {
                let one = self.word(1);
                self.shuffle(dst, sum, By { op: WarpOp::ShuffleUp, operand: one, site }, made);
                let (below, is_first) = (self.add(Expr::Slot(dst)), self.binary(BinaryOp::Eq, lane, zero));
                let nothing = self.add(Expr::Const(Const { ty: self.ty(value), raw: 0 }));
                let value = self.add(Expr::Select(is_first, nothing, below));
                made.push(Stmt::Assign { slot: dst, value });
            }
            WarpKind::InclusiveScan | WarpKind::Shuffle | WarpKind::Ballot | WarpKind::Vote => {
                made.push(Stmt::Assign { slot: dst, value: sum });
            }
        }
    }
}
