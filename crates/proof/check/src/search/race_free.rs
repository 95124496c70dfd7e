//! What the search leaves out where a data race makes the rest uninteresting ([`Setup::assume_race_free`]): a plain read
//! that nothing new can come to happen before reads what happens before it.
//!
//! [`Setup::assume_race_free`]: super::Setup::assume_race_free

use wattle_memory::{Analysis, EventId, ThreadId};

use super::searcher::Search;
use super::state::{Runner, State, Status};

impl Search<'_, '_> {
    /// Gives all plain reads before which nothing new can happen the one source that they can have without a race.
    /// Returns whether there was any.
    pub(super) fn read_what_happened_before(&self, state: &mut State<'_>, analysis: &Analysis) -> bool {
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
            if let [source] = before[..] {
                chosen.push((thread, read, source));
            }
        }
        for &(thread, read, source) in &chosen {
            state.choose(read, source);
            state.runners[thread].status = Status::Ready;
        }
        !chosen.is_empty()
    }
}

/// Whether nothing new can happen before a read, by what the search may still add or choose.
fn is_closed(state: &State<'_>, analysis: &Analysis, read: EventId) -> bool {
    let graph = &state.graph;
    (0..graph.len()).filter(|&event| analysis.happens_before.has(event, read)).all(|event| {
        let label = &graph.event(event).label;
        // The order of sequentially consistent fences is found last, and may order more events.
        let settled = || {
            let own = graph.event(event).thread;
            let elsewhere = |(thread, runner): (ThreadId, &Runner<'_>)| {
                Some(thread) == own || matches!(runner.status, Status::Done | Status::Halted)
            };
            let meets = |other: EventId| {
                let ordered = analysis.happens_before.has(event, other) || analysis.happens_before.has(other, event);
                graph.event(other).label.sc && graph.event(other).thread != own && !ordered
            };
            state.runners.iter().enumerate().all(elsewhere) && !(0..graph.len()).any(meets)
        };
        !state.is_pending(event) && !observes_pending(state, event) && (!label.sc || settled())
    })
}

/// Whether a read reads from a read-modify-write that has not read yet, or from one that has read from such a one: it
/// may come to observe more.
fn observes_pending(state: &State<'_>, read: EventId) -> bool {
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
