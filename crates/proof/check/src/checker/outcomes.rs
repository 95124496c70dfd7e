//! The memories that an execution can leave.

use std::collections::BTreeSet;

use wattle_memory::{Kind, LocationId};

use super::run::FinalValues;
use crate::program::World;
use crate::search::{Address, Execution};

/// The maximum number of outcomes of one search that are kept.
pub(super) const MAX_OUTCOMES: usize = 100_000;

/// The memories that an execution can leave: one, unless unordered writes leave several; `None` where they are more
/// than are kept.
pub(super) fn last_memories(execution: &Execution<'_>) -> Option<BTreeSet<FinalValues>> {
    let own = execution.threads.iter().filter_map(|thread| thread.private()).flat_map(|own| &own.cells);
    let own = own.filter(|(address, _)| !World::is_shared(address.memory));
    let own: FinalValues = own.filter_map(|(&address, &value)| Some((address, value?))).collect();
    // A value that did not change does not make two memories different.
    let is_visible = |&&(address, location): &&(Address, LocationId)| {
        let initial = execution.graph.event(execution.graph.initial(location));
        let is_hidden = World::is_shared(address.memory) || address.memory == u32::MAX;
        !is_hidden && (!initial.label.unwritten || is_written(execution, location))
    };
    let cells: Vec<_> = execution.cells.iter().filter(is_visible).collect();
    let locations: Vec<LocationId> = cells.iter().map(|(_, location)| *location).collect();
    let memory = |end: Vec<u64>| {
        let mut memory = own.clone();
        memory.extend(cells.iter().zip(end).map(|((address, _), value)| (*address, value)));
        memory.sort_unstable();
        memory
    };
    Some(execution.ends(&locations, MAX_OUTCOMES)?.into_iter().map(memory).collect())
}

fn is_written(execution: &Execution<'_>, location: usize) -> bool {
    execution
        .graph
        .events()
        .iter()
        .any(|event| event.thread.is_some() && event.label.kind == Kind::Write && event.location == Some(location))
}
