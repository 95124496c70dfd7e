//! Loops with a constant number of turns: they are emitted once for each turn, so that indices of the thread's own
//! arrays are constants and the arrays can be registers.

use wattle_ir::counted::Counted;
use wattle_ir::{Expr, ExprId, Kernel, Label, Place, SlotId, Stmt, Type, eval};

use crate::Lacking;
use crate::assemble::Value;
use crate::emit::Emitter;

/// The greatest weight of an unrolled loop, those of unrolled loops within it counted as often as they stand: of 1024
/// statements.
const MOST_WEIGHT: u64 = 1024 * STATEMENT;
/// The weight of a statement.
pub const STATEMENT: u64 = 4;
/// The weight of an access to an array of the thread's own, which becomes no instruction where the array is registers.
const OWN_ACCESS: u64 = 1;

/// A loop over `from..to` that is emitted turn by turn.
pub struct Unrolled<'k> {
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

/// Returns the loop if the statement is one to unroll; `before` is the statement before it, which begins the count.
pub fn unrollable<'k>(kernel: &Kernel, before: Option<&Stmt>, stmt: &'k Stmt) -> Option<Unrolled<'k>> {
    let found = shape(kernel, before, stmt)?;
    let weight = weight(kernel, found.body).saturating_mul(u64::from(found.to.saturating_sub(found.from)));
    (weight <= MOST_WEIGHT && !assigns(found.body, found.slot)).then_some(found)
}

fn shape<'k>(kernel: &Kernel, before: Option<&Stmt>, stmt: &'k Stmt) -> Option<Unrolled<'k>> {
    let (Stmt::Assign { slot, value: from }, Stmt::Loop { label, body, continuing, bounded: true, .. }) =
        (before?, stmt)
    else {
        return None;
    };
    let from = constant(kernel, *from)?;
    let Counted { counter, step, turn, .. } = Counted::of(kernel, *label, body, continuing)?;
    if counter.slot != *slot || step.stops_at_end || constant(kernel, step.by)? != 1 {
        return None;
    }
    Some(Unrolled { slot: *slot, from, to: constant(kernel, counter.end)?, label: *label, body: turn })
}

/// The weight of a block.
pub fn weight(kernel: &Kernel, block: &[Stmt]) -> u64 {
    let mut before = None;
    let mut sum = 0u64;
    for stmt in block {
        let own: u64 = match unrollable(kernel, before, stmt) {
            Some(inner) => weight(kernel, inner.body).saturating_mul(u64::from(inner.to.saturating_sub(inner.from))),
            // A check counts no more than what is checked.
            None => match stmt.check() {
                Some(check) => weight(kernel, check.within).saturating_sub(STATEMENT),
                None => stmt.blocks().fold(0, |sum, block| sum.saturating_add(weight(kernel, block))),
            },
        };
        let is_own =
            matches!(stmt, Stmt::Load { place: Place::Local(_), .. } | Stmt::Store { place: Place::Local(_), .. });
        sum = sum.saturating_add(own).saturating_add(if is_own { OWN_ACCESS } else { STATEMENT });
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
        match unrollable(kernel, before, stmt) {
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

/// The value of an expression over constants of type `u32` and slots that count unrolled turns, whose values `turn`
/// gives.
pub fn folded(kernel: &Kernel, id: ExprId, turn: &dyn Fn(SlotId) -> Option<u32>) -> Option<u64> {
    match kernel.exprs[id.index()] {
        Expr::Const(_) => constant(kernel, id).map(u64::from),
        Expr::Slot(slot) => turn(slot).map(u64::from),
        Expr::Binary(op, x, y) => {
            let (x, y) = (folded(kernel, x, turn)?, folded(kernel, y, turn)?);
            Some(eval::binary(op, Type::U32, x, y))
        }
        _ => None,
    }
}

/// Whether the expression is a constant in each turn.
pub fn is_constant(kernel: &Kernel, id: ExprId, counters: &[SlotId]) -> bool {
    folded(kernel, id, &|slot| counters.contains(&slot).then_some(0)).is_some()
}

impl Emitter<'_> {
    /// The value of an expression that is a constant in this turn.
    pub(crate) fn constant(&self, id: ExprId) -> Option<u64> {
        folded(self.kernel, id, &|slot| self.counters.get(&slot).copied())
    }

    pub(crate) fn unrolled(&mut self, found: &Unrolled<'_>) -> Result<(), Lacking> {
        let end = self.asm.target();
        let register = self.slot(found.slot);
        self.known.clear();
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
        self.known.clear();
        Ok(())
    }
}
