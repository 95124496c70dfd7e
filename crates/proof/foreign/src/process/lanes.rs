//! What a lane finds out about the others of its warp by `match.sync`, `activemask`, `elect.sync`, and the reductions
//! and scans of SPIR-V.
//!
//! A match is a shuffle from each lane of the mask in turn, and a comparison with the lane's own value, so that its
//! result depends on all of theirs. So is a reduction or a scan for which the search has no operation of its own, and
//! what it makes of the values. At an `activemask` the lanes that the choice of this search has together wait for each
//! other (`world::active`).

use wattle_check::search::{self, Action, Members};
use wattle_ir::{Type, WarpOp};
use wattle_modules::code::{NO_REG, Op, Reg};
use wattle_modules::{Deferred, Value};

use super::matching::{Makes, Matching};
use super::open::Open;
use super::{ACTIVE, ModuleThread};
use crate::world::World;
use crate::wrong::Wrong;

impl ModuleThread {
    /// Begins to ask the lanes of a mask for their values.
    pub(super) fn begin_match(
        &mut self,
        world: &World,
        (at, how): (u32, Makes),
        own: Deferred,
        mask: u64,
    ) -> Option<Action> {
        let lanes = self.lanes(world, mask);
        if !self.is_among(world, &lanes) {
            return Some(self.fault(world, at, Wrong::NotInMask));
        }
        let (_, mask) = self.warp_barrier(world, &lanes);
        let lane = self.thread % self.part(world).warp();
        let knows_who = !self.lanes_may_have_ended(world);
        let matching = Matching { at, how, lane, mask, own, read: Vec::new(), asked: false, any: false, knows_who };
        self.open = Some(Open::Matching(matching));
        None
    }

    /// Asks the next lane; `None` if all have answered.
    pub(super) fn go_on_matching(&mut self, world: &World, mut matching: Matching) -> Option<Action> {
        let Matching { at, mask, own, asked, .. } = matching;
        let (lanes, place) = (self.lanes(world, mask), matching.read.len());
        if asked {
            self.open = Some(Open::Matching(matching));
            return Some(Action::NeedsValue);
        }
        if !matching.knows_who {
            let members = Members::Remaining(lanes.iter().map(|&(_, thread)| thread).collect());
            let barrier = self.barrier(world, at, self.warp_barrier(world, &lanes), members, true);
            matching.asked = true;
            self.open = Some(Open::Matching(matching));
            let exchange = search::Exchange { op: WarpOp::Ballot, ty: Type::Bool, value: Some(1), operand: Some(0) };
            return Some(Action::Exchange { barrier, exchange, source: self.statement(at) });
        }
        if place == lanes.len() {
            let Op::Exchange { d, p, .. } = self.part(world).kernel().steps[at as usize].op else { return None };
            let (found, all) = matching.result();
            self.set(d, found);
            self.set(p, all);
            return None;
        }
        let members = Members::Threads(lanes.iter().map(|&(_, thread)| thread).collect());
        let barrier = self.barrier(world, at, self.warp_barrier(world, &lanes), members, true);
        let own_thread = lanes.iter().find(|(lane, _)| *lane == matching.lane).map(|&(_, thread)| thread);
        if let (true, Some(thread)) = (own.is_any(), own_thread) {
            world.unfixed.found_given(barrier.instance, thread);
        }
        (matching.asked, matching.any) = (true, world.unfixed.is_given(barrier.instance, lanes[place].1));
        self.open = Some(Open::Matching(matching));
        let (op, operand) = (WarpOp::Shuffle, Some(place as u64));
        let exchange = search::Exchange { op, ty: Type::U64, value: own.known(), operand };
        Some(Action::Exchange { barrier, exchange, source: self.statement(at) })
    }

    /// The lanes with which this one is together, in this search: it waits for them, which orders nothing. `None` where
    /// it is alone.
    pub(super) fn find_active(&mut self, world: &World, at: u32, to: Reg) -> Option<Action> {
        let own = self.thread % self.part(world).warp();
        let mask = world.active.together(self.statement(at), self.first_of_warp(world), own);
        let lanes = self.lanes(world, mask);
        if lanes.len() < 2 || to == NO_REG {
            self.set(to, Deferred::Known(1 << own));
            return None;
        }
        let members = Members::Threads(lanes.iter().map(|&(_, thread)| thread).collect());
        let barrier = self.barrier(world, at, (ACTIVE + u64::from(at), mask), members, true);
        self.open = Some(Open::Meeting { at, mask, any: false, from: None });
        let exchange = search::Exchange { op: WarpOp::Ballot, ty: Type::Bool, value: Some(1), operand: Some(0) };
        Some(Action::Exchange { barrier, exchange, source: self.statement(at) })
    }

    /// Sets who was elected by the lanes of a mask, which have met.
    pub(super) fn elect(&mut self, world: &World, at: u32, mask: u64, met: Deferred) {
        let Op::Exchange { d, p, .. } = self.part(world).kernel().steps[at as usize].op else { return };
        let lanes = self.lanes(world, mask);
        let leader = world.elected.leader(self.warp_barrier(world, &lanes).1);
        let is_leader = leader == self.thread % self.part(world).warp();
        self.set(d, met.map(|_| leader.into()));
        self.set(p, met.map(|_| is_leader.into()));
    }

    /// The first thread of its warp, among all.
    fn first_of_warp(&self, world: &World) -> usize {
        let part = self.part(world);
        let per_block = part.launch.block_len() as usize;
        part.first + self.block as usize * per_block + (self.thread / part.warp() * part.warp()) as usize
    }
}
