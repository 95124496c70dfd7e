//! Builders for expressions, constants, slots, labels and lines.

use wattle_ir::{BinaryOp, Const, Expr, ExprId, Label, Scalar, Site, Slot, SlotId, Stmt, Type, UnaryOp};

use super::{FILE, Generator};

impl Generator<'_> {
    /// Adds the expression; one that is there already is used again.
    pub(super) fn push(&mut self, ty: Type, expr: Expr) -> ExprId {
        if let Some(&known) = self.known.get(&expr) {
            return known;
        }
        let size = expr.operands().map(|part| self.sizes[part.index()]).fold(1, u32::saturating_add);
        let uniform = match expr {
            Expr::Slot(slot) => self.uniform_slots.contains(&slot),
            Expr::Builtin(builtin, _) => {
                use wattle_ir::Builtin::{Lane, ThreadInBlock, WarpInBlock};
                !matches!(builtin, ThreadInBlock | Lane | WarpInBlock)
            }
            Expr::Const(_)
            | Expr::Param(_)
            | Expr::Extent(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Ternary(..)
            | Expr::Select(..)
            | Expr::Cast(..)
            | Expr::Bits(..) => expr.operands().all(|part| self.uniform[part.index()]),
        };
        let id = ExprId(self.kernel.exprs.len() as u32);
        self.known.insert(expr, id);
        self.kernel.exprs.push(expr);
        self.types.push(ty);
        self.sizes.push(size);
        self.uniform.push(uniform);
        id
    }

    pub(super) fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    pub(super) fn unary(&mut self, op: UnaryOp, x: ExprId) -> ExprId {
        let ty = op.result(self.ty(x)).unwrap_or(Type::U32);
        self.push(ty, Expr::Unary(op, x))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        let ty = op.result(self.ty(x), self.ty(y)).unwrap_or(Type::U32);
        self.push(ty, Expr::Binary(op, x, y))
    }

    pub(super) fn select(&mut self, condition: ExprId, x: ExprId, y: ExprId) -> ExprId {
        self.push(self.ty(x), Expr::Select(condition, x, y))
    }

    pub(super) fn cast(&mut self, to: Type, x: ExprId) -> ExprId {
        self.push(to, Expr::Cast(to, x))
    }

    pub(super) fn raw(&mut self, ty: Type, raw: u64) -> ExprId {
        self.push(ty, Expr::Const(Const { ty, raw }))
    }

    pub(super) fn number_of<T: Scalar>(&mut self, value: T) -> ExprId {
        self.raw(T::TYPE, value.to_raw())
    }

    pub(super) fn u32(&mut self, value: u32) -> ExprId {
        self.number_of(value)
    }

    pub(super) fn zero(&mut self, ty: Type) -> ExprId {
        self.raw(ty, 0)
    }

    /// Makes a product with a number that is known, in `u32`.
    pub(super) fn times(&mut self, x: ExprId, factor: u32) -> ExprId {
        if factor == 1 {
            return x;
        }
        let factor = self.u32(factor);
        self.binary(BinaryOp::Mul, x, factor)
    }

    pub(super) fn slot(&mut self, ty: Type, name: Option<&'static str>) -> SlotId {
        self.kernel.slots.push(Slot { ty, name });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    pub(super) fn value_of(&mut self, slot: SlotId) -> ExprId {
        self.push(self.slot_type(slot), Expr::Slot(slot))
    }

    pub(super) fn slot_type(&self, slot: SlotId) -> Type {
        self.kernel.slots[slot.index()].ty
    }

    pub(super) fn of_type(&self, slots: &[SlotId], ty: Type) -> Vec<SlotId> {
        slots.iter().copied().filter(|&slot| self.slot_type(slot) == ty).collect()
    }

    /// Makes a slot that random statements set.
    pub(super) fn var(&mut self, ty: Type) -> SlotId {
        let there = self.of_type(&self.vars, ty);
        if there.len() >= 2 || (!there.is_empty() && self.random.coin()) {
            return self.random.pick(&there);
        }
        let name = self.random.choose(&[Some("x"), Some("y"), None]).flatten();
        let slot = self.slot(ty, name);
        self.vars.push(slot);
        slot
    }

    /// Makes a slot that has the same value in the whole block.
    pub(super) fn uniform_var(&mut self, ty: Type) -> SlotId {
        let there = self.of_type(&self.uniform_vars, ty);
        if let Some(slot) = self.random.choose(&there) {
            return slot;
        }
        let slot = self.slot(ty, Some("same"));
        self.uniform_vars.push(slot);
        self.uniform_slots.push(slot);
        slot
    }

    /// Makes a slot that nothing reads.
    pub(super) fn sink(&mut self, ty: Type) -> SlotId {
        if let Some(&slot) = self.of_type(&self.sinks, ty).first() {
            return slot;
        }
        let slot = self.slot(ty, Some("unread"));
        self.sinks.push(slot);
        slot
    }

    /// Returns the slot of that number for a part of an index.
    pub(super) fn temp(&mut self, number: usize) -> SlotId {
        while self.temps.len() <= number {
            let slot = self.slot(Type::U32, None);
            self.temps.push(slot);
        }
        self.temps[number]
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    /// Makes a site with a new line.
    pub(super) fn site(&mut self) -> Site {
        self.line += 1;
        Site { file: FILE, line: self.line, column: 1 }
    }

    pub(super) fn assign(&mut self, slot: SlotId, value: ExprId, out: &mut Vec<Stmt>) {
        out.push(Stmt::Assign { slot, value });
    }

    /// Decides whether a thread may do what it must not, here.
    pub(super) fn wrong(&mut self) -> bool {
        self.profile.faults && self.random.one_in(10)
    }

    /// Runs `make` so that it uses only values that are the same for the whole block.
    pub(super) fn uniformly<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.uniform_only, true);
        let made = make(self);
        self.uniform_only = before;
        made
    }
}
