//! Counted loops: what `while` and `for` loops are in statements.
//!
//! Such a loop begins each turn with a test that leaves it ([`HeadTest`]). Where the test is `slot < end` it has a
//! counter ([`Counter`]), and where nothing but a step of that counter stands between turns it is counted
//! ([`Counted`]). What else must hold depends on the use: whether the turn sets the counter too, and what the counter
//! is at first, are questions for whoever asks.

use crate::{BinaryOp, Expr, ExprId, Kernel, Label, SlotId, Stmt};

/// The test of a loop before all else: `if c { break }`, or `if c {} else { break }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadTest {
    /// The condition that is tested.
    pub condition: ExprId,
    /// Whether the loop is left where the condition holds, or where it does not.
    pub leaves_if: bool,
}

impl HeadTest {
    /// The test at the head of the loop with this label and body, if there is one. It is the body's first statement.
    pub fn of(label: Label, body: &[Stmt]) -> Option<HeadTest> {
        let Some(Stmt::If { condition, then, otherwise }) = body.first() else { return None };
        let breaks = |block: &[Stmt]| *block == [Stmt::Break(label)];
        let leaves_if = match (then.as_slice(), otherwise.as_slice()) {
            (then, []) if breaks(then) => true,
            ([], otherwise) if breaks(otherwise) => false,
            _ => return None,
        };
        Some(HeadTest { condition: *condition, leaves_if })
    }
}

/// The counter of a loop that is left before each turn unless `slot < end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The slot that counts.
    pub slot: SlotId,
    /// The slot as the test reads it.
    pub read: ExprId,
    /// The bound of the counter: the loop is left once the counter is not less.
    pub end: ExprId,
}

impl Counter {
    /// The counter of the loop with this label and body, if it has one.
    pub fn of(kernel: &Kernel, label: Label, body: &[Stmt]) -> Option<Counter> {
        let HeadTest { condition, leaves_if } = HeadTest::of(label, body)?;
        let (read, end) = match (kernel.exprs[condition.index()], leaves_if) {
            (Expr::Binary(BinaryOp::Lt, read, end), false) | (Expr::Binary(BinaryOp::Ge, read, end), true) => {
                (read, end)
            }
            _ => return None,
        };
        let Expr::Slot(slot) = kernel.exprs[read.index()] else { return None };
        Some(Counter { slot, read, end })
    }

    /// The step of a counter whose next value is this expression: `slot + by`, or `slot + by` where that is below the
    /// end and else the end.
    pub fn step(&self, kernel: &Kernel, next: ExprId) -> Option<Step> {
        let expr = |id: ExprId| kernel.exprs[id.index()];
        let is_counter = |id: ExprId| expr(id) == Expr::Slot(self.slot);
        match expr(next) {
            Expr::Binary(BinaryOp::Add, x, by) if is_counter(x) => Some(Step { by, stops_at_end: false }),
            // `if end - slot > by { slot + by } else { end }`, which cannot wrap.
            Expr::Select(more, added, last) => {
                let (Expr::Binary(BinaryOp::Gt, left, by), Expr::Binary(BinaryOp::Add, x, added)) =
                    (expr(more), expr(added))
                else {
                    return None;
                };
                let Expr::Binary(BinaryOp::Sub, whole, before) = expr(left) else { return None };
                // An expression is in a legal kernel once, so the same number is the same expression.
                let fits = is_counter(x) && is_counter(before) && by == added && whole == self.end && last == self.end;
                fits.then_some(Step { by, stops_at_end: true })
            }
            _ => None,
        }
    }
}

/// How a counter moves on from turn to turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is added to the counter in each turn.
    pub by: ExprId,
    /// Whether the counter becomes the end where the sum would be at or beyond it.
    pub stops_at_end: bool,
}

/// A loop between whose turns its counter is stepped, and nothing else is done.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'k> {
    /// The counter.
    pub counter: Counter,
    /// How the counter moves on.
    pub step: Step,
    /// The expression of the counter's next value.
    pub next: ExprId,
    /// The statements of each turn, without the test.
    pub turn: &'k [Stmt],
}

impl<'k> Counted<'k> {
    /// The counted loop of these parts, if it is one.
    pub fn of(kernel: &Kernel, label: Label, body: &'k [Stmt], continuing: &[Stmt]) -> Option<Counted<'k>> {
        let [Stmt::Assign { slot, value: next }] = *continuing else { return None };
        let counter = Counter::of(kernel, label, body).filter(|counter| counter.slot == slot)?;
        let step = counter.step(kernel, next)?;
        Some(Counted { counter, step, next, turn: &body[1..] })
    }
}
