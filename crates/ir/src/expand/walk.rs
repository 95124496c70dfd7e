//! Where expressions are used: by other expressions, and by statements.

use crate::{Expr, ExprId, SlotId, Stmt};

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

/// The blocks within a statement.
pub(super) fn blocks(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop { body, continuing, .. } => vec![body, continuing],
        Stmt::Block { body, .. } => vec![body],
        Stmt::Assign { .. }
        | Stmt::Divide { .. }
        | Stmt::Load { .. }
        | Stmt::LoadLanes { .. }
        | Stmt::Store { .. }
        | Stmt::AtomicLoad { .. }
        | Stmt::AtomicStore { .. }
        | Stmt::AtomicUpdate { .. }
        | Stmt::CompareExchange { .. }
        | Stmt::Fence { .. }
        | Stmt::Barrier { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return
        | Stmt::Assert { .. } => Vec::new(),
    }
}

/// Visits the expressions that statements use, also those inside.
pub(super) fn uses(block: &mut [Stmt], visit: &mut impl FnMut(&mut ExprId)) {
    for stmt in block {
        own_uses(stmt, visit);
        blocks(stmt).into_iter().for_each(|inner| uses(inner, visit));
    }
}

/// Visits the expressions that a statement uses, without those inside.
pub(super) fn own_uses(stmt: &mut Stmt, visit: &mut impl FnMut(&mut ExprId)) {
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
        Stmt::If { condition, .. } | Stmt::Assert { condition, .. } => visit(condition),
        Stmt::Loop { .. }
        | Stmt::Block { .. }
        | Stmt::Fence { .. }
        | Stmt::Barrier { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return => {}
    }
}

/// Visits the slots that statements set, also those inside.
pub(super) fn assigned(block: &mut [Stmt], visit: &mut impl FnMut(&mut SlotId)) {
    for stmt in block {
        match stmt {
            Stmt::Assign { slot, .. } => visit(slot),
            Stmt::Divide { dst, .. }
            | Stmt::Load { dst, .. }
            | Stmt::AtomicLoad { dst, .. }
            | Stmt::AtomicUpdate { dst, .. }
            | Stmt::CompareExchange { dst, .. } => visit(dst),
            Stmt::LoadLanes { .. }
            | Stmt::Store { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::If { .. }
            | Stmt::Loop { .. }
            | Stmt::Block { .. }
            | Stmt::Fence { .. }
            | Stmt::Barrier { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Assert { .. } => {}
        }
        blocks(stmt).into_iter().for_each(|inner| assigned(inner, visit));
    }
}
