//! The accesses of a thread, cell by cell: what is read of global and shared memory is asked of the search, what is in
//! local memory the thread has itself.

use wattle_check::search::{Action, Change};
use wattle_ir::{AtomicOp, Type};
use wattle_memory::{Label, Level};
use wattle_modules::Deferred;
use wattle_modules::Value;
use wattle_modules::code::{Access, Kernel, NO_REG, Op, Reg, Strength, Transfer};
use wattle_modules::types::Space;

use super::ModuleThread;
use super::cells::{Cells, NoCells};
use super::open::Open;
use crate::operations::label;
use crate::subnormal;
use crate::world::World;
use crate::wrong::Wrong;

impl ModuleThread {
    /// Goes on with an access; `None` if it is done.
    pub(super) fn go_on(&mut self, world: &World, open: Open) -> Option<Action> {
        match open {
            Open::Load { at, address, read, .. } => self.go_on_loading(world, at, address, read),
            Open::Store { at, address, values, written } => self.go_on_storing(world, at, address, values, written),
            Open::Nothing { at, left } => {
                self.open = (left > 1).then(|| Open::Nothing { at, left: left - 1 });
                Some(Action::Fence { label: Label::fence(Level::Thread), source: self.statement(at) })
            }
            Open::Copy { .. } => self.go_on_copying(world, open),
            Open::Matching(matching) => self.go_on_matching(world, matching),
            Open::Gathering { at, holds } => Some(self.gather(world, at, holds)),
            // It has no answer yet, so it is asked again.
            Open::Update { .. } | Open::Meeting { .. } => {
                self.open = Some(open);
                Some(Action::NeedsValue)
            }
        }
    }

    /// Reads the next cell of a load, or sets its registers once all are read. `at` is the number of a load, since the
    /// thread's effect was one.
    fn go_on_loading(&mut self, world: &World, at: u32, address: Deferred, read: Vec<Deferred>) -> Option<Action> {
        let kernel = self.part(world).kernel();
        let Some(Transfer::Load(access, to)) = kernel.steps[at as usize].op.transfer() else { return None };
        let place = address.known().map(|address| access.place(address));
        if let Some((space @ (Space::Param | Space::Const), address)) = place {
            return self.constant(world, access, (space, address), to).err().map(|wrong| self.fault(world, at, wrong));
        }
        let cells = match Cells::of(world, self, at, access, address, to.len(), true) {
            Ok(cells) => cells,
            Err(NoCells::Spoilt) => return Some(Action::Halt),
            Err(NoCells::Wrong(wrong)) => {
                let nothing = Deferred::Known(0).any_if(self.part(world).spirv.is_some());
                to.iter().for_each(|&register| self.set(register, nothing));
                return Some(self.fault(world, at, wrong));
            }
            Err(NoCells::Local(first)) => {
                let bytes = first as usize..first as usize + to.len() * access.bytes as usize;
                let read = self.local[bytes].to_vec();
                let per_item = access.bytes as usize;
                let cells = (0..read.len()).map(|byte| ((byte / per_item) as u32, byte as u64, 1));
                self.loaded(
                    kernel,
                    access,
                    to,
                    &Cells { space: Space::Local, memory: None, all: cells.collect(), first: 0, events: 0 },
                    &read,
                );
                return None;
            }
        };
        if let (true, Some(memory)) = (access.read_only, cells.memory) {
            world.read_only.touch(self.part, memory, false);
        }
        if read.len() < cells.all.len() {
            let (target, mut label) = (cells.target(read.len()), label(world, access, cells.space, false));
            if cells.reads_parts(access) {
                label = Label { atomic: false, acquire: false, ..label };
            }
            let any = address.is_any() || self.may_get_any(world, target);
            self.open = Some(Open::Load { at, address, read, any });
            return Some(Action::Read { target, label, source: self.statement(at) });
        }
        self.loaded(kernel, access, to, &cells, &read);
        self.leave_out(at, &cells);
        None
    }

    /// Writes the next cell of a store.
    fn go_on_storing(
        &mut self,
        world: &World,
        at: u32,
        address: Deferred,
        values: Vec<Deferred>,
        written: u32,
    ) -> Option<Action> {
        let kernel = self.part(world).kernel();
        let Some(Transfer::Store(access, _)) = kernel.steps[at as usize].op.transfer() else { return None };
        let cells = match Cells::of(world, self, at, access, address, values.len(), false) {
            Ok(cells) => cells,
            Err(NoCells::Spoilt) => return Some(Action::Halt),
            Err(NoCells::Wrong(wrong)) => return Some(self.fault(world, at, wrong)),
            Err(NoCells::Local(first)) => {
                for (byte, place) in (first as usize..).take(values.len() * access.bytes as usize).enumerate() {
                    let (item, part) = (byte / access.bytes as usize, byte % access.bytes as usize);
                    self.local[place] = values[item].part(8 * part as u32, 8);
                }
                return None;
            }
        };
        let cells = if world.takes_whole && values.iter().any(|value| matches!(value, Deferred::Partly { .. })) {
            cells.by_bytes()
        } else {
            cells
        };
        self.touch_written(world, &cells);
        let value = stored(access, &cells, &values, written as usize);
        if let (Deferred::Partly { .. }, Some(target)) = (value, cells.target(written as usize))
            && target.bytes > 1
            && world.widths.wants(target.address.memory, target.address.element, 1, false)
        {
            return Some(Action::Halt);
        }
        let unwritten = value.unwritten();
        if let Some(number) = unwritten.filter(|&number| !self.is_copied_along(world, at, &values, number)) {
            return Some(self.unwritten(world, at, number));
        }
        let value = if unwritten.is_some() { Deferred::Known(0) } else { value };
        if self.leaves_any(world, &cells, written as usize, address, value) {
            return Some(Action::Halt);
        }
        let value = value.known();
        if self.part(world).copies {
            world.copies.note(value, false);
        }
        let (target, mut label) = (cells.target(written as usize), label(world, access, cells.space, true));
        if let (Some(_), Some(target)) = (unwritten, target) {
            label.unwritten = true;
            world.leaves_unwritten(target.address);
        }
        if let (Some(memory), Some(spirv)) = (cells.memory, &self.part(world).spirv) {
            label.atomic &= !spirv.is_left_unordered(memory);
        }
        if written as usize + 1 < cells.all.len() {
            self.open = Some(Open::Store { at, address, values, written: written + 1 });
        } else {
            self.leave_out(at, &cells);
        }
        Some(Action::Write { target, value, label, source: self.statement(at) })
    }

    /// Lets nothing stand for the cells that an access might have had and has not.
    fn leave_out(&mut self, at: u32, cells: &Cells) {
        let left = cells.events.saturating_sub(cells.all.len());
        self.open = (left > 0).then_some(Open::Nothing { at, left });
    }

    /// Sets the registers of a load from what was read of its cells.
    fn loaded(&mut self, kernel: &Kernel, access: &Access, to: &[Reg], cells: &Cells, read: &[Deferred]) {
        let read = self.noting_padding(kernel, read);
        for (&register, item) in to.iter().zip(0u32..) {
            // The first cell holds the lowest bytes.
            let parts = cells.all.iter().zip(&*read).filter(|((of, ..), _)| *of == item).rev();
            let joined = |whole: Deferred, (&cell, &value): (&(u32, u64, u8), &Deferred)| {
                let (from, bits) = cells.part_of(access, cell);
                whole.above(bits, value.part(from, bits))
            };
            let value = parts.fold(Deferred::Known(0), joined);
            self.set(register, if access.sign_to == 0 { value } else { value.map(|bits| access.extended(bits)) });
        }
    }

    /// Records the memory that it writes, where some memory must not be written.
    pub(super) fn touch_written(&self, world: &World, cells: &Cells) {
        if let (true, Some(memory)) = (self.part(world).reads_read_only, cells.memory) {
            world.read_only.touch(self.part, memory, true);
        }
    }

    /// The action of an atomic operation.
    pub(super) fn update(
        &mut self,
        world: &World,
        at: u32,
        (access, address): (&Access, Deferred),
        operands: [Deferred; 2],
        change: Change,
    ) -> Option<Action> {
        let cells = match Cells::of(world, self, at, access, address, 1, false) {
            Ok(cells) => cells,
            Err(NoCells::Spoilt) => return Some(Action::Halt),
            Err(NoCells::Wrong(wrong)) => return Some(self.fault(world, at, wrong)),
            Err(NoCells::Local(_)) => {
                world.refuse(self.statement(at) as usize, "an atomic operation on local memory");
                return Some(Action::Halt);
            }
        };
        self.touch_written(world, &cells);
        let written = operands[0].zip(operands[1], |a, _| a);
        if self.leaves_any(world, &cells, 0, address, written) {
            return Some(Action::Halt);
        }
        let any = address.is_any() || self.may_get_any(world, cells.target(0));
        if self.part(world).copies {
            world.copies.doubt();
        }
        let is_flushed = subnormal::is_flushed(&self.part(world).kernel().steps[at as usize].op, cells.space);
        let flushed = operands[0].known().filter(|_| is_flushed).map(|bits| bits as u32);
        self.open = Some(Open::Update { at, any, flushed });
        let (read, write) = (label(world, access, cells.space, false), label(world, access, cells.space, true));
        // SPIR-V says what an access is in labels, and has no reductions.
        let is_ptx = matches!(access.strength, Strength::Strong { .. });
        let reduces = is_ptx
            && !read.acquire
            && matches!(self.part(world).kernel().steps[at as usize].op, Op::Rmw { d: NO_REG, .. });
        let read = Label { reduces, ..read };
        let target = cells.target(0);
        // A turn of a loop that adds to it has changed nothing that matters.
        let change = match target.is_some_and(|target| self.part(world).hidden == Some(target.address.memory)) {
            true => Change::Apply { op: AtomicOp::Add, ty: Type::U32, operand: Some(0) },
            false => change,
        };
        Some(Action::Update { target, change, read, write, source: self.statement(at) })
    }

    /// The bytes of a load from parameters or constants.
    fn constant(
        &mut self,
        world: &World,
        access: &Access,
        (space, address): (Space, u64),
        to: &[Reg],
    ) -> Result<(), Wrong> {
        let bytes = if space == Space::Param { &self.part(world).params } else { self.part(world).constants() };
        for (&register, item) in to.iter().zip(0u64..) {
            let from = address.saturating_add(item * u64::from(access.bytes));
            let there = usize::try_from(from).ok().and_then(|from| bytes.get(from..)?.get(..access.bytes as usize));
            match space == Space::Const {
                true => {
                    let without_value = self.part(world).place_constant(from, access.bytes.into())?;
                    without_value.into_iter().for_each(|name| world.reads_without_value(name));
                }
                false => self.part(world).place_parameter(from, access.bytes.into())?,
            }
            let name = "the kernel's parameters".into();
            let beyond = || Wrong::Beyond { name, bytes: bytes.len() as u64, offset: from.cast_signed() };
            let there = there.ok_or_else(beyond)?;
            let value = there.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            let is_open = self.part(world).spirv.as_ref().is_some_and(|spirv| spirv.is_open(from));
            self.set(register, Deferred::Known(access.extended(value)).any_if(is_open));
        }
        Ok(())
    }
}

/// The value that a store writes to the cell of a number: a part of an item, or several items that make up the cell.
fn stored(access: &Access, cells: &Cells, values: &[Deferred], number: usize) -> Deferred {
    let (item, cell, width) = cells.all[number];
    let first = cells.all.iter().find(|(of, ..)| *of == item).map_or(cell, |(_, first, _)| *first);
    if width > access.bytes {
        let parts = values[item as usize..].iter().take(usize::from(width / access.bytes)).rev();
        parts.fold(Deferred::Known(0), |whole, &part| whole.above(8 * u32::from(access.bytes), part))
    } else {
        values[item as usize].part(8 * (cell - first) as u32, 8 * u32::from(width))
    }
}
