//! Plain stores of one value to the memory of a block by one statement of the lanes of a warp.
//!
//! Compilers for warps have all lanes store what all of them hold. Nothing orders these stores, so that they are in a
//! data race, and it has no effect: a read behind all of them finds the value, whichever comes last. PTX gives a
//! program with such races its meaning (PTX ISA 8.7.2 "Limitations on Mixed-size Data-races": the axioms "are
//! sufficient to describe the behavior of a PTX program with only uniform-size data-races"), and CUDA says of the
//! stores of one warp that one of them is performed (CUDA C++ Programming Guide, "SIMT Architecture"). In C++, Rust and
//! Vulkan they are an error. So are others in practice: two warps, or two threads in the memory of the device, that
//! store one value to one place mostly do so because they have been given equal data.
use wattle_memory::{Analysis, Classes, EventId, Graph, Kind, Label, Placement};

use super::Setup;

/// The threads of a block, one behind the other, whose plain stores of one value by one statement to the memory of the
/// block are no race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes(pub u32);

impl Lanes {
    /// Whether two threads are of one warp.
    pub(super) fn are_together(self, one: Placement, other: Placement) -> bool {
        let block = |of: Placement| (of.device, of.queue_family, of.block, of.subgroup);
        block(one) == block(other) && one.thread / self.0 == other.thread / self.0
    }

    /// Whether a label is one of such a store.
    pub(super) fn stores(self, label: Label) -> bool {
        label.kind == Kind::Write && !label.atomic && label.storage == Classes::BLOCK
    }

    /// Whether two accesses are such stores.
    pub fn are_same(self, graph: &Graph, (first, second): (EventId, EventId)) -> bool {
        let [one, other] = [first, second].map(|event| graph.event(event));
        let is_store = |event: EventId| self.stores(graph.event(event).label) && graph.other_half(event).is_none();
        let places = one.thread.zip(other.thread).map(|(one, other)| [one, other].map(|of| graph.threads()[of]));
        is_store(first)
            && is_store(second)
            && places.is_some_and(|[one, other]| self.are_together(one, other))
            && one.source == other.source
            && one.location == other.location
            && one.value.is_some()
            && one.value == other.value
    }
}

impl Setup<'_> {
    /// Whether an execution has races that are errors.
    pub(super) fn has_races(&self, graph: &Graph, analysis: &Analysis) -> bool {
        let races = self.model.races(graph, analysis);
        races.into_iter().any(|race| self.same_stores.is_none_or(|lanes| !lanes.are_same(graph, race)))
    }
}
