//! Runs of threads from one ticket to the next one.

use rustc_hash::FxHashMap;
use wattle_ir::AtomicLaw;
use wattle_memory::{Label, ThreadId};

use super::super::super::process::{AccessTarget, Action, Address, Barrier, Change};
use super::super::super::single::{Commuting, Meeting, converge};
use super::super::chain::Addition;
use super::super::clock::Clock;
use super::super::going::{MOST_ITERATIONS, commuting};
use super::super::{Adding, CountedState, Runs, Thread, orders_all};

/// Threads that run together: one, or those of a block of which one takes the tickets.
pub struct Unit {
    pub block: usize,
    pub members: Vec<ThreadId>,
    /// The members' clocks when the first tickets are taken.
    pub clocks: Vec<Clock>,
    /// All of these clocks together, which each member has behind a barrier.
    pub joined: Clock,
}

/// A thread of a unit.
#[derive(Clone)]
pub struct Member<'w> {
    pub process: Thread<'w>,
    pub at: At,
    /// The loops that it has begun again since the unit's threads last met at a barrier, by their labels.
    pub turns: Vec<u32>,
}

/// The point at which a thread of a unit stands.
#[derive(Clone, PartialEq)]
pub enum At {
    Ready,
    Addition(Adding),
    Barrier(Barrier),
    End,
}

/// What a segment does to a cell.
#[derive(Default)]
pub struct Touch {
    /// Whether the segment reads what was there before.
    pub finds: bool,
    /// What the segment leaves in the cell.
    pub leaves: Option<Stored>,
    /// The operands of its updates, which commute; `None` for one that depends on earlier tickets.
    pub changes: Option<(Commuting, Vec<Option<u64>>)>,
    /// The threads that access it, each behind a number of barriers of the segment.
    pub accesses: Vec<UnitAccess>,
}

/// What is stored in a cell.
#[derive(Clone, Copy, PartialEq)]
pub enum Stored {
    /// A value, and whether that is what nobody has written.
    Value(u64, bool),
    /// A value that depends on the tickets that the thread has had before.
    Unknown,
}

#[derive(Clone, Copy, PartialEq)]
pub struct UnitAccess {
    pub thread: ThreadId,
    pub behind: u32,
    pub kind: UnitAccessKind,
}

#[derive(Clone, Copy, PartialEq)]
pub enum UnitAccessKind {
    Read,
    Write,
    /// An update that commutes with the others of the cell.
    Change,
}

/// What threads do from one ticket to the next one, or to where they rest.
pub struct Segment<'w> {
    pub cells: FxHashMap<Address, Touch>,
    /// The number of barriers that the unit has passed.
    pub barriers: u32,
    pub members: Vec<Member<'w>>,
}

impl Touch {
    /// Adds an access; `None` where it is not ordered with one of another thread of the unit, between the same two
    /// barriers.
    fn add(&mut self, access: UnitAccess) -> Option<()> {
        let is_mixed = (access.kind == UnitAccessKind::Change) != self.changes.is_some();
        let conflicts = |other: &UnitAccess| {
            let together = other.thread != access.thread && other.behind == access.behind;
            together && (other.kind != access.kind || access.kind == UnitAccessKind::Write)
        };
        if (is_mixed && !self.accesses.is_empty()) || self.accesses.iter().any(conflicts) {
            return None;
        }
        if !self.accesses.contains(&access) {
            self.accesses.push(access);
        }
        Some(())
    }
}

impl Segment<'_> {
    /// The member that takes another ticket next, and its addition.
    pub fn takes_a_ticket(&self) -> Option<(usize, Adding)> {
        adders(&self.members).next()
    }
}

/// The members that are at an addition.
pub fn adders<'m>(members: &'m [Member<'_>]) -> impl Iterator<Item = (usize, Adding)> + 'm {
    members.iter().enumerate().filter_map(|(member, Member { at, .. })| match at {
        At::Addition(adding) => Some((member, *adding)),
        At::Ready | At::Barrier(_) | At::End => None,
    })
}

/// Whether a thread does something else for another result of the addition at which it stands.
pub fn looks_at_result(process: &Thread<'_>) -> bool {
    let with = |value: u64| {
        let mut process = process.clone();
        process.answer(Some(value));
        process.forget_dead();
        process
    };
    with(0) != with(1)
}

impl<'w> Runs<'_, 'w> {
    /// Runs a unit whose member `adder` is given the value of its ticket. `None` where it does what is not the same in
    /// all executions in which it gets this ticket.
    pub fn segment(
        &mut self,
        state: &mut CountedState<'w>,
        unit: &Unit,
        stand: &[Member<'w>],
        adder: usize,
        value: u64,
    ) -> Option<Segment<'w>> {
        let mut run = Segment { cells: FxHashMap::default(), barriers: 0, members: stand.to_vec() };
        let first = run.members.get_mut(adder)?;
        first.process.answer(Some(value));
        first.at = At::Ready;
        loop {
            for member in 0..run.members.len() {
                if run.members[member].at == At::Ready {
                    self.run_member(state, unit, &mut run, member)?;
                }
            }
            let whole = unit.members.len() == self.blocks[unit.block].len();
            let arrivals: Vec<Barrier> = run.members.iter().filter_map(Member::arrival).cloned().collect();
            if !whole || arrivals.len() < run.members.len() {
                break;
            }
            let together = converge(&arrivals) == Some(Meeting::Together);
            if arrivals.iter().any(|arrival| arrival.instance != arrivals[0].instance) || !together {
                return None;
            }
            run.barriers += 1;
            for member in &mut run.members {
                (member.at, member.turns) = (At::Ready, Vec::new());
            }
        }
        run.members.iter_mut().for_each(|member| member.process.forget_dead());
        Some(run)
    }

    /// Runs a member to its next addition whose result it looks at, to a barrier or to its end. `None` where it does
    /// what is not the same in all executions.
    fn run_member(
        &mut self,
        state: &mut CountedState<'w>,
        unit: &Unit,
        run: &mut Segment<'w>,
        member: usize,
    ) -> Option<()> {
        let thread = unit.members[member];
        let clock = if run.barriers == 0 { &unit.clocks[member] } else { &unit.joined };
        let mut turn = Turn { state, run, member, thread, clock, heads: Vec::new(), iterations: 0 };
        loop {
            self.act()?;
            let action = turn.process().advance();
            if self.setup.model.has_classes() && !action.parts().labels.into_iter().flatten().all(orders_all) {
                return None;
            }
            let ended = match action {
                Action::Read { target, source, .. } => {
                    self.executes(turn.state, source);
                    turn.read(self, target?)?;
                    None
                }
                Action::Write { target, value, label, source } => {
                    self.executes(turn.state, source);
                    turn.write(self, target?, value, label)?;
                    None
                }
                Action::Update { target, change, read, write, source } => {
                    self.executes(turn.state, source);
                    turn.update(self, target?, change, [read, write])?
                }
                Action::Fence { source, .. } => {
                    self.executes(turn.state, source);
                    None
                }
                Action::Barrier { barrier, label, source } => {
                    self.executes(turn.state, source);
                    if !self.is_of_whole_block(thread, &barrier, label) {
                        return None;
                    }
                    Some(At::Barrier(barrier))
                }
                Action::LoopHead { label } => {
                    turn.heads.retain(|(known, _)| *known != label);
                    None
                }
                Action::BackEdge { label, .. } => {
                    turn.repeat(label, unit.members.len() > 1)?;
                    None
                }
                Action::Done => Some(At::End),
                Action::Exchange { .. } | Action::NeedsValue | Action::Fault { .. } | Action::Halt => return None,
            };
            if let Some(at) = ended {
                turn.run.members[member].at = at;
                return Some(());
            }
        }
    }
}

/// A member of a unit while it runs. Each of its actions returns `None` where it is not the same in all executions.
struct Turn<'t, 'w> {
    state: &'t mut CountedState<'w>,
    run: &'t mut Segment<'w>,
    member: usize,
    thread: ThreadId,
    /// What the member knows of: the accesses that happen before what it does now.
    clock: &'t Clock,
    /// The open loops by their labels, each with the thread at the last jump back.
    heads: Vec<(u32, Thread<'w>)>,
    iterations: u64,
}

impl<'w> Turn<'_, 'w> {
    fn process(&mut self) -> &mut Thread<'w> {
        &mut self.run.members[self.member].process
    }

    fn access(&self, kind: UnitAccessKind) -> UnitAccess {
        UnitAccess { thread: self.thread, behind: self.run.barriers, kind }
    }

    /// Answers a read with what the unit has left in the cell, or with what was there before.
    fn read(&mut self, runs: &mut Runs<'_, 'w>, target: AccessTarget) -> Option<()> {
        let access = self.access(UnitAccessKind::Read);
        let touch = self.run.cells.entry(target.address).or_default();
        touch.add(access)?;
        touch.finds |= touch.leaves.is_none();
        let found = match touch.leaves {
            Some(left) => self.state.is_of_one_kind(runs, self.thread, target).then_some(left)?,
            None => {
                let (value, unwritten) = self.state.find(runs, self.thread, target, self.clock)?;
                Stored::Value(value, unwritten)
            }
        };
        let process = self.process();
        match found {
            Stored::Value(_, true) if !process.carries_unwritten() => return None,
            Stored::Value(value, unwritten) => process.answer_read(Some(value), unwritten),
            Stored::Unknown => process.answer(None),
        }
        Some(())
    }

    /// Leaves a value in a cell.
    fn write(&mut self, runs: &mut Runs<'_, 'w>, target: AccessTarget, value: Option<u64>, label: Label) -> Option<()> {
        self.state.may_write(runs, self.thread, target, self.clock)?;
        let access = self.access(UnitAccessKind::Write);
        let touch = self.run.cells.entry(target.address).or_default();
        touch.add(access)?;
        touch.leaves = Some(value.map_or(Stored::Unknown, |value| Stored::Value(value, label.unwritten)));
        Some(())
    }

    /// Does an update that commutes with others, without a result; returns the addition that takes the next ticket, if
    /// the member looks at the result.
    fn update(
        &mut self,
        runs: &mut Runs<'_, 'w>,
        target: AccessTarget,
        change: Change,
        labels: [Label; 2],
    ) -> Option<Option<At>> {
        let [read, write] = labels;
        if Addition::of_any(change).is_some() && looks_at_result(self.process()) {
            let addition = self.state.addition(runs, self.thread, target, change, labels)?;
            let (acquire, release, reduces) = (read.acquire, write.release, read.reduces);
            return Some(Some(At::Addition(Adding { address: target.address, addition, acquire, release, reduces })));
        }
        let (commuting, operand) = changing(change, labels)?;
        self.state.may_change(runs, self.thread, target, commuting, labels, self.clock)?;
        let access = self.access(UnitAccessKind::Change);
        let touch = self.run.cells.entry(target.address).or_default();
        let changes = touch.changes.get_or_insert_with(|| (commuting, Vec::new()));
        if changes.0 != commuting {
            return None;
        }
        changes.1.push(operand);
        touch.add(access)?;
        self.process().answer(None);
        Some(None)
    }

    /// Begins a loop again; `None` where the member waits in it, or goes on for too long.
    fn repeat(&mut self, label: u32, is_one_of_several: bool) -> Option<()> {
        self.iterations += 1;
        let member = &mut self.run.members[self.member];
        if is_one_of_several {
            member.turns.push(label);
        }
        let known = self.heads.iter_mut().find(|(known, _)| *known == label);
        let comes_again = known.as_ref().is_some_and(|(_, before)| member.process.repeats(before));
        if comes_again || self.iterations > MOST_ITERATIONS {
            return None;
        }
        match known {
            Some(head) => head.1 = member.process.clone(),
            None => self.heads.push((label, member.process.clone())),
        }
        Some(())
    }
}

/// The operation of an update that commutes with others of its kind, and the operand, if that is known and what they
/// leave is the same in whatever order they are made.
fn changing(change: Change, labels: [Label; 2]) -> Option<(Commuting, Option<u64>)> {
    if let Some((operation, operand)) = commuting(change, labels) {
        return Some((operation, Some(operand)));
    }
    let Change::Apply { op, ty, .. } = change else { return None };
    let AtomicLaw::Combines(_) = op.law() else { return None };
    let [read, write] = labels;
    let operation = Commuting::of(Change::Apply { op, ty, operand: Some(0) }, write.level)?;
    (read.level == write.level).then_some((operation, None))
}

impl Member<'_> {
    /// Takes for unknown what differs from another member at the same place, so that it stands for both; `false` where
    /// that is not possible.
    pub fn widen(&mut self, other: &Member<'_>, in_block: bool) -> bool {
        self.stands_with(other, in_block) && (self.at == At::End || self.process.widen(&other.process, in_block))
    }

    fn arrival(&self) -> Option<&Barrier> {
        match &self.at {
            At::Barrier(barrier) => Some(barrier),
            At::Ready | At::Addition(_) | At::End => None,
        }
    }

    /// Whether two members do the same from here on. How often they have gone round their loops, and come to their
    /// barriers, makes no difference, if each member of their unit has as often since they last met.
    pub fn is_as(&self, earlier: &Member<'_>, in_block: bool) -> bool {
        let comes_again = |process: &Thread<'_>| match in_block {
            true => process.comes_round(&earlier.process),
            false => process.repeats(&earlier.process),
        };
        self.stands_with(earlier, in_block) && (self.at == At::End || comes_again(&self.process))
    }

    /// Whether two members have ended, or are at one addition or barrier, as many turns behind the last barrier at
    /// which they met others.
    fn stands_with(&self, other: &Member<'_>, in_block: bool) -> bool {
        let is_in_one_turn = self.turns == other.turns;
        match &self.at {
            At::End => other.at == At::End,
            At::Addition(_) => is_in_one_turn && self.at == other.at,
            At::Barrier(_) => is_in_one_turn && (self.at == other.at || (in_block && other.arrival().is_some())),
            At::Ready => false,
        }
    }
}
