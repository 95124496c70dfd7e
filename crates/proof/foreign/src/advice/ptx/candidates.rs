//! The changes that advice tries, and where: at each access of memory that threads share.

use std::borrow::Cow;
use std::collections::HashSet;

use wattle_modules::code::{NO_REG, Op, Strength};
use wattle_modules::types::Space;

use super::text::{self, LineEdit, MadeStrong};
use super::{increment, split};
use crate::advice::change::{Candidates, Change, Edits};
use crate::violation::Step;
use crate::world::World;

/// `__threadfence()`, as acquire and release fence alone, and as it is: nvcc makes a sequentially consistent one of it.
const FENCE: &str = "fence.acq_rel.gpu;";
const SC_FENCE: &str = "fence.sc.gpu;";
const BLOCK: &str = "bar.sync 0;";
const WARP: &str = "bar.warp.sync 0xffffffff;";

/// The changes of a launch's module that are worth a trial, by kind.
pub(super) fn of(world: &World) -> Candidates {
    let mut found = Candidates { increments: increment::all(world), ..Candidates::default() };
    let Some(source) = world.source() else { return found };
    let lines: Vec<&str> = source.text.lines().collect();
    let mut seen = HashSet::new();
    // The place whose accesses follow one another, and the last of them.
    let mut run: Option<(String, usize)> = None;
    // The first instruction of the statement that the accesses are of: a library's may have branches before them.
    let (mut statement, mut starts): (Option<(String, usize)>, _) = (None, Vec::new());
    for (at, step) in world.kernel().steps.iter().enumerate() {
        let place = world.place_of(at);
        if statement.as_ref().is_none_or(|(last, _)| *last != place) {
            statement = Some((place.clone(), at));
        }
        let text = lines.get((world.line(at) as usize).saturating_sub(1)).copied().unwrap_or_default();
        // A function that is called at several places stands in the text once.
        if text::parts(text).is_none() || !seen.insert(world.line(at)) {
            continue;
        }
        if matches!(step.op, Op::Branch { .. }) {
            // The jump back of a loop has the place of its head, where "before it" would be something else.
            match step.target() {
                Some(target) if target <= at => {
                    around(world, at, LineEdit::Before, "at the end of the loop's body", &mut found)
                }
                _ if step.guard.reg != NO_REG => around(world, at, LineEdit::Before, "before it", &mut found),
                _ => {}
            }
        }
        let access = step.op.outline(|_| {}, |_| {}).access.filter(|access| is_shared(access.space));
        let widened = if matches!(step.op, Op::Fence(_)) {
            Some("make the fence one of the device: __threadfence()")
        } else {
            let words =
                "make the access one of device scope: cuda::thread_scope_device, or the function without _block";
            access.map(|_| words)
        };
        if let Some((words, wider)) = widened.zip(text::wider(text)) {
            add(&mut found.scopes, world, at, words, LineEdit::Instead(wider, None));
        }
        let Some(access) = access else {
            // What is done in another turn of a loop, or behind a barrier, is not the same run.
            if let (Op::Branch { .. } | Op::Barrier { .. }, Some((_, last))) = (&step.op, &run) {
                around(world, *last, LineEdit::After, "behind it", &mut found);
                run = None;
            }
            continue;
        };
        let is_plain = world.volatile_is_plain && access.strength == Strength::Volatile;
        if access.strength.is_strong() && !is_plain {
            for (fences, fence) in [(&mut found.fences, FENCE), (&mut found.sc_fences, SC_FENCE)] {
                add(fences, world, at, "add __threadfence() behind it", LineEdit::After(fence.into()));
                add(fences, world, at, "add __threadfence() before it", LineEdit::Before(fence.into()));
            }
        }
        if run.as_ref().is_none_or(|(last, _)| *last != place) {
            if let Some((_, last)) = run {
                around(world, last, LineEdit::After, "behind it", &mut found);
            }
            around(world, at, LineEdit::Before, "before it", &mut found);
            let branches =
                |first: usize| world.kernel().steps[first..at].iter().any(|step| matches!(step.op, Op::Branch { .. }));
            if let Some(&(_, first)) = statement.as_ref().filter(|(_, first)| branches(*first)) {
                starts.push(first);
            }
        }
        run = Some((place, at));
    }
    if let Some((_, last)) = run {
        around(world, last, LineEdit::After, "behind it", &mut found);
    }
    for first in starts {
        found.block.push(change(world, first, "add __syncthreads() before it", LineEdit::Before(BLOCK.into())));
        found.warp.push(change(world, first, "add __syncwarp() before it", LineEdit::Before(WARP.into())));
    }
    found.block.extend(split::all(world));
    found
}

/// Adds both barriers at an instruction.
fn around(world: &World, at: usize, edit: fn(Cow<'static, str>) -> LineEdit, side: &str, found: &mut Candidates) {
    add(&mut found.block, world, at, &format!("add __syncthreads() {side}"), edit(BLOCK.into()));
    add(&mut found.warp, world, at, &format!("add __syncwarp() {side}"), edit(WARP.into()));
}

/// Adds a change at an instruction: to the same change at its place in the source, if there is one.
fn add(changes: &mut Vec<Change>, world: &World, at: usize, text: &str, edit: LineEdit) {
    let place = world.place_of(at);
    let known = changes.iter_mut().find(|known| known.at == place && known.text == text);
    if let Some(Change { edits: Edits::Lines(lines), .. }) = known {
        lines.push((world.line(at), edit));
        return;
    }
    changes.push(change(world, at, text, edit));
}

/// A change at an instruction.
fn change(world: &World, at: usize, text: &str, edit: LineEdit) -> Change {
    let (kernel, edits) = (world.kernel().name.clone(), Edits::Lines(vec![(world.line(at), edit)]));
    Change { at: world.place_of(at), text: text.to_owned(), instruction: world.text(at), kernel, module: 0, edits }
}

/// The access of a race with an order and device scope: a read that acquires, or a write that releases; `None` where it
/// is of a block's shared memory, or cannot be strong.
pub(super) fn ordered(world: &World, access: &Step) -> Option<Change> {
    let lines: Vec<&str> = world.source()?.text.lines().collect();
    let (mut changes, mut seen) = (Vec::new(), HashSet::new());
    for (at, step) in world.kernel().steps.iter().enumerate() {
        if world.text(at) != access.instruction || world.place_of(at) != access.at || !seen.insert(world.line(at)) {
            continue;
        }
        let (kind, of) = match &step.op {
            Op::Load { access, .. } => (MadeStrong::Load, access),
            Op::Store { access, .. } => (MadeStrong::Store, access),
            _ => continue,
        };
        if of.space == Space::Shared {
            continue;
        }
        let text = lines.get((world.line(at) as usize).saturating_sub(1)).copied().unwrap_or_default();
        let instead = text::with_strength(text, kind.order(), "gpu")?;
        add(&mut changes, world, at, &kind.words(kind.order()), LineEdit::Instead(instead, Some(kind)));
    }
    changes.pop()
}

/// Whether other threads can see memory of this space.
pub(super) fn is_shared(space: Space) -> bool {
    match space {
        Space::Generic | Space::Global | Space::Shared => true,
        Space::Local | Space::Param | Space::Const => false,
    }
}
