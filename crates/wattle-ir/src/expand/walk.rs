//! Where expressions are used: by other expressions, and by statements.

use crate::{Expr, ExprId, Stmt};

/// Visits the operands of an expression, in order.
pub(super) fn operands(expr: &mut Expr, visit: &mut impl FnMut(&mut ExprId)) {
    match expr {
        Expr::Const(_) | Expr::Slot(_) | Expr::Param(_) | Expr::Extent(..) | Expr::Builtin(..) => {}
        Expr::Unary(_, x) | Expr::Cast(_, x) | Expr::Bits(_, x) => visit(x),
        Expr::Binary(_, x, y) => {
            visit(x);
            visit(y);
        }
        Expr::Fma(x, y, z) | Expr::Select(x, y, z) => {
            visit(x);
            visit(y);
            visit(z);
        }
    }
}

/// Visits the expressions that statements use, also those inside.
pub(super) fn uses(block: &mut [Stmt], visit: &mut impl FnMut(&mut ExprId)) {
    for stmt in block {
        match stmt {
            Stmt::Assign { value, .. } => visit(value),
            Stmt::Divide { left, right, .. } => {
                visit(left);
                visit(right);
            }
            Stmt::Load { index, .. } | Stmt::AtomicLoad { index, .. } => index.iter_mut().for_each(&mut *visit),
            Stmt::LoadLanes { index, .. } => visit(index),
            Stmt::Store { index, value, .. } | Stmt::AtomicStore { index, value, .. } => {
                index.iter_mut().for_each(&mut *visit);
                visit(value);
            }
            Stmt::AtomicUpdate { index, operand, .. } => {
                index.iter_mut().for_each(&mut *visit);
                visit(operand);
            }
            Stmt::CompareExchange { index, expected, desired, .. } => {
                index.iter_mut().for_each(&mut *visit);
                visit(expected);
                visit(desired);
            }
            Stmt::If { condition, then, otherwise } => {
                visit(condition);
                uses(then, visit);
                uses(otherwise, visit);
            }
            Stmt::Loop { body, continuing, .. } => {
                uses(body, visit);
                uses(continuing, visit);
            }
            Stmt::Block { body, .. } => uses(body, visit),
            Stmt::Assert { condition, .. } => visit(condition),
            Stmt::Fence { .. } | Stmt::Barrier { .. } | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return => {}
        }
    }
}
