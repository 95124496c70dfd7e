//! Blocks, statements and the expressions that they use, by number.

use wattle_ir::{ExprId, Place, SlotId, Stmt};

/// The blocks within a statement.
pub(super) fn inner_blocks(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
        Stmt::Loop { body, continuing, .. } => vec![body, continuing],
        Stmt::Block { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Calls `edit` with the block of that number, where the outermost one has number 0 and each comes before those within.
/// Whether there is one.
pub(super) fn edit_block(body: &mut Vec<Stmt>, number: usize, edit: &mut dyn FnMut(&mut Vec<Stmt>)) -> bool {
    fn find(block: &mut Vec<Stmt>, left: &mut usize, edit: &mut dyn FnMut(&mut Vec<Stmt>)) -> bool {
        if *left == 0 {
            edit(block);
            return true;
        }
        *left -= 1;
        block.iter_mut().flat_map(inner_blocks).any(|inner| find(inner, left, edit))
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

/// Calls `visit` with each statement, those within others included.
pub(super) fn each(block: &mut [Stmt], visit: &mut dyn FnMut(&mut Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in inner_blocks(stmt) {
            each(inner, visit);
        }
    }
}

/// The expressions that a statement itself uses.
pub(super) fn operands(stmt: &mut Stmt) -> Vec<&mut ExprId> {
    match stmt {
        Stmt::Assign { value, .. } => vec![value],
        Stmt::Divide { left, right, .. } => vec![left, right],
        Stmt::Load { index, .. } | Stmt::AtomicLoad { index, .. } => index.iter_mut().collect(),
        Stmt::LoadLanes { index, .. } => vec![index],
        Stmt::Store { index, value, .. } | Stmt::AtomicStore { index, value, .. } => {
            index.iter_mut().chain([value]).collect()
        }
        Stmt::AtomicUpdate { index, operand, .. } => index.iter_mut().chain([operand]).collect(),
        Stmt::CompareExchange { index, expected, desired, .. } => index.iter_mut().chain([expected, desired]).collect(),
        Stmt::If { condition, .. } | Stmt::Assert { condition, .. } => vec![condition],
        Stmt::Fence { .. }
        | Stmt::Barrier { .. }
        | Stmt::Loop { .. }
        | Stmt::Block { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return => Vec::new(),
    }
}

/// The slot that a statement sets.
pub(super) fn target(stmt: &mut Stmt) -> Option<&mut SlotId> {
    match stmt {
        Stmt::Assign { slot, .. } => Some(slot),
        Stmt::Divide { dst, .. }
        | Stmt::Load { dst, .. }
        | Stmt::AtomicLoad { dst, .. }
        | Stmt::AtomicUpdate { dst, .. }
        | Stmt::CompareExchange { dst, .. } => Some(dst),
        _ => None,
    }
}

/// The memory that a statement touches.
pub(super) fn place(stmt: &mut Stmt) -> Option<&mut Place> {
    match stmt {
        Stmt::Load { place, .. }
        | Stmt::LoadLanes { place, .. }
        | Stmt::Store { place, .. }
        | Stmt::AtomicLoad { place, .. }
        | Stmt::AtomicStore { place, .. }
        | Stmt::AtomicUpdate { place, .. }
        | Stmt::CompareExchange { place, .. } => Some(place),
        _ => None,
    }
}

/// Calls `visit` with the use of an expression that has that number among all of the kernel.
fn with_operand(body: &mut [Stmt], number: usize, visit: &mut dyn FnMut(&mut ExprId)) {
    let mut left = Some(number);
    each(body, &mut |stmt| {
        for id in operands(stmt) {
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
