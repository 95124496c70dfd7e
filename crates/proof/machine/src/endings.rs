//! Loops without a bound that end all the same, whatever memory holds.
//!
//! Each turn of such a loop takes a counter one step up or down, and a turn in which the counter has come to a value
//! that the loop does not change leaves it, or is the last but one: `while flag.load(0) == 0 && tries < 8 { tries += 1;
//! }`. In steps of one a counter comes to every value, before its step in one turn and behind it in another.

use std::collections::{HashMap, HashSet};

use wattle_ir::visit::{Jump, walk};
use wattle_ir::{BinaryOp, Expr, ExprId, Kernel, Label, SlotId, Stmt, Type, UnaryOp};

/// The most expressions that one question looks at.
const MOST_LOOKS: usize = 256;

/// The loops that end, of those without a bound.
pub(crate) fn ending_loops(kernel: &Kernel) -> HashSet<Label> {
    let mut ending = HashSet::new();
    kernel.walk(&mut |stmt| {
        if let Stmt::Loop { label, body, continuing, bounded: false, .. } = stmt
            && Turn::new(kernel, *label, body, continuing).is_limited()
        {
            ending.insert(*label);
        }
    });
    ending
}

/// The direction in which a counter goes.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Up,
    Down,
}

/// A comparison that comes to have a value, where the counter in it is compared before its step or behind it.
#[derive(Clone, Copy)]
struct Decided {
    comparison: ExprId,
    value: bool,
    counter: SlotId,
    is_before: bool,
}

/// The truth values that are known at a place, by their slots; `None` where no thread comes.
type KnownFlags = Option<HashMap<SlotId, bool>>;

/// What is known where two ways meet.
fn joined(one: KnownFlags, other: KnownFlags) -> KnownFlags {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.retain(|slot, value| other.get(slot) == Some(value));
            Some(one)
        }
        (one, None) => one,
        (None, other) => other,
    }
}

/// A turn of a loop.
struct Turn<'k> {
    kernel: &'k Kernel,
    label: Label,
    body: &'k [Stmt],
    continuing: &'k [Stmt],
    /// The slots that it sets.
    set: HashSet<SlotId>,
}

impl<'k> Turn<'k> {
    fn new(kernel: &'k Kernel, label: Label, body: &'k [Stmt], continuing: &'k [Stmt]) -> Turn<'k> {
        let mut set = HashSet::new();
        let mut sets = |stmt: &Stmt| set.extend(stmt.parts().slot.copied());
        walk(body, &mut sets);
        walk(continuing, &mut sets);
        Turn { kernel, label, body, continuing, set }
    }

    /// Whether there is a last turn.
    fn is_limited(&self) -> bool {
        let counters: HashMap<SlotId, Counts> =
            self.set.iter().filter_map(|&slot| Some((slot, self.counter(slot)?))).collect();
        let ends = |decided: Option<Decided>| match self.run(Some(HashMap::new()), decided) {
            None => true,
            // Where it counts has decided what the next turn does, if anything has.
            again => self.run(again, None).is_none(),
        };
        let all = (0..self.kernel.exprs.len()).map(|id| ExprId(id as u32));
        let decided = all.filter_map(|id| self.decides(id, &counters));
        let mut both = decided.flat_map(|found| [true, false].map(|is_before| Decided { is_before, ..found }));
        ends(None) || both.any(|decided| ends(Some(decided)))
    }

    /// How the slot counts, if every turn takes it one step and nothing else sets it.
    fn counter(&self, slot: SlotId) -> Option<Counts> {
        let mut times = 0;
        let mut count = |stmt: &Stmt| times += usize::from(stmt.parts().slot == Some(&slot));
        walk(self.body, &mut count);
        walk(self.continuing, &mut count);
        let goes_on = |stmt: &Stmt| {
            let mut found = false;
            let mut look = |stmt: &Stmt| found |= stmt.parts().jump == Some(Jump::Continue(self.label));
            walk(std::slice::from_ref(stmt), &mut look);
            found
        };
        // What stands before the first jump to the next turn is done in each.
        let mut always = self.body.iter().take_while(|stmt| !goes_on(stmt)).chain(self.continuing);
        let step = always.find_map(|stmt| match stmt {
            Stmt::Assign { slot: of, value } if *of == slot => self.step(slot, *value),
            _ => None,
        });
        step.filter(|_| times == 1)
    }

    /// The step from the slot to this value, if it is one.
    fn step(&self, slot: SlotId, value: ExprId) -> Option<Counts> {
        let is_slot = |id: ExprId| self.expr(id) == Expr::Slot(slot);
        let is_one = |id: ExprId| matches!(self.expr(id), Expr::Const(by) if by.raw == 1 && by.ty.is_int());
        match self.expr(value) {
            Expr::Binary(BinaryOp::Add, x, by) if is_slot(x) && is_one(by) => Some(Counts::Up),
            Expr::Binary(BinaryOp::Sub, x, by) if is_slot(x) && is_one(by) => Some(Counts::Down),
            _ => None,
        }
    }

    /// What a comparison of a counter with a value that stays comes to be.
    fn decides(&self, comparison: ExprId, counters: &HashMap<SlotId, Counts>) -> Option<Decided> {
        let Expr::Binary(op, left, right) = self.expr(comparison) else { return None };
        let of = |id: ExprId| match self.expr(id) {
            Expr::Slot(slot) => Some((slot, *counters.get(&slot)?)),
            _ => None,
        };
        let ((counter, counts), is_left) = match (of(left), of(right)) {
            (Some(counter), None) if self.stays(right) => (counter, true),
            (None, Some(counter)) if self.stays(left) => (counter, false),
            _ => return None,
        };
        let grows = (counts == Counts::Up) == is_left;
        let value = match op {
            BinaryOp::Eq => true,
            BinaryOp::Ne => false,
            BinaryOp::Lt if grows => false,
            BinaryOp::Ge if grows => true,
            BinaryOp::Gt if !grows => false,
            BinaryOp::Le if !grows => true,
            _ => return None,
        };
        Some(Decided { comparison, value, counter, is_before: true })
    }

    /// Whether the loop does not change the value.
    fn stays(&self, id: ExprId) -> bool {
        let mut stays = true;
        self.kernel.walk_expr(id, &mut |_, expr| {
            stays &= expr.parts().slot.is_none_or(|slot| !self.set.contains(slot));
            stays
        });
        stays
    }

    fn expr(&self, id: ExprId) -> Expr {
        self.kernel.exprs[id.index()]
    }

    /// What is known where the next turn begins. What is `decided` has its value in this one.
    fn run(&self, state: KnownFlags, decided: Option<Decided>) -> KnownFlags {
        let is_valid = decided.is_some_and(|decided| decided.is_before);
        let mut ways = Ways { turn: self, decided, is_valid, again: None, open: Vec::new() };
        let end = ways.block(self.body, state);
        let next = joined(end, ways.again.take());
        ways.block(self.continuing, next)
    }
}

/// The ways through a turn.
struct Ways<'t, 'k> {
    turn: &'t Turn<'k>,
    decided: Option<Decided>,
    /// Whether it is decided where the way stands: before the counter's step, or behind it.
    is_valid: bool,
    /// What is known where the turn is cut short.
    again: KnownFlags,
    /// The blocks around, with what is known where they are left early.
    open: Vec<(Label, KnownFlags)>,
}

impl Ways<'_, '_> {
    fn block(&mut self, block: &[Stmt], state: KnownFlags) -> KnownFlags {
        block.iter().fold(state, |state, stmt| self.stmt(stmt, state))
    }

    fn stmt(&mut self, stmt: &Stmt, state: KnownFlags) -> KnownFlags {
        let mut state = state?;
        match stmt {
            Stmt::Assign { slot, value } => {
                match self.value(*value, &state) {
                    Some(value) => state.insert(*slot, value),
                    None => state.remove(slot),
                };
                if let Some(decided) = self.decided.filter(|decided| decided.counter == *slot) {
                    self.is_valid = !decided.is_before;
                }
                Some(state)
            }
            Stmt::If { condition, then, otherwise } => {
                let value = self.value(*condition, &state);
                let first = if value == Some(false) { None } else { self.block(then, Some(state.clone())) };
                let second = if value == Some(true) { None } else { self.block(otherwise, Some(state)) };
                joined(first, second)
            }
            Stmt::Block { label, body } => {
                self.open.push((*label, None));
                let end = self.block(body, Some(state));
                joined(end, self.open.pop().and_then(|(_, left)| left))
            }
            // It may go round any number of times, and may leave whatever is around it.
            Stmt::Loop { .. } => {
                let mut jumps = Vec::new();
                walk(std::slice::from_ref(stmt), &mut |inner| {
                    let parts = inner.parts();
                    parts.slot.iter().for_each(|slot| _ = state.remove(*slot));
                    jumps.extend(parts.jump);
                });
                jumps.into_iter().for_each(|jump| self.jump(jump, &state));
                Some(state)
            }
            stmt => {
                let parts = stmt.parts();
                parts.slot.iter().for_each(|slot| _ = state.remove(*slot));
                match parts.jump {
                    Some(jump) => {
                        self.jump(jump, &state);
                        None
                    }
                    None => Some(state),
                }
            }
        }
    }

    /// Takes a jump to where it leads, if that is in the turn or at its end.
    fn jump(&mut self, jump: Jump, state: &HashMap<SlotId, bool>) {
        match jump {
            Jump::Continue(label) if label == self.turn.label => {
                self.again = joined(self.again.take(), Some(state.clone()));
            }
            Jump::Break(label) => {
                if let Some((_, left)) = self.open.iter_mut().find(|(open, _)| *open == label) {
                    *left = joined(left.take(), Some(state.clone()));
                }
            }
            Jump::Continue(_) | Jump::Return => {}
        }
    }

    /// The truth value, as far as it is known.
    fn value(&self, id: ExprId, state: &HashMap<SlotId, bool>) -> Option<bool> {
        self.value_within(id, state, &mut { MOST_LOOKS })
    }

    /// The truth value of a condition, as far as it is known, looking at no more than `left` expressions: they may be
    /// nested deeper than calls can be, and shared.
    fn value_within(&self, id: ExprId, state: &HashMap<SlotId, bool>, left: &mut usize) -> Option<bool> {
        *left = left.checked_sub(1)?;
        if let Some(decided) = self.decided.filter(|decided| self.is_valid && decided.comparison == id) {
            return Some(decided.value);
        }
        let mut of = |id: ExprId| self.value_within(id, state, left);
        match self.turn.expr(id) {
            Expr::Const(constant) if constant.ty == Type::Bool => Some(constant.raw & 1 != 0),
            Expr::Slot(slot) => state.get(&slot).copied(),
            Expr::Unary(UnaryOp::Not, x) => of(x).map(|value| !value),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => {
                let decides = op == BinaryOp::Or;
                match (of(x), of(y)) {
                    (Some(value), _) | (_, Some(value)) if value == decides => Some(decides),
                    (x, y) => x.and(y),
                }
            }
            Expr::Select(condition, x, y) => match of(condition) {
                Some(condition) => of(if condition { x } else { y }),
                None => of(x).filter(|value| of(y) == Some(*value)),
            },
            _ => None,
        }
    }
}
