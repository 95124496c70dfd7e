//! The reads that can be given a source, and the writes that each of them can read from.

use wattle_memory::{Analysis, EventId, Kind, Level, Set, ThreadId};

use super::Setup;
use super::process::{Action, Written};
use super::searcher::Search;
use super::state::SearchState;

/// A pending read, and the sources of its value.
pub(super) struct Choice {
    pub thread: ThreadId,
    pub read: EventId,
    pub sources: Vec<EventId>,
    /// Sources that only send the thread back to the head of its loop.
    pub spinning: Vec<EventId>,
    /// Whether the read is the first pending one of its thread.
    pub first: bool,
}

impl Choice {
    /// Whether some source lets the thread go on.
    pub fn goes_on(&self) -> bool {
        !self.sources.is_empty()
    }
}

impl Search<'_, '_> {
    /// The pending reads for which a write is present.
    pub(super) fn choices(&self, state: &SearchState<'_>, analysis: &Analysis) -> Vec<Choice> {
        let mut choices = Vec::new();
        for thread in 0..state.runners.len() {
            for (number, read) in state.pending(thread).enumerate() {
                let (sources, spinning) = self.sources(state, analysis, read, thread);
                if !sources.is_empty() || !spinning.is_empty() {
                    choices.push(Choice { thread, read, sources, spinning, first: number == 0 });
                }
            }
        }
        choices
    }

    /// The writes that a read can read from, as far as the analysis decides it; and those of them that would only send
    /// the thread back to the head of its loop.
    pub(super) fn sources(
        &self,
        state: &SearchState<'_>,
        analysis: &Analysis,
        read: EventId,
        thread: ThreadId,
    ) -> (Vec<EventId>, Vec<EventId>) {
        let graph = &state.graph;
        let Some(location) = graph.event(read).location else { return (Vec::new(), Vec::new()) };
        let excluded = state.excluded(read);
        let possible = |&write: &EventId| {
            if excluded.is_some_and(|excluded| excluded.contains(write)) || analysis.causality.has(read, write) {
                return false;
            }
            // A read-modify-write does not read from its own write, nor from what its thread has run ahead to since.
            if write > read && graph.same_thread(read, write) {
                return false;
            }
            !self.setup.model.hides(graph, analysis, write, read) && !self.taken(state, analysis, read, write)
        };
        let spins = |&write: &EventId| {
            let event = graph.event(write);
            // A thread that takes the value along does not return where it matters.
            let is_known = !event.label.unwritten || !state.runners[thread].process.carries_unwritten();
            is_known && would_spin(state, thread, read, event.value.unwrap_or(0))
        };
        let possible = state.writes[location].iter().copied().filter(possible);
        let (spinning, sources) = possible.partition(spins);
        (sources, spinning)
    }

    /// Whether another read-modify-write has read from the write already, and both cannot.
    pub(super) fn taken(&self, state: &SearchState<'_>, analysis: &Analysis, read: EventId, write: EventId) -> bool {
        let graph = &state.graph;
        let Some(half) = graph.other_half(read) else { return false };
        let location = graph.event(read).location;
        let (first, second) = (graph.event(read).label, graph.event(half).label);
        // A compare-exchange whose outcome is open may write nothing, unless it succeeds with the value of `write`.
        // Its write has no location yet; its read, of the same scope, is ordered like it.
        let own = match graph.event(half).location {
            Some(_) => half,
            None if state.writes_if_it_reads(read, write)
                && (first.atomic, first.level, first.storage) == (second.atomic, second.level, second.storage) =>
            {
                read
            }
            None => return false,
        };
        // Each has its own write right behind the one that it reads, where an order relates all three.
        let orders = |a, b| self.setup.model.orders_writes(graph, a, b);
        let initial = graph.event(write).thread.is_none();
        let taker = |&other: &EventId| {
            let taken = graph.other_half(other).filter(|&half| graph.source(half) == Some(write));
            let comes_first = |taken| [read, own, taken, other].iter().all(|&event| analysis.ordered.has(write, event));
            other != half
                && taken
                    .is_some_and(|taken| initial || orders(write, own) && orders(write, other) || comes_first(taken))
                && orders(own, other)
                && graph.event(other).location == location
        };
        location.is_some_and(|location| state.writes[location].iter().any(taker))
    }
}

/// Whether a thread may wait for ever with a read: on a write that sends it back to the head of its loop, and that no
/// write which lets it go, and which it has to see, is known to come after.
pub(super) fn may_wait(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    analysis: &Analysis,
    read: EventId,
    spinning: &Set,
) -> bool {
    let location = state.graph.event(read).location;
    spinning.iter().any(|write| {
        // Another write of the same value sends the thread back too.
        let lets_go = |other: EventId| {
            let event = state.graph.event(other);
            let alike = |known: EventId| state.graph.event(known).value == event.value;
            let is_seen = setup.assume_race_free || setup.model.comes_to_see(&state.graph, read, other);
            event.location == location && is_seen && event.value.is_some() && !spinning.iter().any(alike)
        };
        !analysis.coherence.after(write).any(lets_go)
    })
}

/// Whether a thread, given this value for the read that it waits for, only returns to the head of its loop.
fn would_spin(state: &SearchState<'_>, thread: ThreadId, read: EventId, value: u64) -> bool {
    let runner = &state.runners[thread];
    let simple = runner.waiting == Some(read)
        && runner.promised.is_empty()
        && runner.trail.iter().all(|&event| {
            let label = &state.graph.event(event).label;
            label.kind == Kind::Fence && label.level == Level::Thread
        });
    let idle = match (runner.update, state.graph.other_half(read)) {
        (Some((_, change)), Some(_)) => match change.written(Some(value)) {
            Written::Nothing => true,
            Written::Value(new) => new == value && !state.is_mixed(state.graph.event(read).location),
            Written::Unknown => false,
        },
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let Some(head) = runner.heads.last().filter(|head| simple && idle && !head.effect) else { return false };
    let known = runner.returns.borrow().iter().find(|(of, _)| *of == value).map(|&(_, returns)| returns);
    known.unwrap_or_else(|| {
        let mut process = runner.process.clone();
        process.answer(Some(value));
        let returns = match process.advance() {
            Action::BackEdge { label, .. } => label == head.label && !process.any_pending() && process == head.process,
            Action::Read { .. }
            | Action::Write { .. }
            | Action::Update { .. }
            | Action::Fence { .. }
            | Action::Barrier { .. }
            | Action::Exchange { .. }
            | Action::LoopHead { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => false,
        };
        runner.returns.borrow_mut().push((value, returns));
        returns
    })
}
