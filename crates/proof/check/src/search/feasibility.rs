//! Whether a write that a read waits for can still come.
//!
//! The answer errs on one side: `false` is certain. What is excluded, hidden or taken stays so in every state that a
//! state grows into, so that a compare-exchange can succeed only with a source that it has now, or with a write to
//! come.

use wattle_memory::{Analysis, EventId, Kind, LocationId, Set, ThreadId, stop};

use rustc_hash::FxHashMap;

use super::Setup;
use super::choices::{Choice, may_wait};
use super::ignored::ignorable;
use super::process::Change;
use super::searcher::Search;
use super::state::{SearchState, Status};

/// Whether a write may still be added that `read` could read from, if it is not given one of those that are there.
pub(super) fn later(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    analysis: &Analysis,
    choices: &[Choice],
    read: EventId,
    gate: bool,
) -> bool {
    Feasible::new(setup, state, analysis, choices).later(read, gate)
}

impl Search<'_, '_> {
    /// Whether some read has no source and can never have one.
    pub(super) fn is_infeasible(
        &self,
        state: &SearchState<'_>,
        analysis: &Analysis,
        choices: &[Choice],
        gate: bool,
    ) -> bool {
        let mut feasible = Feasible::new(self.setup, state, analysis, choices);
        let mut choosing = Set::new(state.graph.len());
        choices.iter().for_each(|choice| choosing.insert(choice.read));
        (0..state.runners.len()).any(|thread| {
            state.pending(thread).any(|read| {
                let chooses = choosing.contains(read);
                let waits = || {
                    state.spinning(read).is_some_and(|spinning| may_wait(self.setup, state, analysis, read, spinning))
                };
                !chooses && !waits() && !feasible.later(read, gate)
            })
        })
    }
}

/// Whether a later read of the place by the same thread has read from the initial value, or from a chain of
/// read-modify-writes that begins there: nothing new can come before what it has read, and the read must not come
/// after.
fn is_overtaken(setup: &Setup<'_>, state: &SearchState<'_>, read: EventId) -> bool {
    let graph = &state.graph;
    let here =
        |event: EventId| graph.event(event).label.atomic && graph.event(event).location == graph.event(read).location;
    let last = |mut write: EventId| {
        for _ in 0..graph.len() {
            if graph.event(write).thread.is_none() {
                return true;
            }
            let source = graph.other_half(write).and_then(|half| graph.source(half));
            match source.filter(|&earlier| {
                graph.event(earlier).thread.is_none() || setup.model.orders_writes(graph, earlier, write)
            }) {
                Some(earlier) => write = earlier,
                None => return false,
            }
        }
        false
    };
    let kind = |event: EventId| graph.event(event).label.kind == Kind::Read;
    here(read)
        && (read + 1..graph.len())
            .filter(|&later| graph.same_thread(read, later) && kind(later) && here(later))
            .filter_map(|later| graph.source(later))
            .any(last)
}

/// What may still happen in a state: the reads that may still be given a source, and the threads that may still run.
///
/// Of thousands of reads each is asked about, and each answer looks at all of them: what is the same for all is found
/// once.
pub(super) struct Feasible<'s, 'w> {
    setup: &'s Setup<'w>,
    state: &'s SearchState<'w>,
    analysis: &'s Analysis,
    choices: &'s [Choice],
    /// The writes whose value is not known.
    open: Vec<EventId>,
    /// The open writes whose place is known, by place.
    open_at: FxHashMap<LocationId, Vec<EventId>>,
    /// The open writes whose place is not known.
    open_anywhere: Vec<EventId>,
    /// Whether the code of a thread may write to a place, as far as it has been asked.
    writers: FxHashMap<LocationId, Vec<Option<bool>>>,
    /// The last events of each thread behind which comes all that it does later, of some kind each.
    last: Vec<Vec<EventId>>,
    /// The pending reads, each with its thread.
    pending: Vec<(ThreadId, EventId)>,
    /// The threads that have reads which may still get a source, each with the first of them in the graph.
    reading: Vec<(ThreadId, EventId)>,
    /// The threads that may still continue.
    moving: Vec<bool>,
}

impl<'s, 'w> Feasible<'s, 'w> {
    pub(super) fn new(
        setup: &'s Setup<'w>,
        state: &'s SearchState<'w>,
        analysis: &'s Analysis,
        choices: &'s [Choice],
    ) -> Self {
        let mut last = vec![Vec::new(); state.runners.len()];
        let (known, has_classes) = (analysis.happens_before.events().min(state.graph.len()), setup.model.has_classes());
        // What a thread has promised stands behind what it may still do.
        let of = |event: EventId| {
            let thread = state.graph.event(event).thread?;
            // The graph has other threads too: those before and behind all that run.
            state.runners.get(thread).filter(|runner| runner.promised.is_empty()).map(|_| (thread, event))
        };
        for (thread, event) in (0..known).rev().filter_map(of) {
            let label = |event: EventId| state.graph.event(event).label;
            let is_acquire = label(event).acquire && matches!(label(event).kind, Kind::Fence | Kind::Barrier);
            let last: &mut Vec<EventId> = &mut last[thread];
            // One of each set of classes is enough.
            let is_new = || last.iter().all(|&last| label(last).semantics != label(event).semantics);
            let counts = match has_classes {
                true => is_acquire && setup.assume_race_free && is_new(),
                false => last.is_empty(),
            };
            if counts {
                last.push(event);
            }
        }
        let event = |&event: &EventId| state.graph.event(event);
        let is_open = |id: &EventId| event(id).label.kind == Kind::Write && event(id).value.is_none();
        let open: Vec<EventId> = (0..state.graph.len()).filter(is_open).collect();
        let (mut open_at, mut open_anywhere) = (FxHashMap::<_, Vec<_>>::default(), Vec::new());
        for &write in &open {
            match event(&write).location {
                Some(location) => open_at.entry(location).or_default().push(write),
                None => open_anywhere.push(write),
            }
        }
        let of_thread = |thread| state.pending(thread).map(move |read| (thread, read));
        let pending = (0..state.runners.len()).flat_map(of_thread).collect();
        let moving = vec![false; state.runners.len()];
        let (reading, writers) = (Vec::new(), FxHashMap::default());
        Feasible {
            setup,
            state,
            analysis,
            choices,
            open,
            open_at,
            open_anywhere,
            writers,
            last,
            pending,
            reading,
            moving,
        }
    }

    /// Whether a write may still be added that `read` could read from, if it is not given one of those that are there.
    ///
    /// The possibilities begin with the other reads that have sources: a thread with such a read may go on, and may
    /// write whatever its code contains; a write whose value waits for such a read may get it; and so may reads that
    /// wait for those writes. What nothing of this reaches will not happen.
    ///
    /// Where the search is asked to end, the answer is `true` at once.
    pub(super) fn later(&mut self, read: EventId, gate: bool) -> bool {
        let state = self.state;
        let Some(location) = state.graph.event(read).location else { return true };
        if stop::requested() {
            return true;
        }
        // Weak writes, which take no part in the order of the others, are ignored where nothing races.
        if self.setup.assume_race_free && is_overtaken(self.setup, state, read) {
            return false;
        }
        self.reading.clear();
        self.moving.fill(false);
        let mut known = Set::new(state.graph.len());
        known.insert(read);
        for choice in self.choices.iter().filter(|choice| choice.read != read && choice.goes_on()) {
            known.insert(choice.read);
            self.add(choice.thread, choice.read);
        }
        // Of the read's own thread too, for which others may wait.
        for thread in 0..state.runners.len() {
            if let Some(waiting) = ignorable(state, thread) {
                self.add(thread, waiting);
            }
        }
        for (thread, runner) in state.runners.iter().enumerate() {
            let waits = matches!(runner.status, Status::NotStarted | Status::AtBarrier(_) | Status::GoesRound);
            self.moving[thread] |= waits && (gate || self.moving.contains(&true));
        }
        // The other pending reads of a thread, and those without a source: each may come to have one.
        let mut pending: Vec<_> = self.pending.iter().copied().filter(|&(_, other)| !known.contains(other)).collect();
        loop {
            if self.may_come(location, read) {
                return true;
            }
            let before = pending.len();
            pending.retain(|&(thread, other)| {
                let comes = state.graph.event(other).location.is_none_or(|location| self.may_come(location, other));
                if comes {
                    self.add(thread, other);
                }
                !comes
            });
            if pending.len() == before {
                return false;
            }
            for (thread, runner) in state.runners.iter().enumerate() {
                self.moving[thread] |=
                    matches!(runner.status, Status::NotStarted | Status::AtBarrier(_) | Status::GoesRound);
            }
        }
    }

    fn add(&mut self, thread: ThreadId, read: EventId) {
        match self.reading.iter_mut().find(|(reading, _)| *reading == thread) {
            Some((_, first)) => *first = read.min(*first),
            None => self.reading.push((thread, read)),
        }
        let ends = |thread: ThreadId| matches!(self.state.runners[thread].status, Status::Done | Status::Halted);
        self.moving[thread] |= !ends(thread);
        if self.state.exchanges(thread) {
            let others = self.moving.iter_mut().enumerate();
            others.for_each(|(other, moving)| *moving |= !ends(other) && self.state.meet(thread, other));
        }
    }

    /// Whether a write of the location may come that `read` can read from.
    fn may_come(&mut self, location: LocationId, read: EventId) -> bool {
        let state = self.state;
        let own = state.graph.event(read).thread;
        let Some(&address) = state.addresses.get(location) else { return true };
        let writers = self.writers.entry(location).or_insert_with(|| vec![None; state.runners.len()]);
        let by_code = |thread: ThreadId| {
            // A read added early may stand behind writes of its own thread that have not been added.
            let before = || Some(thread) != own || state.runners[thread].promised.contains(&read);
            let excludes = |&last: &EventId| {
                self.analysis.happens_before.has(read, last)
                    && self.setup.model.excludes_later_writes(&state.graph, read, last)
            };
            let comes_after = || self.last[thread].iter().any(excludes);
            let mut writes = || *writers[thread].get_or_insert_with(|| state.runners[thread].ahead.may_write(address));
            self.moving[thread] && before() && !comes_after() && writes()
        };
        let by_code = (0..state.runners.len()).any(by_code);
        let mut open = self.open_at.get(&location).into_iter().flatten().chain(&self.open_anywhere);
        by_code || open.any(|&write| self.opens(write, location, read))
    }

    /// The value for which a compare-exchange that has not read yet is known to wait, and the one that it then writes;
    /// `None` where it writes in any case, or neither is known.
    fn expects(&self, half: EventId) -> Option<(u64, Option<u64>)> {
        match self.state.change(half)? {
            Change::CompareExchange { expected: Some(expected), desired, writes_back: false, .. } => {
                Some((expected, desired))
            }
            Change::CompareExchange { .. } | Change::Apply { .. } => None,
        }
    }

    /// Whether a read-modify-write that has not read yet may write. A compare-exchange does if it reads the value that
    /// it expects: from a write that is there, or from one to come. The first one to come is by code that has not been
    /// run, by another kind of write, or by a compare-exchange that finds its value among the writes that are there.
    fn may_succeed(&self, half: EventId) -> bool {
        let Some((expected, _)) = self.expects(half) else { return true };
        let graph = &self.state.graph;
        let Some(location) = graph.event(half).location else { return true };
        let Some(&address) = self.state.addresses.get(location) else { return true };
        let by_code =
            |(thread, &moving): (ThreadId, &bool)| moving && self.state.runners[thread].ahead.may_write(address);
        if self.moving.iter().enumerate().any(by_code) {
            return true;
        }
        // The compare-exchanges of the place whose success is open, with what they expect and write.
        let mut waiting = Vec::new();
        for &write in &self.open {
            let event = graph.event(write);
            let other = graph.other_half(write).filter(|&other| self.state.is_pending(other));
            let place = event.location.or_else(|| graph.event(other?).location);
            if place.is_some_and(|place| place != location) {
                continue;
            }
            match other.and_then(|other| Some((other, self.expects(other)?))) {
                Some((other, (expected, desired))) => waiting.push((other, expected, desired)),
                None => return true,
            }
        }
        let finds = |read: EventId, expected: u64| {
            let sources = self.choices.iter().filter(|choice| choice.read == read);
            let mut sources = sources.flat_map(|choice| choice.sources.iter().chain(&choice.spinning));
            sources.any(|&source| graph.event(source).value == Some(expected))
        };
        let mut values: Vec<u64> = Vec::new();
        while let Some(next) =
            waiting.iter().position(|&(read, expected, _)| values.contains(&expected) || finds(read, expected))
        {
            let (read, _, desired) = waiting.swap_remove(next);
            let Some(desired) = desired else { return true };
            if read == half {
                return true;
            }
            values.push(desired);
        }
        values.contains(&expected)
    }

    /// Whether the value of a read that may still get a source can be part of an event's; of its own thread only one of
    /// the reads up to `before`.
    fn is_reached(&self, event: EventId, before: EventId) -> bool {
        let Some(other) = self.state.graph.event(event).thread else { return false };
        let reaches = |&(thread, first): &(ThreadId, EventId)| {
            self.state.meet(thread, other) && (thread != other || first <= before)
        };
        self.reading.iter().any(reaches)
    }

    /// Whether a write without a value is one of the location whose address or value may still become known.
    fn opens(&self, write: EventId, location: LocationId, read: EventId) -> bool {
        let graph = &self.state.graph;
        let event = graph.event(write);
        let reaches = |thread: ThreadId| {
            let address = self.state.addresses.get(location);
            address.is_none_or(|&address| self.state.runners[thread].process.may_reach(event.source, address))
        };
        let here = match event.location {
            Some(known) => known == location,
            None => event.thread.is_none_or(reaches),
        };
        let behind = write > read && graph.same_thread(read, write);
        if !here || behind || self.analysis.causality.has(read, write) {
            return false;
        }
        match graph.other_half(write) {
            Some(half) if self.state.is_pending(half) => {
                let elsewhere = graph.event(half).location.is_some_and(|known| known != location);
                // The written value depends on the value read, or on an operand that comes from an earlier read.
                !elsewhere && self.is_reached(half, half) && self.may_succeed(half)
            }
            _ => self.is_reached(write, EventId::MAX),
        }
    }
}
