//! What a lane finds out about the others of its warp by `match.sync`, `activemask`, `elect.sync`, and the reductions
//! and scans of SPIR-V.
//!
//! A match is a shuffle from each lane of the mask in turn, and a comparison with the lane's own value, so that its
//! result depends on all of theirs. So is a reduction or a scan for which the search has no operation of its own, and
//! what it makes of the values. At an `activemask` the lanes that the choice of this search has together wait for each
//! other ([`crate::active`]).

use wattle_check::search::{self, Action, Members};
use wattle_ir::{Type, WarpOp};
use wattle_modules::code::{Combine, Match, NO_REG, Op, Reg};
use wattle_modules::meaning::combine;
use wattle_modules::meaning::warp::matched;
use wattle_modules::{Deferred, Value};

use super::accesses::Open;
use super::{ACTIVE, ModuleThread};
use crate::operations::spread;
use crate::world::World;
use crate::wrong::Wrong;

/// What a lane makes of all lanes' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Makes {
    /// The lanes with its own.
    Match(Match),
    /// A reduction or a scan.
    Combine(Combine),
}

/// A lane that asks those of a mask for their values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Matching {
    at: u32,
    how: Makes,
    /// The own lane's number.
    lane: u32,
    mask: u64,
    own: Deferred,
    /// What the first lanes of the mask have.
    read: Vec<Deferred>,
    /// Whether the next lane has been asked.
    asked: bool,
    /// Whether nothing fixes what it answers.
    any: bool,
    /// Whether the mask has those lanes alone that have not ended; else they are asked first.
    knows_who: bool,
}

impl Matching {
    /// Takes the value of the lane that was asked, or the lanes that there are.
    pub fn answer(&mut self, value: Deferred) {
        self.asked = false;
        match value {
            Deferred::Known(lanes) if !self.knows_who => {
                (self.mask, self.knows_who) = (spread(lanes, self.mask), true);
            }
            // Nothing goes on before it is known.
            _ if !self.knows_who => self.asked = true,
            value => self.read.push(value.any_if(self.any)),
        }
    }

    pub fn any_pending(&self) -> bool {
        self.read.iter().chain([&self.own]).any(|value| value.is_pending())
    }

    /// The result and the predicate. It is known once all values are.
    fn result(&self) -> (Deferred, Deferred) {
        match self.how {
            Makes::Match(how) => self.matched(how),
            Makes::Combine(how) => (self.combined(how), Deferred::Known(0)),
        }
    }

    fn combined(&self, how: Combine) -> Deferred {
        let known: Vec<Option<u64>> = self.read.iter().map(|value| value.known()).collect();
        if known.contains(&None) {
            return Deferred::PENDING;
        }
        let any = self.read.iter().any(|value| value.is_any());
        match combine::result(how, self.lane as usize, &known) {
            Some(value) => Deferred::Known(value).any_if(any),
            None => Deferred::Any(0),
        }
    }

    fn matched(&self, how: Match) -> (Deferred, Deferred) {
        let lanes = (0..u64::BITS).filter(|lane| self.mask >> lane & 1 == 1);
        let bit = |equal: Deferred, (lane, &value): (u32, &Deferred)| {
            equal.zip3(value, self.own, |equal, value, own| equal | u64::from(value == own) << lane)
        };
        let equal = lanes.zip(&self.read).fold(Deferred::Known(0), bit);
        let found = |equal| matched(how, self.mask, equal);
        (equal.map(|equal| found(equal).0), equal.map(|equal| found(equal).1.into()))
    }
}

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
