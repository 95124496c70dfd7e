//! An execution under construction: its graph, and the progress of each thread.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use wattle_memory::{Event, EventId, Graph, Kind, Label, Level, LocationId, Model, Placement, Set, ThreadId};

use super::boundaries::placements;
use super::gate::Gate;
use super::head::{Head, Round};
use super::process::{AccessTarget, Address, Change, Members, Memory, Written};
use super::{Problem, Setup, Thread};

/// The status of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// The thread can run.
    Ready,
    /// The thread has not begun, and waits for other threads to end.
    NotStarted,
    /// The thread needs the value of a read whose source is not chosen.
    Needs,
    /// The thread waits at the barrier with this number in [`SearchState::gates`].
    AtBarrier(usize),
    /// The thread has come back to the head of a loop and nothing has changed.
    Spins,
    /// The thread has come back to the head of a loop, and has changed nothing but what the threads see that it met at
    /// barriers: where they have come back too, all of them spin ([`super::rounds`]).
    GoesRound,
    /// The thread has iterated a loop more often than the loop bound allows.
    Bounded,
    /// The thread has iterated a loop that does not depend on memory more often than [`MOST_TURNS`](super::MOST_TURNS)
    /// allows.
    Endless,
    /// The thread is never scheduled again.
    Halted,
    /// The thread has ended.
    Done,
}

/// The state of a thread. Everything before `waiting` is decided; `trail` holds the events to which it has run ahead
/// since.
#[derive(Clone)]
pub(super) struct Runner<'w> {
    /// The process; if there is a `waiting` read, as it was before the answer.
    pub process: Thread<'w>,
    pub heads: Vec<Head<'w>>,
    /// The process where it stands now, with values that it does not know yet.
    pub ahead: Thread<'w>,
    /// The first read whose value is not known.
    pub waiting: Option<EventId>,
    /// Whether the thread only returns to the head of its loop with a value of that read, for values that were tried.
    pub returns: RefCell<Vec<(u64, bool)>>,
    pub trail: Vec<EventId>,
    /// If `waiting` is a read-modify-write: its write, and the change.
    pub update: Option<(EventId, Change)>,
    pub status: Status,
    /// Reads and stores that all its completions perform, and the fences before them, added to the graph before the
    /// thread has reached them; in program order, behind everything in `trail`.
    pub promised: VecDeque<EventId>,
    /// Whether its completions have been compared since it ran.
    pub compared: bool,
    /// Whether some stores of its completions depend on the values read.
    pub depends: bool,
    /// Whether some of its completions are longer than the limit, so that this is not decided.
    pub cut: bool,
    /// Whether the thread has come to a loop without a bound.
    pub loops: bool,
    /// The jump back at which it stopped, of a loop at its bound.
    pub bounded_at: Option<u32>,
    /// If the thread spins, the first event of the iteration that changed nothing.
    pub spins_since: Option<EventId>,
    /// The iteration of the loop, if it goes round.
    pub round: Option<Round>,
    /// The reads, and the writes of idle updates, of iterations that threads have repeated together.
    pub repeated: Vec<EventId>,
    /// The thread's arrivals at barriers, in program order, each with the number of its gate.
    pub arrivals: Vec<(EventId, usize)>,
    /// The faults since `waiting`; they are found again when the thread is run again.
    pub faults: Vec<Fault>,
    pub certain_faults: Vec<Fault>,
}

/// A read-modify-write that a thread is sure to perform and has not come to. [`Runner::promised`] has its read.
#[derive(Clone)]
pub(super) struct EarlyUpdate {
    pub read: EventId,
    pub write: EventId,
    pub change: Change,
    /// The labels of its read and of its write.
    pub labels: [Label; 2],
}

impl EarlyUpdate {
    /// Whether these are its labels, or those of one that may be made one with it.
    pub fn has_labels(&self, model: Model, labels: [Label; 2]) -> bool {
        self.labels.into_iter().zip(labels).all(|(own, other)| model.merged(own, other).is_some())
    }
}

/// A fault of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// The thread.
    pub thread: ThreadId,
    /// The kind of fault, by the number that the process assigned.
    pub fault: u32,
    /// The statement.
    pub source: u32,
}

#[derive(Clone)]
pub(super) struct SearchState<'w> {
    pub graph: Graph,
    pub runners: Vec<Runner<'w>>,
    pub cells: HashMap<Address, Cell, rustc_hash::FxBuildHasher>,
    /// The cell of each location.
    pub addresses: Vec<Address>,
    /// The writes of each location that can be read from.
    pub writes: Vec<Vec<EventId>>,
    pub gates: Vec<Gate>,
    /// The gates that are operations of warps some of whose results are not known.
    pub meetings: Vec<usize>,
    /// The number of each gate.
    pub gate_numbers: HashMap<(Placement, u64, Members), usize, rustc_hash::FxBuildHasher>,
    /// The gates that are not open, in ascending order.
    pub closed: Vec<usize>,
    /// For each read that is to read from a later write, the present writes that it excludes.
    pub excluded: Vec<(EventId, Set)>,
    /// For each read, the writes that would keep its thread in its loop: it may never get another source, and its
    /// thread be stuck.
    pub spun: Vec<(EventId, Set)>,
    /// The read-modify-writes that were added before their threads have come to them.
    pub early: Vec<EarlyUpdate>,
    /// The changes of read-modify-writes that have not read yet, by their reads.
    pub changes: Vec<(EventId, Change)>,
    /// Pairs of reads that a compiler has merged: they read from the same write. Or a store and a read that a compiler
    /// has given its value: it reads from it.
    pub ties: Vec<(EventId, EventId)>,
    /// Whether events were inserted between others, so that an earlier analysis no longer applies.
    pub renumbered: bool,
    /// Whether a thread deviated from actions that were assumed to be certain.
    pub broken: bool,
    /// Whether an action was added on the assumption that a thread will perform it: the same execution may be built
    /// without it.
    pub guessed: bool,
    /// The ignored dependencies: the statement that reads, and the one that stores.
    pub ignored: Vec<(u32, u32)>,
    /// The cells whose idle updates count as effects.
    pub mixed: MixedCells,
    /// The reads for which a thread may wait that does something early, where dependencies are ignored.
    pub circle_reads: Option<Arc<CircleReads>>,
}

/// The reads at which a thread may wait as a part of a circle ([`super::ignored`]).
#[derive(Debug)]
pub(super) struct CircleReads(
    /// The reads by their threads and statements; `None` where all may be.
    pub Option<FxHashSet<(ThreadId, u32)>>,
);

impl CircleReads {
    /// Whether a thread that waits for a read of this statement may be part of a circle.
    pub fn contains(&self, thread: ThreadId, source: u32) -> bool {
        self.0.as_ref().is_none_or(|some| some.contains(&(thread, source)))
    }
}

/// Cells that have accesses which atomicity does not order with an idle update of theirs ([`super::failed`]).
pub(super) type MixedCells = Arc<FxHashSet<Address>>;

#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub location: LocationId,
    pub bytes: u8,
}

impl<'w> SearchState<'w> {
    pub fn new(setup: &Setup<'w>) -> SearchState<'w> {
        let runners = setup.threads.iter().map(|thread| Runner {
            process: thread.process.clone(),
            heads: Vec::new(),
            ahead: thread.process.clone(),
            waiting: None,
            returns: RefCell::default(),
            trail: Vec::new(),
            update: None,
            promised: VecDeque::new(),
            compared: false,
            depends: false,
            cut: false,
            status: if thread.after.is_empty() { Status::Ready } else { Status::NotStarted },
            loops: false,
            bounded_at: None,
            spins_since: None,
            round: None,
            repeated: Vec::new(),
            arrivals: Vec::new(),
            faults: Vec::new(),
            certain_faults: Vec::new(),
        });
        let mut graph = Graph::new(placements(setup));
        setup.system.iter().for_each(|&(first, second)| graph.synchronize_threads(first, second));
        SearchState {
            runners: runners.collect(),
            graph,
            cells: HashMap::default(),
            addresses: Vec::new(),
            writes: Vec::new(),
            gates: Vec::new(),
            meetings: Vec::new(),
            gate_numbers: HashMap::default(),
            closed: Vec::new(),
            excluded: Vec::new(),
            spun: Vec::new(),
            early: Vec::new(),
            changes: Vec::new(),
            ties: Vec::new(),
            renumbered: false,
            broken: false,
            guessed: false,
            ignored: Vec::new(),
            mixed: MixedCells::default(),
            circle_reads: None,
        }
    }

    /// Whether an update of this location that writes back what it finds has an effect.
    pub fn is_mixed(&self, location: Option<LocationId>) -> bool {
        location.and_then(|location| self.addresses.get(location)).is_some_and(|cell| self.mixed.contains(cell))
    }

    /// The location of a target; the first access to a cell adds it.
    pub fn locate(&mut self, memory: &dyn Memory, target: AccessTarget, source: u32) -> Result<LocationId, Problem> {
        if let Some(cell) = self.cells.get(&target.address) {
            if cell.bytes != target.bytes {
                let bytes = [cell.bytes, target.bytes];
                return Err(Problem::MixedSizes { address: target.address, bytes, source });
            }
            return Ok(cell.location);
        }
        let initial = memory.initial(target.address);
        let location = self.graph.add_location(initial.value, initial.unwritten);
        self.cells.insert(target.address, Cell { location, bytes: target.bytes });
        self.addresses.push(target.address);
        self.writes.push(vec![self.graph.initial(location)]);
        Ok(location)
    }

    /// Inserts an event in the middle of a thread, before another one of that thread.
    pub fn insert(&mut self, at: EventId, thread: ThreadId, label: Label, source: u32) {
        self.graph.insert(at, thread, 1);
        self.graph.replace(at, label, source);
        self.renumbered = true;
        let moved = |event: &mut EventId| *event += usize::from(*event >= at);
        for runner in &mut self.runners {
            runner.waiting.iter_mut().for_each(moved);
            runner.trail.iter_mut().for_each(moved);
            runner.promised.iter_mut().for_each(moved);
            runner.update.iter_mut().for_each(|(write, _)| moved(write));
            runner.spins_since.iter_mut().for_each(moved);
            runner.heads.iter_mut().filter_map(|head| head.first.as_mut()).for_each(moved);
            let rounds = runner.heads.iter_mut().filter_map(|head| head.round.as_mut()).chain(&mut runner.round);
            rounds.flat_map(Round::events).for_each(moved);
            runner.repeated.iter_mut().for_each(moved);
            runner.arrivals.iter_mut().for_each(|(arrival, _)| moved(arrival));
        }
        self.writes.iter_mut().flatten().for_each(moved);
        self.gates.iter_mut().flat_map(|gate| &mut gate.arrivals).for_each(|arrival| moved(&mut arrival.event));
        for (read, set) in self.excluded.iter_mut().chain(&mut self.spun) {
            moved(read);
            let old = set.clone();
            *set = Set::of(self.graph.len(), |event| event != at && old.contains(event - usize::from(event > at)));
        }
        for early in &mut self.early {
            moved(&mut early.read);
            moved(&mut early.write);
        }
        self.changes.iter_mut().for_each(|(read, _)| moved(read));
        for (first, second) in &mut self.ties {
            moved(first);
            moved(second);
        }
    }

    /// The early read-modify-write whose read that is.
    pub fn early_update(&self, read: EventId) -> Option<&EarlyUpdate> {
        self.early.iter().find(|early| early.read == read)
    }

    /// A measure of what is known of the events: it grows with each one added, located or written.
    pub fn known_events(&self) -> usize {
        let located = self.graph.events().iter().filter(|event| event.location.is_some()).count();
        self.graph.len() + located + self.writes.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether an assumption about threads has turned out to be wrong.
    pub fn is_broken(&self) -> bool {
        let differ = |&(first, second): &(EventId, EventId)| {
            let is_store = self.graph.event(first).label.kind == Kind::Write;
            let first = if is_store { Some(first) } else { self.graph.source(first) };
            let second = self.graph.source(second);
            first.is_some() && second.is_some() && first != second
        };
        self.broken || self.ties.iter().any(differ)
    }

    /// Whether a thread has come past what was added on the assumption that it performs it.
    pub fn breaks_promise(&self) -> bool {
        self.runners.iter().filter(|runner| !runner.promised.is_empty()).any(|runner| {
            let cannot = |&event: &EventId| {
                let event = self.graph.event(event);
                let address = event.location.and_then(|location| self.addresses.get(location));
                event.label.kind == Kind::Write && address.is_some_and(|&address| !runner.ahead.may_write(address))
            };
            matches!(runner.status, Status::Done | Status::Halted) || runner.promised.iter().any(cannot)
        })
    }

    /// The reads of a thread that have a location and no source yet, in program order.
    pub fn pending(&self, thread: ThreadId) -> impl Iterator<Item = EventId> + '_ {
        let runner = &self.runners[thread];
        let events = runner.waiting.iter().chain(&runner.trail).chain(&runner.promised);
        events.copied().filter(|&event| self.is_pending(event))
    }

    /// Whether an event is a read whose value is not known.
    pub fn is_pending(&self, event: EventId) -> bool {
        let event = self.graph.event(event);
        event.label.kind == Kind::Read && event.value.is_none()
    }

    /// The writes from which a read must not read any more.
    pub fn excluded(&self, read: EventId) -> Option<&Set> {
        self.excluded.iter().find(|(of, _)| *of == read).map(|(_, set)| set)
    }

    /// Excludes those writes as sources of a read.
    pub fn exclude(&mut self, read: EventId, writes: &Set) {
        match self.excluded.iter_mut().find(|(of, _)| *of == read) {
            Some((_, set)) => *set = &*set | writes,
            None => self.excluded.push((read, writes.clone())),
        }
    }

    /// The known writes with which a read would keep its thread in its loop.
    pub fn spinning(&self, read: EventId) -> Option<&Set> {
        self.spun.iter().find(|(of, _)| *of == read).map(|(_, writes)| writes)
    }

    /// Records the writes with which a read would keep its thread in its loop.
    pub fn spins_on(&mut self, read: EventId, writes: &Set) {
        if writes.is_empty() {
            return;
        }
        match self.spun.iter_mut().find(|(of, _)| *of == read) {
            Some((_, set)) => *set = &*set | writes,
            None => self.spun.push((read, writes.clone())),
        }
    }

    /// The number of events of the thread before an event, which stays when events of others are inserted.
    pub fn place(&self, thread: ThreadId, event: EventId) -> usize {
        (0..event).filter(|&before| self.graph.event(before).thread == Some(thread)).count()
    }

    /// Sets the source of a read.
    pub fn choose(&mut self, read: EventId, write: EventId) {
        self.graph.set_source(read, write);
        if let Some(value) = self.graph.event(write).value {
            self.graph.set_value(read, value);
            let Event { label, source, .. } = *self.graph.event(read);
            let known = self.change(read).map_or(label, |change| change.read_label(label, Some(value)));
            if known != label {
                self.graph.replace(read, known, source);
            }
        }
        self.excluded.retain(|(of, _)| *of != read);
        self.changes.retain(|(of, _)| *of != read);
    }

    /// What a read-modify-write that has not read yet does, as far as it is known.
    pub fn change(&self, read: EventId) -> Option<Change> {
        self.changes.iter().find(|(of, _)| *of == read).map(|&(_, change)| change)
    }

    /// Records what a read-modify-write does.
    pub fn changes(&mut self, read: EventId, change: Change) {
        if !self.is_pending(read) {
            return;
        }
        match self.changes.iter_mut().find(|(of, _)| *of == read) {
            Some((_, known)) => *known = change,
            None => self.changes.push((read, change)),
        }
    }

    /// Whether a read-modify-write that has not read yet is known to write if it reads from that write. One that writes
    /// back what it reads may belong to an iteration that is left out.
    pub fn writes_if_it_reads(&self, read: EventId, write: EventId) -> bool {
        match (self.change(read), self.graph.event(write).value) {
            (Some(Change::CompareExchange { expected: Some(expected), .. }), Some(found)) => expected == found,
            (Some(change @ Change::Apply { .. }), found @ Some(_)) => {
                matches!(change.written(found), Written::Value(new) if Some(new) != found)
            }
            (Some(Change::CompareExchange { .. } | Change::Apply { .. }) | None, _) => false,
        }
    }

    /// Adds the operations of the system, which are those of the thread `system`, between the threads that have ended
    /// and those that begin after them.
    pub fn begin_after(&mut self, system: ThreadId, ended: &[ThreadId], begins: &[ThreadId]) {
        let available =
            self.graph.add(system, Label { kind: Kind::MakeAvailable, ..Label::fence(Level::System) }, u32::MAX);
        let visible =
            self.graph.add(system, Label { kind: Kind::MakeVisible, ..Label::fence(Level::System) }, u32::MAX);
        for &thread in ended {
            let last = self.graph.events().iter().rposition(|event| event.thread == Some(thread));
            last.into_iter().for_each(|last| self.graph.synchronize_system(last, available));
        }
        for &thread in begins {
            let first = self.graph.add(thread, Label::fence(Level::Thread), u32::MAX);
            self.graph.synchronize_system(visible, first);
            self.runners[thread].status = Status::Ready;
        }
    }
}
