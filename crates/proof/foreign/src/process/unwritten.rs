//! Registers and bytes of local memory that a thread of PTX has not written, and what it loads from shared or global memory
//! that nobody has written. PTX leaves their values open, and compilers copy and select between such values where nothing comes
//! of it: `i < n ? tile[i] : 0` may become a load and a selection. So a thread carries them along
//! ([`Deferred::Unwritten`](wattle_modules::Deferred)), and has gone wrong where one matters. Where a register is put together of
//! several, or memory is read in other pieces than it was written in, each byte is what it was; a computation with some
//! unwritten byte gives an unwritten value.

use std::sync::atomic::Ordering;

use smallvec::SmallVec;
use wattle_check::search::Action;
use wattle_modules::Value;
use wattle_modules::code::{Exchange, Kernel, NO_REG, Op, Reg, Step};

use super::ModuleThread;
use crate::world::World;
use crate::wrong::Wrong;

/// No warp has more lanes.
const MOST_LANES: u32 = 128;

/// Whether each lane gets one lane's value.
pub(super) fn is_shuffle(op: &Op) -> bool {
    let Op::Exchange { how, .. } = op else { return false };
    matches!(how, Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index)
}

impl ModuleThread {
    /// The register or byte that the thread has not written, if its value matters to a step: as the condition under which the
    /// step runs, as its address, or as what it gives to other threads. A store gives its
    /// value to other threads only where it is to memory that they share, which is known once its address is; so the value of
    /// a store is looked at when it is made.
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
            // What a shuffle gives matters to who takes it, which gets it as an unwritten value.
            None if is_shuffle(&step.op) => {
                let Op::Exchange { b, c, mask, .. } = &step.op else { return None };
                [b, c, mask].into_iter().filter_map(|operand| operand.as_reg()).find_map(of)
            }
            None => read.into_iter().find_map(of).filter(|_| outline.meets),
        }
    }

    /// The fault of a thread that lets such a value matter; it ends there, since it might do anything.
    pub(super) fn unwritten(&mut self, world: &World, at: u32, number: u32) -> Action {
        let kernel = self.part(world).kernel();
        let behind = |first: u32| number.checked_sub(first);
        let wrong = if let Some(load) = behind(self.first_load(kernel)) {
            let load = self.statement(load);
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

    /// The number by which the value of lane 0 goes, where it took no part in a shuffle; behind it are those of the others.
    pub(super) fn first_lane(&self, kernel: &Kernel) -> u32 {
        kernel.registers.len() as u32 + kernel.local as u32
    }

    /// The number by which what the first instruction loads from unwritten memory goes; behind it are those of the others.
    pub(super) fn first_load(&self, kernel: &Kernel) -> u32 {
        self.first_lane(kernel) + MOST_LANES
    }
}
