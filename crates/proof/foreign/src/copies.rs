//! Copies that a thread begins and waits for later, as an execution shows them: nobody accesses the target of one between its
//! beginning and the wait that completes it, whatever orders the access ([`crate::process`] says what events a copy has).

use wattle_check::search::Execution;
use wattle_memory::{EventId, Kind};
use wattle_modules::code::Op;

use crate::world::World;

/// What an event is of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The write of a mark to the target, when the copy begins.
    Mark,
    /// The look for the mark, at the wait.
    Look,
    /// Another event.
    Other,
}

fn role(world: &World, execution: &Execution<'_>, event: EventId) -> Role {
    let of = execution.graph.event(event);
    let (Some(location), Some(_)) = (of.location, of.thread) else { return Role::Other };
    let is_shared = |known: &&(_, _)| {
        let (address, of): &(wattle_check::search::Address, _) = known;
        *of == location && address.memory as usize >= world.ranges().len()
    };
    if of.thread.is_some_and(|thread| world.is_beside(thread)) || !execution.cells.iter().any(|cell| is_shared(&cell)) {
        return Role::Other;
    }
    let (part, at) = world.instruction_of(of.source as usize);
    match (part.kernel().steps.get(at).map(|step| &step.op), of.label.kind) {
        (Some(Op::Copy(_)), Kind::Write) => Role::Mark,
        (Some(Op::CopyWait { .. }), Kind::Read) => Role::Look,
        _ => Role::Other,
    }
}

/// Whether some launch has to be looked at event by event for its copies.
pub(crate) fn are_made(world: &World) -> bool {
    world.parts.iter().any(|part| part.copies)
}

/// An access to the target of a copy before the copy was waited for: the access, and the event of the copy that shows it.
pub(crate) fn touched(world: &World, execution: &Execution<'_>) -> Option<[EventId; 2]> {
    if !are_made(world) {
        return None;
    }
    let graph = execution.graph;
    (0..graph.len()).filter(|&read| graph.event(read).label.kind == Kind::Read).find_map(|read| {
        let source = graph.source(read)?;
        let (looks, marks) = (role(world, execution, read), role(world, execution, source));
        let own = graph.event(read).thread == graph.event(source).thread;
        match (looks, marks) {
            // A mark is read by the copy that has made it.
            (Role::Look, Role::Mark) if own => None,
            // Another thread has written, or this one.
            (Role::Look, _) => Some([source, read]),
            (_, Role::Mark) => Some([read, source]),
            (Role::Mark | Role::Other, _) => None,
        }
    })
}
