//! The steps of an execution, as stories show them: the instruction, its place in the source, and what it did to
//! memory.

use wattle_check::search::{Address, Execution, Memory, Why};
use wattle_memory::{EventId, Kind, ThreadId};
use wattle_modules::code::Op;
use wattle_modules::ptx::barriers;

use crate::number::Shown;
use crate::violation::{Sizes, Step};
use crate::world::World;

/// What an event of a thread did.
pub(crate) fn step(world: &World, execution: &Execution<'_>, event: EventId) -> Step {
    let graph = execution.graph;
    let of = graph.event(event);
    let at = of.source as usize;
    let place = of.location.and_then(|location| {
        let cell = execution.cells.iter().find(|(_, known)| *known == location)?;
        Some(world.name_of(cell.0))
    });
    let value = place.map(|place| change(world, execution, event, &place));
    Step { thread: of.thread.unwrap_or(0), instruction: world.text(at), at: world.place_of(at), value }
}

/// The value of an event; of a read that has none of its own, that of its source.
pub(crate) fn number(world: &World, execution: &Execution<'_>, event: EventId) -> Option<u64> {
    let graph = execution.graph;
    let initial = |source: EventId| {
        let location = graph.event(source).location.filter(|_| graph.event(source).thread.is_none());
        let (address, _) = execution.cells.iter().find(|(_, known)| Some(*known) == location)?;
        Some(world.initial(*address).value)
    };
    // A read of a loop that fails for ever has no source in the graph.
    let awaited = || {
        let spins = execution.stuck.iter().filter_map(|stuck| match &stuck.why {
            Why::Spins(reads) => Some(reads),
            Why::Barrier(_) => None,
        });
        spins.flatten().find(|(read, _)| *read == event).map(|&(_, write)| write)
    };
    let of_source = || {
        let source = graph.source(event).or_else(awaited)?;
        graph.event(source).value.or_else(|| initial(source))
    };
    graph.event(event).value.or_else(of_source)
}

/// The value of an event, as a report shows it.
fn value(world: &World, execution: &Execution<'_>, event: EventId) -> String {
    let graph = execution.graph;
    let Some(value) = number(world, execution, event) else { return "something".to_owned() };
    let location = graph.event(event).location;
    let cell = execution.cells.iter().find(|(_, known)| Some(*known) == location);
    if is_of_object(world, graph.event(event).source as usize) {
        return barriers::in_words(value);
    }
    match cell.and_then(|(address, _)| world.number_at(*address)) {
        Some(ty) if ty.is_signed() => Shown(ty, value).to_string(),
        Some(_) | None if value < 1 << 20 => value.to_string(),
        Some(_) | None => format!("{value:#x}"),
    }
}

/// Whether an instruction accesses a barrier object. Before one that arrives there, copies are completed.
fn is_of_object(world: &World, at: usize) -> bool {
    let (part, step) = world.instruction_of(at);
    let completes = part.kernel().steps.get(step).is_some_and(|step| matches!(step.op, Op::CopyObject { .. }));
    !completes && barriers::is_of_object(&world.text(at))
}

/// What an event did to a place, and from where a value came that another thread wrote.
fn change(world: &World, execution: &Execution<'_>, event: EventId, place: &str) -> String {
    let graph = execution.graph;
    let (read, write) = match (graph.event(event).label.kind, graph.other_half(event)) {
        (Kind::Read, half) => (Some(event), half),
        (_, half) => (half, Some(event)),
    };
    let source = read.and_then(|read| graph.source(read)).map(|source| graph.event(source));
    let from = match source.and_then(|source| Some((source.thread?, source))) {
        Some((thread, source)) if Some(thread) != graph.event(event).thread => {
            format!(", from {} at {}", world.thread_name(thread), world.place_of(source.source as usize))
        }
        _ => String::new(),
    };
    match (read, write) {
        // What an update of a loop that fails for ever writes is not known where it changes nothing.
        (Some(read), Some(write)) if graph.event(write).value.is_some() => {
            format!(
                "changes {place} from {} to {}{from}",
                value(world, execution, read),
                value(world, execution, write)
            )
        }
        (Some(read), _) => format!("reads {} in {place}{from}", value(world, execution, read)),
        (None, _) => format!("writes {} to {place}", value(world, execution, event)),
    }
}

/// The events of these threads, each thread's in program order; both halves of an update are one step.
pub(crate) fn steps(world: &World, execution: &Execution<'_>, threads: &[ThreadId]) -> Vec<Step> {
    let of = |&thread: &ThreadId| {
        // An event without a statement is the system's, or was left out.
        let is_step = move |&id: &EventId| {
            let event = execution.graph.event(id);
            event.thread == Some(thread) && event.source != u32::MAX
        };
        let events = (0..execution.graph.len()).filter(is_step);
        let events = events.filter(|&id| execution.graph.other_half(id).is_none_or(|other| id < other));
        events.map(|event| step(world, execution, event)).collect::<Vec<_>>()
    };
    threads.iter().flat_map(of).collect()
}

pub(crate) fn place(world: &World, execution: &Execution<'_>, event: EventId) -> String {
    let location = execution.graph.event(event).location;
    let cell = execution.cells.iter().find(|(_, known)| Some(*known) == location);
    cell.map_or_else(|| "memory".to_owned(), |(address, _)| world.name_of(*address))
}

/// The sizes of two accesses of one place, where they differ.
pub(crate) fn sizes(world: &World, execution: &Execution<'_>, both: [EventId; 2]) -> Option<Sizes> {
    let graph = execution.graph;
    let size = |event: EventId| {
        let at = graph.event(event).source as usize;
        let (part, step) = world.instruction_of(at);
        let op = &part.kernel().steps.get(step)?.op;
        Some(u64::from(op.outline(|_| {}, |_| {}).access?.bytes))
    };
    if both.iter().any(|&event| graph.event(event).thread.is_none_or(|thread| world.is_beside(thread))) {
        return None;
    }
    let [first, second] = [size(both[0])?, size(both[1])?];
    let cell = execution.cells.iter().find(|(_, known)| Some(*known) == graph.event(both[0]).location)?.0;
    // An access is aligned to its size (PTX ISA 8.8, 6.4.1.1; SPIR-V 1.6, "Aligned").
    let wide = first.max(second);
    let begin = cell.element / wide * wide;
    let from = world.name_of(Address { element: begin, ..cell });
    (first != second).then_some(Sizes { each: [first, second], from, begin })
}
