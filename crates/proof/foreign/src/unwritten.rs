//! Reads of shared and global memory that nobody has written.

use wattle_check::search::{Execution, Fault};
use wattle_memory::{Event, EventId, Kind};
use wattle_modules::code::Op;

use crate::steps::{place, step, steps};
use crate::violation::{Step, Violation};
use crate::world::World;

/// The use of what a thread has loaded at the statement `load`, if the execution shows what that has found.
pub fn used(world: &World, execution: &Execution<'_>, fault: &Fault, load: u32) -> Option<(Violation, Vec<Step>)> {
    let is_it = |event: &Event| (event.thread, event.source) == (Some(fault.thread), load);
    let read = reads(execution).filter(|&read| is_it(execution.graph.event(read))).last()?;
    let at = fault.source as usize;
    let used = Step { thread: fault.thread, instruction: world.text(at), at: world.place_of(at), value: None };
    let mut steps = steps(world, execution, &[fault.thread]);
    steps.push(used.clone());
    let (place, read) = (place(world, execution, read), step(world, execution, read));
    Some((Violation::Unwritten { place, read, used: Some(used) }, steps))
}

/// A read that is wrong whatever becomes of its value.
pub fn read(world: &World, execution: &Execution<'_>) -> Option<(Violation, Vec<Step>)> {
    let read = reads(execution).find(|&read| !is_carried(world, execution.graph.event(read)))?;
    let thread = execution.graph.event(read).thread.unwrap_or(0);
    let violation =
        Violation::Unwritten { place: place(world, execution, read), read: step(world, execution, read), used: None };
    Some((violation, steps(world, execution, &[thread])))
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
        let op = part.kernel().steps.get(at).map(|step| &step.op);
        part.spirv.is_none() && matches!(op, Some(Op::Load { .. } | Op::LoadMany { .. }))
    };
    !world.is_compiled && event.thread.is_some_and(|thread| !world.is_beside(thread)) && is_load()
}
