//! Plain stores of one value by one statement.
//!
//! Compilers for warps have all lanes store what all of them hold. Nothing orders these stores, so that they are in a data race, and
//! it has no effect: a read behind all of them finds the value, whichever comes last. PTX gives a program with such races its
//! meaning (PTX ISA 8.7.2 "Limitations on Mixed-size Data-races": the axioms "are sufficient to describe the behavior of a PTX
//! program with only uniform-size data-races"), and CUDA says of the stores of one warp that one of them is performed (CUDA C++
//! Programming Guide, "SIMT Architecture"). In C++, Rust and Vulkan they are an error.

use wattle_memory::{Analysis, EventId, Graph, Kind};

use super::Setup;

/// Whether two accesses are plain stores of one value by one statement.
pub fn are_same_stores(graph: &Graph, (first, second): (EventId, EventId)) -> bool {
    let [one, other] = [first, second].map(|event| graph.event(event));
    let is_plain = |event: EventId| {
        let of = graph.event(event);
        of.label.kind == Kind::Write && !of.label.atomic && graph.other_half(event).is_none()
    };
    is_plain(first)
        && is_plain(second)
        && one.source == other.source
        && one.location == other.location
        && one.value.is_some()
        && one.value == other.value
}

impl Setup<'_> {
    /// The races of an execution that are errors.
    pub(super) fn has_races(&self, graph: &Graph, analysis: &Analysis) -> bool {
        let races = self.model.races(graph, analysis);
        races.into_iter().any(|race| !(self.same_stores && are_same_stores(graph, race)))
    }
}
