//! Threads that end and leave others of their block at a barrier: PTX opens it without them, and CUDA C++ does not
//! promise that (PTX ISA 9.7.13.1; CUDA C++ Programming Guide, "Synchronization Functions").

use super::choice::judge_choice;
use crate::verdict::{Options, Verdict};
use crate::violation::{HeldUp, Step, StuckThread, Violation};
use crate::world::{WaitsForEnded, World};

/// What a note on threads that have left early begins with, before the place of the barrier.
const EARLY: &str = "threads end without the barrier at ";

/// Whether a note says that threads have left early without the barrier at a place.
pub(crate) fn is_left(note: &str, place: &str) -> bool {
    note.strip_prefix(EARLY).and_then(|rest| rest.strip_prefix(place)).is_some_and(|rest| rest.starts_with(','))
}

/// What becomes of threads that wait at a barrier which others of their block have ended without.
pub(crate) enum Left {
    /// Some thread has gone past the barrier, on to where they would come behind it; those that wait, and the story.
    Passed(Vec<StuckThread>, Vec<Step>),
    /// Threads have left early; what to say of a launch that is right.
    Early(String),
}

/// What a launch that is right rests on, where threads end and leave others at a barrier; `None` where no thread does.
pub(crate) fn left_waiting(world: &mut World, options: &Options) -> Option<Left> {
    let before = let_all_wait(world)?;
    let report = judge_choice(world, &[], options);
    let_wait_as(world, before);
    match report.ok()?.verdict {
        Verdict::Violated(Violation::Stuck(stuck), steps) => left(world, (stuck, steps)),
        Verdict::Violated(..) | Verdict::Holds | Verdict::Unknown(_) => None,
    }
}

/// Lets barriers of a block wait for threads that have ended too; returns how they waited before. `None` where no
/// thread of a PTX kernel can end before others.
pub(crate) fn let_all_wait(world: &mut World) -> Option<Vec<WaitsForEnded>> {
    if !world
        .parts
        .iter()
        .any(|part| part.spirv.is_none() && part.flow.exits_early && part.waits == WaitsForEnded::Never)
    {
        return None;
    }
    let before = world.parts.iter().map(|part| part.waits).collect();
    world.parts.iter_mut().for_each(|part| part.waits = part.waits.max(WaitsForEnded::InBlock));
    Some(before)
}

/// Lets barriers wait again as they did.
pub(crate) fn let_wait_as(world: &mut World, before: Vec<WaitsForEnded>) {
    world.parts.iter_mut().zip(before).for_each(|(part, before)| part.waits = before);
}

/// What threads that would be held up mean.
pub(crate) fn left(world: &World, (mut stuck, steps): HeldUp) -> Option<Left> {
    if stuck.iter().any(|stuck| stuck.passed_by.is_some()) {
        stuck.retain(|stuck| stuck.passed_by.is_some());
        return Some(Left::Passed(stuck, steps));
    }
    let waiting = stuck.iter().find(|stuck| stuck.at_barrier)?;
    Some(Left::Early(format!(
        "{EARLY}{}, where {} waits: it opens without them (PTX ISA 9.7.13.1, \"wait for all \
         non-exited threads\"); in CUDA C++ all threads of the block come to a __syncthreads() or none (CUDA C++ Programming Guide, \
         \"Synchronization Functions\": in conditional code only if the condition \"evaluates identically across the entire thread \
         block\"), so do not return or branch around it",
        waiting.at,
        world.thread_name(waiting.thread),
    )))
}
