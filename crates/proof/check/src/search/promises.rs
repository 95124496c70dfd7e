//! Accesses that the search has added to a thread before the thread came to them.

use wattle_memory::{EventId, Kind, Label, Level, ThreadId};

use super::Setup;
use super::process::{AccessTarget, Address, Change};
use super::state::{EarlyUpdate, SearchState};

/// The event of an action that no earlier run has added: the promised one, which it takes, or a new one.
pub(super) fn take_or_insert(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    label: Label,
    source: u32,
    what: Option<(Address, Option<u64>)>,
) -> EventId {
    match state.runners[thread].promised.front().copied() {
        None => state.graph.add(thread, label, source),
        Some(promised) if is_promise(setup, state, promised, label, what) => {
            state.runners[thread].promised.pop_front();
            state.graph.replace(promised, label, source);
            promised
        }
        Some(promised) => {
            state.insert(promised, thread, label, source);
            promised
        }
    }
}

/// The two events of a read-modify-write that was added early, if the thread has come to it.
pub(super) fn take_early(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    target: AccessTarget,
    change: Change,
    labels: [Label; 2],
) -> Option<[EventId; 2]> {
    let promised = *state.runners[thread].promised.front()?;
    let place = state.graph.event(promised).location.and_then(|location| state.addresses.get(location)).copied();
    let is_it = |early: &EarlyUpdate| {
        early.read == promised
            && place == Some(target.address)
            && early.change == change
            && early.has_labels(setup.model, labels)
    };
    let number = state.early.iter().position(is_it)?;
    state.runners[thread].promised.pop_front();
    let early = state.early.swap_remove(number);
    Some([early.read, early.write])
}

/// Whether an action is the one that was promised for the thread.
fn is_promise(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    promised: EventId,
    label: Label,
    what: Option<(Address, Option<u64>)>,
) -> bool {
    let event = state.graph.event(promised);
    let place = event.location.and_then(|location| state.addresses.get(location)).copied();
    setup.model.merged(event.label, label).is_some()
        && state.early_update(promised).is_none()
        && match label.kind {
            Kind::Write => what == place.map(|place| (place, event.value)),
            Kind::Read => what == place.map(|place| (place, None)),
            Kind::Fence => true,
            Kind::Barrier | Kind::MakeAvailable | Kind::MakeVisible => false,
        }
}

/// Takes back what was promised for a thread that spins, if nobody has seen it: it belongs to an iteration that never
/// begins.
pub(super) fn take_back(state: &mut SearchState<'_>, thread: ThreadId) {
    let with_half = |&event: &EventId| [Some(event), state.early_update(event).map(|early| early.write)];
    let promised: Vec<EventId> = state.runners[thread].promised.iter().flat_map(with_half).flatten().collect();
    let is_seen = |event: EventId| state.graph.source(event).is_some_and(|source| promised.contains(&source));
    let has_read = promised.iter().any(|&event| state.graph.source(event).is_some());
    if has_read || (0..state.graph.len()).any(is_seen) {
        return;
    }
    for &event in &promised {
        state.graph.replace(event, Label::fence(Level::Thread), u32::MAX);
    }
    state.writes.iter_mut().for_each(|writes| writes.retain(|write| !promised.contains(write)));
    state.early.retain(|early| !promised.contains(&early.read));
    state.runners[thread].promised.clear();
}
