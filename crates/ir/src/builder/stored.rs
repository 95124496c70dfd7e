//! How values lie in memory while a kernel is built: a truth value is a byte, so the representation has no memory of
//! truth values, and no device needs to know of one.

use super::Builder;
use crate::{BinaryOp, Expr, ExprId, SlotId, Stmt, Type};

impl Builder {
    /// A value of this type, which `load` puts into a slot as it lies in memory. Every byte but 0 is true, also one
    /// that nobody has written.
    pub(super) fn loaded(&self, ty: Type, load: impl FnOnce(SlotId) -> Stmt) -> ExprId {
        let dst = self.declare_slot(ty.stored(), None, false);
        self.push(load(dst));
        let value = self.intern(Expr::Slot(dst));
        if ty == Type::Bool { self.intern(Expr::Binary(BinaryOp::Ne, value, self.zero_of(Type::U8))) } else { value }
    }

    /// A value of this type as it lies in memory.
    pub(super) fn stored(&self, ty: Type, value: ExprId) -> ExprId {
        if ty == Type::Bool { self.intern(Expr::Cast(Type::U8, value)) } else { value }
    }
}
