//! Check hoisting: a loop whose indices grow with its counter is asked once, before its first turn, whether the last
//! turn stays in bounds. If it does, so does every turn, and the loop that runs has no checks; else the plain loop
//! stands behind the kernel's end, each access behind its own check, so that faults come as they are written.
//!
//! In each turn of a loop that is left unless `slot < end` the slot is at most `end - 1`. An index that is made of it,
//! and of values that are the same in all turns, by sums, products, minima and maxima of unsigned integers grows with
//! it, as long as nothing wraps around: so if nothing does for `end - 1`, nothing does, and no index is greater, in any
//! turn. Nothing shows of a turn that is not taken: only its indices are computed.

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::counted::Counter;
use wattle_ir::visit::walk;
use wattle_ir::{BinaryOp, Expr, ExprId, Kernel, Label, Place, SlotId, Stmt, Type};

use crate::assemble::{Class, Value};
use crate::emit::Emitter;
use crate::unroll::{STATEMENT, unrollable, weight};

/// The comment before the loop whose checks have been made.
pub const WITHOUT_CHECKS: &str = "No turn fails the checks that are not here.";
/// The fewest checks for which a loop is emitted twice.
const FEWEST: usize = 2;
/// The greatest weight of a loop that is emitted twice: of 256 statements.
const MOST_WEIGHT: u64 = 256 * STATEMENT;

/// What is asked before the first turn, in the order of a turn.
enum Ask {
    /// A slot that a turn sets once, to what grows with the counter.
    Set(SlotId, ExprId),
    /// A check's condition.
    Fails(ExprId),
}

/// A loop whose checks can be made once.
pub struct Hoisted<'k> {
    counter: Counter,
    growing: Growing<'k>,
    asks: Vec<Ask>,
    /// The conditions that then fail in no turn.
    pub conditions: FxHashSet<ExprId>,
}

/// The values that are the same in all turns of a loop, and those that only grow.
struct Growing<'k> {
    kernel: &'k Kernel,
    /// The slots that the loop sets, and how often.
    set: FxHashMap<SlotId, usize>,
    /// The slots of `set` that grow with the counter, from this statement to the end of the iteration.
    slots: FxHashSet<SlotId>,
}

/// An operation on unsigned integers whose result grows with each operand, as long as it does not wrap around.
#[derive(Clone, Copy)]
enum Growth {
    Sum,
    Product,
    Least,
    Greatest,
}

impl Growth {
    fn of(op: BinaryOp) -> Option<Growth> {
        match op {
            BinaryOp::Add => Some(Growth::Sum),
            BinaryOp::Mul => Some(Growth::Product),
            BinaryOp::Min => Some(Growth::Least),
            BinaryOp::Max => Some(Growth::Greatest),
            // An index made by any other keeps its check.
            _ => None,
        }
    }
}

impl Growing<'_> {
    /// Whether an expression is the same in all turns.
    fn is_fixed(&self, id: ExprId) -> bool {
        let (mut seen, mut fixed) = (FxHashSet::default(), true);
        self.kernel.walk_expr(id, &mut |id, expr| {
            fixed &= expr.parts().slot.is_none_or(|slot| !self.set.contains_key(slot));
            fixed && seen.insert(id)
        });
        fixed
    }

    /// Whether an unsigned integer of 32 bits is the same in all turns, or grows with the counter while nothing wraps
    /// around.
    fn grows(&self, id: ExprId, types: &[Type]) -> bool {
        types[id.index()] == Type::U32
            && (self.is_fixed(id)
                || match self.kernel.exprs[id.index()] {
                    Expr::Slot(slot) => self.slots.contains(&slot),
                    Expr::Binary(op, x, y) if Growth::of(op).is_some() => self.grows(x, types) && self.grows(y, types),
                    _ => false,
                })
    }

    /// Whether a check's condition holds in the last turn if it does in any.
    fn fails_at_last(&self, condition: ExprId, types: &[Type]) -> bool {
        match self.kernel.exprs[condition.index()] {
            Expr::Binary(BinaryOp::Or, x, y) => self.fails_at_last(x, types) && self.fails_at_last(y, types),
            Expr::Binary(BinaryOp::Ge | BinaryOp::Gt, index, bound) => self.grows(index, types) && self.is_fixed(bound),
            _ => false,
        }
    }
}

/// The loop, if checks of it can be made before its first turn. None of its threads may wait for others in it: who
/// waits does so at one statement.
pub fn hoisted<'k>(
    kernel: &'k Kernel,
    types: &[Type],
    label: Label,
    body: &[Stmt],
    continuing: &[Stmt],
) -> Option<Hoisted<'k>> {
    let counter = Counter::of(kernel, label, body)?;
    let mut set = FxHashMap::default();
    let mut meets = false;
    for block in [body, continuing] {
        walk(block, &mut |stmt| {
            meets |= stmt.parts().meeting.is_some();
            stmt.assigned().into_iter().for_each(|slot| *set.entry(slot).or_insert(0) += 1);
        });
    }
    let mut growing = Growing { kernel, set, slots: FxHashSet::from_iter([counter.slot]) };
    let counts = types[counter.read.index()] == Type::U32
        && growing.is_fixed(counter.end)
        && !body.iter().any(|stmt| sets(stmt, counter.slot));
    if !counts || meets || loops(kernel, body) || weight(kernel, body) > MOST_WEIGHT {
        return None;
    }
    let (mut asks, mut conditions, mut open) = (Vec::new(), FxHashSet::default(), FxHashSet::default());
    for stmt in body {
        // A condition that is asked anywhere before all that it is made of has its value in the turn stays where it is.
        walk(std::slice::from_ref(stmt), &mut |stmt| {
            let check = stmt.check().filter(|check| !check.fails_if || !growing.fails_at_last(check.condition, types));
            open.extend(check.map(|check| check.condition));
        });
        if let Some(check) = stmt.check().filter(|check| !open.contains(&check.condition)) {
            if conditions.insert(check.condition) {
                asks.push(Ask::Fails(check.condition));
            }
        } else if let Stmt::Assign { slot, value } = *stmt
            && growing.set[&slot] == 1
            && growing.grows(value, types)
        {
            asks.push(Ask::Set(slot, value));
            growing.slots.insert(slot);
        }
    }
    (conditions.len() >= FEWEST).then_some(Hoisted { counter, growing, asks, conditions })
}

fn sets(stmt: &Stmt, slot: SlotId) -> bool {
    let mut sets = false;
    walk(std::slice::from_ref(stmt), &mut |stmt| sets |= stmt.assigned() == Some(slot));
    sets
}

/// Whether there is a loop in the block that is not unrolled.
fn loops(kernel: &Kernel, block: &[Stmt]) -> bool {
    let mut before = None;
    block.iter().any(|stmt| {
        let is_loop = matches!(stmt, Stmt::Loop { .. }) && unrollable(kernel, before, stmt).is_none();
        before = Some(stmt);
        is_loop || stmt.blocks().any(|block| loops(kernel, block))
    })
}

impl Emitter<'_> {
    /// Whether some turn's index may be out of bounds, or a view of which several elements are accessed at once begins
    /// where it is not aligned: computed before the first turn.
    pub(crate) fn fails_in_some_turn(&mut self, found: &Hoisted<'_>, body: &[Stmt]) -> Option<Value> {
        let end = self.value(found.counter.end);
        let last = self.op("sub.u32", Class::Word, &[end, Value::word(1)]);
        let (mut slots, mut fails) = (self.slots.clone(), None);
        slots[found.counter.slot.index()] = last;
        for ask in &found.asks {
            match *ask {
                Ask::Set(slot, value) => {
                    let greatest = self.in_turn(&slots, |emitter| emitter.greatest(found, value, &mut fails));
                    slots[slot.index()] = greatest;
                }
                Ask::Fails(condition) => self.in_turn(&slots, |emitter| emitter.fails(found, condition, &mut fails)),
            }
        }
        let mut apart = Vec::new();
        walk(body, &mut |stmt| {
            if let (Some(Place::Param(id)), Some(([index], lanes @ 2..))) = (stmt.place(), stmt.accessed(self.kernel)) {
                let asked = self.lanes_apart(id, *index, lanes as usize);
                apart.extend(asked.filter(|asked| !apart.contains(asked)));
            }
        });
        apart.into_iter().for_each(|apart| fails = Some(self.either(fails, apart)));
        fails
    }

    /// Adds whether a check fails in the last turn to `fails`.
    fn fails(&mut self, found: &Hoisted<'_>, condition: ExprId, fails: &mut Option<Value>) {
        match self.kernel.exprs[condition.index()] {
            Expr::Binary(BinaryOp::Or, x, y) => [x, y].into_iter().for_each(|id| self.fails(found, id, fails)),
            Expr::Binary(op, index, bound) => {
                let (index, bound) = (self.greatest(found, index, fails), self.value(bound));
                let name = if op == BinaryOp::Gt { "setp.gt.u32" } else { "setp.ge.u32" };
                let failed = self.op(name, Class::Predicate, &[index, bound]);
                *fails = Some(self.either(*fails, failed));
            }
            _ => unreachable!("conditions are comparisons of indices"),
        }
    }

    /// The value of an index in the last turn; adds whether it wraps around on the way to `fails`.
    fn greatest(&mut self, found: &Hoisted<'_>, id: ExprId, fails: &mut Option<Value>) -> Value {
        let fixed = found.growing.is_fixed(id);
        let (growth, x, y) = match self.kernel.exprs[id.index()] {
            Expr::Binary(op, x, y) if !fixed => match Growth::of(op) {
                Some(growth) => (growth, x, y),
                None => unreachable!("indices are made of what grows"),
            },
            // A slot, or what is the same in all turns.
            _ => return self.value(id),
        };
        let [x, y] = [x, y].map(|id| self.greatest(found, id, fails));
        let name = match growth {
            Growth::Sum => "add.u32",
            Growth::Product => "mul.lo.u32",
            Growth::Least => "min.u32",
            Growth::Greatest => "max.u32",
        };
        let result = self.op(name, Class::Word, &[x, y]);
        let wraps = match growth {
            Growth::Sum => Some(self.op("setp.lt.u32", Class::Predicate, &[result, x])),
            Growth::Product => {
                let high = self.op("mul.hi.u32", Class::Word, &[x, y]);
                Some(self.op("setp.ne.u32", Class::Predicate, &[high, Value::word(0)]))
            }
            Growth::Least | Growth::Greatest => None,
        };
        if let Some(wraps) = wraps {
            *fails = Some(self.either(*fails, wraps));
        }
        result
    }
}
