//! The actions of a thread's requests, with what edits change in them.

use wattle_ir::Place;
use wattle_ir::warp::evaluate;
use wattle_machine::{Deferred, Location, Request, Value};
use wattle_memory::{FenceOrder, Label, NoScope, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::rest::{Held, Rest};
use super::{Awaited, KernelThread};
use crate::program::{Edit, LaunchWorld, Strength, World};
use crate::search::{AccessTarget, Action, Address, Change, Exchange};

/// The statement that makes a request.
struct Statement<'w> {
    world: &'w World,
    launch: &'w LaunchWorld,
    edit: Edit,
    /// The number of the instruction in its program.
    at: u32,
    /// The number of the statement among those of all launches.
    source: u32,
}

impl<'w> Statement<'w> {
    /// The statement of a thread's last request.
    fn of(thread: &KernelThread, world: &'w World) -> Statement<'w> {
        let (launch, at) = (thread.launch(world), thread.thread.at());
        let edit = world.edits.of(launch.number, at).copied().unwrap_or_default();
        Statement { world, launch, edit, at, source: World::source(thread.launch, at) }
    }

    /// The label of a plain access of a place; that of a relaxed atomic one where an edit or the world makes it so.
    fn plain(&self, place: Place, write: bool) -> Result<Label, NoScope> {
        let Statement { world, launch, edit, .. } = self;
        let (storage, shared) = (place.memory_class(), launch.is_shared_by_threads(place) && !world.host_is_plain);
        let relaxed = world.plain_as_relaxed && launch.is_shared_by_threads(place);
        let atomic = edit.plain(relaxed.then_some(Scope::Device));
        match (atomic, write) {
            (Some(scope), false) => launch.lowering.atomic_read(ReadOrder::Relaxed, scope, storage),
            (Some(scope), true) => launch.lowering.atomic_write(WriteOrder::Relaxed, scope, storage),
            (None, false) => Ok(launch.lowering.read(storage, shared)),
            (None, true) => Ok(launch.lowering.write(storage, shared)),
        }
    }

    /// The dynamic instance of a barrier: its instruction, in these iterations of the loops around it.
    fn instance(&self, iterations: Vec<u64>) -> u64 {
        self.world.barrier_instance((self.launch.number, self.at, iterations))
    }

    /// Whether an edit removes the barrier.
    fn removes_barrier(&self) -> bool {
        self.edit.strength == Some(Strength::Barrier(false))
    }
}

impl KernelThread {
    /// The first action of a request, or `None` for one that the search need not see; further actions are kept in
    /// [`KernelThread::rest`]. Fails where the target lacks a scope.
    pub(super) fn act(&mut self, world: &World, request: Request<Deferred>) -> Result<Option<Action>, NoScope> {
        let statement = &Statement::of(self, world);
        let &Statement { launch, edit, source, .. } = statement;
        if let Some((order, scope)) = edit.fence_after {
            self.push_fence(launch, order, scope, source)?;
        }
        match request {
            Request::Load(location) => {
                let (target, label) = (self.target(launch, &location), statement.plain(location.place, false)?);
                self.behind_added(statement, Held::Read { target, label, source })
            }
            Request::LoadLanes { location, lanes } => self.load_lanes(statement, &location, lanes),
            Request::Store { location, value } => {
                let (target, label) = (self.target(launch, &location), statement.plain(location.place, true)?);
                self.behind_added(statement, Held::Write { target, value: value.known(), label, source })
            }
            Request::StoreLanes { location, values } => self.store_lanes(statement, &location, values),
            Request::AtomicLoad { location, order, scope } => {
                let (order, scope) = edit.load(order, scope);
                let label = launch.lowering.atomic_read(order, scope, location.place.memory_class())?;
                self.behind_added(statement, Held::Read { target: self.target(launch, &location), label, source })
            }
            Request::AtomicStore { location, value, order, scope } => {
                let (order, scope) = edit.store(order, scope);
                let label = launch.lowering.atomic_write(order, scope, location.place.memory_class())?;
                let (target, value) = (self.target(launch, &location), value.known());
                self.behind_added(statement, Held::Write { target, value, label, source })
            }
            Request::AtomicUpdate { location, op, operand, order, scope } => {
                let change = Change::Apply { op, ty: location.element, operand: operand.known() };
                self.update(statement, &location, change, (order, scope)).map(Some)
            }
            Request::CompareExchange { location, expected, desired, order, scope } => {
                let change = Change::CompareExchange {
                    expected: expected.known(),
                    desired: desired.known(),
                    writes_back: launch.lowering.failed_exchange_writes(),
                    succeeded: None,
                };
                self.update(statement, &location, change, (order, scope)).map(Some)
            }
            // What depends on the clock was refused before, or is said in the report.
            Request::Clock { .. } => {
                self.thread.answer(Deferred::default());
                Ok(self.resume(world))
            }
            Request::Fence { order, scope, .. } => self.fence(statement, order, scope),
            Request::Barrier { .. } | Request::WarpBarrier { .. } if statement.removes_barrier() => {
                Ok(self.resume(world))
            }
            Request::Barrier { iterations, .. } => {
                let (label, instance) = (launch.lowering.barrier(), statement.instance(iterations));
                self.behind_added(statement, Held::Barrier { label, instance, source })
            }
            // A fence before a warp's barrier is not advised.
            Request::WarpBarrier { iterations, .. } => {
                Ok(Some(self.warp_barrier(launch, statement.instance(iterations), source)))
            }
            // A lane that meets nobody is after the operation as it was before, so that a loop of it may wait.
            Request::Warp { op, ty, value, operand, .. } if self.is_alone(launch) => {
                let alone = |value, operand: u64| evaluate(op, ty, &[value], &[operand as u32])[0];
                self.thread.answer(value.binary(operand, alone));
                Ok(self.resume(world))
            }
            Request::Warp { op, ty, value, operand, iterations, .. } => {
                let barrier = self.meeting(launch, statement.instance(iterations));
                self.awaited = Awaited::Value;
                let exchange = Exchange { op, ty, value: value.known(), operand: operand.known() };
                Ok(Some(Action::Exchange { barrier, exchange, source }))
            }
            Request::LoopHead { label, .. } => Ok(Some(Action::LoopHead { label: label.0 })),
            Request::BackEdge { label, .. } => {
                let (waits, ends) = (launch.program.exits_on_memory(label), launch.program.ends(label));
                Ok(Some(Action::BackEdge { label: label.0, source, waits, ends }))
            }
            Request::NeedsValue | Request::OutOfFuel => Ok(Some(Action::NeedsValue)),
            Request::Fault(fault) => Ok(Some(Action::Fault { fault: world.fault_number(fault), source })),
            Request::Done => Ok(Some(Action::Done)),
        }
    }

    /// The actions of a load of several elements: a read of each, whose answers are collected.
    fn load_lanes(
        &mut self,
        statement: &Statement<'_>,
        location: &Location<Deferred>,
        lanes: u32,
    ) -> Result<Option<Action>, NoScope> {
        let &Statement { world, launch, source, .. } = statement;
        self.lanes.clear();
        let (label, bytes) = (statement.plain(location.place, false)?, location.element.size() as u8);
        let first = self.target(launch, location);
        let stride = launch.environment.view(location.place).map_or(1, |view| view.strides[0]);
        for lane in (0..lanes as u64).rev() {
            let address =
                first.map(|first| Address { element: first.address.element + lane * stride, ..first.address });
            self.rest.push(Rest::Lane { of: lanes, address, bytes, label, source });
        }
        self.push_added(statement)?;
        Ok(self.resume(world))
    }

    /// The actions of a store of several elements: a write of each.
    fn store_lanes(
        &mut self,
        statement: &Statement<'_>,
        location: &Location<Deferred>,
        values: Vec<Deferred>,
    ) -> Result<Option<Action>, NoScope> {
        let &Statement { world, launch, source, .. } = statement;
        let label = statement.plain(location.place, true)?;
        for (lane, value) in values.into_iter().enumerate().rev() {
            let (target, value) = (self.target(launch, &location.behind(lane as u32)), value.known());
            self.rest.push(Rest::Action(Box::new(Held::Write { target, value, label, source })));
        }
        self.push_added(statement)?;
        Ok(self.resume(world))
    }

    /// The action of a read-modify-write. A fence before one is not advised: the update's own order says the same.
    fn update(
        &mut self,
        statement: &Statement<'_>,
        location: &Location<Deferred>,
        change: Change,
        (order, scope): (UpdateOrder, Scope),
    ) -> Result<Action, NoScope> {
        let &Statement { launch, edit, source, .. } = statement;
        self.awaited = Awaited::Value;
        let (order, scope) = edit.update(order, scope);
        let (read, write) = launch.lowering.update(order, scope, location.place.memory_class())?;
        Ok(Action::Update { target: self.target(launch, location), change, read, write, source })
    }

    /// The first action of a fence; `None` where an edit or the lowering leaves none.
    fn fence(&mut self, statement: &Statement<'_>, order: FenceOrder, scope: Scope) -> Result<Option<Action>, NoScope> {
        let &Statement { world, launch, edit, source, .. } = statement;
        if edit.strength == Some(Strength::FenceAsBarrier) {
            let instance = self.added_instance(world, launch);
            return Ok(Some(self.barrier(launch, launch.lowering.barrier(), instance, source)));
        }
        if let Some((order, scope)) = edit.fence(order, scope) {
            self.push_fence(launch, order, scope, source)?;
        }
        Ok(self.resume(world))
    }

    /// The action of a request itself, or the first of the fence and barrier that an edit adds before it, in which case
    /// the request's own action is kept until they are done.
    fn behind_added(&mut self, statement: &Statement<'_>, own: Held) -> Result<Option<Action>, NoScope> {
        let edit = statement.edit;
        if edit.fence_before.is_none() && !edit.barrier_before {
            return Ok(Some(self.held(statement.world, own)));
        }
        self.rest.push(Rest::Action(Box::new(own)));
        self.push_added(statement)?;
        Ok(self.resume(statement.world))
    }

    /// Puts the fence and the barrier that an edit adds before a statement before the actions kept already.
    fn push_added(&mut self, statement: &Statement<'_>) -> Result<(), NoScope> {
        let &Statement { world, launch, edit, source, .. } = statement;
        if let Some((order, scope)) = edit.fence_before {
            self.push_fence(launch, order, scope, source)?;
        }
        if edit.barrier_before {
            let instance = self.added_instance(world, launch);
            self.rest.push(Rest::Action(Box::new(Held::Barrier {
                label: launch.lowering.barrier(),
                instance,
                source,
            })));
        }
        Ok(())
    }

    /// The cell of an access; `None` where its index is not known.
    fn target(&self, launch: &LaunchWorld, location: &Location<Deferred>) -> Option<AccessTarget> {
        let index = location.index?;
        let bytes = location.element.size() as u8;
        let address = match location.place {
            Place::Param(_) => {
                let view = launch.environment.view(location.place)?;
                Address { memory: view.memory as u32, element: view.element(index) }
            }
            Place::Shared(id) => {
                let element = launch.program.shared_element(id, index);
                Address { memory: World::shared_memory(launch, self.block, id.0), element }
            }
            Place::Local(_) => return None,
        };
        Some(AccessTarget { address, bytes, reference: address.memory })
    }
}
