//! Runs a thread from one action to the next.

use wattle_check::search::{Action, Change, Members};
use wattle_memory::{FenceOrder, Label, Level};
use wattle_modules::code::{Access, Exchange, NO_REG, Op, Special, Src, Step};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Effect, Value, step};

use super::ModuleThread;
use super::accesses::Open;
use super::lanes::Makes;
use crate::access::{Cells, NoCells};
use crate::operations::{in_space, operator, reduction};
use crate::world::{WaitsForEnded, World};
use crate::wrong::Wrong;

/// The threads of a warp by which PTX counts arrivals at a barrier.
const PTX_WARP: u64 = 32;

impl ModuleThread {
    /// Runs to the next action, if it is scheduled.
    pub(super) fn run_on(&mut self, world: &World) -> Action {
        let kernel = self.part(world).kernel();
        loop {
            if self.ended {
                return Action::Done;
            }
            if let Some(open) = self.open.take() {
                if let Some(action) = self.go_on(world, open) {
                    return action;
                }
                continue;
            }
            let at = self.cursor.at;
            if let (Some(dead), false) = (self.part(world).flow.loops.dead_at(at as usize), self.announced) {
                self.forget(dead);
                (self.announced, self.behind) = (true, false);
                return Action::LoopHead { label: at };
            }
            if let Some(step) = kernel.steps.get(at as usize)
                && self.part(world).leaves_open()
            {
                self.note_unfixed(world, at, step);
            }
            if let Some(step) = kernel.steps.get(at as usize)
                && let Some(number) = self.lets_unwritten_matter(world, step)
            {
                return self.unwritten(world, at, number);
            }
            if let Some(next) = self.part(world).flow.passes_to(at as usize) {
                let goes_round = next <= at && self.part(world).flow.loops.goes_round(at as usize);
                if goes_round && self.unplaced {
                    return Action::NeedsValue;
                }
                self.cursor.at = next;
                self.announced = false;
                self.part(world).flow.structure.go(at, next, &mut self.iterations);
                if goes_round {
                    return self.go_back(world, at);
                }
                continue;
            }
            if let Some(step) = kernel.steps.get(at as usize)
                && self.waits_for_space(world, step)
            {
                return Action::NeedsValue;
            }
            if let Some(step) = kernel.steps.get(at as usize) {
                self.note_behind(world, at, step);
            }
            if let Some(&Op::Test { orders: true, a, b, .. }) = kernel.steps.get(at as usize).map(|step| &step.op) {
                let [a, b] = [a, b].map(|side| side.get(&self.registers, &kernel.constants).known());
                world.compares(self.statement(at), a, b);
            }
            let before = self.cursor;
            let kept = self.unplaced.then(|| (self.announced, self.iterations.clone()));
            let effect = step(kernel, &mut self.cursor, &mut self.registers);
            if self.cursor.at != at {
                self.announced = false;
                self.part(world).flow.structure.go(at, self.cursor.at, &mut self.iterations);
            }
            match effect {
                Effect::None | Effect::Yield => {}
                Effect::Back if !self.part(world).flow.loops.goes_round(at as usize) => {}
                Effect::NeedsValue => return Action::NeedsValue,
                Effect::Back if self.unplaced => {
                    self.cursor = before;
                    if let Some((announced, iterations)) = kept {
                        (self.announced, self.iterations) = (announced, iterations);
                    }
                    return Action::NeedsValue;
                }
                Effect::Back => return self.go_back(world, at),
                Effect::Load { access, address, .. } => {
                    if matches!(access.space, Space::Param | Space::Const) && address.known().is_none() {
                        self.cursor = before;
                        return Action::NeedsValue;
                    }
                    self.note_place(world, address);
                    self.open = Some(Open::Load { at, address, read: Vec::new(), any: false });
                }
                Effect::Store { access, address, values } => {
                    let bits = 8 * u32::from(access.bytes);
                    let value = |operand: &Src| operand.get(&self.registers, &kernel.constants).part(0, bits);
                    let values = values.iter().map(value).collect();
                    self.open = Some(Open::Store { at, address, values, written: 0 });
                }
                Effect::Update { access, address, how, operand, to } if self.is_local(world, access, address) => {
                    let Some(address) = address.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    match Cells::of(world, self, at, access, Deferred::Known(address), 1, false) {
                        Err(NoCells::Local(first)) => self.update_local(access, first, how, operand, to),
                        Err(NoCells::Wrong(wrong)) => return self.fault(world, at, wrong),
                        Ok(_) | Err(NoCells::Spoilt) => return Action::Halt,
                    }
                }
                Effect::Update { access, address, how, operand, .. } => {
                    self.note_place(world, address);
                    let (op, ty) = operator(how, access.bytes);
                    let change = Change::Apply { op, ty, operand: operand.known() };
                    let operands = [operand, Deferred::Known(0)];
                    if let Some(action) = self.update(world, at, (access, address), operands, change) {
                        return action;
                    }
                }
                Effect::CompareExchange { expected, succeeded: Some(_), .. } if expected.known().is_none() => {
                    self.cursor = before;
                    return Action::NeedsValue;
                }
                Effect::CompareExchange { access, address, expected, new, succeeded, .. } => {
                    self.note_place(world, address);
                    // One that fails writes the old value back in PTX, whose atom is always a read and a write.
                    let operands = [expected, new];
                    let writes_back = self.part(world).spirv.is_none();
                    let (expected, desired) = (expected.known(), new.known());
                    let space = address.known().map_or(access.space, |address| access.place(address).0);
                    let succeeded = succeeded.map(|label| in_space(label, access, space));
                    let change = Change::CompareExchange { expected, desired, writes_back, succeeded };
                    if let Some(action) = self.update(world, at, (access, address), operands, change) {
                        return action;
                    }
                }
                Effect::Fence(fence) => {
                    let label = Label::fence(Level::of(fence.scope));
                    let label = match fence.order {
                        FenceOrder::Acquire => label.acquiring(),
                        FenceOrder::Release => label.releasing(),
                        FenceOrder::AcqRel => label.acquiring().releasing(),
                        FenceOrder::SeqCst => label.sequentially_consistent(),
                    };
                    return Action::Fence { label, source: self.statement(at) };
                }
                Effect::Barrier { waits, aligned, barrier, threads } => {
                    let count = threads.map(Value::known);
                    let (Some(barrier), Some(count)) =
                        (barrier.known(), count.map_or(Some(None), |count| count.map(Some)))
                    else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    if let Some(wrong) = no_barrier(barrier, count) {
                        return self.fault(world, at, wrong);
                    }
                    let members = self.barrier_members(world, count);
                    let mut barrier = self.barrier(world, at, (barrier, 0), members, waits);
                    barrier.converges = barrier.converges.filter(|_| aligned);
                    return Action::Barrier {
                        barrier,
                        label: Label::barrier(Level::Block),
                        source: self.statement(at),
                    };
                }
                Effect::BarrierReduce { aligned, barrier, threads, holds, .. } => {
                    let Some(barrier) = barrier.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    if let Some(wrong) = no_barrier(barrier, None) {
                        return self.fault(world, at, wrong);
                    }
                    let members = Members::Threads(self.part(world).members(self.block));
                    if threads.is_some() {
                        let why = "what a barrier gathers is known here where all threads of the block come to it";
                        world.refuse(self.statement(at) as usize, why);
                        return Action::Halt;
                    }
                    let mut barrier = self.barrier(world, at, (barrier, 0), members, true);
                    barrier.converges = barrier.converges.filter(|_| aligned);
                    self.open = Some(Open::Gathering { at, holds });
                    let label = Label::barrier(Level::Block);
                    return Action::Barrier { barrier, label, source: self.statement(at) };
                }
                Effect::Copy { copied, from, target, read } => {
                    let (Some(from), Some(target), Some(read)) = (from.known(), target.known(), read.known()) else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    self.begin_copy(world, at, copied, [from, target, read]);
                }
                Effect::CopyGroup => self.copies.commit(),
                Effect::CopyWait { but } => self.complete_copies(at, but),
                Effect::CopyObject { access, object, does } => {
                    let Some(object) = object.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    if let Some(until) = self.copies.at_object(access.place(object).1, does) {
                        self.complete_until(at, until);
                    }
                }
                Effect::Ordering(ordering) => return self.ordering(world, at, ordering),
                Effect::Exchange { how: Exchange::Barrier, mask, .. } => {
                    let Some(mask) = mask.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let lanes = self.lanes(world, mask);
                    if !self.is_among(world, &lanes) {
                        return self.fault(world, at, Wrong::NotInMask);
                    }
                    let members = lanes.iter().map(|&(_, thread)| thread).collect();
                    let resource = self.warp_barrier(world, &lanes);
                    // CUDA C++ Programming Guide, "Warp Synchronization": of the lanes that the mask names, those that have not
                    // exited come to it.
                    let members = if self.lanes_may_have_ended(world) {
                        Members::Remaining(members)
                    } else {
                        Members::Threads(members)
                    };
                    let barrier = self.barrier(world, at, resource, members, true);
                    return Action::Barrier {
                        barrier,
                        label: Label::barrier(Level::Block),
                        source: self.statement(at),
                    };
                }
                Effect::Exchange { how, part, mask, predicate, .. } => {
                    let (Some(b), Some(c), Some(mask)) = (part[1].known(), part[2].known(), mask.known()) else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let makes = match how {
                        Exchange::Match(how) => Some(Makes::Match(how)),
                        Exchange::Combine(how) if reduction(how).is_none() => Some(Makes::Combine(how)),
                        Exchange::Combine(_)
                        | Exchange::Vote(_)
                        | Exchange::Barrier
                        | Exchange::Elect
                        | Exchange::Up
                        | Exchange::Down
                        | Exchange::Butterfly
                        | Exchange::Index => None,
                    };
                    if let Some(makes) = makes {
                        if let Some(action) = self.begin_match(world, (at, makes), part[0], mask) {
                            return action;
                        }
                        continue;
                    }
                    return self.exchange(world, at, how, part[0], [b, c], mask, predicate);
                }
                Effect::Special { which: Special::Active, to } => {
                    if let Some(action) = self.find_active(world, at, to) {
                        return action;
                    }
                }
                Effect::Special { which, to } => self.set(to, Deferred::Known(self.special(world, which))),
                Effect::Exit => return self.end(),
                Effect::Trap(what) => {
                    self.end();
                    return self.fault(world, at, Wrong::Trap(what));
                }
            }
        }
    }

    /// Begins another iteration of the loop at whose head it is, by a jump back from an instruction.
    fn go_back(&mut self, world: &World, from: u32) -> Action {
        let head = self.cursor.at as usize;
        self.forget(self.part(world).flow.loops.dead_at(head).unwrap_or_default());
        (self.announced, self.behind) = (true, false);
        let waits = self.part(world).flow.loops.exits_on_memory(head);
        let ends = self.part(world).flow.loops.ends(head);
        Action::BackEdge { label: head as u32, source: self.statement(from), waits, ends }
    }

    /// Records that it may have ended at a load or update whose place it does not know yet: that may be out of bounds. What
    /// Wattle emits has looked at each index itself.
    fn note_place(&mut self, world: &World, address: Deferred) {
        self.unplaced |= address.known().is_none() && !world.is_compiled && self.ends_at_faults(world);
    }

    /// Records whether it has gone on, since its way parted from that of others, where they come from a barrier.
    fn note_behind(&mut self, world: &World, at: u32, step: &Step) {
        if self.part(world).waits == WaitsForEnded::Always {
            return;
        }
        if step.guard.reg != NO_REG && matches!(step.op, Op::Branch { .. } | Op::Exit) {
            self.behind = false;
            return;
        }
        let is_common = |access: &Access| matches!(access.space, Space::Global | Space::Shared | Space::Generic);
        let acts = matches!(step.op, Op::Fence(_)) || step.op.outline(|_| {}, |_| {}).access.is_some_and(is_common);
        self.behind |= acts && self.part(world).flow.is_behind_barriers(at as usize);
    }

    /// Whether a generic address that is still open hides the storage class of an access, which is a part of its label in SPIR-V.
    fn waits_for_space(&self, world: &World, step: &Step) -> bool {
        let generic = |access: &&Access| access.space == Space::Generic;
        let access = step.op.outline(|_| {}, |_| {}).access.filter(generic);
        let constants = &self.part(world).kernel().constants;
        let is_open = |access: &Access| access.base.get(&self.registers, constants).known().is_none();
        self.part(world).spirv.is_some() && access.is_some_and(is_open)
    }

    /// Whether an access is one to the thread's own memory, as atomic operations of SPIR-V may be.
    fn is_local(&self, world: &World, access: &Access, address: Deferred) -> bool {
        let is_there = |address: u64| access.place(address).0 == Space::Local;
        access.space == Space::Local || self.part(world).spirv.is_some() && address.known().is_some_and(is_there)
    }

    /// The threads that a barrier of the block waits for: all of them, or a number of them.
    fn barrier_members(&self, world: &World, count: Option<u64>) -> Members {
        let of = self.part(world).members(self.block);
        // PTX ISA 9.7.13.1: arrivals are counted by whole warps, "not the number of active threads in the warp". So a count
        // of all warps is every thread; where threads end early, of a block of one warp every thread that is left.
        let is_whole = |count: u64| count == (of.len() as u64).next_multiple_of(PTX_WARP);
        let ends_apart = self.part(world).flow.exits_early && of.len() as u64 > PTX_WARP;
        match count.filter(|&count| !is_whole(count) || ends_apart) {
            Some(count) => Members::Groups { of, size: PTX_WARP as u32, count: (count / PTX_WARP) as u32 },
            None if self.part(world).waits > WaitsForEnded::Never || !self.part(world).flow.exits_early => {
                Members::Threads(of)
            }
            // PTX ISA 9.7.13.1: "… wait for non-exited threads of all other warps".
            None => Members::Remaining(of),
        }
    }

    /// The value of a special register; those that have none here are refused before.
    fn special(&self, world: &World, which: Special) -> u64 {
        let (grid, block) = (self.part(world).launch.grid, self.part(world).launch.block);
        let part = |linear: u32, of: [u32; 3], d: u8| match d {
            0 => linear % of[0],
            1 => linear / of[0] % of[1],
            _ => linear / of[0] / of[1],
        };
        u64::from(match which {
            Special::Thread(d) => part(self.thread, block, d),
            Special::Threads(d) => block[usize::from(d).min(2)],
            Special::Block(d) => part(self.block, grid, d),
            Special::Blocks(d) => grid[usize::from(d).min(2)],
            Special::Lane => self.thread % self.part(world).warp(),
            Special::LaneMask(mask) => mask.of(self.thread % self.part(world).warp()),
            Special::Warp => self.thread / self.part(world).warp(),
            Special::DynamicShared => self.part(world).launch.dynamic_shared as u32,
            Special::TotalShared => (self.part(world).kernel().shared + self.part(world).launch.dynamic_shared) as u32,
            Special::Workspace(register) => {
                let address = self.part(world).workspace.unwrap_or(0);
                if register == 1 { (address >> 32) as u32 } else { address as u32 }
            }
            Special::Active
            | Special::Warps
            | Special::Sm
            | Special::Sms
            | Special::Grid
            | Special::Clock
            | Special::Timer => 0,
        })
    }
}

/// What is wrong with the number of a barrier, or of its threads (PTX ISA 8.8, 9.7.13.1 "bar").
fn no_barrier(barrier: u64, count: Option<u64>) -> Option<Wrong> {
    if barrier >= super::WARP_BARRIERS {
        return Some(Wrong::Trap("a barrier that does not exist: they are numbered from 0 to 15"));
    }
    let is_wrong = count.is_some_and(|count| count == 0 || count % PTX_WARP != 0 || count > u64::from(u32::MAX));
    is_wrong.then_some(Wrong::Trap("a barrier for a number of threads that is no multiple of a warp's 32"))
}
