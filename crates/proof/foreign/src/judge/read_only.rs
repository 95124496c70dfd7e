//! Memory that has to be read-only while a kernel runs, as an execution shows it.

use wattle_check::search::Execution;
use wattle_memory::{EventId, Kind};

use crate::world::World;

/// A read of memory that has to be read-only while the kernel runs, and a write of the same launch to the same place.
pub(crate) fn written(world: &World, execution: &Execution<'_>) -> Option<[EventId; 2]> {
    if !world.parts.iter().any(|part| part.reads_read_only) {
        return None;
    }
    let graph = execution.graph;
    let launch = |event: EventId| graph.event(event).thread.filter(|&thread| !world.is_beside(thread));
    let launch = |event: EventId| launch(event).map(|thread| world.part_of(thread).first);
    let is_read_only = |&event: &EventId| {
        let (part, at) = world.instruction_of(graph.event(event).source as usize);
        let access = part.kernel().steps.get(at).and_then(|step| step.op.outline(|_| {}, |_| {}).access);
        launch(event).is_some()
            && graph.event(event).location.is_some()
            && graph.event(event).label.kind == Kind::Read
            && access.is_some_and(|access| access.read_only)
    };
    (0..graph.len()).filter(is_read_only).find_map(|read| {
        let meets = |&write: &EventId| {
            let of = graph.event(write);
            of.label.kind == Kind::Write && of.location == graph.event(read).location && launch(write) == launch(read)
        };
        Some([read, (0..graph.len()).find(meets)?])
    })
}
