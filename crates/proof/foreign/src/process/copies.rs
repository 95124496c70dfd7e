//! Copies that a thread begins and waits for later, `cp.async` (PTX ISA 8.8, 9.7.9.25.3 "Non-bulk copy").
//!
//! A copy is a weak read of its source and a weak write to its target that happen at any time between its instruction
//! and the wait that completes it, ordered with nothing else that the thread does meanwhile. Here it has events at both
//! ends. At its instruction it reads the source and writes a mark to the target; at the wait it looks for the mark,
//! reads the source again and writes to the target what it has read. So whoever accesses the same memory unordered with
//! either end races with it. Whoever comes between the two, ordered with both, is found by the marks: only the look of
//! the same copy may read one, and it must find one (`judge::copies`). A source that has changed between the two
//! reads is a fault of the thread.
//!
//! Copies that nobody waits for end with their thread: what they would write to, nobody may read any more.

use wattle_check::search::Action;
use wattle_modules::code::{Access, AtObject, Copied, Op};
use wattle_modules::{Deferred, Value};

use super::ModuleThread;
use super::cells::{Cells, NoCells};
use super::open::{Open, Stage};
use crate::copies::mark;
use crate::operations::label;
use crate::world::World;
use crate::wrong::Wrong;

/// A copy that is not complete.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copy {
    /// The number of its instruction.
    at: u32,
    from: u64,
    target: u64,
    /// The number of items that are read; the others become zero.
    items: u8,
    /// The number of groups that were committed before it began: its own one's number.
    group: u32,
    /// The number of copies that the thread had begun before this one.
    number: u32,
    /// What its cells held when it began, and what they hold when it is completed.
    read: [Vec<Deferred>; 2],
}

/// The copies of a thread that are not complete, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Copies {
    all: Vec<Copy>,
    /// The number of groups that have been committed.
    groups: u32,
    /// The number of copies that have begun.
    begun: u32,
    /// The barrier objects that track copies, each with the number of copies that had begun then.
    tracked: Vec<(u64, u32)>,
}

impl Copies {
    /// The copies since the last group become a group.
    pub fn commit(&mut self) {
        self.groups = self.groups.saturating_add(1);
    }

    /// Does what is done at a barrier object; returns the number of the first copy that stays open, if some are
    /// completed.
    ///
    /// The phase of the object is not over before the thread arrives there itself and the copies are complete. Here
    /// they are completed when it arrives; that nobody accesses their targets before the phase is over is asked of
    /// executions (`judge::copies`).
    pub fn at_object(&mut self, object: u64, does: AtObject) -> Option<u32> {
        if self.all.is_empty() && self.tracked.is_empty() {
            self.begun = 0;
        }
        let at = self.tracked.iter().position(|(of, _)| *of == object);
        let until = at.map(|at| self.tracked.remove(at).1);
        match does {
            AtObject::Tracks => {
                self.tracked.push((object, self.begun));
                None
            }
            AtObject::Arrives => until,
        }
    }

    pub fn any_pending(&self) -> bool {
        self.all.iter().flat_map(|copy| copy.read.iter().flatten()).any(|value| value.is_pending())
    }

    /// Takes what was read of a cell of the first copy at a wait, or of the last one as it begins.
    pub fn answer(&mut self, stage: Stage, value: Deferred) {
        match stage {
            Stage::Begin => self.all.last_mut().into_iter().for_each(|copy| copy.read[0].push(value)),
            Stage::Read => self.all.first_mut().into_iter().for_each(|copy| copy.read[1].push(value)),
            Stage::Mark | Stage::Look | Stage::Write => {}
        }
    }
}

impl ModuleThread {
    /// Begins a copy between the addresses `from` and `target`, of which the first `read` bytes are read.
    pub(super) fn begin_copy(&mut self, world: &World, at: u32, copied: &Copied, [from, target, read]: [u64; 3]) {
        let item = u64::from(copied.from.bytes);
        if !read.is_multiple_of(item) || read > item * u64::from(copied.items) {
            world.refuse(self.statement(at) as usize, "a copy of a part of a word, or of more bytes than it has");
        }
        let items = (read / item).min(copied.items.into()) as u8;
        let (group, number) = (self.copies.groups, self.copies.begun);
        self.copies.all.push(Copy { at, from, target, items, group, number, read: Default::default() });
        self.copies.begun = number.saturating_add(1);
        self.open = Some(Open::Copy { at, stage: Stage::Begin, until: 0, done: 0 });
    }

    /// Completes copies: those of all groups but the last `but`, or all of them.
    pub(super) fn complete_copies(&mut self, at: u32, but: Option<u32>) {
        let groups = but.map(|but| self.copies.groups.saturating_sub(but));
        let stays = self.copies.all.iter().find(|copy| groups.is_some_and(|groups| copy.group >= groups));
        self.complete_until(at, stays.map_or(u32::MAX, |copy| copy.number));
    }

    /// Completes the copies with lower numbers.
    pub(super) fn complete_until(&mut self, at: u32, until: u32) {
        if self.copies.all.first().is_some_and(|copy| copy.number < until) {
            self.open = Some(Open::Copy { at, stage: Stage::Look, until, done: 0 });
        }
    }

    /// Goes on with a copy; `at` is the instruction that begins it or waits for it. `None` if that is done.
    pub(super) fn go_on_copying(&mut self, world: &World, open: Open) -> Option<Action> {
        let Open::Copy { at, stage, until, done } = open else { return None };
        let begins = matches!(stage, Stage::Begin | Stage::Mark);
        let copy = if begins { self.copies.all.last() } else { self.copies.all.first() };
        let copy = copy.cloned()?;
        let Op::Copy(copied) = &self.part(world).kernel().steps[copy.at as usize].op else { return None };
        let from = |thread: &ModuleThread| {
            thread.copied_cells(world, copy.at, &copied.from, copy.from, copied.items, copy.items)
        };
        let to = |thread: &ModuleThread| {
            thread.copied_cells(world, copy.at, &copied.to, copy.target, copied.items, copied.items)
        };
        let found = match stage {
            Stage::Begin | Stage::Read => from(self),
            Stage::Mark | Stage::Look | Stage::Write => to(self),
        };
        let (cells, source_cells) = match found.and_then(|cells| Ok((cells, from(self)?))) {
            Ok(both) => both,
            Err(NoCells::Wrong(wrong)) => {
                // A copy that cannot be made is none.
                self.copies.all.retain(|other| *other != copy);
                return Some(self.fault(world, copy.at, wrong));
            }
            Err(NoCells::Spoilt | NoCells::Local(_)) => return Some(Action::Halt),
        };
        let next = |stage, done| Some(Open::Copy { at, stage, until, done });
        if let (Some(target), true) = (cells.target(done as usize), (done as usize) < cells.all.len()) {
            let source = self.statement(at);
            self.open = next(stage, done + 1);
            return Some(match stage {
                Stage::Begin | Stage::Read | Stage::Look => {
                    let access = if stage == Stage::Look { &copied.to } else { &copied.from };
                    Action::Read { target: Some(target), label: label(world, access, cells.space, false), source }
                }
                Stage::Mark => {
                    let (.., width) = cells.all[done as usize];
                    self.touch_written(world, &cells);
                    Action::Write {
                        target: Some(target),
                        value: Some(mark(width)),
                        label: label(world, &copied.to, cells.space, true),
                        source,
                    }
                }
                Stage::Write => {
                    let (item, cell, width) = cells.all[done as usize];
                    let first = cells.all.iter().find(|(of, ..)| *of == item).map_or(cell, |(_, first, _)| *first);
                    let value = word(&source_cells, &copy.read[1], item);
                    let value = value.part(8 * (cell - first) as u32, 8 * u32::from(width)).known();
                    world.copies.note(value, false);
                    Action::Write {
                        target: Some(target),
                        value,
                        label: label(world, &copied.to, cells.space, true),
                        source,
                    }
                }
            });
        }
        match stage {
            Stage::Begin => self.open = next(Stage::Mark, 0),
            Stage::Mark => {}
            Stage::Look => self.open = next(Stage::Read, 0),
            Stage::Read => {
                if self.copies.any_pending() {
                    self.open = next(Stage::Read, done);
                    return Some(Action::NeedsValue);
                }
                self.open = next(Stage::Write, 0);
                if copy.read[0] != copy.read[1] {
                    return Some(self.fault(world, copy.at, Wrong::CopiedWhileWritten));
                }
            }
            Stage::Write => {
                self.copies.all.remove(0);
                if self.copies.all.first().is_some_and(|copy| copy.number < until) {
                    self.open = next(Stage::Look, 0);
                }
            }
        }
        None
    }

    /// The cells of the first items of a copy's source or target, which is aligned to all of them.
    fn copied_cells(
        &self,
        world: &World,
        at: u32,
        access: &Access,
        address: u64,
        all: u8,
        items: u8,
    ) -> Result<Cells, NoCells> {
        let bytes = u64::from(access.bytes) * u64::from(all);
        if !address.is_multiple_of(bytes) {
            return Err(NoCells::Wrong(Wrong::Misaligned(bytes)));
        }
        let mut cells = Cells { space: access.space, memory: None, all: Default::default(), first: 0, events: 0 };
        for item in 0..u64::from(items) {
            let address = address.wrapping_add(item * u64::from(access.bytes));
            let of = Cells::of(world, self, at, access, Deferred::Known(address), 1, false)?;
            (cells.space, cells.memory) = (of.space, of.memory);
            cells.all.extend(of.all.iter().map(|&(_, cell, width)| (item as u32, cell, width)));
        }
        Ok(cells)
    }
}

/// An item of a source, from what was read of its cells, of which the first ones hold the lowest bytes; 0 where it was
/// not read.
fn word(cells: &Cells, read: &[Deferred], item: u32) -> Deferred {
    let parts = cells.all.iter().zip(read).filter(|((of, ..), _)| *of == item).rev();
    parts.fold(Deferred::Known(0), |whole, (&(_, _, width), &part)| whole.above(8 * u32::from(width), part))
}
