//! Copies that a thread begins and waits for later, as an execution shows them: nobody accesses the target of one
//! between its beginning and the wait that completes it, whatever orders the access. `process::copies` says what
//! events a copy has.

use wattle_check::search::Execution;
use wattle_memory::{EventId, Kind};
use wattle_modules::code::{AtObject, Op, Step};
use wattle_modules::ptx::barriers::phase_of;

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
        (Some(Op::CopyWait { .. } | Op::CopyObject { .. }), Kind::Read) => Role::Look,
        _ => Role::Other,
    }
}

/// Whether barrier objects track copies: who accesses the targets of these early shows in whole executions alone.
pub(crate) fn are_tracked(world: &World) -> bool {
    let tracks = |step: &Step| matches!(step.op, Op::CopyObject { .. });
    world.parts.iter().any(|part| part.copies && part.kernel().steps.iter().any(tracks))
}

/// An access to the target of a copy before the copy was waited for: the access, and the event of the copy that shows
/// it.
pub(crate) fn touched(world: &World, execution: &Execution<'_>) -> Option<[EventId; 2]> {
    if !world.parts.iter().any(|part| part.copies) {
        return None;
    }
    let graph = execution.graph;
    let marked = (0..graph.len()).filter(|&read| graph.event(read).label.kind == Kind::Read).find_map(|read| {
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
    });
    marked.or_else(|| too_early(world, execution))
}

/// An access to the target of a copy that a barrier object tracks, or a write to its source, whose thread does not know
/// that the phase of the object is over: the access, and the copy's own. That it comes behind the thread that has begun
/// the copy is not enough.
fn too_early(world: &World, execution: &Execution<'_>) -> Option<[EventId; 2]> {
    let (graph, order) = (execution.graph, &execution.analysis.happens_before);
    let arrives = |copied: EventId| {
        let of = graph.event(copied);
        of.thread.filter(|&thread| !world.is_beside(thread))?;
        let (part, at) = world.instruction_of(of.source as usize);
        let op = part.kernel().steps.get(at).map(|step| &step.op)?;
        let is_one = of.location.is_some() && matches!(op, Op::CopyObject { does: AtObject::Arrives, .. });
        // The arrival stands behind it.
        let is_arrival = |&event: &EventId| {
            graph.same_thread(event, copied)
                && graph.event(event).source == of.source + 1
                && graph.source(event).is_some()
        };
        (copied + 1..graph.len()).find(is_arrival).filter(|_| is_one)
    };
    (0..graph.len()).find_map(|copied| {
        let arrival = arrives(copied)?;
        let (object, phase) = (graph.event(arrival).location, phase_of(graph.event(arrival).value?));
        let is_over = |read: EventId| {
            let of = graph.event(read);
            of.location == object
                && of.label.kind == Kind::Read
                && of.value.is_some_and(|value| phase_of(value) > phase)
        };
        let acquires = |read: EventId, access: EventId| {
            let fences = |event: EventId| graph.same_thread(event, read) && graph.event(event).label.acquire;
            graph.same_thread(read, access) && read < access && (read..access).any(fences)
        };
        let knows = |access: EventId| {
            (0..graph.len()).any(|read| {
                is_over(read) && (order.has(read, access) && !graph.same_thread(read, access) || acquires(read, access))
            })
        };
        let reads = graph.event(copied).label.kind == Kind::Read;
        let is_behind = |access: EventId| {
            let of = graph.event(access);
            let comes_behind = order.has(copied, access) || access > copied && graph.same_thread(access, copied);
            let is_own = graph.same_thread(access, copied) && of.source == graph.event(copied).source;
            let conflicts = !reads || of.label.kind == Kind::Write;
            of.location == graph.event(copied).location && conflicts && comes_behind && !is_own
        };
        (0..graph.len()).find(|&access| is_behind(access) && !knows(access)).map(|access| [access, copied])
    })
}
