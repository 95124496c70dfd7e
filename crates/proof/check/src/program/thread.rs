//! A thread of a kernel as the search drives it.

use std::sync::Arc;

use wattle_ir::Place;
use wattle_machine::{Deferred, Position, Request, Thread};
use wattle_memory::{ThreadId, stop};

use super::world::{HIDDEN, LaunchWorld, World};
use crate::search::{Action, Address, Process};

mod meetings;
mod requests;
mod rest;

use rest::Rest;

/// A thread of a launch.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KernelThread {
    thread: Thread<Deferred>,
    launch: u32,
    block: u32,
    members: Arc<[ThreadId]>,
    /// The remaining actions of the last request, last first.
    rest: Vec<Rest>,
    /// The lanes of a load that have been answered so far.
    lanes: Vec<Deferred>,
    awaited: Awaited,
    barriers: u32,
    /// The operations of its warp that it has come to.
    warp_barriers: u32,
    /// The number of writes before the thread is never scheduled again, if it is stopped.
    halts_after: Option<u32>,
    writes: u32,
    /// The number of values that have been marked while they were pending.
    marks: u32,
}

/// What the next answer is used for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Awaited {
    Nothing,
    Value,
    Lane { of: u32 },
}

impl KernelThread {
    pub(super) fn new(
        number: u32,
        launch: &LaunchWorld,
        position: Position,
        block: u32,
        members: Arc<[ThreadId]>,
    ) -> KernelThread {
        KernelThread {
            thread: Thread::start(&launch.program, position),
            launch: number,
            block,
            members,
            rest: Vec::new(),
            lanes: Vec::new(),
            awaited: Awaited::Nothing,
            barriers: 0,
            warp_barriers: 0,
            halts_after: None,
            writes: 0,
            marks: 0,
        }
    }

    /// The position of the thread in its launch.
    pub fn position(&self) -> Position {
        self.thread.position()
    }

    /// Makes the thread one that is never scheduled again after its first `writes` writes.
    pub fn halting_after(self, writes: u32) -> KernelThread {
        KernelThread { halts_after: Some(writes), ..self }
    }

    /// The statement at which the thread stands.
    pub fn source(&self) -> u32 {
        World::source(self.launch, self.thread.at())
    }

    fn launch<'w>(&self, world: &'w World) -> &'w LaunchWorld {
        &world.launches[self.launch as usize]
    }

    /// The element that a cell is of a view or an array of the block, if it is one of it.
    fn element(&self, world: &World, place: Place, address: Address) -> Option<u64> {
        let launch = self.launch(world);
        match place {
            Place::Param(_) => {
                let view = launch.environment.view(place)?;
                (view.memory == address.memory.into()).then(|| address.element.wrapping_sub(view.offset))
            }
            Place::Shared(id) => {
                (World::shared_memory(launch, self.block, id.0) == address.memory).then_some(address.element)
            }
            Place::Local(_) => None,
        }
    }

    /// The next action of a thread that is scheduled.
    fn go_on(&mut self, world: &World) -> Action {
        loop {
            if let Some(action) = self.resume(world) {
                return action;
            }
            let launch = self.launch(world);
            // A loop without requests can be long. If the search is to end, the result does not matter.
            let request = loop {
                let mut fuel = 1 << 18;
                let request = self.thread.run(&launch.program, &launch.environment, &mut fuel);
                if request != Request::OutOfFuel || stop::requested() {
                    break request;
                }
            };
            match self.act(world, request) {
                Ok(Some(action)) => return action,
                Ok(None) => {}
                // Scopes are checked before the search begins.
                Err(_) => return Action::Done,
            }
        }
    }
}

impl Process for KernelThread {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        let Some(most) = self.halts_after else { return self.go_on(world) };
        if most == 0 {
            return Action::Halt;
        }
        let before = self.clone();
        let action = self.go_on(world);
        if action.parts().writes {
            if self.writes == most {
                // The thread stops before this write, now and whenever it is asked again.
                *self = before;
                return Action::Halt;
            }
            self.writes += 1;
        }
        action
    }

    fn answer(&mut self, _: &World, value: Option<u64>) {
        let value = value.map_or(Deferred::Pending, Deferred::Known);
        match self.awaited {
            Awaited::Nothing => {}
            // Nothing of an iteration may be left over, or two equal ones would differ.
            Awaited::Value => {
                self.thread.answer(value);
                self.awaited = Awaited::Nothing;
            }
            Awaited::Lane { of } => {
                self.lanes.push(value);
                if self.lanes.len() == of as usize {
                    let lanes = std::mem::take(&mut self.lanes);
                    self.thread.answer_lanes(&lanes);
                    self.awaited = Awaited::Nothing;
                }
            }
        }
    }

    fn is_alike(&self, world: &World, other: &KernelThread) -> bool {
        self.launch == other.launch
            && self.thread.is_alike(&other.thread, &self.launch(world).program)
            && self.rest == other.rest
            && self.lanes == other.lanes
            && self.awaited == other.awaited
            && self.barriers == other.barriers
            && self.warp_barriers == other.warp_barriers
    }

    fn repeats(&self, world: &World, earlier: &KernelThread) -> bool {
        (self.barriers, self.warp_barriers) == (earlier.barriers, earlier.warp_barriers)
            && self.comes_round(world, earlier)
    }

    fn comes_round(&self, world: &World, earlier: &KernelThread) -> bool {
        let KernelThread { thread, launch, block, members, rest, lanes, awaited, .. } = self;
        let KernelThread { halts_after, writes, .. } = self;
        thread.repeats(&earlier.thread, &self.launch(world).program)
            && (launch, block, members) == (&earlier.launch, &earlier.block, &earlier.members)
            && (rest, lanes, awaited) == (&earlier.rest, &earlier.lanes, &earlier.awaited)
            && (halts_after, writes) == (&earlier.halts_after, &earlier.writes)
    }

    fn widen(&mut self, world: &World, other: &KernelThread, together: bool) -> bool {
        let mut same = KernelThread { thread: other.thread.clone(), ..self.clone() };
        if together {
            (same.barriers, same.warp_barriers) = (other.barriers, other.warp_barriers);
        }
        let program = self.launch(world).program.clone();
        same == *other && self.thread.widen(&other.thread, &program)
    }

    fn ways(&self, world: &World) -> Option<Vec<KernelThread>> {
        let ways = self.thread.ways_on(&self.launch(world).program)?;
        Some(ways.into_iter().map(|thread| KernelThread { thread, ..self.clone() }).collect())
    }

    fn any_pending(&self) -> bool {
        self.thread.any_pending()
    }

    fn any_unmarked(&self) -> bool {
        self.thread.any_unmarked()
    }

    fn mark_pending(&mut self) {
        self.thread.mark_pending(&mut self.marks);
    }

    fn forget_dead(&mut self, world: &World) {
        self.thread.forget_dead(&world.launches[self.launch as usize].program);
    }

    fn may_reach(&self, world: &World, source: u32, address: Address) -> bool {
        let launch = self.launch(world);
        let place = launch.program.place_at(World::statement(source).1);
        place.is_none_or(|place| self.element(world, place, address).is_some())
    }

    fn may_write(&self, world: &World, address: Address) -> bool {
        let launch = self.launch(world);
        if address.memory == HIDDEN {
            return true;
        }
        // Kept actions come before the code continues.
        if self.rest.iter().any(|rest| matches!(rest, Rest::Action(_))) {
            return true;
        }
        let element = |place: Place| self.element(world, place, address);
        if self.rest.is_empty()
            && self.lanes.is_empty()
            && let Some(writes) = world.writes_ahead(self.launch, &self.thread)
        {
            return writes.iter().any(|&(place, index)| {
                let at = |index: [u64; 4]| match (place, launch.environment.view(place)) {
                    (_, Some(view)) => view.element(index).wrapping_sub(view.offset),
                    (Place::Shared(id), None) => launch.program.shared_element(id, index),
                    (Place::Param(_) | Place::Local(_), None) => index[0],
                };
                element(place).is_some_and(|element| index.is_none_or(|index| at(index) == element))
            });
        }
        let views = (0..launch.environment.arguments.len() as u32).map(|id| Place::Param(wattle_ir::ParamId(id)));
        let arrays = (0..launch.program.kernel().shared.len() as u32).map(|id| Place::Shared(wattle_ir::SharedId(id)));
        views
            .chain(arrays)
            .any(|place| element(place).is_some_and(|element| launch.program.may_write(&self.thread, place, element)))
    }
}
