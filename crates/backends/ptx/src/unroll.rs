//! Loops with a constant number of turns: they are emitted once for each turn, so that indices of the thread's own
//! arrays are constants and the arrays can be registers.

use wattle_ir::{BinaryOp, Expr, ExprId, Kernel, Label, SlotId, Stmt, Type};

use crate::Lacking;
use crate::assemble::Value;
use crate::emit::Emitter;

/// The most statements that an unrolled loop becomes, those of unrolled loops within it counted as often as they stand.
const MOST_STATEMENTS: u64 = 1024;

/// A loop over `from..to`.
pub struct Counted<'k> {
    slot: SlotId,
    from: u32,
    to: u32,
    label: Label,
    /// The statements of each turn, without the test.
    body: &'k [Stmt],
}

fn constant(kernel: &Kernel, id: ExprId) -> Option<u32> {
    match kernel.exprs[id.index()] {
        Expr::Const(constant) if constant.ty == Type::U32 => Some(constant.raw as u32),
        _ => None,
    }
}

fn is_slot(kernel: &Kernel, id: ExprId, slot: SlotId) -> bool {
    kernel.exprs[id.index()] == Expr::Slot(slot)
}

/// Returns the loop if the statement is one to unroll; `before` is the statement before it, which begins the count.
pub fn counted<'k>(kernel: &Kernel, before: Option<&Stmt>, stmt: &'k Stmt) -> Option<Counted<'k>> {
    let found = shape(kernel, before, stmt)?;
    let weight = weight(kernel, found.body).saturating_mul(u64::from(found.to.saturating_sub(found.from)));
    (weight <= MOST_STATEMENTS && !assigns(found.body, found.slot)).then_some(found)
}

fn shape<'k>(kernel: &Kernel, before: Option<&Stmt>, stmt: &'k Stmt) -> Option<Counted<'k>> {
    let (Stmt::Assign { slot, value: from }, Stmt::Loop { label, body, continuing, bounded: true, .. }) =
        (before?, stmt)
    else {
        return None;
    };
    let from = constant(kernel, *from)?;
    let [Stmt::Assign { slot: stepped, value: next }] = continuing.as_slice() else { return None };
    let Expr::Binary(BinaryOp::Add, x, step) = kernel.exprs[next.index()] else { return None };
    if stepped != slot || !is_slot(kernel, x, *slot) || constant(kernel, step)? != 1 {
        return None;
    }
    let (Stmt::If { condition, then, otherwise }, body) = body.split_first()? else { return None };
    let breaks = |block: &[Stmt]| *block == [Stmt::Break(*label)];
    let (x, to) = match kernel.exprs[condition.index()] {
        Expr::Binary(BinaryOp::Lt, x, to) if then.is_empty() && breaks(otherwise) => (x, to),
        Expr::Binary(BinaryOp::Ge, x, to) if breaks(then) && otherwise.is_empty() => (x, to),
        _ => return None,
    };
    if !is_slot(kernel, x, *slot) {
        return None;
    }
    Some(Counted { slot: *slot, from, to: constant(kernel, to)?, label: *label, body })
}

fn weight(kernel: &Kernel, block: &[Stmt]) -> u64 {
    let mut before = None;
    let mut sum = 0u64;
    for stmt in block {
        let own: u64 = match counted(kernel, before, stmt) {
            Some(inner) => weight(kernel, inner.body).saturating_mul(u64::from(inner.to.saturating_sub(inner.from))),
            None => stmt.blocks().fold(0, |sum, block| sum.saturating_add(weight(kernel, block))),
        };
        sum = sum.saturating_add(own).saturating_add(1);
        before = Some(stmt);
    }
    sum
}

/// Whether something in the block sets the slot.
fn assigns(block: &[Stmt], slot: SlotId) -> bool {
    block.iter().any(|stmt| stmt.assigned() == Some(slot) || stmt.blocks().any(|block| assigns(block, slot)))
}

/// Visits every statement with the slots that count unrolled turns around it.
pub fn walk_unrolled(
    kernel: &Kernel,
    block: &[Stmt],
    counters: &mut Vec<SlotId>,
    see: &mut dyn FnMut(&Stmt, &[SlotId]),
) {
    let mut before = None;
    for stmt in block {
        see(stmt, counters);
        match counted(kernel, before, stmt) {
            Some(found) => {
                counters.push(found.slot);
                walk_unrolled(kernel, found.body, counters, see);
                counters.pop();
            }
            None => {
                for inner in stmt.blocks() {
                    walk_unrolled(kernel, inner, counters, see);
                }
            }
        }
        before = Some(stmt);
    }
}

/// Whether the expression is a constant in each turn: what [`folded`] makes of constants and counts.
pub fn is_constant(kernel: &Kernel, id: ExprId, counters: &[SlotId]) -> bool {
    match kernel.exprs[id.index()] {
        Expr::Const(_) => true,
        Expr::Slot(slot) => counters.contains(&slot),
        Expr::Binary(op, x, y) => {
            let folds = folded(op, Value::word(0), Value::word(0)).is_some();
            folds && is_constant(kernel, x, counters) && is_constant(kernel, y, counters)
        }
        _ => false,
    }
}

/// The result of an operator on two constants of type `u32`.
pub fn folded(op: BinaryOp, x: Value, y: Value) -> Option<Value> {
    let (Value::Constant(Type::U32, x), Value::Constant(Type::U32, y)) = (x, y) else { return None };
    let (x, y) = (x as u32, y as u32);
    Some(Value::word(match op {
        BinaryOp::Add => x.wrapping_add(y),
        BinaryOp::Sub => x.wrapping_sub(y),
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        BinaryOp::Shl => x.wrapping_shl(y),
        BinaryOp::Shr => x.wrapping_shr(y),
        _ => return None,
    }))
}

impl Emitter<'_> {
    pub(crate) fn unrolled(&mut self, found: &Counted<'_>) -> Result<(), Lacking> {
        let end = self.asm.target();
        let register = self.slot(found.slot);
        for turn in found.from..found.to {
            let continues = self.asm.target();
            self.flow.surround(found.label, end, Some(continues));
            self.counters.insert(found.slot, turn);
            // The slot may be read behind the loop.
            self.copy(register, Value::word(turn));
            let made = self.block(found.body);
            self.counters.remove(&found.slot);
            made?;
            self.asm.place(continues);
        }
        self.copy(register, Value::word(found.from.max(found.to)));
        self.asm.place(end);
        Ok(())
    }
}
