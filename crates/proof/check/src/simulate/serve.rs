//! The handling of threads' requests: memory accesses, fences and faults.

use wattle_ir::{AtomicOp, Place, eval};
use wattle_machine::{Fault, Location, Request};
use wattle_memory::{ReadOrder, Scope, WriteOrder};

use super::finding::{AccessSite, ElementName, Finding, Race};
use super::history::{Event, Extent};
use super::memory::{Address, MemoryId, Written};
use super::running::{Launch, Running};
use super::shadow::Passing;
use super::simulator::Simulator;

/// The parameters of an atomic operation without its place.
#[derive(Clone, Copy)]
struct Atomic {
    what: What,
    scope: Scope,
    acquires: bool,
    releases: bool,
}

#[derive(Clone, Copy)]
enum What {
    Load,
    Store(u64),
    Update(AtomicOp, u64),
    CompareExchange { expected: u64, desired: u64 },
}

impl Simulator {
    /// Handles a running thread's request, and answers it.
    pub(super) fn serve(&mut self, thread: &mut Running, request: Request) {
        match request {
            Request::Load(location) => {
                let value = self.load(thread, &location, 0);
                thread.machine.answer(value);
            }
            Request::LoadLanes { location, lanes } => {
                let values: Vec<u64> = (0..lanes).map(|lane| self.load(thread, &location, lane)).collect();
                thread.machine.answer_lanes(&values);
            }
            Request::Store { location, value } => self.store(thread, &location, 0, value),
            Request::StoreLanes { location, values } => {
                (0..).zip(values).for_each(|(lane, value)| self.store(thread, &location, lane, value));
            }
            Request::AtomicLoad { location, order, scope } => {
                let acquires = order == ReadOrder::Acquire;
                self.atomic(thread, &location, Atomic { what: What::Load, scope, acquires, releases: false });
            }
            Request::AtomicStore { location, value, order, scope } => {
                let releases = order == WriteOrder::Release;
                self.atomic(thread, &location, Atomic { what: What::Store(value), scope, acquires: false, releases });
            }
            Request::AtomicUpdate { location, op, operand, order, scope } => {
                let (acquires, releases) = (order.acquires(), order.releases());
                self.atomic(thread, &location, Atomic { what: What::Update(op, operand), scope, acquires, releases });
            }
            Request::CompareExchange { location, expected, desired, order, scope } => {
                let (acquires, releases) = (order.acquires(), order.releases());
                let what = What::CompareExchange { expected, desired };
                self.atomic(thread, &location, Atomic { what, scope, acquires, releases });
            }
            Request::Fence { order, scope, .. } => {
                self.mix(1);
                thread.sync.fence(order, scope, &mut self.fences);
            }
            Request::Clock { .. } => thread.machine.answer(self.ticks()),
            Request::Fault(fault) => self.fault(thread, fault),
            Request::Barrier { .. }
            | Request::Warp { .. }
            | Request::WarpBarrier { .. }
            | Request::BackEdge { .. }
            | Request::OutOfFuel
            | Request::Done => {}
            // These requests do not occur with plain words.
            Request::LoopHead { .. } | Request::NeedsValue => {}
        }
    }

    /// The address of the element that a thread names, `lane` elements further on.
    fn address(&self, thread: &Running, location: &Location, lane: u32) -> Option<Address> {
        match location.place {
            Place::Param(_) => {
                let (_, environment) = self.launches.get(thread.launch)?.own()?;
                let view = environment.view(location.place)?;
                let [first, ..] = view.strides;
                let element = view.element(location.index) + lane as u64 * first;
                Some(Address { memory: MemoryId::from(view.memory).index, element })
            }
            Place::Shared(id) => {
                let memory = self.blocks.get(thread.block as usize)?.as_ref()?.shared.get(id.index())?.index;
                let first = self.launches.get(thread.launch)?.own()?.0.shared_element(id, location.index);
                Some(Address { memory, element: first + lane as u64 })
            }
            Place::Local(_) => None,
        }
    }

    fn load(&mut self, thread: &mut Running, location: &Location, lane: u32) -> u64 {
        let Some(address) = self.address(thread, location, lane) else { return 0 };
        let value = self.value(thread, location, lane, address);
        self.record(thread, location, lane, address, None, false);
        thread.log_read(address);
        self.mix(address.element ^ value);
        value
    }

    fn store(&mut self, thread: &mut Running, location: &Location, lane: u32, value: u64) {
        let Some(address) = self.address(thread, location, lane) else { return };
        self.record(thread, location, lane, address, None, true);
        if let Some(shadow) = self.memories.shadow(address, self.generation) {
            shadow.store(&thread.sync, Extent::whole(location.element.size()));
        }
        self.set(address, value);
        self.mix(address.element ^ value ^ 1 << 32);
    }

    fn atomic(&mut self, thread: &mut Running, location: &Location, atomic: Atomic) {
        let Some(address) = self.address(thread, location, 0) else { return };
        let reads = !matches!(atomic.what, What::Store(_));
        let old = if reads { self.value(thread, location, 0, address) } else { 0 };
        let new = match atomic.what {
            What::Load => None,
            What::Store(value) => Some(value),
            What::Update(op, operand) => Some(eval::atomic(op, location.element, old, operand)),
            What::CompareExchange { expected, desired } => (old == expected).then_some(desired),
        };
        let (scope, writes) = (atomic.scope, new.is_some());
        let (acquires, releases) = (atomic.acquires, atomic.releases);
        let extent = Extent::whole(location.element.size());
        let passing = Passing { scope, reads, writes, acquires, releases, extent, extends: false, reduces: false };
        let shadow = self.memories.shadow(address, self.generation);
        let linked = shadow.is_some_and(|shadow| shadow.observe(&mut thread.sync, passing));
        self.record(thread, location, 0, address, Some(scope), writes);
        if let Some(shadow) = self.memories.shadow(address, self.generation) {
            shadow.publish(&mut thread.sync, passing, linked);
        }
        if let Some(new) = new {
            self.set(address, new);
        }
        if reads {
            thread.log_read(address);
            thread.machine.answer(old);
        }
        self.mix(address.element ^ old ^ new.map_or(2 << 32, |new| new.rotate_left(7) ^ 3 << 32));
    }

    /// The value of an element; adds a finding if it is unwritten.
    fn value(&mut self, thread: &Running, location: &Location, lane: u32, address: Address) -> u64 {
        let Some(allocation) = self.memories.at(address) else { return 0 };
        let element = address.element as usize;
        let value = allocation.values.get(element).copied().unwrap_or(0);
        if allocation.written.get(element).is_some_and(|written| *written != Written::ALL)
            && let Some(launch) = self.launches.get_mut(thread.launch)
        {
            let finding = Finding::Unwritten {
                actor: launch.actor(thread.sync.member.thread),
                element: element_name(launch, location, lane),
                shared: matches!(location.place, Place::Shared(_)),
                site: location.site,
            };
            launch.keep(finding);
        }
        value
    }

    fn set(&mut self, address: Address, new: u64) {
        let Some(allocation) = self.memories.at(address) else { return };
        let element = address.element as usize;
        let (Some(value), Some(written)) = (allocation.values.get_mut(element), allocation.written.get_mut(element))
        else {
            return;
        };
        let changed = *value != new;
        (*value, *written) = (new, Written::ALL);
        if changed {
            self.changed(address);
        }
    }

    /// Records an access, and adds a finding if it races.
    fn record(
        &mut self,
        thread: &Running,
        location: &Location,
        lane: u32,
        address: Address,
        scope: Option<Scope>,
        write: bool,
    ) {
        let (member, epoch, site) = (thread.sync.member, thread.sync.now, location.site);
        let extent = Extent::whole(location.element.size());
        let event = Event { member, epoch, site, scope, write, extent, private: false };
        let Some(shadow) = self.memories.shadow(address, self.generation) else { return };
        if let Some(first) = shadow.record(event, &thread.sync)
            && let Some(launch) = self.launches.get(thread.launch)
        {
            let element = element_name(launch, location, lane);
            self.race(thread.launch, first, event, element);
        }
    }

    /// Adds the finding that two accesses race, of which the later one is a thread's of that launch.
    #[cold]
    pub(super) fn race(&mut self, launch: usize, first: Event, second: Event, element: ElementName) {
        let sizes_differ = first.extent != second.extent;
        let access = |event: Event| {
            let number = event.member.thread;
            let launch = self.launches.iter().rfind(|launch| launch.base <= number)?;
            let (actor, bytes) = (launch.actor(number), sizes_differ.then_some(event.extent.bytes));
            Some(AccessSite { actor, write: event.write, scope: event.scope, site: event.site, bytes })
        };
        let (Some(before), Some(now)) = (access(first), access(second)) else { return };
        let race = Box::new(Race { element, first: before, second: now });
        let other = self.launches.iter().rposition(|launch| launch.base <= first.member.thread);
        for number in [Some(launch), other].into_iter().flatten() {
            if let Some(launch) = self.launches.get_mut(number)
                && !launch.done
            {
                launch.keep(Finding::Race(race.clone()));
            }
        }
    }

    fn fault(&mut self, thread: &Running, fault: Fault) {
        let Some(launch) = self.launches.get_mut(thread.launch) else { return };
        let Some((program, _)) = launch.own() else { return };
        let what = fault.describe(program.kernel()).to_string();
        let place = match &fault {
            Fault::OutOfBounds { place, .. } => program.place_name(*place),
            Fault::DivisionByZero { .. } | Fault::Assertion { .. } => "",
        };
        let actor = launch.actor(thread.sync.member.thread);
        launch.keep(Finding::Fault { actor, fault, place, what });
    }
}

/// What an access touches, for reports.
fn element_name(launch: &Launch, location: &Location, lane: u32) -> ElementName {
    let place = location.place;
    let (name, path) = launch
        .own()
        .map_or_else(Default::default, |(program, _)| (program.place_name(place), program.kernel().path(place)));
    ElementName { place: name.to_owned(), index: index(location, lane), path }
}

/// The index of an access, for reports.
fn index(location: &Location, lane: u32) -> Vec<u64> {
    let mut index: Vec<u64> = location.index.iter().take(location.rank).copied().collect();
    if let Some(first) = index.first_mut() {
        *first = first.saturating_add(lane.into());
    }
    index
}
