//! Symmetric threads: of executions that differ only in which of them is which, fewer are built.
//!
//! Threads of a class run one program, each from a position of its own. Two of them are exchangeable in a state if
//! exchanging them leaves it as it is: they have the same events (the same accesses of the same cells, with the same
//! values and sources), no thread has read what they wrote, they stand at the same place with the same values in all
//! that they may still read, read their position no more, their reads are kept from the same sources, and what they
//! wait to change they will change alike: the operand of a read-modify-write may be their position, which they read no
//! more. Models know threads by the groups that they share alone, so exchanging the two takes each execution below such
//! a state to another one below it, of every model, which leaves the same memory. Cells that one of them alone can
//! touch (its block's) are exchanged with it.
//!
//! Of the executions that differ by exchanging such threads those are built in which the one that is branched on first
//! reads from the first source, in the order in which they are tried.

use wattle_memory::{EventId, Set, ThreadId};

use super::Setup;
use super::state::SearchState;

/// The reads at which symmetric threads wait in the same state as this one.
pub(super) fn alike(setup: &Setup<'_>, state: &SearchState<'_>, thread: ThreadId, read: EventId) -> Vec<EventId> {
    let Some(class) = setup.symmetric.iter().find(|class| class.contains(&thread)) else {
        return Vec::new();
    };
    let runner = &state.runners[thread];
    // What a compiler has merged is known by the numbers of events.
    if runner.waiting != Some(read) || !state.ties.is_empty() || is_read(state, thread) {
        return Vec::new();
    }
    let same = |&&other: &&ThreadId| {
        let candidate = &state.runners[other];
        other != thread
            && candidate.status == runner.status
            && candidate.process.is_alike(&runner.process)
            && !is_read(state, other)
            && have_done_the_same(state, thread, other)
    };
    class.iter().filter(same).filter_map(|&other| state.runners[other].waiting).collect()
}

/// Excludes those sources for the reads of interchangeable threads, except for writes of these threads themselves, with
/// respect to which they differ.
pub(super) fn exclude_alike(state: &mut SearchState<'_>, thread: ThreadId, alike: &[EventId], sources: &Set) {
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

/// Whether two threads have the same events, are in loops alike, and are kept from the same sources.
fn have_done_the_same(state: &SearchState<'_>, one: ThreadId, other: ThreadId) -> bool {
    let events = |thread: ThreadId| {
        (0..state.graph.len()).filter(move |&event| state.graph.event(event).thread == Some(thread)).map(|id| {
            let event = state.graph.event(id);
            let kept = (state.excluded(id), state.spinning(id));
            (event.label, event.location, event.reference, event.value, state.graph.source(id), kept)
        })
    };
    let place = |thread: ThreadId| {
        let runner = &state.runners[thread];
        let count = |event: EventId| (0..event).filter(|&id| state.graph.event(id).thread == Some(thread)).count();
        let change = runner.update.map(|(_, change)| change);
        (runner.waiting.map(count), change, runner.trail.len(), runner.promised.len())
    };
    let heads = |thread: ThreadId| {
        let heads = state.runners[thread].heads.iter();
        heads.map(|head| (head.label, head.iterations, head.effect, head.looked))
    };
    place(one) == place(other) && heads(one).eq(heads(other)) && events(one).eq(events(other))
}

/// Whether some read has a write of the thread for a source.
fn is_read(state: &SearchState<'_>, thread: ThreadId) -> bool {
    let graph = &state.graph;
    (0..graph.len()).any(|read| {
        let source = graph.source(read);
        source.is_some_and(|source| graph.event(source).thread == Some(thread))
    })
}
