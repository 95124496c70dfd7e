//! Registers and bytes of local memory that a thread of PTX has not written. PTX leaves their values open, and compilers copy
//! and select between such values where nothing comes of it; so a thread carries them along
//! ([`Deferred::Unwritten`](wattle_modules::Deferred)), and has gone wrong where one matters. Where a register is put together of
//! several, or memory is read in other pieces than it was written in, each byte is what it was; a computation with some
//! unwritten byte gives an unwritten value.

use wattle_check::search::Action;
use wattle_modules::Value;
use wattle_modules::code::{Kernel, NO_REG, Op, Reg, Src, Step};

use super::ModuleThread;
use crate::world::World;
use crate::wrong::Wrong;

impl ModuleThread {
    /// The register or byte that the thread has not written, if its value matters to a step: as the condition under which the
    /// step runs, as its address, or as what it gives to other threads. A store gives its
    /// value to other threads only where it is to memory that they share, which is known once its address is; so the value of
    /// a store is looked at when it is made.
    pub(super) fn lets_unwritten_matter(&self, kernel: &Kernel, step: &Step) -> Option<u32> {
        if kernel.all_assigned && kernel.local == 0 {
            return None;
        }
        let of = |register: Reg| self.registers[register as usize].unwritten();
        let of_all = |sources: &[Src]| sources.iter().filter_map(|source| source.as_reg()).find_map(of);
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
        match &step.op {
            Op::Load { access, .. }
            | Op::LoadMany { access, .. }
            | Op::Store { access, .. }
            | Op::StoreMany { access, .. } => of_all(&[access.base]),
            Op::Rmw { access, a, .. } => of_all(&[access.base, *a]),
            Op::Cas { access, a, b, .. } => of_all(&[access.base, *a, *b]),
            Op::Barrier { a, b, .. } => of_all(&[*a]).or_else(|| of_all(b.as_slice())),
            Op::Exchange { a, b, c, mask, .. } => of_all(&[*a, *b, *c, *mask]),
            Op::Mov { .. }
            | Op::Un { .. }
            | Op::Bin { .. }
            | Op::Tern { .. }
            | Op::Test { .. }
            | Op::TestJoin(_)
            | Op::Select { .. }
            | Op::Convert { .. }
            | Op::Carry { .. }
            | Op::Special { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::ToGeneric { .. }
            | Op::FromGeneric { .. }
            | Op::IsSpace { .. }
            | Op::Fence(_)
            | Op::Ordering(_)
            | Op::Yield
            | Op::Branch { .. }
            | Op::Exit
            | Op::Trap(_) => None,
        }
    }

    /// The fault of a thread that lets such a value matter; it ends there, since it might do anything.
    pub(super) fn unwritten(&mut self, world: &World, at: u32, number: u32) -> Action {
        let registers = &self.part(world).kernel().registers;
        let place = match registers.get(number as usize) {
            Some(name) => format!("register `{name}`"),
            None => format!("byte {} of local memory", number as usize - registers.len()),
        };
        self.end();
        self.fault(world, at, Wrong::Unwritten(place))
    }
}
