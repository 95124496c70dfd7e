//! One execution of a program with large graphs, for the races that every execution has.
//!
//! A search that expects no race lets plain reads read what happens before them. Where accesses race, as in a kernel
//! without one of its barriers, it tries each source of each of thousands of reads, and relates all events anew for
//! each. So one execution is built first without a choice, and the model is asked once: each read reads the last write
//! of an earlier phase of its block, or of its own thread. Phases are what lies between the block's barriers. If the
//! model permits it and it shows a race, that is the answer; else nothing is known.

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_memory::{EventId, Kind, LocationId, ThreadId};

use super::Statistics;
use super::execution::{execution, ordered};
use super::searcher::{Open, Search};
use super::state::{SearchState, Status};

/// The fewest events for which it is worth while: a search of smaller graphs is quick, and shows less of what has no
/// part in it.
const FEWEST: usize = 192;

/// The most events that are related to one another.
const MOST: usize = 12_000;

/// The most times that reads are given sources.
const MOST_ROUNDS: usize = 1 << 12;

impl Search<'_, '_> {
    /// Shows the visitor one execution with a race, if it is found without a choice: then its counts are not empty.
    pub(super) fn one_interleaving(mut self) -> Statistics {
        let setup = self.setup;
        if setup.assume_race_free && setup.sample.is_none() && setup.most_events.is_none() && !self.cuts_off() {
            // A limit or a problem shows again in the search.
            let _ = self.show_race();
        }
        self.statistics
    }

    fn show_race(&mut self) -> Option<()> {
        let Open { mut state, .. } = Open::root(self.setup, self.shared);
        self.settle(&mut state).ok()?;
        if state.graph.len() < FEWEST {
            return None;
        }
        for _ in 0..MOST_ROUNDS {
            if state.graph.len() > MOST || state.is_broken() || self.is_stopped() {
                return None;
            }
            if !give_sources(&mut state) {
                break;
            }
            self.settle(&mut state).ok()?;
        }
        let ended =
            |thread: ThreadId| state.runners[thread].status == Status::Done && state.pending(thread).next().is_none();
        if !(0..state.runners.len()).all(ended) {
            return None;
        }
        let known = self.analyse(&state).ok()??;
        if !self.setup.has_races(&state.graph, &known.analysis) {
            return None;
        }
        let (graph, analysis) = ordered(self, state.graph.clone(), (*known.analysis).clone())?;
        let found = execution(&state, &graph, &analysis, &[], Vec::new());
        if let ControlFlow::Break(()) = self.visitor().complete(&found) {
            self.statistics.complete += 1;
        }
        Some(())
    }
}

/// Gives each read the source that stands for it, where its value is known; returns whether one got it.
fn give_sources(state: &mut SearchState<'_>) -> bool {
    let mut writes: FxHashMap<LocationId, Vec<EventId>> = FxHashMap::default();
    for (id, event) in state.graph.events().iter().enumerate() {
        if let (Kind::Write, Some(location)) = (event.label.kind, event.location) {
            writes.entry(location).or_default().push(id);
        }
    }
    // No two read-modify-writes read from one write.
    let updates = (0..state.graph.len()).filter(|&read| state.graph.other_half(read).is_some());
    let taken: FxHashSet<EventId> = updates.filter_map(|read| state.graph.source(read)).collect();
    let mut chosen = Vec::new();
    for thread in 0..state.runners.len() {
        for read in state.pending(thread) {
            let Some(location) = state.graph.event(read).location else { continue };
            // Nothing says which of several atomic accesses comes first, so one that is known will do.
            let may_be = |&write: &EventId| match state.graph.other_half(read) {
                Some(_) => state.graph.event(write).value.is_some() && !taken.contains(&write),
                None => !state.graph.event(read).label.atomic || state.graph.event(write).value.is_some(),
            };
            let here = writes.get(&location).into_iter().flatten().copied().filter(may_be);
            let before = here.filter_map(|write| Some((place(state, write, read, thread)?, write)));
            if let Some((_, source)) = before.max()
                && state.graph.event(source).value.is_some()
            {
                chosen.push((thread, read, source));
            }
        }
    }
    // Of those of one place one at a time.
    let mut updated = Vec::new();
    let mut gave = false;
    for (thread, read, source) in chosen {
        if state.graph.other_half(read).is_some() {
            let location = state.graph.event(read).location;
            if updated.contains(&location) {
                continue;
            }
            updated.push(location);
        }
        state.choose(read, source);
        state.runners[thread].status = Status::Ready;
        gave = true;
    }
    gave
}

/// How far a write is before a read, if it is: by its phase, and whether it is of the read's own thread.
fn place(state: &SearchState<'_>, write: EventId, read: EventId, thread: ThreadId) -> Option<(usize, bool)> {
    let Some(by) = state.graph.event(write).thread else { return Some((0, false)) };
    let phase =
        |of: ThreadId, event: EventId| 1 + state.runners[of].arrivals.partition_point(|&(arrival, _)| arrival < event);
    if by == thread {
        return (write < read).then(|| (phase(by, write), true));
    }
    let block = |of: ThreadId| {
        let placement = state.graph.threads()[of];
        (placement.device, placement.queue_family, placement.block)
    };
    let is_atomic = state.graph.event(write).label.atomic && state.graph.event(read).label.atomic;
    let earlier = phase(by, write) < phase(thread, read);
    ((block(by) == block(thread) && earlier) || is_atomic).then(|| (phase(by, write), false))
}
