//! Blocks, statements and the expressions that they use, by number.

use wattle_ir::visit::walk_mut;
use wattle_ir::{ExprId, Stmt};

/// Calls `edit` with the block of that number, where the outermost one has number 0 and each comes before those within.
/// Whether there is one.
pub(super) fn edit_block(body: &mut Vec<Stmt>, number: usize, edit: &mut dyn FnMut(&mut Vec<Stmt>)) -> bool {
    fn find(block: &mut Vec<Stmt>, left: &mut usize, edit: &mut dyn FnMut(&mut Vec<Stmt>)) -> bool {
        if *left == 0 {
            edit(block);
            return true;
        }
        *left -= 1;
        block.iter_mut().flat_map(Stmt::blocks_mut).any(|inner| find(inner, left, edit))
    }
    let mut left = number;
    find(body, &mut left, edit)
}

/// The number of statements in the block of that number.
pub(super) fn block_len(body: &mut Vec<Stmt>, number: usize) -> Option<usize> {
    let mut len = None;
    edit_block(body, number, &mut |block| len = Some(block.len()));
    len
}

/// Calls `visit` with the use of an expression that has that number among all of the kernel.
fn with_operand(body: &mut [Stmt], number: usize, visit: &mut dyn FnMut(&mut ExprId)) {
    let mut left = Some(number);
    walk_mut(body, &mut |stmt| {
        for id in stmt.operands_mut() {
            match left {
                Some(0) => {
                    visit(id);
                    left = None;
                }
                Some(more) => left = Some(more - 1),
                None => return,
            }
        }
    });
}

/// The expression that is used there.
pub(super) fn operand(body: &mut [Stmt], number: usize) -> Option<ExprId> {
    let mut found = None;
    with_operand(body, number, &mut |id| found = Some(*id));
    found
}

/// Uses another expression there.
pub(super) fn set_operand(body: &mut [Stmt], number: usize, id: ExprId) {
    with_operand(body, number, &mut |there| *there = id);
}
