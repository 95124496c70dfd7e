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

mod complete;
mod listed;
mod stores;

use std::collections::VecDeque;

#[cfg(doc)]
use wattle_memory::Model;
use wattle_memory::{EventId, Kind};

use rustc_hash::FxHashMap;

use super::Setup;
use super::agreement::{Act, Agreement, agree, in_each_order, trim};
use super::forwarding::Stored;
use super::process::{Address, Change};
use super::state::{Runner, SearchState};
use super::thread::Thread;
use super::values::Values;
use complete::Outcome;
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
struct CompletionPath<'w> {
    process: Thread<'w>,
    acts: Vec<Act>,
    /// The number of the next event to which the thread has run ahead, after the first open read.
    at: usize,
    /// The number of promised events that it has reached.
    kept: usize,
    /// The loops entered beyond that, and whether this iteration has read something atomic.
    loops: Vec<(u32, bool)>,
    /// How many turns the thread has made of loops that end by themselves.
    turns: u32,
    /// The last read of each place with which a later one may be merged.
    reads: Vec<(Address, EventId, u64)>,
    /// What the thread has stored plainly since it last synchronized.
    stored: Stored,
    /// The reads that are merged with earlier reads, or that get what an earlier store has stored.
    ties: Vec<(EventId, EventId)>,
    ahead: usize,
    /// Whether the path ended at an operation of its warp to which the thread has not come.
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
    fn begin(&mut self) -> Option<VecDeque<CompletionPath<'w>>> {
        let first = self.runner.waiting?;
        let mut start = CompletionPath {
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

    /// The actions that one completion alone performs.
    fn alone(&self, path: CompletionPath<'w>) -> Agreement {
        let mut ahead = path.acts;
        let beyond = ahead.split_off(path.ahead.min(ahead.len()));
        let depends = ahead.iter().chain(&beyond).any(Act::is_open);
        let mut beyond: Vec<Act> = beyond.into_iter().filter(Act::is_known).collect();
        trim(&mut beyond);
        let reordered = false;
        Agreement { ahead, beyond, undecided: false, cut: false, met: path.met, depends, reordered, ties: path.ties }
    }
}
