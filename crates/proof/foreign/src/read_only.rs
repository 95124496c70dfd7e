//! Memory that a kernel reads past the caches that keep it coherent, `ld.global.nc`: it must be read-only while the
//! kernel runs, whatever orders its accesses (PTX ISA 8.8, 9.7.9.9).

use std::collections::BTreeSet;
use std::sync::Mutex;

use wattle_check::search::Execution;
use wattle_core::lock;
use wattle_memory::{EventId, Kind};

use crate::world::World;

/// The memories that launches read so, and those that they write. A run that no other can differ from is not looked at
/// event by event; where both meet in one memory, it has to be.
#[derive(Debug, Default)]
pub(crate) struct ReadOnly {
    /// The numbers of the launches and of the memories: those that are read so, and those that are written.
    touched: Mutex<[BTreeSet<(u32, u32)>; 2]>,
}

impl ReadOnly {
    /// Records that a launch touches a memory: that it reads it so, or that it writes it.
    pub fn touch(&self, part: u32, memory: u32, writes: bool) {
        lock(&self.touched)[usize::from(writes)].insert((part, memory));
    }

    /// Whether a launch reads a memory so, and writes it.
    pub fn is_written(&self) -> bool {
        let touched = lock(&self.touched);
        !touched[0].is_disjoint(&touched[1])
    }
}

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
