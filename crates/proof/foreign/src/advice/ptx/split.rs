//! A barrier between what one statement reads and what it writes: `s[t] = s[t - 1] + s[t + 1];`. Where not all threads
//! come there, `if (…) s[t] += s[t - d];`, the condition is taken twice, before the barrier and behind it.

use std::ops::Range;

use wattle_modules::code::{NO_REG, Op};

use super::candidates::is_shared;
use super::text::{self, LineEdit};
use crate::advice::change::{Change, Edits};
use crate::world::World;

/// The barrier of a block to which threads may come at different instructions (PTX ISA 8.8, 9.7.13.1: without
/// `.aligned`).
const BARRIER: &str = "barrier.sync 0;";
/// The barrier of a block to which all of them come.
const ALIGNED: &str = "bar.sync 0;";

/// Each statement of the kernel with a barrier in its midst, and each condition, with one for the threads for which it
/// does not hold.
pub(super) fn all(world: &World) -> Vec<Change> {
    let Some(source) = world.source() else { return Vec::new() };
    let lines: Vec<&str> = source.text.lines().collect();
    let steps = &world.kernel().steps;
    let conditional = |&at: &usize| matches!(steps[at].op, Op::Branch { .. }) && steps[at].guard.reg != NO_REG;
    let conditions = (0..steps.len()).filter(conditional).filter_map(|branch| split(world, &lines, branch));
    let mut all: Vec<Change> = Vec::new();
    for change in statements(world, &lines).into_iter().chain(conditions) {
        // A statement may stand in the module several times.
        match all.iter_mut().find(|known| (&known.at, &known.text) == (&change.at, &change.text)) {
            Some(known) => known.absorb(change),
            None => all.push(change),
        }
    }
    all
}

/// The change in the midst of each statement that reads and then writes what others see.
fn statements(world: &World, lines: &[&str]) -> Vec<Change> {
    let places: Vec<String> = (0..world.kernel().steps.len()).map(|at| world.place_of(at)).collect();
    let mut begin = 0;
    let regions = places.chunk_by(|one, other| one == other).map(|same| {
        begin += same.len();
        begin - same.len()..begin
    });
    let stores = regions.filter_map(|region| store_behind_load(world, region));
    // The barrier stands on the store's line.
    let alone = stores.filter(|&store| {
        let line = (world.line(store) as usize).checked_sub(1).and_then(|line| lines.get(line));
        line.is_some_and(|line| text::parts(line).is_some())
    });
    let words = "write what was read behind a __syncthreads(): v = …; __syncthreads(); … = v";
    alone
        .map(|store| change(world, store, words, vec![(world.line(store), LineEdit::Before(ALIGNED.into()))]))
        .collect()
}

/// The change at a branch around a few instructions, of which some read and a later one writes what others see.
fn split(world: &World, lines: &[&str], branch: usize) -> Option<Change> {
    let target = world.kernel().steps[branch].target()?;
    let store = store_behind_load(world, branch + 1..target)?;
    let line = lines.get((world.line(branch) as usize).checked_sub(1)?)?;
    let (guard, ..) = text::parts(line)?;
    let edits = vec![
        (world.line(branch), LineEdit::Before(format!("{guard}{BARRIER}").into())),
        (world.line(store), LineEdit::Before(BARRIER.into())),
    ];
    let words = "write what was read behind a __syncthreads() that all threads come to: if (…) v = …; __syncthreads(); if (…) … = v";
    Some(change(world, store, words, edits))
}

fn change(world: &World, store: usize, words: &str, edits: Vec<(u32, LineEdit)>) -> Change {
    Change {
        at: world.place_of(store),
        text: words.to_owned(),
        instruction: world.text(store),
        kernel: world.kernel().name.clone(),
        module: 0,
        edits: Edits::Lines(edits),
    }
}

/// The first store of shared data behind a load of such among instructions that are done one after another.
fn store_behind_load(world: &World, region: Range<usize>) -> Option<usize> {
    let (mut reads, mut found) = (false, None);
    for at in region {
        let op = &world.kernel().steps[at].op;
        let outline = op.outline(|_| {}, |_| {});
        if matches!(op, Op::Branch { .. } | Op::Exit | Op::Trap(_)) || outline.meeting.is_some() {
            return None;
        }
        if outline.access.is_some_and(|access| is_shared(access.space)) {
            if reads && outline.writes_memory && found.is_none() {
                found = Some(at);
            }
            reads |= outline.reads_memory;
        }
    }
    found
}
