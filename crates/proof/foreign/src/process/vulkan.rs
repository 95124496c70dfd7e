//! What SPIR-V has and PTX has not: fences and barriers in the model's own terms, atomic operations on a thread's own
//! memory, values that nothing fixes.

use wattle_check::search::{AccessTarget, Action, Members};
use wattle_memory::Level;
use wattle_modules::code::{Access, Meeting, NO_REG, Ordering, Reg, Rmw, Src, Step};
use wattle_modules::meaning::atomic;
use wattle_modules::{Deferred, Value};

use super::ModuleThread;
use super::cells::Cells;
use crate::unfixed::Storer;
use crate::world::World;

impl ModuleThread {
    /// Records what a value that nothing fixes decides at a step: whether it runs, its address, what it compares or
    /// gives to other threads.
    pub(super) fn note_unfixed(&self, world: &World, at: u32, step: &Step) {
        let is_any = |register: Reg| self.registers[register as usize].is_any();
        if step.guard.reg != NO_REG && is_any(step.guard.reg) {
            world.unfixed.decides(self.statement(at));
        }
        let mut reads = false;
        let outline = step.op.outline(|register| reads |= is_any(register), |_| {});
        if !reads {
            return;
        }
        if outline.access.and_then(|access| access.base.as_reg()).is_some_and(is_any) {
            world.unfixed.addresses(self.statement(at));
        }
        let decides_meeting = match outline.meeting {
            // The value goes to other lanes; see [`Unfixed::is_given`](crate::unfixed::Unfixed::is_given).
            Some(Meeting::Lanes { deciding, .. }) => deciding.into_iter().filter_map(Src::as_reg).any(is_any),
            Some(Meeting::Barrier | Meeting::Gathering) | None => false,
        };
        if outline.compares || decides_meeting {
            world.unfixed.decides(self.statement(at));
        }
    }

    /// Whether a store leaves a value that nothing fixes in a cell that is not known for one, so that the search has to
    /// begin again: by its value, or by its address.
    pub(super) fn leaves_any(
        &mut self,
        world: &World,
        cells: &Cells,
        number: usize,
        address: Deferred,
        value: Deferred,
    ) -> bool {
        let Some(target) = cells.target(number) else { return false };
        if value.is_any() && !self.left.contains(&target.address) {
            self.left.push(target.address);
        }
        address.is_any() && world.unfixed.found_anywhere(target.address.memory)
            || value.is_any() && world.unfixed.found(target.address, Some(self.storer()))
    }

    fn storer(&self) -> Storer {
        (self.part, self.block, self.thread)
    }

    /// Whether a cell may give the thread a value that nothing fixes.
    pub(super) fn may_get_any(&self, world: &World, target: Option<AccessTarget>) -> bool {
        target.is_some_and(|AccessTarget { address, .. }| {
            world.unfixed.gives(address, self.storer(), self.left.contains(&address))
        })
    }

    /// An atomic operation on the thread's own memory, which nobody else sees.
    pub(super) fn update_local(&mut self, access: &Access, first: u64, how: Rmw, operand: Deferred, to: Reg) {
        let bytes = first as usize..first as usize + usize::from(access.bytes);
        let old = self.local[bytes.clone()]
            .iter()
            .rev()
            .fold(Deferred::Known(0), |whole, &part| whole.zip(part, |whole, part| whole << 8 | part));
        let new = old.zip(operand, |old, operand| atomic::apply(how, access.bytes, old, operand));
        for (place, byte) in bytes.zip(0u32..) {
            self.local[place] = new.map(|new| new >> (8 * byte) & 0xff);
        }
        self.set(to, old);
    }

    /// A fence, or the arrival at a barrier, in the model's own terms.
    pub(super) fn ordering(&mut self, world: &World, at: u32, ordering: Ordering) -> Action {
        let (among, label) = match ordering {
            Ordering::Fence(label) => return Action::Fence { label, source: self.statement(at) },
            Ordering::Barrier { among, label } => (among, label),
        };
        let (resource, members) = if among == Level::Subgroup {
            let lanes = self.lanes(world, u64::MAX);
            (self.warp_barrier(world, &lanes), lanes.iter().map(|&(_, thread)| thread).collect())
        } else {
            ((0, 0), self.part(world).members(self.block))
        };
        let barrier = self.barrier(world, at, resource, Members::Threads(members), true);
        Action::Barrier { barrier, label, source: self.statement(at) }
    }
}
