//! The place and the value of an event, as they become known.

use wattle_memory::{EventId, LocationId};

use super::process::{AccessTarget, Change, Written};
use super::state::SearchState;
use super::{Problem, Setup};

/// Gives an access its place, if that is known; the state is broken where it had another one.
///
/// # Errors
/// The place cannot be a part of the search.
pub(super) fn locate(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    event: EventId,
    target: Option<AccessTarget>,
    source: u32,
) -> Result<(), Problem> {
    let Some(target) = target else { return Ok(()) };
    let location = state.locate(setup.memory, target, source)?;
    match state.graph.event(event).location {
        None => state.graph.set_location(event, location, target.reference),
        Some(known) => state.broken |= known != location,
    }
    Ok(())
}

/// The effect of an update on its write half, as far as it is known. A compare-exchange that may yet fail writes
/// nothing: the half has no location until it succeeds.
pub(super) fn write_half(
    state: &mut SearchState<'_>,
    read: EventId,
    write: EventId,
    change: Change,
    location: LocationId,
) {
    let written = change.written(state.graph.event(read).value);
    let fails = matches!(change, Change::CompareExchange { writes_back: false, .. });
    match written {
        Written::Nothing => state.graph.cancel(write),
        Written::Unknown if fails => {}
        written => {
            if state.graph.event(write).location.is_none() {
                state.graph.set_location(write, location, state.graph.event(read).reference);
            }
            provide(state, write, if let Written::Value(value) = written { Some(value) } else { None });
        }
    }
}

/// Gives a write its value; once its location is known too, it can be read from.
pub(super) fn provide(state: &mut SearchState<'_>, event: EventId, value: Option<u64>) {
    let Some(value) = value else { return };
    let known = state.graph.event(event);
    let Some(location) = known.location else {
        return;
    };
    match known.value {
        None => {
            state.graph.set_value(event, value);
            state.writes[location].push(event);
        }
        Some(known) => state.broken |= known != value,
    }
}
