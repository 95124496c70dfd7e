//! Sums of singles in global memory: `atom.add.f32` takes subnormal numbers there for zero (PTX ISA 8.8, 9.7.13.5
//! "atom"), and the search adds them.

use wattle_check::search::Execution;
use wattle_memory::EventId;
use wattle_modules::code::{Op, Rmw};
use wattle_modules::types::Space;

use crate::steps::number;
use crate::world::World;

/// Why an addition of subnormal numbers is not judged.
pub(crate) const FLUSHED: &str = "this adds subnormal numbers (below 1.18e-38), which atom.add.f32 takes for zero in global memory (PTX ISA \
                                  9.7.13.5) and the checker does not: give it greater ones, or add in shared memory or as f64";

/// Whether an operation on memory of a space takes subnormal numbers for zero.
pub(crate) fn is_flushed(op: &Op, space: Space) -> bool {
    matches!(op, Op::Rmw { how: Rmw::AddSingleFlushed, .. }) && space == Space::Global
}

/// Whether a subnormal number takes part in the sum of the bits of two.
pub(crate) fn is_about(old: u32, added: u32) -> bool {
    let [old, added] = [old, added].map(f32::from_bits);
    old.is_subnormal() || (old + added).is_subnormal()
}

/// The atomic addition of an execution that reads or writes a subnormal number in global memory, if there is one.
pub(crate) fn flushed(world: &World, execution: &Execution<'_>) -> Option<usize> {
    if !world.parts.iter().any(|part| part.flushes) {
        return None;
    }
    let graph = execution.graph;
    let is_subnormal = |event: EventId| {
        let bits = number(world, execution, event);
        bits.is_some_and(|bits| f32::from_bits(bits as u32).is_subnormal())
    };
    let adds = |&event: &EventId| {
        let of = graph.event(event);
        let cell = execution.cells.iter().find(|(_, known)| Some(*known) == of.location);
        let is_shared = cell.is_none_or(|(address, _)| address.memory as usize >= world.ranges().len());
        let (part, step) = world.instruction_of(of.source as usize);
        let op = part.kernel().steps.get(step).map(|step| &step.op);
        let space = if is_shared { Space::Shared } else { Space::Global };
        of.thread.is_some_and(|thread| !world.is_beside(thread)) && op.is_some_and(|op| is_flushed(op, space))
    };
    let found = (0..graph.len()).find(|event| adds(event) && is_subnormal(*event));
    found.map(|event| graph.event(event).source as usize)
}
