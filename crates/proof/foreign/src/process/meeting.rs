//! Barriers, and operations that the lanes of a warp do together.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use wattle_check::search::{self, Action, Barrier, Convergence, Members};
use wattle_ir::{Type, WarpOp};
use wattle_memory::ThreadId;
use wattle_modules::code::{Exchange, Gather, Op, Reg, Vote};
use wattle_modules::meaning::warp;
use wattle_modules::{Deferred, Value};

use super::open::Open;
use super::{GATHERINGS, ModuleThread, WARP_BARRIERS};
use crate::operations::reduction;
use crate::world::{WaitsForEnded, World};
use crate::wrong::Wrong;

/// The mark of a value in a shuffle that the lane which gives it has not written: shuffles of PTX are of 32 bits.
pub(super) const UNWRITTEN: u64 = 1 << 32;

impl ModuleThread {
    /// The lanes of its warp in a mask, each with its thread. Where the block ends there are no lanes.
    pub(super) fn lanes(&self, world: &World, mask: u64) -> Vec<(u32, ThreadId)> {
        let all = self.part(world).members(self.block);
        let size = self.part(world).warp();
        let warp = all.iter().skip((self.thread / size * size) as usize).take(size as usize);
        (0..).zip(warp.copied()).filter(|(lane, _)| *lane >= u64::BITS || mask >> lane & 1 == 1).collect()
    }

    /// Whether lanes of its warp may end before others come to an operation, which does not wait for them then.
    pub(super) fn lanes_may_have_ended(&self, world: &World) -> bool {
        let part = self.part(world);
        part.spirv.is_none() && part.flow.lanes_exit_early && part.waits < WaitsForEnded::Always
    }

    /// Whether this thread is one of these lanes.
    pub(super) fn is_among(&self, world: &World, lanes: &[(u32, ThreadId)]) -> bool {
        lanes.iter().any(|&(lane, _)| lane == self.thread % self.part(world).warp())
    }

    /// The barrier of the thread's warp at which some of its lanes meet, and the mask of these lanes, as far as they
    /// are among the first 64.
    pub(super) fn warp_barrier(&self, world: &World, lanes: &[(u32, ThreadId)]) -> (u64, u64) {
        let mask = lanes.iter().filter(|(lane, _)| *lane < u64::BITS).fold(0, |all, &(lane, _)| all | 1 << lane);
        (WARP_BARRIERS + u64::from(self.thread / self.part(world).warp()), mask)
    }

    /// What the lanes of a mask do together: a shuffle, a vote or a reduction.
    #[expect(clippy::too_many_arguments, reason = "they are the instruction's operands")]
    pub(super) fn exchange(
        &mut self,
        world: &World,
        at: u32,
        how: Exchange,
        value: Deferred,
        [b, c]: [u64; 2],
        mask: u64,
        predicate: Reg,
    ) -> Action {
        let (lanes, own) = (self.lanes(world, mask), self.thread % self.part(world).warp());
        if !self.is_among(world, &lanes) {
            return self.fault(world, at, Wrong::NotInMask);
        }
        let (mut op, mut ty, mut operand) = (WarpOp::Shuffle, Type::U64, 0);
        let mut from = None;
        let mut sources = lanes.as_slice();
        let own_place = lanes.iter().position(|&(lane, _)| lane == own).unwrap_or(0) as u64;
        match how {
            Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => {
                let is_spirv = self.part(world).spirv.is_some();
                let (source, within) = if is_spirv { (lane(how, own, b), true) } else { warp::source(how, own, b, c) };
                match lanes.iter().position(|&(lane, _)| lane == source) {
                    Some(place) => {
                        (operand, sources) = (place as u64, &lanes[place..=place]);
                        from = Some(source);
                    }
                    // The result is undefined, and the behaviour is not (SPIR-V 1.6, "OpGroupNonUniformShuffle").
                    None if is_spirv => sources = &[],
                    // The result is undefined where it is used (PTX ISA 9.7.9.6); what is taken says nothing.
                    None => (operand, sources, from) = (own_place, &[], Some(source)),
                }
                self.set(predicate, Deferred::Known(within.into()));
            }
            Exchange::Vote(Vote::Any) => (op, ty) = (WarpOp::Any, Type::Bool),
            Exchange::Vote(Vote::All) => (op, ty) = (WarpOp::All, Type::Bool),
            // A subgroup of SPIR-V has several words of lanes.
            Exchange::Vote(Vote::Ballot) => (op, ty, operand) = (WarpOp::Ballot, Type::Bool, b),
            Exchange::Vote(Vote::Same) => (op, ty) = (WarpOp::Ballot, Type::Bool),
            Exchange::Combine(how) => (op, ty) = reduction(how).unwrap_or((op, ty)),
            // They wait for each other.
            Exchange::Elect => (op, ty) = (WarpOp::Ballot, Type::Bool),
            Exchange::Match(_) | Exchange::Barrier => {}
        }
        let members = lanes.iter().map(|&(_, thread)| thread).collect();
        // PTX ISA 9.7.9.6 "shfl.sync", 9.7.13.10 "vote.sync", "redux.sync": "wait until all non-exited threads
        // corresponding to membermask have executed" it.
        let members = if self.lanes_may_have_ended(world) && !takes_all(how) {
            Members::Remaining(members)
        } else {
            Members::Threads(members)
        };
        let barrier = self.barrier(world, at, self.warp_barrier(world, &lanes), members, true);
        let is_given = |&(_, thread): &(u32, ThreadId)| world.unfixed.is_given(barrier.instance, thread);
        let any = how != Exchange::Barrier && (sources.is_empty() || sources.iter().any(is_given));
        let thread = lanes.iter().find(|&&(lane, _)| lane == own).map(|&(_, thread)| thread);
        thread
            .filter(|_| value.is_any())
            .into_iter()
            .for_each(|thread| world.unfixed.found_given(barrier.instance, thread));
        self.open = Some(Open::Meeting { at, mask, any, from });
        // A lane takes what nobody has written with the mark, and with where it comes from.
        let mark = value.unwritten().filter(|_| op == WarpOp::Shuffle).map(|number| UNWRITTEN | u64::from(number));
        let brought = mark.or(value.known());
        let exchange = search::Exchange { op, ty, value: brought, operand: Some(operand) };
        Action::Exchange { barrier, exchange, source: self.statement(at) }
    }

    /// What a barrier gathers from the predicates of all threads of the block, once they have passed it: the barrier
    /// orders them, so this is an exchange of its own.
    pub(super) fn gather(&mut self, world: &World, at: u32, holds: Deferred) -> Action {
        let Op::BarrierReduce { how, .. } = self.part(world).kernel().steps[at as usize].op else {
            return Action::Halt;
        };
        let (op, ty) = match how {
            Gather::Count => (WarpOp::ReduceSum, Type::U32),
            Gather::All => (WarpOp::All, Type::Bool),
            Gather::Any => (WarpOp::Any, Type::Bool),
        };
        let members = Members::Threads(self.part(world).members(self.block));
        let barrier = self.barrier(world, at, (GATHERINGS, 0), members, true);
        self.open = Some(Open::Meeting { at, mask: u64::MAX, any: false, from: None });
        let exchange = search::Exchange { op, ty, value: holds.known(), operand: Some(0) };
        Action::Exchange { barrier, exchange, source: self.statement(at) }
    }

    /// The next arrival at a barrier, whose arrivals are counted for each mask of lanes by themselves: what the lanes
    /// of one mask do does not count for another, whose lanes have not been there.
    pub(super) fn barrier(
        &mut self,
        world: &World,
        at: u32,
        (resource, mask): (u64, u64),
        members: Members,
        waits: bool,
    ) -> Barrier {
        let arrivals = match self.arrivals.iter_mut().find(|(of, _)| *of == (resource, mask)) {
            Some((_, count)) => count,
            None => {
                self.arrivals.push(((resource, mask), 0));
                &mut self.arrivals.last_mut().expect("it has just been added").1
            }
        };
        *arrivals += 1;
        let arrival = u64::from(*arrivals);
        // All threads of a warp execute the same one (PTX ISA 8.8, 9.7.13.1: `bar.sync` is `barrier.cta.sync.aligned`),
        // and "in conditionally executed code" only "if it is known that all threads in the warp evaluate the condition
        // identically": in the same iterations of the loops around it, where these are known. The lanes of a mask
        // execute operations "with the same qualifiers and same membermask value" (9.7.9.6, 9.7.13.2, 9.7.13.10), which
        // may stand at different places; "for .target sm_6x or below" at the same one. SPIR-V has all threads of the
        // barrier's scope come to the same dynamic instance: the same one, on the same path of calls, in the same
        // iterations of the loops around it (SPIR-V 2.2.5 "Dynamic Instance"). Calls have been put in place.
        let iterations = self.part(world).flow.structure.around(at, &self.iterations);
        let converges = if self.part(world).spirv.is_some() {
            Convergence { group: 0, instance: world.instance(at, iterations) }
        } else {
            let part = self.part(world);
            let place = if let (Op::Exchange { how, .. }, true) =
                (&part.kernel().steps[at as usize].op, part.lanes_may_part())
            {
                FxBuildHasher.hash_one(how) >> 32
            } else {
                world.instance(at, iterations)
            };
            Convergence { group: self.thread / self.part(world).warp(), instance: place << 32 | arrival }
        };
        // How often the barrier has opened counts where only some warps come to it, and not how often each has been
        // there.
        let opening = if let Members::Groups { .. } = members { 0 } else { arrival };
        Barrier { instance: resource << 32 | opening, resource, members, waits, converges: Some(converges) }
    }
}

/// Whether all lanes of a mask have to come to an operation of PTX: whom the others elect, and whether all are of one
/// mind, is not known here without those that have ended.
pub(crate) fn takes_all(how: Exchange) -> bool {
    matches!(how, Exchange::Elect | Exchange::Vote(Vote::Same))
}

/// The lane from which a shuffle of SPIR-V takes its value, which may not exist.
fn lane(how: Exchange, own: u32, operand: u64) -> u32 {
    let operand = u32::try_from(operand).unwrap_or(u32::MAX);
    match how {
        Exchange::Up => own.wrapping_sub(operand),
        Exchange::Down => own.saturating_add(operand),
        Exchange::Butterfly => own ^ operand,
        Exchange::Index => operand,
        Exchange::Barrier | Exchange::Elect | Exchange::Vote(_) | Exchange::Match(_) | Exchange::Combine(_) => own,
    }
}
