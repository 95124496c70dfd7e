//! Load batching: loops whose turns load from memory run four turns at a time, all their loads first, so that a thread
//! waits for memory once and not four times.
//!
//! A loop over `slot < end` whose slot moves on by the same amount in each turn gets another one before it, which runs
//! while there are four turns more. The loads of a turn, and what their indices need, are made for all four, statement
//! by statement; then the rest is made turn by turn. Loads may be moved so, before what is done in earlier turns, if
//! they are of views that no thread writes, or of elements that belong to the turn alone: what other threads do shows
//! in neither.
//!
//! An index that is out of bounds ends this loop before anything is done that shows: the plain loop behind it begins
//! with the same turn, skips the access, and reports it, so that faults come in the order of the turns.

use rustc_hash::FxHashSet;
use wattle_ir::counted::{Counted, Counter};
use wattle_ir::{Access, BinaryOp, Expr, ExprId, Kernel, Label, ParamKind, Place, SlotId, Stmt, Type};

use crate::Lacking;
use crate::assemble::{BranchTarget, Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::expr::int_type;

/// How many turns run at a time.
const TURNS: usize = 4;
/// The most 32-bit words that a turn loads first: the words of all turns are in registers at once.
const MOST_WORDS: usize = 4;
/// The most statements and expressions that a turn may have.
const MOST_NODES: usize = 96;

/// A loop that runs several turns at a time.
pub struct Batch<'k> {
    slot: SlotId,
    end: ExprId,
    step: ExprId,
    /// The loads of a turn that are made before the rest of any turn, with the statements that they need.
    first: Vec<&'k Stmt>,
    rest: Vec<&'k Stmt>,
    /// The expression of the slot's next value.
    next: ExprId,
}

/// Returns how several turns of the loop can run at a time, or `None` where they cannot.
pub fn batch<'k>(kernel: &'k Kernel, label: Label, body: &'k [Stmt], continuing: &[Stmt]) -> Option<Batch<'k>> {
    let Counted { counter: Counter { slot, end, .. }, step, next, turn } =
        Counted::of(kernel, label, body, continuing)?;
    let step = step.by;
    let turn = Turn::of(kernel, slot, turn)?;
    let is_u32 = kernel.slots[slot.index()].ty == Type::U32;
    if !is_u32 || turn.moves(slot) || !turn.leaves_alone(end) || !turn.leaves_alone(step) {
        return None;
    }
    let (first, rest) = turn.loads_first()?;
    Some(Batch { slot, end, step, first, rest, next })
}

fn is_slot(kernel: &Kernel, id: ExprId, slot: SlotId) -> bool {
    kernel.exprs[id.index()] == Expr::Slot(slot)
}

/// Adds an expression and all of its subexpressions to `seen`.
fn visit(kernel: &Kernel, id: ExprId, seen: &mut FxHashSet<ExprId>) {
    kernel.walk_expr(id, &mut |id, _| seen.insert(id));
}

/// Whether the statement, without those nested in it, can stand in a turn that runs beside others: it does not jump,
/// waits for no thread, and orders no other memory.
fn may_be_batched(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Assign { .. }
        | Stmt::Divide { .. }
        | Stmt::Load { .. }
        | Stmt::LoadLanes { .. }
        | Stmt::Store { .. }
        | Stmt::AtomicUpdate { .. }
        | Stmt::If { .. }
        | Stmt::Fault { .. } => true,
        Stmt::Assert { .. }
        | Stmt::Print { .. }
        | Stmt::Clock { .. }
        | Stmt::StoreLanes { .. }
        | Stmt::AtomicLoad { .. }
        | Stmt::AtomicStore { .. }
        | Stmt::CompareExchange { .. }
        | Stmt::Fence { .. }
        | Stmt::Barrier { .. }
        | Stmt::Warp { .. }
        | Stmt::WarpBarrier { .. }
        | Stmt::Loop { .. }
        | Stmt::Block { .. }
        | Stmt::Break(_)
        | Stmt::Continue(_)
        | Stmt::Return => false,
    }
}

/// The load that the statement checks and makes, or the statement itself.
fn checked(stmt: &Stmt) -> &Stmt {
    match stmt.check().map(|check| check.within) {
        Some([load @ Stmt::Load { .. }]) => load,
        _ => stmt,
    }
}

/// The statements of one turn.
struct Turn<'k> {
    kernel: &'k Kernel,
    slot: SlotId,
    stmts: &'k [Stmt],
    /// All statements of the turn, nested ones included.
    all: Vec<&'k Stmt>,
    /// The slots that the turn sets.
    sets: FxHashSet<SlotId>,
}

/// What the statements that do not go first, up to one of them, touch.
#[derive(Default)]
struct Left {
    /// The slots that these statements read or set.
    slots: FxHashSet<SlotId>,
    /// The slots that these statements set.
    set: FxHashSet<SlotId>,
    /// The places that these statements store to.
    places: FxHashSet<Place>,
}

impl<'k> Turn<'k> {
    /// A turn that can run beside others, or `None` if it is too large.
    fn of(kernel: &'k Kernel, slot: SlotId, stmts: &'k [Stmt]) -> Option<Turn<'k>> {
        let (mut all, mut nodes) = (stmts.iter().collect::<Vec<_>>(), FxHashSet::default());
        let (mut next, mut checks) = (0, 0);
        while let Some(&stmt) = all.get(next) {
            if !may_be_batched(stmt) {
                return None;
            }
            // A check counts no more than what is checked.
            match stmt.check() {
                Some(check) => {
                    checks += 1 + check.beyond.len();
                    all.extend(check.within.iter().chain(check.beyond));
                }
                None => {
                    stmt.operands().for_each(|id| visit(kernel, *id, &mut nodes));
                    all.extend(stmt.blocks().flatten());
                }
            }
            next += 1;
        }
        let sets = all.iter().filter_map(|stmt| stmt.assigned()).collect();
        (all.len() - checks + nodes.len() <= MOST_NODES).then_some(Turn { kernel, slot, stmts, all, sets })
    }

    fn moves(&self, slot: SlotId) -> bool {
        self.sets.contains(&slot)
    }

    fn reads(&self, id: ExprId) -> impl Iterator<Item = SlotId> {
        let mut nodes = FxHashSet::default();
        visit(self.kernel, id, &mut nodes);
        nodes.into_iter().filter_map(|id| self.kernel.exprs[id.index()].parts().slot.copied())
    }

    /// Whether the expression is the same in all turns.
    fn leaves_alone(&self, id: ExprId) -> bool {
        self.reads(id).all(|slot| slot != self.slot && !self.moves(slot))
    }

    /// The loads that can be made before what is done in earlier turns, with the statements that they need; and all
    /// other statements. Both lists keep the order of the turn.
    fn loads_first(&self) -> Option<(Vec<&'k Stmt>, Vec<&'k Stmt>)> {
        let mut left = Left::default();
        // A turn must itself have set the slots that it both sets and reads.
        let mut made = FxHashSet::from_iter([self.slot]);
        let mut goes_first = vec![false; self.stmts.len()];
        let mut words = 0;
        for (stmt, goes_first) in self.stmts.iter().zip(&mut goes_first) {
            let fixed = |id: ExprId| self.reads(id).all(|slot| made.contains(&slot) || !self.moves(slot));
            let load = checked(stmt);
            let free = load.assigned().is_some_and(|slot| !left.slots.contains(&slot));
            *goes_first = free
                && match load {
                    Stmt::Assign { value, .. } => fixed(*value),
                    Stmt::Load { place, index, .. } => {
                        let alone = self.is_alone(*place) && !left.places.contains(place);
                        let fits = alone && index.iter().all(|id| fixed(*id));
                        words += if fits { self.kernel.element_of(*place).size().div_ceil(4) } else { 0 };
                        fits && words <= MOST_WORDS
                    }
                    _ => false,
                };
            if *goes_first {
                made.extend(load.assigned());
            } else {
                self.leave(stmt, &mut left);
                made.retain(|slot| !left.set.contains(slot));
            }
        }
        // A statement that no load needs stays where it is.
        let last = (0..goes_first.len())
            .rfind(|at| goes_first[*at] && matches!(checked(&self.stmts[*at]), Stmt::Load { .. }))?;
        goes_first[last + 1..].fill(false);
        let (first, rest): (Vec<_>, Vec<_>) = self.stmts.iter().zip(goes_first).partition(|(_, first)| *first);
        let stmts = |all: Vec<(&'k Stmt, bool)>| all.into_iter().map(|(stmt, _)| stmt).collect();
        Some((stmts(first), stmts(rest)))
    }

    /// Records that the statement stays behind those that go first.
    fn leave(&self, stmt: &Stmt, left: &mut Left) {
        for id in stmt.operands() {
            left.slots.extend(self.reads(*id));
        }
        if let Some(slot) = stmt.assigned() {
            left.slots.insert(slot);
            left.set.insert(slot);
        }
        // What is no load may store.
        if !matches!(stmt, Stmt::Load { .. } | Stmt::LoadLanes { .. }) {
            left.places.extend(stmt.place());
        }
        stmt.blocks().flatten().for_each(|stmt| self.leave(stmt, left));
    }

    /// Whether no other turn stores what a turn loads from the place: no thread does, or all accesses of a turn are to
    /// the element that its slot numbers, which belongs to no other thread. Views of a launch that are written overlap
    /// no others.
    fn is_alone(&self, place: Place) -> bool {
        let Place::Param(param) = place else { return false };
        match self.kernel.params[param.index()].kind {
            ParamKind::View { access: Access::Read, .. } => true,
            ParamKind::View { access: Access::PerItem, rank: 1, .. } => self.all.iter().all(|stmt| match stmt {
                Stmt::Load { place: other, index, .. } | Stmt::Store { place: other, index, .. } => {
                    *other != place || is_slot(self.kernel, index[0], self.slot)
                }
                stmt => stmt.place() != Some(place),
            }),
            _ => false,
        }
    }
}

impl Emitter<'_> {
    /// Emits the loop of several turns at a time, before the plain loop, which runs the turns that are left.
    pub(crate) fn batched_turns(&mut self, found: &Batch<'_>) -> Result<(), Lacking> {
        let [head, end] = [(); 2].map(|()| self.asm.target());
        self.known.clear();
        let step = self.value(found.step);
        // The distance from the first turn to the last, or more than any distance there is if it does not fit.
        let others = TURNS as u32 - 1;
        let most = Value::word(u32::MAX / others);
        let reach = self.op("min.u32", Class::Word, &[step, most]);
        let reach = self.op("mul.lo.u32", Class::Word, &[reach, Value::word(others)]);
        self.asm.place(head);
        self.known.clear();
        let (slot, last) = (self.slot(found.slot), self.value(found.end));
        let below = self.op("setp.lt.u32", Class::Predicate, &[slot, last]);
        let left = self.op("sub.u32", Class::Word, &[last, slot]);
        let fit = self.op("setp.gt.and.u32", Class::Predicate, &[left, reach, below]);
        ins!(self, "@!{fit} bra {end}");
        let slots = self.slots_of_turns(found, step);
        found.first.iter().for_each(|stmt| self.in_all_turns(stmt, found.slot, &slots, end));
        slots.iter().try_for_each(|turn| self.in_turn(turn, |emitter| emitter.all(&found.rest)))?;
        let next = self.in_turn(&slots[TURNS - 1], |emitter| emitter.value(found.next));
        self.copy(slot, next);
        self.asm.branch(head);
        self.asm.place(end);
        Ok(())
    }

    /// The registers of all slots in each turn: its own for the loop's slot, and for what it sets up to its last load.
    /// The last turn has those that they have outside, where they stay.
    fn slots_of_turns(&mut self, found: &Batch<'_>, step: Value) -> Vec<Vec<Value>> {
        let mut turns = vec![self.slots.clone(); TURNS];
        for slot in found.first.iter().filter_map(|stmt| checked(stmt).assigned()) {
            let ty = self.kernel.slots[slot.index()].ty;
            turns[..TURNS - 1].iter_mut().for_each(|turn| turn[slot.index()] = self.asm.fresh(ty));
        }
        for number in 1..TURNS {
            let before = turns[number - 1][found.slot.index()];
            turns[number][found.slot.index()] = self.op("add.u32", Class::Word, &[before, step]);
        }
        turns
    }

    fn all(&mut self, stmts: &[&Stmt]) -> Result<(), Lacking> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    /// Emits what `make` emits with other registers for the slots.
    pub(crate) fn in_turn<T>(&mut self, slots: &[Value], make: impl FnOnce(&mut Self) -> T) -> T {
        let outside = std::mem::replace(&mut self.slots, slots.to_vec());
        self.known.clear();
        let made = make(self);
        self.known.clear();
        self.slots = outside;
        made
    }

    /// Emits a load, or a statement that a load needs, for all turns; an index that is out of bounds in any of them
    /// goes to `end`.
    fn in_all_turns(&mut self, stmt: &Stmt, slot: SlotId, turns: &[Vec<Value>], end: BranchTarget) {
        if let Some(site) = stmt.site() {
            self.asm.site(site);
        }
        if let Some(check) = stmt.check()
            && !self.hoisted.contains(&check.condition)
            && let Some(fails) = self.in_some_turn(check.condition, slot, turns, None)
        {
            ins!(self, "@{fails} bra {end}");
        }
        match checked(stmt) {
            Stmt::Assign { slot, value } => {
                for turn in turns {
                    self.in_turn(turn, |emitter| {
                        let value = emitter.value(*value);
                        emitter.set_slot(*slot, value);
                    });
                }
            }
            Stmt::Load { dst, place, index, .. } => {
                let (name, of) = (self.plain(*place, "ld"), memory_type(self.kernel.element_of(*place)));
                for turn in turns {
                    let at = self.in_turn(turn, |emitter| {
                        let index = emitter.index(index);
                        emitter.pointer(*place, &index)
                    });
                    ins!(self, "{name}.{of} {}, {at}", turn[dst.index()]);
                }
            }
            _ => unreachable!("assignments and loads alone go first"),
        }
    }

    /// Whether the check of an index, or `before`, fails in any of the turns.
    fn in_some_turn(
        &mut self,
        fails: ExprId,
        slot: SlotId,
        turns: &[Vec<Value>],
        before: Option<Value>,
    ) -> Option<Value> {
        let Expr::Binary(op, x, y) = self.kernel.exprs[fails.index()] else { return before };
        if op == BinaryOp::Or {
            let before = self.in_some_turn(x, slot, turns, before);
            return self.in_some_turn(y, slot, turns, before);
        }
        // The slot is the greatest in the last turn, so only that turn is checked.
        let of = int_type(self.types[x.index()]);
        let asked = if is_slot(self.kernel, x, slot) { &turns[TURNS - 1..] } else { turns };
        asked.iter().fold(before, |before, turn| {
            let operands = self.in_turn(turn, |emitter| [x, y].map(|id| emitter.value(id)));
            let or = if before.is_some() { ".or" } else { "" };
            let operands: Vec<_> = operands.into_iter().chain(before).collect();
            Some(self.op(&format!("setp.ge{or}.{of}"), Class::Predicate, &operands))
        })
    }
}
