//! Registers and bytes of local memory that a thread of PTX has not written, and what it loads from shared or global
//! memory that nobody has written. PTX leaves their values open, and compilers copy and select between such values
//! where nothing comes of it: `i < n ? tile[i] : 0` may become a load and a selection. So a thread carries them along
//! ([`Deferred::Unwritten`](wattle_modules::Deferred)), and has gone wrong where one matters. Where a register is put
//! together of several, or memory is read in other pieces than it was written in, each byte is what it was; a
//! computation with some unwritten byte gives an unwritten value. A store of a whole structure takes its padding along,
//! which is unwritten in the copy too ([`Label::unwritten`](wattle_memory::Label)).

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use wattle_check::search::{Action, Process};
use wattle_modules::code::{Access, Exchange, Kernel, Meeting, NO_REG, Op, Reg, Src, Step, Strength, Transfer};
use wattle_modules::{Deferred, Value};

use super::ModuleThread;
use super::open::Open;
use crate::world::World;
use crate::wrong::Wrong;

/// No warp has more lanes.
const MOST_LANES: u32 = 128;

/// Whether each lane gets one lane's value.
pub(super) fn is_shuffle(op: &Op) -> bool {
    match op.outline(|_| {}, |_| {}).meeting {
        Some(Meeting::Lanes { how, .. }) => shuffles(how),
        Some(Meeting::Barrier | Meeting::Gathering) | None => false,
    }
}

fn shuffles(how: Exchange) -> bool {
    match how {
        Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => true,
        Exchange::Barrier | Exchange::Vote(_) | Exchange::Elect | Exchange::Match(_) | Exchange::Combine(_) => false,
    }
}

impl ModuleThread {
    /// Answers the last read, which has found bytes that nobody has written, the lowest bit for the lowest byte.
    pub(crate) fn answer_unwritten_bytes(&mut self, world: &World, word: u64, bytes: u8) {
        let carries = self.carries_unwritten(world);
        let first = self.first_load(self.part(world).kernel());
        match &mut self.open {
            Some(Open::Load { at, read, .. }) if carries => {
                read.push(Deferred::with_bytes(word, bytes, (first + *at) | Deferred::AS_READ));
                world.carries_unwritten.store(true, Ordering::Relaxed);
            }
            _ => self.answer(world, Some(word)),
        }
    }

    /// The register or byte that the thread has not written, if its value matters to a step: as the condition under
    /// which the step runs, as its address, or as what it gives to other threads. A store gives its value to other
    /// threads only where it is to memory that they share, which is known once its address is; so the value of a store
    /// is looked at when it is made.
    pub(super) fn lets_unwritten_matter(&self, world: &World, step: &Step) -> Option<u32> {
        let (kernel, lanes_meet) = (self.part(world).kernel(), self.part(world).flow.meets());
        let carries = world.carries_unwritten.load(Ordering::Relaxed);
        if kernel.all_assigned && kernel.local == 0 && !lanes_meet && !carries {
            return None;
        }
        let of = |register: Reg| self.registers[register as usize].unwritten();
        let guard = step.guard;
        if guard.reg != NO_REG {
            if let Some(number) = of(guard.reg) {
                return Some(number);
            }
            let runs = self.registers[guard.reg as usize].known().map(|bits| (bits != 0) != guard.negated);
            if runs != Some(true) {
                return None;
            }
        }
        let mut read = SmallVec::<[Reg; 4]>::new();
        let outline = step.op.outline(|register| read.push(register), |_| {});
        match outline.access {
            Some(access) if !(outline.reads_memory && outline.writes_memory) => access.base.as_reg().and_then(of),
            Some(_) => read.into_iter().find_map(of),
            None => match outline.meeting {
                // What a shuffle gives matters to who takes it, which gets it as an unwritten value.
                Some(Meeting::Lanes { how, deciding }) if shuffles(how) => {
                    deciding.into_iter().filter_map(Src::as_reg).find_map(of)
                }
                Some(Meeting::Lanes { .. } | Meeting::Barrier | Meeting::Gathering) => read.into_iter().find_map(of),
                None => None,
            },
        }
    }

    /// What a load has read, with its bytes that nobody has written known for padding where it has read others too.
    pub(super) fn noting_padding<'r>(&self, kernel: &Kernel, read: &'r [Deferred]) -> Cow<'r, [Deferred]> {
        let steps = kernel.steps.len() as u32;
        let (first, is_whole) = (self.first_load(kernel), |value: &Deferred| matches!(value, Deferred::Unwritten(_)));
        let is_load = |number: u32| (first..first + steps).contains(&(number & !Deferred::AS_READ));
        if !read.iter().any(|value| value.unwritten().is_some_and(is_load)) || read.iter().all(is_whole) {
            return Cow::Borrowed(read);
        }
        let padding = |value: &Deferred| match *value {
            Deferred::Unwritten(number) if is_load(number) => Deferred::Unwritten(number + steps),
            Deferred::Partly { bits, number, unwritten } if is_load(number) => {
                Deferred::Partly { bits, number: number + steps, unwritten }
            }
            other => other,
        };
        Cow::Owned(read.iter().map(padding).collect())
    }

    /// Whether a store of memory that nobody has written is one of padding: it copies along with it what somebody has
    /// written, or stores beside it do.
    pub(super) fn is_copied_along(&self, world: &World, at: u32, values: &[Deferred], number: u32) -> bool {
        let kernel = self.part(world).kernel();
        // What is computed from it is no padding.
        let Some(number) = (number & Deferred::AS_READ != 0).then_some(number & !Deferred::AS_READ) else {
            return false;
        };
        let is_local = (kernel.registers.len() as u32..self.first_lane(kernel)).contains(&number);
        let first = self.first_load(kernel);
        if !is_local && number < first {
            return false;
        }
        // What was loaded alone is copied for its own sake, and may have zeros beside it that nobody has copied.
        let is_padding = number >= first + kernel.steps.len() as u32;
        let is_partly = |value: &Deferred| is_padding && matches!(value, Deferred::Partly { .. });
        let has_written = || values.iter().any(|value| value.unwritten().is_none() || is_partly(value));
        (is_padding || is_local) && has_written() || self.fills_a_word(kernel, at as usize)
    }

    /// Whether a store is to a part of a word of 4 bytes of which a store near it writes another part, with what
    /// somebody has written: a structure is copied in pieces, and padding that is less than a word may be one of them.
    fn fills_a_word(&self, kernel: &Kernel, at: usize) -> bool {
        const NEAR: usize = 8;
        let stored = |step: &Step| {
            let Some(Transfer::Store(access, from)) = step.op.transfer() else { return None };
            let is_written = from.iter().any(|from| from.get(&self.registers, &kernel.constants).unwritten().is_none());
            let bytes = i32::from(access.bytes) * from.len() as i32;
            (access.strength == Strength::Weak).then_some((*access, bytes, is_written))
        };
        let Some((own, bytes, _)) = kernel.steps.get(at).and_then(stored) else { return false };
        let fills = |(other, others, is_written): (Access, i32, bool)| {
            let is_beside = other.offset + others <= own.offset || own.offset + bytes <= other.offset;
            let word = own.offset.div_euclid(4);
            let is_in_word = other.offset.div_euclid(4) <= word && word <= (other.offset + others - 1).div_euclid(4);
            (other.base, other.space) == (own.base, own.space) && is_beside && is_in_word && is_written
        };
        let near = kernel.steps.iter().skip(at.saturating_sub(NEAR)).take(2 * NEAR + 1);
        bytes < 4 && near.filter_map(stored).any(fills)
    }

    /// The fault of a thread that lets such a value matter; it ends there, since it might do anything.
    pub(super) fn unwritten(&mut self, world: &World, at: u32, number: u32) -> Action {
        let kernel = self.part(world).kernel();
        let number = number & !Deferred::AS_READ;
        let behind = |first: u32| number.checked_sub(first);
        let wrong = if let Some(load) = behind(self.first_load(kernel)) {
            let load = self.statement(load % kernel.steps.len() as u32);
            Wrong::Loaded { load, at: world.place_of(load as usize) }
        } else if let Some(lane) = behind(self.first_lane(kernel)) {
            Wrong::OfNobody(lane)
        } else if let Some(byte) = behind(kernel.registers.len() as u32) {
            Wrong::Unwritten(format!("byte {byte} of local memory"))
        } else {
            Wrong::Unwritten(format!("register `{}`", kernel.registers[number as usize]))
        };
        self.end();
        self.fault(world, at, wrong)
    }

    /// The number by which the value of lane 0 goes, where it took no part in a shuffle; behind it are those of the
    /// others.
    pub(super) fn first_lane(&self, kernel: &Kernel) -> u32 {
        kernel.registers.len() as u32 + kernel.local as u32
    }

    /// The number by which what the first instruction loads from unwritten memory goes; behind it are those of the
    /// others, and then those by which it goes where the instruction has read what somebody has written too.
    pub(super) fn first_load(&self, kernel: &Kernel) -> u32 {
        self.first_lane(kernel) + MOST_LANES
    }
}
