//! Races that volatile accesses are by the rules of CUDA C++, and are not by those of PTX.

use std::time::{Duration, Instant};

use wattle_modules::code::{Step, Strength};
use wattle_modules::types::Space;

use super::choice::judge_choice;
use crate::verdict::{Options, Verdict};
use crate::violation::Violation;
use crate::world::World;

/// The time limit of the search for such a race.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a verdict that holds says of volatile accesses, if they race as plain ones.
pub(crate) fn race_as_plain(world: &mut World, options: &Options) -> Option<String> {
    let is_volatile = |step: &Step| {
        let access = step.op.outline(|_| {}, |_| {}).access;
        access.is_some_and(|access| access.strength == Strength::Volatile && access.space != Space::Local)
    };
    let mut steps = world.parts.iter().flat_map(|part| &part.kernel().steps);
    if world.volatile_is_plain || !steps.any(is_volatile) {
        return None;
    }
    let mut options = options.clone();
    let soon = Instant::now() + PATIENCE;
    options.limits.deadline = Some(options.limits.deadline.map_or(soon, |deadline| deadline.min(soon)));
    world.volatile_is_plain = true;
    let judged = judge_choice(world, &[], &options);
    world.volatile_is_plain = false;
    let Verdict::Violated(Violation::Race { place, accesses: [one, other], .. }, _) = judged.ok()?.verdict else {
        return None;
    };
    if ![&one, &other].iter().any(|access| access.instruction.contains(".volatile")) {
        return None;
    }
    let [first, second] = [&one, &other].map(|access| format!("{} at {}", world.thread_name(access.thread), access.at));
    Some(format!(
        "volatile accesses are relaxed ones of system scope here (PTX ISA 8.8, 9.7.9.8, 9.7.9.11), which race with none of their kind; \
         CUDA C++ gives volatile no meaning between threads, and by its rules {first} and {second} race on {place} \
         (--volatile-is-plain)"
    ))
}
