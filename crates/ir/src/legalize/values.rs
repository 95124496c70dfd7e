//! The expressions of a kernel that is being legalized: none is there twice, and what a target cannot compute as the IR
//! says is computed in parts.

use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::{Converts, Native};
use crate::printing::word_exprs;
use crate::{AtomicLaw, AtomicOp, BinaryOp, Const, Expr, ExprId, Kernel, Place, Slot, SlotId, Type, UnaryOp, eval};

fn bit(slot: SlotId) -> u64 {
    1 << (slot.0 % 64)
}

/// A kernel's expressions, with their types.
pub(super) struct Values<'t> {
    pub(super) kernel: Kernel,
    types: Vec<Type>,
    known: FxHashMap<Expr, ExprId>,
    /// The slots that each expression reads: for each a bit, of its number modulo 64.
    reads: Vec<u64>,
    /// The extents that the kernel asks for.
    extents: Vec<(Place, u8)>,
    native: &'t Native<'t>,
}

impl<'t> Values<'t> {
    /// The expressions of a kernel, and the new name of each.
    pub(super) fn new(kernel: &Kernel, native: &'t Native<'t>) -> (Values<'t>, Vec<ExprId>) {
        let empty = Kernel { exprs: Vec::with_capacity(kernel.exprs.len()), ..kernel.clone() };
        let mut values = Values {
            kernel: empty,
            types: Vec::new(),
            known: FxHashMap::default(),
            reads: Vec::new(),
            extents: Vec::new(),
            native,
        };
        let mut ids: Vec<ExprId> = Vec::with_capacity(kernel.exprs.len());
        for &(mut expr) in &kernel.exprs {
            // The verifier has seen that each refers to earlier ones.
            expr.operands_mut().for_each(|id| *id = ids[id.index()]);
            ids.push(values.legal(expr));
        }
        (values, ids)
    }

    pub(super) fn expr(&self, id: ExprId) -> Expr {
        self.kernel.exprs[id.index()]
    }

    pub(super) fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    pub(super) fn constant(&self, id: ExprId) -> Option<u64> {
        self.kernel.constant(id).map(|constant| constant.raw)
    }

    /// The expression's name, where the kernel has it.
    pub(super) fn known(&self, expr: Expr) -> Option<ExprId> {
        self.known.get(&expr).copied()
    }

    /// The extents that the kernel asks for, and that only a launch knows.
    pub(super) fn extents(&self) -> impl Iterator<Item = (Place, u8)> {
        self.extents.iter().copied()
    }

    /// Whether an expression reads a slot.
    pub(super) fn reads(&self, id: ExprId, slot: SlotId) -> bool {
        if self.reads[id.index()] & bit(slot) == 0 {
            return false;
        }
        let (mut seen, mut found) = (FxHashSet::default(), false);
        self.kernel.walk_expr(id, &mut |id, expr| {
            found |= expr.parts().slot == Some(&slot);
            !found && seen.insert(id)
        });
        found
    }

    /// Adds a slot without a name.
    pub(super) fn slot(&mut self, ty: Type) -> SlotId {
        self.kernel.slots.push(Slot { ty, name: None });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    pub(super) fn add(&mut self, expr: Expr) -> ExprId {
        if let Some(&known) = self.known.get(&expr) {
            return known;
        }
        // What is built here is well typed; `verify` sees to it in debug builds.
        let ty = self.kernel.type_of(&expr, &self.types).unwrap_or(Type::U32);
        let of_operands = expr.operands().fold(0, |reads, id| reads | self.reads[id.index()]);
        self.reads.push(expr.parts().slot.map_or(of_operands, |&slot| bit(slot)));
        if let Expr::Extent(place, dimension) = expr {
            self.extents.push((place, dimension));
        }
        self.kernel.exprs.push(expr);
        self.types.push(ty);
        let id = ExprId(self.types.len() as u32 - 1);
        self.known.insert(expr, id);
        id
    }

    pub(super) fn of(&mut self, ty: Type, raw: u64) -> ExprId {
        self.add(Expr::Const(Const { ty, raw }))
    }

    pub(super) fn word(&mut self, value: u32) -> ExprId {
        self.of(Type::U32, u64::from(value))
    }

    pub(super) fn read(&mut self, slot: SlotId) -> ExprId {
        self.add(Expr::Slot(slot))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, x: ExprId) -> ExprId {
        self.add(Expr::Unary(op, x))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.add(Expr::Binary(op, x, y))
    }

    pub(super) fn select(&mut self, condition: ExprId, x: ExprId, y: ExprId) -> ExprId {
        self.add(Expr::Select(condition, x, y))
    }

    /// An unsigned integer as one of another type.
    pub(super) fn cast(&mut self, to: Type, x: ExprId) -> ExprId {
        match self.expr(x) {
            _ if self.ty(x) == to => x,
            Expr::Const(constant) => self.of(to, eval::cast(constant.ty, to, constant.raw)),
            Expr::Cast(_, from) if self.ty(from) == to && to.bits() < self.ty(x).bits() => from,
            _ => self.add(Expr::Cast(to, x)),
        }
    }

    /// The bits of a value as another type of the same size.
    pub(super) fn bits(&mut self, to: Type, x: ExprId) -> ExprId {
        if self.ty(x) == to { x } else { self.add(Expr::Bits(to, x)) }
    }

    /// A value as the 32-bit words that a device keeps for the host ([`crate::message::words`]).
    pub(super) fn words(&mut self, x: ExprId) -> Vec<ExprId> {
        word_exprs(self.ty(x), x, &mut |expr| self.add(expr))
    }

    /// An expression over operands that are legal.
    fn legal(&mut self, expr: Expr) -> ExprId {
        match expr {
            Expr::Binary(op @ (BinaryOp::Shl | BinaryOp::Shr), x, count) => {
                let count = self.masked(count, self.ty(x).bits() - 1);
                self.binary(op, x, count)
            }
            Expr::Cast(to, x) if to.is_int() && self.ty(x).is_float() => self.converted(to, x),
            Expr::Extent(place, dimension) => match self.kernel.known_extent(place, dimension) {
                Some(extent) => self.word(extent),
                None => self.add(expr),
            },
            other => self.add(other),
        }
    }

    /// The low bits of the count of a shift.
    fn masked(&mut self, count: ExprId, mask: u32) -> ExprId {
        if let Some(constant) = self.constant(count) {
            return self.word(constant as u32 & mask);
        }
        if Facts::default().greatest(self, count) <= u64::from(mask) {
            return count;
        }
        let mask = self.word(mask);
        self.binary(BinaryOp::And, count, mask)
    }

    fn converted(&mut self, to: Type, x: ExprId) -> ExprId {
        let from = self.ty(x);
        let zero = self.of(to, 0);
        match (self.native.converts)(from, to) {
            Converts::All => self.add(Expr::Cast(to, x)),
            Converts::Numbers => {
                let not_a_number = self.unary(UnaryOp::IsNan, x);
                let whole = self.add(Expr::Cast(to, x));
                self.select(not_a_number, zero, whole)
            }
            Converts::Fitting => self.saturated(to, x),
        }
    }

    fn saturated(&mut self, to: Type, x: ExprId) -> ExprId {
        let from = self.ty(x);
        let all = u64::MAX >> (64 - to.bits());
        let (least, greatest) = if to.is_signed() { (1 << (to.bits() - 1), all >> 1) } else { (0, all) };
        // Both bounds are powers of two, or zero, and so are exact: the greatest value and 1 are rounded to one.
        let bound = |raw| eval::cast(to, from, raw);
        let beyond = eval::binary(BinaryOp::Add, from, bound(greatest), eval::one(from));
        let (low, high) = (self.of(from, bound(least)), self.of(from, beyond));
        let reaches = self.binary(BinaryOp::Ge, x, low);
        let stays = self.binary(BinaryOp::Lt, x, high);
        let fits = self.binary(BinaryOp::And, reaches, stays);
        let zero = self.of(from, 0);
        let safe = self.select(fits, x, zero);
        let inside = self.add(Expr::Cast(to, safe));
        // NaN is neither below nor above, and was converted as zero.
        let (below, above) = (self.binary(BinaryOp::Lt, x, low), self.binary(BinaryOp::Ge, x, high));
        let (least, greatest) = (self.of(to, least), self.of(to, greatest));
        let least = self.select(below, least, inside);
        self.select(above, greatest, least)
    }

    /// What an atomic update leaves in memory.
    pub(super) fn updated(&mut self, op: AtomicOp, old: ExprId, operand: ExprId) -> ExprId {
        let ty = self.ty(old);
        match op.law() {
            AtomicLaw::Replaces => operand,
            AtomicLaw::Combines(plain) => self.binary(plain, old, operand),
            AtomicLaw::CountsUp => {
                let (zero, one) = (self.of(ty, 0), self.of(ty, eval::one(ty)));
                let next = self.binary(BinaryOp::Add, old, one);
                let wraps = self.binary(BinaryOp::Ge, old, operand);
                self.select(wraps, zero, next)
            }
            AtomicLaw::CountsDown => {
                let (zero, one) = (self.of(ty, 0), self.of(ty, eval::one(ty)));
                let next = self.binary(BinaryOp::Sub, old, one);
                let is_zero = self.binary(BinaryOp::Eq, old, zero);
                let beyond = self.binary(BinaryOp::Gt, old, operand);
                let wraps = self.binary(BinaryOp::Or, is_zero, beyond);
                self.select(wraps, operand, next)
            }
        }
    }
}
