//! Sums over a loop, which a kernel with `#[kernel(reassociate)]` permits to add in another order.

use proc_macro2::Ident;
use syn::BinOp;

use crate::ast::{Block, Expr, ExprKind, Local, Pattern, Place, Statement};
use crate::rules::is_fused;

/// The variables that an iteration does nothing with but to add to them, once and in any case, and that live on behind the
/// loop. None where an iteration can leave the loop.
pub(super) fn of(body: &Block) -> Vec<Ident> {
    let leaves = |x: &Expr| matches!(x.kind, ExprKind::Break { .. } | ExprKind::Continue(_) | ExprKind::Return(_));
    if body.any(&leaves) {
        return Vec::new();
    }
    let statements = body.statements.iter().filter_map(|statement| match statement {
        Statement::Do(x) => Some(x),
        Statement::Let { .. } | Statement::Const(_) => None,
    });
    let added = statements.chain(body.value.as_deref()).filter_map(added_to);
    added.filter(|(local, own)| is_sum(local, *own, body)).map(|(local, _)| local.name.clone()).collect()
}

/// The variable that a statement adds to, and how often it names it besides as the place.
fn added_to(x: &Expr) -> Option<(&Local, usize)> {
    let variable = |place: &'_ Place| matches!(place, Place::Variable(_, fields) if fields.is_empty());
    match &x.kind {
        ExprKind::AssignWith(BinOp::Add(_), place, _) if variable(place) => match &**place {
            Place::Variable(local, _) => Some((local, 0)),
            Place::Index(..) | Place::Element(..) | Place::Part { .. } | Place::Deref(_) => None,
        },
        ExprKind::Assign(place, value) => match (&**place, &value.kind) {
            (Place::Variable(local, fields), ExprKind::Math { name, operands }) if fields.is_empty() => {
                let first = operands.first().map(|first| &first.kind);
                let own = matches!(first, Some(ExprKind::Local(first)) if first.number == local.number);
                (is_fused(name) && name == "add_mul" && own).then_some((local, 1))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether the body has no other use of the variable, which is one from outside of it.
fn is_sum(local: &Local, own: usize, body: &Block) -> bool {
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
        Statement::Let { pattern, .. } => binds(pattern, local.number),
        Statement::Do(_) | Statement::Const(_) => false,
    });
    named == own && assigned == 1 && !is_own
}

fn binds(pattern: &Pattern, number: usize) -> bool {
    match pattern {
        Pattern::Local(local) => local.number == number,
        Pattern::At(local, inner) => local.number == number || binds(inner, number),
        Pattern::Tuple(all) | Pattern::Array(all) | Pattern::Or(all) => all.iter().any(|part| binds(part, number)),
        Pattern::Struct { fields, .. } => fields.iter().any(|(_, part)| binds(part, number)),
        Pattern::Wild(_) | Pattern::Value(_) | Pattern::Range { .. } => false,
    }
}
