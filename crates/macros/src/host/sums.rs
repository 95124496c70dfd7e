//! Sums over a loop, which a kernel with `#[kernel(reassociate)]` permits to add in another order.

use proc_macro2::Ident;
use syn::BinOp;

use crate::ast::{Block, Change, Expr, ExprKind, Local, Pattern, Place, Statement};

/// The variables that an iteration does nothing with but to add to them, once and in any case, and that live on behind
/// the loop. None where an iteration can leave the loop.
pub(super) fn of(body: &Block) -> Vec<Ident> {
    let leaves = |x: &Expr| matches!(x.kind, ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_));
    if body.any(&leaves) {
        return Vec::new();
    }
    let statements = body.statements.iter().filter_map(|statement| match statement {
        Statement::Do(x) => Some(x),
        Statement::Let { .. } | Statement::CallOn { .. } | Statement::Declare { .. } | Statement::Const(_) => None,
    });
    let added = statements.chain(body.value.as_deref()).filter_map(added_to);
    added.filter(|local| is_sum(local, body)).map(|local| local.name.clone()).collect()
}

/// The variable that a statement adds to.
fn added_to(x: &Expr) -> Option<&Local> {
    let ExprKind::AssignWith(change, place, _) = &x.kind else { return None };
    let adds = match change {
        Change::Op(by) => matches!(by.op, BinOp::Add(_)),
        Change::Fused(name) => name == "add_mul",
    };
    match &**place {
        Place::Variable(local, fields) if adds && fields.is_empty() => Some(local),
        Place::Variable(..) | Place::Index(..) | Place::Element(..) | Place::Part { .. } | Place::Deref(_) => None,
    }
}

/// Whether the body has no other use of the variable, which is one from outside of it.
fn is_sum(local: &Local, body: &Block) -> bool {
    if local.is_reference || !local.mutable {
        return false;
    }
    let (mut named, mut assigned) = (0, 0);
    body.walk(&mut |x| {
        named += usize::from(matches!(&x.kind, ExprKind::Local(found) if found.number == local.number));
        if let ExprKind::Assign(place, _) | ExprKind::AssignWith(_, place, _) = &x.kind
            && let Place::Variable(found, _) = &**place
        {
            assigned += usize::from(found.number == local.number);
        }
    });
    let is_own = body.statements.iter().any(|statement| match statement {
        Statement::Let { pattern, .. } | Statement::CallOn { pattern, .. } => binds(pattern, local.number),
        Statement::Declare { local: own, .. } => own.number == local.number,
        Statement::Do(_) | Statement::Const(_) => false,
    });
    named == 0 && assigned == 1 && !is_own
}

fn binds(pattern: &Pattern, number: usize) -> bool {
    match pattern {
        Pattern::Local(local) => local.number == number,
        Pattern::At(local, inner) => local.number == number || binds(inner, number),
        Pattern::Tuple(all, _) | Pattern::Array(all, _) | Pattern::Or(all) => {
            all.iter().any(|part| binds(part, number))
        }
        Pattern::Struct { fields, .. } => fields.iter().any(|(_, part)| binds(part, number)),
        Pattern::Wild(_) | Pattern::Rest(_) | Pattern::Value(_) | Pattern::Range { .. } => false,
    }
}
