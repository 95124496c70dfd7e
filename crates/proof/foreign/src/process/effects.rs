//! What a thread does with the effect of an instruction.

use wattle_check::search::{Action, Change, Members};
use wattle_memory::{FenceOrder, Label, Level};
use wattle_modules::code::{Access, Exchange, Fence, Reg, Rmw, Special, Src};
use wattle_modules::meaning::float;
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Effect, Value};

use super::ModuleThread;
use super::cells::{Cells, NoCells};
use super::matching::Makes;
use super::open::Open;
use crate::operations::{in_space, operator, reduction};
use crate::subnormal::is_flushed;
use crate::world::{WARP, WaitsForEnded, World};
use crate::wrong::Wrong;

/// The threads of a warp by which PTX counts arrivals at a barrier.
const PTX_WARP: u64 = WARP as u64;

/// A value that the instruction needs is not known yet: the thread stands before it again.
pub(super) struct Unknown;

/// The action that comes of an effect, if one does.
type Performed = Result<Option<Action>, Unknown>;

/// The value, which is needed.
fn known(value: Deferred) -> Result<u64, Unknown> {
    value.known().ok_or(Unknown)
}

impl ModuleThread {
    /// Does what an effect of the instruction asks for.
    pub(super) fn perform(&mut self, world: &World, at: u32, effect: Effect<'_, Deferred>) -> Performed {
        match effect {
            Effect::None | Effect::Yield | Effect::Back => Ok(None),
            Effect::NeedsValue => Err(Unknown),
            Effect::Load { access, address, .. } => {
                if matches!(access.space, Space::Param | Space::Const) {
                    known(address)?;
                }
                self.note_place(world, address);
                self.open = Some(Open::Load { at, address, read: Vec::new(), any: false });
                Ok(None)
            }
            Effect::Store { access, address, values } => {
                self.store(world, at, access, address, values);
                Ok(None)
            }
            Effect::Update { access, address, how, operand, to } => {
                self.atomic(world, at, (access, address), how, operand, to)
            }
            Effect::CompareExchange { access, address, expected, new, succeeded, .. } => {
                if succeeded.is_some() {
                    known(expected)?;
                }
                self.note_place(world, address);
                let operands = [expected, new];
                let writes_back = self.part(world).language().failed_exchange_writes();
                let (expected, desired) = (expected.known(), new.known());
                let space = address.known().map_or(access.space, |address| access.place(address).0);
                let succeeded = succeeded.map(|label| in_space(label, access, space));
                let change = Change::CompareExchange { expected, desired, writes_back, succeeded };
                Ok(self.update(world, at, (access, address), operands, change))
            }
            Effect::Fence(fence) => Ok(Some(Action::Fence { label: label_of(&fence), source: self.statement(at) })),
            Effect::Barrier { waits, aligned, barrier, threads } => {
                let (number, count) = (known(barrier)?, threads.map(known).transpose()?);
                let members = self.barrier_members(world, count);
                Ok(Some(self.at_block_barrier(world, at, (number, count), members, (waits, aligned))))
            }
            Effect::BarrierReduce { aligned, barrier, threads, holds, .. } => {
                self.at_gathering(world, at, (known(barrier)?, threads.is_some()), aligned, holds)
            }
            Effect::Copy { copied, from, target, read } => {
                self.begin_copy(world, at, copied, [known(from)?, known(target)?, known(read)?]);
                Ok(None)
            }
            Effect::CopyGroup => {
                self.copies.commit();
                Ok(None)
            }
            Effect::CopyWait { but } => {
                self.complete_copies(at, but);
                Ok(None)
            }
            Effect::CopyObject { access, object, does } => {
                let object = access.place(known(object)?).1;
                if let Some(until) = self.copies.at_object(object, does) {
                    self.complete_until(at, until);
                }
                Ok(None)
            }
            Effect::Ordering(ordering) => Ok(Some(self.ordering(world, at, ordering))),
            Effect::Exchange { how: Exchange::Barrier, mask, .. } => {
                Ok(Some(self.at_warp_barrier(world, at, known(mask)?)))
            }
            Effect::Exchange { how, part, mask, predicate, .. } => {
                self.meet_lanes(world, at, how, part, mask, predicate)
            }
            Effect::Special { which: Special::Active, to } => Ok(self.find_active(world, at, to)),
            Effect::Special { which, to } => {
                self.set(to, Deferred::Known(self.special(world, which)));
                Ok(None)
            }
            Effect::Exit => Ok(Some(self.end())),
            Effect::Trap(what) => {
                self.end();
                Ok(Some(self.fault(world, at, Wrong::Trap(what))))
            }
        }
    }

    fn store(&mut self, world: &World, at: u32, access: &Access, address: Deferred, values: &[Src]) {
        let (bits, constants) = (8 * u32::from(access.bytes), &self.part(world).kernel().constants);
        let value = |operand: &Src| operand.get(&self.registers, constants).part(0, bits);
        let values = values.iter().map(value).collect();
        self.open = Some(Open::Store { at, address, values, written: 0 });
    }

    /// Comes to an atomic operation other than a compare-exchange.
    fn atomic(
        &mut self,
        world: &World,
        at: u32,
        (access, address): (&Access, Deferred),
        how: Rmw,
        operand: Deferred,
        to: Reg,
    ) -> Performed {
        if !self.is_local(world, access, address) {
            self.note_place(world, address);
            let (op, ty) = operator(how, access.bytes);
            // The other operand and the sum are looked at behind the search: [`crate::subnormal`].
            let space = address.known().map_or(Space::Generic, |address| access.place(address).0);
            let is_flushed = is_flushed(&self.part(world).kernel().steps[at as usize].op, space);
            let operand = if is_flushed {
                operand.map(|bits| float::flushed(f32::from_bits(bits as u32)).to_bits().into())
            } else {
                operand
            };
            let change = Change::Apply { op, ty, operand: operand.known() };
            return Ok(self.update(world, at, (access, address), [operand, Deferred::Known(0)], change));
        }
        let address = Deferred::Known(known(address)?);
        Ok(match Cells::of(world, self, at, access, address, 1, false) {
            Err(NoCells::Local(first)) => {
                self.update_local(access, first, how, operand, to);
                None
            }
            Err(NoCells::Wrong(wrong)) => Some(self.fault(world, at, wrong)),
            Ok(_) | Err(NoCells::Spoilt) => Some(Action::Halt),
        })
    }

    /// Comes to a barrier of its block with a number, for all threads or for as many as it counts.
    fn at_block_barrier(
        &mut self,
        world: &World,
        at: u32,
        (number, count): (u64, Option<u64>),
        members: Members,
        (waits, aligned): (bool, bool),
    ) -> Action {
        if let Some(wrong) = no_barrier(number, count) {
            return self.fault(world, at, wrong);
        }
        let mut barrier = self.barrier(world, at, (number, 0), members, waits);
        barrier.converges = barrier.converges.filter(|_| aligned);
        Action::Barrier { barrier, label: Label::barrier(Level::Block), source: self.statement(at) }
    }

    /// Comes to a barrier of its block that gives what the predicates of all threads there are together.
    fn at_gathering(
        &mut self,
        world: &World,
        at: u32,
        (number, counts): (u64, bool),
        aligned: bool,
        holds: Deferred,
    ) -> Performed {
        if counts && no_barrier(number, None).is_none() {
            let why = "what a barrier gathers is known here where all threads of the block come to it";
            world.refuse(self.statement(at) as usize, why);
            return Ok(Some(Action::Halt));
        }
        let members = Members::Threads(self.part(world).members(self.block));
        let action = self.at_block_barrier(world, at, (number, None), members, (true, aligned));
        if matches!(action, Action::Barrier { .. }) {
            self.open = Some(Open::Gathering { at, holds });
        }
        Ok(Some(action))
    }

    /// Comes to a barrier of lanes of its warp.
    fn at_warp_barrier(&mut self, world: &World, at: u32, mask: u64) -> Action {
        let lanes = self.lanes(world, mask);
        if !self.is_among(world, &lanes) {
            return self.fault(world, at, Wrong::NotInMask);
        }
        let members = lanes.iter().map(|&(_, thread)| thread).collect();
        let resource = self.warp_barrier(world, &lanes);
        // CUDA C++ Programming Guide, "Warp Synchronization": of the lanes that the mask names, those that have not
        // exited come to it.
        let may_have_ended = self.lanes_may_have_ended(world);
        let members = if may_have_ended { Members::Remaining(members) } else { Members::Threads(members) };
        let barrier = self.barrier(world, at, resource, members, true);
        Action::Barrier { barrier, label: Label::barrier(Level::Block), source: self.statement(at) }
    }

    /// Comes to an instruction that brings values of lanes of its warp together.
    fn meet_lanes(
        &mut self,
        world: &World,
        at: u32,
        how: Exchange,
        [own, b, c]: [Deferred; 3],
        mask: Deferred,
        predicate: Reg,
    ) -> Performed {
        let (b, c, mask) = (known(b)?, known(c)?, known(mask)?);
        let makes = match how {
            Exchange::Match(how) => Makes::Match(how),
            Exchange::Combine(how) if reduction(how).is_none() => Makes::Combine(how),
            Exchange::Combine(_)
            | Exchange::Vote(_)
            | Exchange::Barrier
            | Exchange::Elect
            | Exchange::Up
            | Exchange::Down
            | Exchange::Butterfly
            | Exchange::Index => return Ok(Some(self.exchange(world, at, how, own, [b, c], mask, predicate))),
        };
        Ok(self.begin_match(world, (at, makes), own, mask))
    }

    /// Whether an access is one to the thread's own memory, as atomic operations of SPIR-V may be.
    fn is_local(&self, world: &World, access: &Access, address: Deferred) -> bool {
        let is_there = |address: u64| access.place(address).0 == Space::Local;
        access.space == Space::Local || self.part(world).spirv.is_some() && address.known().is_some_and(is_there)
    }

    /// The threads that a barrier of the block waits for: all of them, or a number of them.
    fn barrier_members(&self, world: &World, count: Option<u64>) -> Members {
        let of = self.part(world).members(self.block);
        // PTX ISA 9.7.13.1: arrivals are counted by whole warps, "not the number of active threads in the warp". So a
        // count of all warps is every thread; where threads end early, of a block of one warp every thread that is
        // left.
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

/// The label of PTX's fence.
fn label_of(fence: &Fence) -> Label {
    let label = Label::fence(Level::of(fence.scope));
    match fence.order {
        FenceOrder::Acquire => label.acquiring(),
        FenceOrder::Release => label.releasing(),
        FenceOrder::AcqRel => label.acquiring().releasing(),
        FenceOrder::SeqCst => label.sequentially_consistent(),
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
