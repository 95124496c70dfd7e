//! Reads of shared and global memory that nobody has written.

use wattle_check::search::{Execution, Fault};
use wattle_memory::{Event, EventId, Kind, ThreadId};
use wattle_modules::code::Transfer;

use crate::steps::{place, step, steps};
use crate::violation::{Step, Violation};
use crate::world::World;

/// The use of what some thread has loaded at the statement `load`, if the execution shows what that has found. The
/// thread that uses it may have taken it from another lane.
pub fn used(world: &World, execution: &Execution<'_>, fault: &Fault, load: u32) -> Option<(Violation, Vec<Step>)> {
    let is_own = |read: EventId| execution.graph.event(read).thread == Some(fault.thread);
    let loads = reads(execution).filter(|&read| execution.graph.event(read).source == load);
    let read = loads.max_by_key(|&read| (is_own(read), read))?;
    let at = fault.source as usize;
    let used = Step { thread: fault.thread, instruction: world.text(at), at: world.place_of(at), value: None };
    Some(violation(world, execution, read, Some(used)))
}

/// A read that is wrong whatever becomes of its value.
pub fn read(world: &World, execution: &Execution<'_>) -> Option<(Violation, Vec<Step>)> {
    let read = reads(execution).find(|&read| !is_carried(world, execution.graph.event(read)))?;
    Some(violation(world, execution, read, None))
}

fn violation(world: &World, execution: &Execution<'_>, read: EventId, used: Option<Step>) -> (Violation, Vec<Step>) {
    let graph = execution.graph;
    let Event { location, thread, .. } = *graph.event(read);
    let is_write = |&other: &EventId| {
        let event = graph.event(other);
        let of_other = event.thread.is_some() && event.thread != thread;
        event.label.kind == Kind::Write && event.location == location && of_other
    };
    let copied = graph.source(read).filter(|&write| graph.event(write).thread.is_some());
    let write = copied.or_else(|| (0..graph.len()).find(is_write));
    let mut threads: Vec<ThreadId> = Vec::new();
    for of in [thread, write.and_then(|write| graph.event(write).thread), used.as_ref().map(|used| used.thread)] {
        threads.extend(of.filter(|of| !threads.contains(of)));
    }
    let mut shown = steps(world, execution, &threads);
    shown.extend(used.clone());
    let written = write.map(|write| Box::new(step(world, execution, write)));
    let (place, read) = (place(world, execution, read), step(world, execution, read));
    (Violation::Unwritten { place, read, used: used.map(Box::new), written, is_copy: copied.is_some() }, shown)
}

fn reads<'e>(execution: &'e Execution<'_>) -> impl Iterator<Item = EventId> + 'e {
    let graph = execution.graph;
    (0..graph.len()).filter(|&read| graph.event(read).label.kind == Kind::Read && graph.finds_unwritten(read))
}

/// Whether the thread takes along what the read finds, and a fault shows whether it matters
/// ([`carries_unwritten`](wattle_check::search::Process::carries_unwritten)).
fn is_carried(world: &World, event: &Event) -> bool {
    let is_load = || {
        let (part, at) = world.instruction_of(event.source as usize);
        let moved = part.kernel().steps.get(at).and_then(|step| step.op.transfer());
        part.spirv.is_none() && matches!(moved, Some(Transfer::Load(..)))
    };
    !world.is_compiled && event.thread.is_some_and(|thread| !world.is_beside(thread)) && is_load()
}
