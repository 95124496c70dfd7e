//! Execution graphs: events, and the decisions about them.
//!
//! A graph may be unfinished: an unchosen source or an unknown location is `None`. What the models derive from an
//! unfinished graph holds for every graph that it can grow into.

use crate::event::{Event, EventId, Kind, Label, LocationId, ThreadId};
use crate::relation::{ends_early, events};
use crate::{Level, Placement, Relation, Set};

/// An execution, finished or not.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    threads: Vec<Placement>,
    events: Vec<Event>,
    /// The source of each read.
    reads_from: Vec<Option<EventId>>,
    /// The other half of each half of a read-modify-write.
    other_half: Vec<Option<EventId>>,
    /// The initial value of each location.
    initial: Vec<EventId>,
    coherence: Vec<(EventId, EventId)>,
    barriers: Vec<(EventId, EventId)>,
    fences: Vec<(EventId, EventId)>,
    system: Vec<(EventId, EventId)>,
    system_threads: Vec<(ThreadId, ThreadId)>,
    revision: u64,
}

impl Graph {
    /// A graph of threads without events.
    pub fn new(threads: Vec<Placement>) -> Graph {
        Graph { threads, ..Graph::default() }
    }

    /// The number of events, those of initial values included.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// A number that grows with each change: a graph and what it has grown from are equal where theirs are.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The placements of the threads.
    pub fn threads(&self) -> &[Placement] {
        &self.threads
    }

    /// All events. Those of one thread stand in program order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The event with the given number. Panics if there is none.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id]
    }

    /// The number of locations.
    pub fn locations(&self) -> usize {
        self.initial.len()
    }

    /// The event of a location's initial value.
    pub fn initial(&self, location: LocationId) -> EventId {
        self.initial[location]
    }

    /// Adds a location and its initial value.
    pub fn add_location(&mut self, value: u64, unwritten: bool) -> LocationId {
        let location = self.initial.len();
        let event = Event {
            label: Label { unwritten, ..Label::plain_write() },
            thread: None,
            location: Some(location),
            reference: location as u32,
            value: Some(value),
            source: u32::MAX,
        };
        let id = self.push(event);
        self.initial.push(id);
        location
    }

    /// Adds an event at the end of a thread.
    pub fn add(&mut self, thread: ThreadId, label: Label, source: u32) -> EventId {
        let event = Event { label, thread: Some(thread), location: None, reference: 0, value: None, source };
        self.push(event)
    }

    /// Adds events in the middle of a thread, before the event `at`: whatever has that number or a greater one moves up
    /// by `count`. The new ones are fences that order nothing until they are [replaced](Graph::replace).
    pub fn insert(&mut self, at: EventId, thread: ThreadId, count: usize) {
        self.revision += 1;
        let moved = |event: EventId| if event < at { event } else { event + count };
        let blank = Event {
            label: Label::fence(Level::Thread),
            thread: Some(thread),
            location: None,
            reference: 0,
            value: None,
            source: u32::MAX,
        };
        self.events.splice(at..at, std::iter::repeat_n(blank, count));
        self.reads_from.splice(at..at, std::iter::repeat_n(None, count));
        self.other_half.splice(at..at, std::iter::repeat_n(None, count));
        let links = self.reads_from.iter_mut().chain(&mut self.other_half).flatten();
        links.chain(&mut self.initial).for_each(|event| *event = moved(*event));
        let orders = [&mut self.coherence, &mut self.barriers, &mut self.fences, &mut self.system];
        orders.into_iter().flatten().for_each(|(first, second)| (*first, *second) = (moved(*first), moved(*second)));
    }

    /// Replaces an event by another one of its thread.
    pub fn replace(&mut self, event: EventId, label: Label, source: u32) {
        self.revision += 1;
        self.events[event].label = label;
        self.events[event].source = source;
    }

    fn push(&mut self, event: Event) -> EventId {
        self.revision += 1;
        self.events.push(event);
        self.reads_from.push(None);
        self.other_half.push(None);
        self.events.len() - 1
    }

    /// Sets the location of an access.
    pub fn set_location(&mut self, event: EventId, location: LocationId, reference: u32) {
        self.revision += 1;
        self.events[event].location = Some(location);
        self.events[event].reference = reference;
    }

    /// Sets the value of an access.
    pub fn set_value(&mut self, event: EventId, value: u64) {
        self.revision += 1;
        self.events[event].value = Some(value);
    }

    /// Makes a read and a write the halves of one read-modify-write.
    pub fn join_halves(&mut self, read: EventId, write: EventId) {
        self.revision += 1;
        self.other_half[read] = Some(write);
        self.other_half[write] = Some(read);
    }

    /// Cancels an event, so that it does nothing: the write of a compare-exchange that fails.
    pub fn cancel(&mut self, event: EventId) {
        self.revision += 1;
        if let Some(read) = self.other_half[event].take() {
            self.other_half[read] = None;
        }
        self.events[event].label = Label::fence(Level::Thread);
    }

    /// The other half of a read-modify-write.
    pub fn other_half(&self, event: EventId) -> Option<EventId> {
        self.other_half[event]
    }

    /// Sets the source of a read.
    pub fn set_source(&mut self, read: EventId, write: EventId) {
        self.revision += 1;
        self.reads_from[read] = Some(write);
    }

    /// The source of a read.
    pub fn source(&self, read: EventId) -> Option<EventId> {
        self.reads_from[read]
    }

    /// Whether a read has for its source what memory holds that nobody has written.
    pub fn finds_unwritten(&self, read: EventId) -> bool {
        self.reads_from[read].is_some_and(|source| self.events[source].label.unwritten)
    }

    /// Orders two writes of one location.
    pub fn order_writes(&mut self, first: EventId, second: EventId) {
        self.revision += 1;
        self.coherence.push((first, second));
    }

    /// Orders two sequentially consistent fences.
    pub fn order_fences(&mut self, first: EventId, second: EventId) {
        self.revision += 1;
        self.fences.push((first, second));
    }

    /// Records that a thread's `arrival` at a barrier comes before another thread's `passage`.
    pub fn synchronize_barrier(&mut self, arrival: EventId, passage: EventId) {
        self.revision += 1;
        self.barriers.push((arrival, passage));
    }

    /// Records that everything up to `first` is complete before `second` begins: the end of a launch and the start of
    /// another, or Vulkan's system-synchronizes-with.
    pub fn synchronize_system(&mut self, first: EventId, second: EventId) {
        self.revision += 1;
        self.system.push((first, second));
    }

    /// Records that the system completes all of one thread's actions before any action of another.
    pub fn synchronize_threads(&mut self, first: ThreadId, second: ThreadId) {
        self.revision += 1;
        self.system_threads.push((first, second));
    }

    // The following functions give the relations in which the models are written.

    /// The events for which `holds`.
    pub fn set(&self, holds: impl Fn(&Event) -> bool) -> Set {
        Set::of(self.len(), |id| holds(&self.events[id]))
    }

    /// The set of reads.
    pub fn reads(&self) -> Set {
        self.set(|event| event.label.kind == Kind::Read)
    }

    /// The set of writes, initial values included.
    pub fn writes(&self) -> Set {
        self.set(|event| event.label.kind == Kind::Write)
    }

    /// The set of initial values.
    pub fn initials(&self) -> Set {
        let mut set = Set::new(self.len());
        self.initial.iter().for_each(|&id| set.insert(id));
        set
    }

    /// Program order: each event before the later ones of its thread.
    pub fn po(&self) -> Relation {
        let mut later = vec![Set::new(self.len()); self.threads.len()];
        let mut po = Relation::new(self.len());
        for (id, event) in self.events.iter().enumerate().rev() {
            if ends_early(self.len(), id) {
                break;
            }
            let Some(thread) = event.thread else { continue };
            po.insert_all(id, &later[thread]);
            later[thread].insert(id);
        }
        po
    }

    /// Accesses of the same location, an access with itself included.
    pub fn same_location(&self) -> Relation {
        let mut at = vec![Set::new(self.len()); self.initial.len()];
        for (id, event) in self.events.iter().enumerate() {
            if let Some(location) = event.location {
                at[location].insert(id);
            }
        }
        let mut same = Relation::new(self.len());
        for id in events(self.len()) {
            if let Some(location) = self.events[id].location {
                same.insert_all(id, &at[location]);
            }
        }
        same
    }

    /// Reads-from: each write before the reads that return its value.
    pub fn rf(&self) -> Relation {
        let mut rf = Relation::new(self.len());
        for (read, source) in self.reads_from.iter().enumerate() {
            source.iter().for_each(|&write| rf.insert(write, read));
        }
        rf
    }

    /// From the read to the write of each read-modify-write.
    pub fn rmw(&self) -> Relation {
        let mut rmw = Relation::new(self.len());
        for (id, other) in self.other_half.iter().enumerate() {
            if let Some(write) = other.filter(|_| self.events[id].label.kind == Kind::Read) {
                rmw.insert(id, write);
            }
        }
        rmw
    }

    /// The orders of writes that were chosen, and each initial value before all other writes of its location.
    pub fn chosen_coherence(&self) -> Relation {
        let mut co = Relation::new(self.len());
        for (id, event) in self.events.iter().enumerate() {
            if let (Kind::Write, Some(_), Some(location)) = (event.label.kind, event.thread, event.location) {
                co.insert(self.initial[location], id);
            }
        }
        self.coherence.iter().for_each(|&(first, second)| co.insert(first, second));
        co
    }

    /// The orders of sequentially consistent fences that were chosen.
    pub fn fence_order(&self) -> Relation {
        self.relation(&self.fences)
    }

    /// Arrivals at a barrier before passages of it.
    pub fn barrier_order(&self) -> Relation {
        self.relation(&self.barriers)
    }

    /// The order that the system gives, outside of kernels.
    pub fn system_order(&self) -> Relation {
        let mut order = self.relation(&self.system);
        for &(first, second) in &self.system_threads {
            let of = |thread| self.set(|event| event.thread == Some(thread));
            order |= &Relation::product(self.len(), &of(first), &of(second));
        }
        order
    }

    fn relation(&self, pairs: &[(EventId, EventId)]) -> Relation {
        let mut relation = Relation::new(self.len());
        pairs.iter().for_each(|&(a, b)| relation.insert(a, b));
        relation
    }

    /// Whether two events are of one thread.
    pub fn same_thread(&self, a: EventId, b: EventId) -> bool {
        self.events[a].thread.is_some() && self.events[a].thread == self.events[b].thread
    }

    /// Whether two events' threads are in one group of that level. An initial value's thread is in none.
    pub fn share(&self, a: EventId, b: EventId, level: Level) -> bool {
        match (self.events[a].thread, self.events[b].thread) {
            (Some(a), Some(b)) => a == b || self.threads[a].shares(&self.threads[b], level),
            _ => false,
        }
    }

    /// The pairs of events whose threads are in one group of that level; for [`Level::Thread`] those of one thread.
    pub fn sharing(&self, level: Level) -> Relation {
        // The first thread of each thread's group stands for the group.
        let group = |thread: ThreadId| {
            let here = self.threads[thread];
            self.threads[..thread].iter().position(|other| other.shares(&here, level)).unwrap_or(thread)
        };
        let groups: Vec<ThreadId> = match level {
            Level::Thread => (0..self.threads.len()).collect(),
            Level::Subgroup | Level::Block | Level::QueueFamily | Level::Device | Level::System => {
                (0..self.threads.len()).map(group).collect()
            }
        };
        let mut members = vec![Set::new(0); self.threads.len()];
        let group = |event: &Event| event.thread.map(|thread| groups[thread]);
        for (id, event) in self.events.iter().enumerate() {
            if let Some(group) = group(event) {
                if members[group].is_empty() {
                    members[group] = Set::new(self.len());
                }
                members[group].insert(id);
            }
        }
        let mut sharing = Relation::new(self.len());
        for (id, event) in self.events.iter().enumerate() {
            group(event).into_iter().for_each(|group| sharing.insert_all(id, &members[group]));
        }
        sharing
    }

    /// Whether each event's scope includes the other one's thread.
    pub fn in_scope(&self, a: EventId, b: EventId) -> bool {
        let level = |event: EventId| self.events[event].label.level;
        self.share(a, b, level(a).min(level(b)))
    }
}
