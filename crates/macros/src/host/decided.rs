//! Branches of a loop's body that all numbers of the loop take the same way, so that the loop is written without them.

use crate::ast::{Expr, ExprKind};

/// The outcome of a branch's condition, where it is the same for all numbers of a loop.
#[derive(Clone, Copy)]
pub(super) struct Decided {
    /// The branch; it is compared, never followed.
    pub(super) branch: *const Expr,
    pub(super) holds: bool,
}

impl Decided {
    pub(super) fn is(&self, x: &Expr) -> bool {
        std::ptr::eq(self.branch, x)
    }

    /// Calls `visit` with the condition, which needs no test, and with all that is not done.
    pub(super) fn walk_dead<'e>(&self, branch: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
        let ExprKind::If { condition, then, otherwise } = &branch.kind else { return };
        condition.walk(visit);
        match (self.holds, otherwise) {
            (true, Some(otherwise)) => otherwise.walk(visit),
            (true, None) => {}
            (false, _) => then.walk(visit),
        }
    }
}
