//! Symmetric threads: of executions that differ only in which of them is which, fewer are built.

use wattle_memory::{EventId, Set, ThreadId};

use super::Setup;
use super::state::State;

/// The reads at which symmetric threads wait in the same state as this one.
pub(super) fn alike(setup: &Setup<'_>, state: &State<'_>, thread: ThreadId, read: EventId) -> Vec<EventId> {
    let Some(class) = setup.symmetric.iter().find(|class| class.contains(&thread)) else {
        return Vec::new();
    };
    let runner = &state.runners[thread];
    if runner.waiting != Some(read) {
        return Vec::new();
    }
    let same = |&&other: &&ThreadId| {
        let candidate = &state.runners[other];
        other != thread
            && candidate.status == runner.status
            && candidate.process.is_alike(&runner.process)
            && untouched(state, other)
            && candidate.waiting.is_some_and(|at| state.graph.event(at).location == state.graph.event(read).location)
    };
    if !untouched(state, thread) {
        return Vec::new();
    }
    class.iter().filter(same).filter_map(|&other| state.runners[other].waiting).collect()
}

/// Excludes those sources for the reads of interchangeable threads, except for writes of these threads themselves, with
/// respect to which they differ.
pub(super) fn exclude_alike(state: &mut State<'_>, thread: ThreadId, alike: &[EventId], sources: &Set) {
    for &other in alike {
        let mut sources = sources.clone();
        let owners = [Some(thread), state.graph.event(other).thread];
        for source in sources.clone().iter() {
            if owners.contains(&state.graph.event(source).thread) {
                sources.remove(source);
            }
        }
        state.exclude(other, &sources);
    }
}

/// Whether nothing has been decided about a thread yet: none of its reads has a source, and no read has one of its
/// writes for a source.
fn untouched(state: &State<'_>, thread: ThreadId) -> bool {
    let graph = &state.graph;
    (0..graph.len()).all(|event| {
        let own = graph.event(event).thread == Some(thread);
        let from = graph.source(event).and_then(|source| graph.event(source).thread);
        !(own && graph.source(event).is_some()) && from != Some(thread)
    })
}
