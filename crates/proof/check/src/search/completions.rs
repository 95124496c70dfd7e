//! The accesses that a thread performs whatever values its open reads return.
//!
//! A compiler may move a store before a read that the store does not need, and it sees more than operands and branches:
//! `(a & 0) + 1` is 1, and a store that stands in both arms of a branch is a store. So a store may be added once the
//! chosen reads determine it: every completion of the open ones performs the same store (place, value, order, scope)
//! behind the same fences. The same are instructions: scopes and orders for which a target has one are one
//! ([`Model::merged`]). A completion gives a read some value that some write gives its place; reads of one place with
//! nothing between them that orders may be taken equal, since they may be made one. So a plain read returns what its
//! thread has stored plainly, where the thread has synchronized with nobody since: any other value is a race. A loop
//! that waits on atomics may never end, unless something in it counts to an end that is not far; other loops end. What
//! is not found out within bounds counts as no dependency.
//!
//! Compilers do so: LLVM's early common subexpression elimination, jump threading and value propagation work on relaxed
//! and on plain accesses alike, and its control-flow simplification makes one read-modify-write of two equal ones in
//! the arms of a branch; LLVM and ptxas pass what is stored plainly on to loads of it; ptxas merges weak loads and
//! drops `and` with 0. A read or read-modify-write that all completions perform may be made early in the same way.
//! C++20 [atomics.order]/8 only asks implementations to avoid values that justify themselves.

mod listed;
mod stores;

use std::collections::VecDeque;

#[cfg(doc)]
use wattle_memory::Model;
use wattle_memory::{EventId, Kind, Label, stop};

use rustc_hash::FxHashMap;

use super::Setup;
use super::agreement::{Act, Agreement, agree, in_each_order, trim};
use super::forwarding::{Forwarded, Stored, synchronizes};
use super::process::{Action, Address, Change, Written};
use super::state::{Runner, SearchState};
use super::thread::Thread;
use super::values::Values;
use listed::without_dead;
pub(super) use listed::{Ways, each};
pub(super) use stores::{MayRead, MayStore, Reach, may_store, reach};

/// The maximum number of completions of a thread that are compared.
const MOST: usize = 96;

/// The maximum number of actions of all completions of one comparison together.
const MOST_ACTIONS: u32 = 1 << 15;

/// The maximum number of actions of a comparison that only finds out whether there is something to find.
const FEW_ACTIONS: u32 = 1 << 11;

/// The most turns of loops that end by themselves in a completion. A loop that goes on longer is taken for one that may
/// never end.
const MOST_TURNS: u32 = 16;

/// The values that the open reads of a completion return.
#[derive(Clone, Copy)]
pub(super) enum Given<'v> {
    /// Any value: both ways at every branch.
    Anything,
    /// The values of the writes that are in the graph; reads of one place that a compiler may make one are one, and
    /// what a thread has stored plainly it reads.
    Present,
    /// The values that some write of the program gives the place; any value if they are too many.
    Possible(&'v Values),
    /// The values that some write of the program gives the place, or some of them; reads that may be merged are, with
    /// each other and with stores. The result need not be certain.
    Merged(&'v Values),
    /// The values that some write gives the place, where completions are listed instead of compared. Reads of one place
    /// that a compiler may make one return one value if they are `merged`, and else any of the values each.
    Each { values: &'v Values, merged: bool },
}

/// A completion, or the beginning of one.
#[derive(Clone)]
struct Path<'w> {
    process: Thread<'w>,
    acts: Vec<Act>,
    /// The number of the next event to which the thread has run ahead, after the first open read.
    at: usize,
    /// The number of promised events that it has reached.
    kept: usize,
    /// The loops entered beyond that, and whether this iteration has read something atomic.
    loops: Vec<(u32, bool)>,
    /// How many turns it has made of loops that end by themselves.
    turns: u32,
    /// The last read of each place with which a later one may be merged.
    reads: Vec<(Address, EventId, u64)>,
    /// What the thread has stored plainly since it last synchronized.
    stored: Stored,
    /// The reads that are merged with earlier reads, or that get what an earlier store has stored.
    ties: Vec<(EventId, EventId)>,
    ahead: usize,
    /// Whether it ended at an operation of its warp to which the thread has not come.
    met: bool,
    /// The loops entered, with what the thread was at their heads and how many writes came before, under
    /// [`Given::Each`].
    heads: Vec<(u32, Thread<'w>, usize)>,
    /// The number of writes that it has made, or may have.
    writes: usize,
    /// What the read-modify-write does that has not read yet.
    changing: Option<Change>,
    /// Whether the thread may do more than it has come to.
    is_open: bool,
}

/// The outcome of running a completion.
enum Outcome {
    /// The completion ran to its end, or to where the thread may wait for ever.
    Ended,
    /// The completion is longer than the limit.
    Cut,
    /// The completion needs a value that cannot be determined.
    Unknown,
}

/// Compares the completions of a thread that waits for a read; `None` where nothing is known of any.
pub(super) fn compare(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    thread: usize,
    given: Given<'_>,
) -> Option<Agreement> {
    let left = match given {
        Given::Anything | Given::Present => FEW_ACTIONS,
        Given::Possible(_) | Given::Merged(_) | Given::Each { .. } => MOST_ACTIONS,
    };
    let mut completions =
        Completions { setup, state, runner: &state.runners[thread], given, left, seen: FxHashMap::default() };
    let mut open = completions.begin()?;
    let mut cut = false;
    let mut agreed: Option<Agreement> = None;
    for _ in 0..MOST {
        let Some(mut path) = open.pop_front() else { break };
        match completions.complete(&mut path, &mut open) {
            Outcome::Ended => {}
            Outcome::Cut => {
                cut = true;
                continue;
            }
            Outcome::Unknown => return None,
        }
        let next = completions.alone(path);
        match &mut agreed {
            None => agreed = Some(next),
            Some(agreed) => agree(setup.model, agreed, next),
        }
        if !cut && agreed.as_ref().is_some_and(Agreement::is_empty) {
            return agreed;
        }
    }
    let Some(mut agreed) = agreed else { return cut.then(Agreement::cut) };
    agreed.undecided = cut || !open.is_empty();
    agreed.cut = cut;
    Some(agreed)
}

/// What all completions of a thread that waits for a read perform, in each order in which some completion does; empty
/// where not all completions are known.
pub(super) fn orders(setup: &Setup<'_>, state: &SearchState<'_>, thread: usize, values: &Values) -> Vec<Agreement> {
    let runner = &state.runners[thread];
    let mut completions = Completions {
        setup,
        state,
        runner,
        given: Given::Possible(values),
        left: MOST_ACTIONS,
        seen: FxHashMap::default(),
    };
    let Some(mut open) = completions.begin() else { return Vec::new() };
    let mut all = Vec::new();
    while let Some(mut path) = open.pop_front() {
        let ended = completions.complete(&mut path, &mut open);
        if !matches!(ended, Outcome::Ended) || all.len() == MOST {
            return Vec::new();
        }
        all.push(completions.alone(path));
    }
    let is_fence = |event: EventId| state.graph.event(event).label.kind == Kind::Fence;
    let fences = runner.trail.iter().enumerate().filter(|&(_, &event)| is_fence(event));
    let fences: Vec<_> = fences.map(|(number, &event)| (number, state.graph.event(event).label)).collect();
    in_each_order(setup.model, all, &fences)
}

struct Completions<'a, 'w> {
    setup: &'a Setup<'w>,
    state: &'a SearchState<'w>,
    runner: &'a Runner<'w>,
    given: Given<'a>,
    /// The number of actions that may still be run.
    left: u32,
    /// Under [`Given::Each`]: what threads are behind reads, by their digests, with what they have done. Two that are
    /// the same have the same completions.
    seen: FxHashMap<u64, Vec<(Thread<'w>, Vec<Act>)>>,
}

impl<'w> Completions<'_, 'w> {
    /// The completions right after the first open read.
    fn begin(&mut self) -> Option<VecDeque<Path<'w>>> {
        let first = self.runner.waiting?;
        let mut start = Path {
            process: self.runner.process.clone(),
            acts: Vec::new(),
            at: 0,
            kept: 0,
            loops: Vec::new(),
            turns: 0,
            reads: Vec::new(),
            stored: Stored::default(),
            ties: Vec::new(),
            ahead: 0,
            met: false,
            heads: Vec::new(),
            writes: 0,
            changing: self.runner.update.map(|(_, change)| change),
            is_open: false,
        };
        let event = self.state.graph.event(first);
        let address = self.state.addresses.get(event.location?).copied();
        let label = self.runner.update.map_or(event.label, |(_, change)| change.strongest_label(event.label));
        let mut open = VecDeque::new();
        self.answer(&mut start, first, address, label, &mut open);
        open.push_front(start);
        let mut stored = if label.acquire { Stored::default() } else { Stored::before(self.state, first) };
        // No later read is one with that of a read-modify-write, whose write comes between.
        if self.runner.update.is_some() {
            open.iter_mut().for_each(|path| path.reads.clear());
            stored.store(address, None);
        }
        open.iter_mut().for_each(|path| path.stored.clone_from(&stored));
        Some(open)
    }

    /// The event to which the thread has run ahead, if it has. An access that is out of bounds in this completion has
    /// none.
    fn event(&self, path: &mut Path<'w>, source: u32) -> Option<EventId> {
        loop {
            let event = self.runner.trail.get(path.at).copied();
            path.at += 1;
            if event.is_none_or(|event| self.state.graph.event(event).source == source) {
                break event;
            }
            self.act(path, Act::Other { events: 1 });
        }
    }

    /// Adds an action, whose events have been taken. Its place counts at once: the alternatives of a read are copies of
    /// the path as it is then.
    fn act(&self, path: &mut Path<'w>, act: Act) {
        path.acts.push(act);
        if path.at <= self.runner.trail.len() {
            path.ahead = path.acts.len();
        }
    }

    /// The event as which the path's last action was promised, if it was.
    fn promised(&self, path: &mut Path<'w>) -> Option<EventId> {
        let event = self.runner.promised.get(path.kept).copied()?;
        let found = path.acts.last().is_some_and(|act| act.is(self.setup.model, self.state, event));
        path.kept += usize::from(found);
        found.then_some(event)
    }

    /// Runs a path to the end of the completion, and keeps the alternatives for later.
    fn complete(&mut self, path: &mut Path<'w>, open: &mut VecDeque<Path<'w>>) -> Outcome {
        loop {
            let Some(left) = self.left.checked_sub(1) else { return Outcome::Cut };
            self.left = left;
            if left.is_multiple_of(256) && stop::requested() {
                return Outcome::Cut;
            }
            match path.process.advance() {
                Action::Read { target, label, source } => {
                    let event = self.event(path, source);
                    let known = |event: EventId| self.state.graph.event(event).location.is_some();
                    let act = if event.is_some_and(known) {
                        Act::Other { events: 1 }
                    } else {
                        Act::Read { target, label, source }
                    };
                    self.act(path, act);
                    let promised = event.is_none().then(|| self.promised(path)).flatten();
                    let id = event.or(promised).unwrap_or(usize::MAX);
                    self.answer(path, id, target.map(|target| target.address), label, open);
                    path.loops.iter_mut().for_each(|(_, looked)| *looked |= label.atomic);
                }
                Action::Update { target, change, read, write, source } => {
                    let (first, second) = (self.event(path, source), self.event(path, source));
                    let known = |event: EventId| self.state.graph.event(event).value.is_some();
                    let act = if first.is_none() || second.is_some_and(|write| !known(write)) {
                        Act::Update { target, change, read, write, source }
                    } else {
                        Act::Other { events: 2 }
                    };
                    self.act(path, act);
                    let promised = first.is_none().then(|| self.promised(path)).flatten();
                    let address = target.map(|target| target.address);
                    path.reads.retain(|(at, ..)| Some(*at) != address);
                    path.stored.store(address, None);
                    // Nobody knows yet whether it succeeds.
                    let label = change.strongest_label(read);
                    path.changing = Some(change);
                    self.answer(path, first.or(promised).unwrap_or(usize::MAX), address, label, open);
                    path.reads.retain(|(at, ..)| Some(*at) != address);
                    path.loops.iter_mut().for_each(|(_, looked)| *looked = true);
                }
                Action::Write { target, value, label, source } => {
                    path.writes += 1;
                    let event = self.event(path, source);
                    let done = event.is_some_and(|event| self.state.graph.event(event).value.is_some());
                    let act = if done { Act::Other { events: 1 } } else { Act::Store { target, value, label, source } };
                    self.act(path, act);
                    if event.is_none() {
                        self.promised(path);
                    }
                    let address = target.map(|target| target.address);
                    path.reads.retain(|(at, ..)| address.is_some_and(|address| address != *at));
                    let plain = value.filter(|_| !label.atomic && !label.unwritten);
                    path.stored.store(address, plain.map(|value| Forwarded { value, event }));
                }
                Action::Fence { label, source } => {
                    let event = self.event(path, source);
                    let act = if event.is_some() { Act::Other { events: 1 } } else { Act::Fence { label, source } };
                    self.act(path, act);
                    if event.is_none() {
                        self.promised(path);
                    }
                    if synchronizes(label) {
                        path.reads.clear();
                        path.stored.synchronize();
                    }
                }
                Action::Barrier { source, .. } => {
                    // A barrier that the thread has not passed may never open.
                    let event = self.event(path, source);
                    let passed = |event| self.state.gate_of(event).is_none_or(|gate| self.state.passed(gate, event));
                    if !event.is_some_and(passed) {
                        path.is_open = true;
                        return Outcome::Ended;
                    }
                    self.act(path, Act::Other { events: 1 });
                    path.reads.clear();
                    path.stored.synchronize();
                }
                Action::Exchange { exchange, source, .. } => {
                    // Nothing is known of a result to which the thread has not run ahead, nor whether all lanes come.
                    path.is_open = true;
                    let Some(event) = self.event(path, source) else {
                        path.met = true;
                        return Outcome::Ended;
                    };
                    let Some(gate) = self.state.gate_of(event) else { return Outcome::Ended };
                    let is_known = self.state.has_brought(gate, event);
                    let act = if is_known { Act::Other { events: 1 } } else { Act::Exchange { exchange } };
                    self.act(path, act);
                    if !self.state.passed(gate, event) {
                        return Outcome::Ended;
                    }
                    path.process.answer(self.state.graph.event(event).value);
                    path.is_open = false;
                }
                Action::LoopHead { label } => {
                    if matches!(self.given, Given::Each { .. }) {
                        path.heads.retain(|(open, ..)| *open != label);
                        path.heads.push((label, without_dead(&path.process), path.writes));
                    }
                    path.loops.retain(|(open, _)| *open != label);
                    if path.at >= self.runner.trail.len() {
                        path.loops.push((label, false));
                    }
                }
                Action::BackEdge { label, ends, .. } => {
                    if path.at < self.runner.trail.len() {
                        continue;
                    }
                    path.turns += u32::from(ends);
                    if ends && path.turns <= MOST_TURNS {
                        continue;
                    }
                    path.is_open = !self.is_as_before(path, label);
                    // A loop entered before may have read anything.
                    let Some(at) = path.loops.iter().position(|(open, _)| *open == label) else {
                        return Outcome::Ended;
                    };
                    path.loops.truncate(at + 1);
                    if path.loops[at].1 {
                        return Outcome::Ended;
                    }
                    path.is_open = false;
                }
                Action::NeedsValue => {
                    let Some(mut ways) = path.process.ways() else { return Outcome::Unknown };
                    let Some(first) = ways.pop() else { return Outcome::Unknown };
                    let most = (MOST + 1).saturating_sub(open.len());
                    open.extend(ways.into_iter().take(most).map(|process| Path { process, ..path.clone() }));
                    path.process = first;
                }
                Action::Fault { .. } => {}
                Action::Halt | Action::Done => return Outcome::Ended,
            }
        }
    }

    /// Answers a read with its first value, and keeps the alternatives for later.
    fn answer(
        &mut self,
        path: &mut Path<'w>,
        event: EventId,
        address: Option<Address>,
        label: Label,
        open: &mut VecDeque<Path<'w>>,
    ) {
        let graph = &self.state.graph;
        let known = (event < graph.len()).then(|| graph.event(event).value).flatten();
        let tied = path.reads.iter().find(|(at, ..)| Some(*at) == address).map(|&(_, earlier, value)| (earlier, value));
        let merged = self.state.ties.iter().find(|&&(_, later)| later == event);
        let known = known.or_else(|| graph.event(merged?.0).value);
        let may_tie = known.is_none();
        let stored = address.filter(|_| !label.atomic).and_then(|address| path.stored.at(address));
        let answers: Vec<Option<u64>> = match (known, self.given, address) {
            (Some(value), ..) => vec![Some(value)],
            // A read that the thread has not reached returns the same value, or the thread does not do what is promised
            // here.
            (None, Given::Present | Given::Merged(_) | Given::Each { .. }, _) if stored.is_some() => {
                let store = stored.and_then(|stored| stored.event).filter(|_| event < graph.len());
                path.ties.extend(store.map(|store| (store, event)));
                vec![stored.map(|stored| stored.value)]
            }
            (None, Given::Present | Given::Merged(_) | Given::Each { merged: true, .. }, _)
                if may_tie && tied.is_some() =>
            {
                let there = |(earlier, _): &(EventId, u64)| *earlier < graph.len() && event < graph.len();
                path.ties.extend(tied.filter(there).map(|(earlier, _)| (earlier, event)));
                vec![tied.map(|(_, value)| value)]
            }
            (None, Given::Anything, _) | (None, _, None) => vec![None],
            (None, Given::Present, Some(address)) => self.present(address),
            (None, Given::Possible(values), Some(address)) => {
                values.all(address).map_or_else(|| vec![None], |values| values.iter().copied().map(Some).collect())
            }
            (None, Given::Merged(values) | Given::Each { values, .. }, Some(address)) => {
                let mut all = self.present(address);
                all.extend(values.some(address).iter().copied().map(Some));
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        // An acquire orders what comes after it.
        if label.acquire {
            path.reads.clear();
            path.stored.synchronize();
        }
        let take = |path: &mut Path<'w>, answer: Option<u64>| {
            path.process.answer(answer);
            let written = path.changing.take().map(|change| change.written(answer));
            path.writes += usize::from(written.is_some_and(|written| !matches!(written, Written::Nothing)));
            if let (Some(value), Some(address), true, false) = (answer, address, may_tie, label.acquire) {
                path.reads.retain(|(at, ..)| *at != address);
                path.reads.push((address, event, value));
            }
        };
        for &answer in &answers[1..] {
            // Further completions are not compared.
            if open.len() > MOST {
                break;
            }
            let mut other = path.clone();
            take(&mut other, answer);
            if self.is_new(&mut other) {
                open.push_back(other);
            }
        }
        take(path, answers[0]);
        self.is_new(path);
    }

    /// The values of the present writes of a place.
    fn present(&self, address: Address) -> Vec<Option<u64>> {
        let Some(cell) = self.state.cells.get(&address) else {
            return vec![Some(self.setup.memory.initial(address).value)];
        };
        let mut values: Vec<Option<u64>> =
            self.state.writes[cell.location].iter().map(|&write| self.state.graph.event(write).value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The actions that one completion alone performs.
    fn alone(&self, path: Path<'w>) -> Agreement {
        let mut ahead = path.acts;
        let beyond = ahead.split_off(path.ahead.min(ahead.len()));
        let depends = ahead.iter().chain(&beyond).any(Act::is_open);
        let mut beyond: Vec<Act> = beyond.into_iter().filter(Act::is_known).collect();
        trim(&mut beyond);
        let reordered = false;
        Agreement { ahead, beyond, undecided: false, cut: false, met: path.met, depends, reordered, ties: path.ties }
    }
}
