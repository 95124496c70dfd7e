//! New numbers for the expressions of a kernel, after a pass over it.

use crate::visit::walk_mut;
use crate::{ExprId, Kernel, Stmt};

/// The new name of an expression; one that does not exist, which no verified kernel uses, keeps its own.
pub(crate) fn renamed(ids: &[ExprId], id: ExprId) -> ExprId {
    ids.get(id.index()).copied().unwrap_or(id)
}

/// Gives the expressions that statements use their new names.
pub(crate) fn rename(block: &mut [Stmt], ids: &[ExprId]) {
    walk_mut(block, &mut |stmt| stmt.operands_mut().for_each(|id| *id = renamed(ids, *id)));
}

/// Drops the expressions that no statement uses, directly or by others; returns the new number of each one that is
/// kept.
pub(crate) fn drop_unused(kernel: &mut Kernel) -> Vec<Option<ExprId>> {
    let mut used = vec![false; kernel.exprs.len()];
    let mark = |used: &mut [bool], id: ExprId| {
        if let Some(used) = used.get_mut(id.index()) {
            *used = true;
        }
    };
    kernel.walk(&mut |stmt| stmt.operands().for_each(|id| mark(&mut used, *id)));
    for (number, expr) in kernel.exprs.iter().enumerate().rev() {
        if used[number] {
            expr.operands().for_each(|id| mark(&mut used, *id));
        }
    }
    let (mut kept, mut ids) = (Vec::new(), Vec::with_capacity(used.len()));
    for (&(mut expr), used) in kernel.exprs.iter().zip(&used) {
        ids.push(ExprId(kept.len() as u32));
        if *used {
            expr.operands_mut().for_each(|id| *id = renamed(&ids, *id));
            kept.push(expr);
        }
    }
    rename(&mut kernel.body, &ids);
    kernel.exprs = kept;
    ids.into_iter().zip(used).map(|(id, used)| used.then_some(id)).collect()
}
