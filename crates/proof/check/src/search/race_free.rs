//! What the search leaves out where a data race makes the rest uninteresting ([`Setup::assume_race_free`]): a plain
//! read that nothing new can come to happen before reads what happens before it.
//!
//! [`Setup::assume_race_free`]: super::Setup::assume_race_free

use wattle_memory::{Analysis, Event, EventId, Graph, Kind};

use super::searcher::Search;
use super::state::{SearchState, Status};

impl Search<'_, '_> {
    /// Gives all plain reads before which nothing new can happen the one source that they can have without a race.
    /// Returns whether there was any.
    pub(super) fn read_what_happened_before(&self, state: &mut SearchState<'_>, analysis: &Analysis) -> bool {
        let mut chosen = Vec::new();
        for thread in 0..state.runners.len() {
            // Whatever follows a pending read in its thread has that read in its past, so only the first one can be
            // closed.
            let Some(read) = state.pending(thread).next() else { continue };
            if state.graph.event(read).label.atomic || !is_closed(state, analysis, read) {
                continue;
            }
            let (sources, spinning) = self.sources(state, analysis, read, thread);
            let before =
                |&write: &EventId| analysis.ordered.has(write, read) || state.graph.event(write).thread.is_none();
            let before: Vec<EventId> = sources.into_iter().chain(spinning).filter(before).collect();
            // Of several that nothing orders any may be the last: all leave one value, or the search chooses.
            let left = |write: &EventId| {
                let Event { value, label, .. } = state.graph.event(*write);
                value.map(|value| (value, label.unwritten))
            };
            let are_alike = || before.iter().all(|write| left(write).is_some() && left(write) == left(&before[0]));
            let source = before.last().filter(|_| before.len() == 1 || self.setup.same_stores.is_some() && are_alike());
            chosen.extend(source.map(|&source| (thread, read, source)));
        }
        for &(thread, read, source) in &chosen {
            state.choose(read, source);
            state.runners[thread].status = Status::Ready;
        }
        !chosen.is_empty()
    }
}

/// Whether nothing new can happen before a read, by what the search may still add or choose.
///
/// The order of sequentially consistent fences is found last, and may order more events before the read: all that comes
/// before a fence that may come to stand before one of its past. Where they order nothing, as in Rust's model, they
/// still forbid values: that two threads store and both read what was there before. Fences that are not there yet do
/// not matter. What a thread has run past without its place, as one that the result of its warp decides, may be
/// anything yet. If one of the fences orders a write before the read, the execution in which it comes later in the
/// order goes on from the same graph, and in it the write and the read race.
fn is_closed(state: &SearchState<'_>, analysis: &Analysis, read: EventId) -> bool {
    let graph = &state.graph;
    let is_before = |&event: &EventId| analysis.happens_before.has(event, read);
    let past = possible_past(graph, analysis, read);
    past.iter().all(|event| !state.is_pending(*event) && !observes_pending(state, *event))
        && past.iter().all(|event| {
            let Event { location, label, value, .. } = graph.event(*event);
            if !label.is_access() {
                return true;
            }
            let is_here = *location == graph.event(read).location;
            location.is_some() && (label.kind != Kind::Write || !is_here || value.is_some() && is_before(event))
        })
}

/// All events that happen before a read under some order of the sequentially consistent fences.
fn possible_past(graph: &Graph, analysis: &Analysis, read: EventId) -> Vec<EventId> {
    let fences: Vec<EventId> = (0..graph.len()).filter(|&event| graph.event(event).label.sc).collect();
    let mut past: Vec<bool> = (0..graph.len()).map(|event| analysis.happens_before.has(event, read)).collect();
    let mut open: Vec<EventId> = fences.iter().copied().filter(|&fence| past[fence]).collect();
    while let Some(fence) = open.pop() {
        for &other in &fences {
            let is_after = analysis.happens_before.has(fence, other);
            if past[other] || is_after {
                continue;
            }
            for event in (0..graph.len()).filter(|&event| event == other || analysis.happens_before.has(event, other)) {
                if !std::mem::replace(&mut past[event], true) && graph.event(event).label.sc {
                    open.push(event);
                }
            }
        }
    }
    (0..graph.len()).filter(|&event| past[event]).collect()
}

/// Whether a read reads from a read-modify-write that has not read yet, or from one that has read from such a one: it
/// may come to observe more.
fn observes_pending(state: &SearchState<'_>, read: EventId) -> bool {
    let graph = &state.graph;
    let mut source = graph.source(read);
    for _ in 0..graph.len() {
        let Some(half) = source.and_then(|write| graph.other_half(write)) else { return false };
        source = graph.source(half);
        if source.is_none() {
            return true;
        }
    }
    false
}
