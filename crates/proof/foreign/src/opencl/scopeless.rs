//! Atomic functions without a scope, such as OpenCL C's `atomic_add`: they are atomic for the whole device, and
//! compilers write the work-group's scope for them (as `llvm-spirv` does), which is also that of
//! `memory_scope_work_group`. A module of OpenCL C 2.0 or later does not show which of the two was written.

use wattle_check::search::Execution;
use wattle_memory::{EventId, Level};
use wattle_modules::code::Op;

use crate::world::{SpirvLaunch, World};

/// Whether a race is one of atomic operations of which one may reach farther than the module shows.
pub(crate) fn is_doubtful(world: &World, execution: &Execution<'_>, (first, second): (EventId, EventId)) -> bool {
    let graph = execution.graph;
    let is_opencl = world.parts.iter().any(|part| part.spirv.as_ref().is_some_and(SpirvLaunch::is_opencl));
    let may_reach_farther = |event: EventId| {
        let event = graph.event(event);
        let (part, number) = world.instruction_of(event.source as usize);
        let op = part.kernel().steps.get(number).map(|step| &step.op);
        let is_relaxed = !event.label.acquire && !event.label.release;
        event.label.level == Level::Block && is_relaxed && matches!(op, Some(Op::Rmw { .. } | Op::Cas { .. }))
    };
    let both = [first, second];
    is_opencl && both.iter().all(|&event| graph.event(event).label.atomic) && both.into_iter().any(may_reach_farther)
}

/// Why the races of an execution may be none, if each of them is doubtful.
pub(super) fn doubt(world: &World, execution: &Execution<'_>, races: &[(EventId, EventId)]) -> Option<String> {
    let &(first, second) = races.first()?;
    if !races.iter().all(|&race| is_doubtful(world, execution, race)) {
        return None;
    }
    let place = |event: EventId| world.place_of(execution.graph.event(event).source as usize);
    let at = match [place(first), place(second)] {
        [one, other] if one == other => one,
        [one, other] => format!("{one} and {other}"),
    };
    Some(format!(
        "atomic operations of several work-groups, at {at}, race if their scope is the work-group, as the module has it; but \
         compilers write that scope also for functions without one, such as atomic_add, which reach the whole device; write \
         atomic_fetch_add_explicit with memory_scope_device, or compile with -cl-std=CL1.2, to have them judged"
    ))
}
