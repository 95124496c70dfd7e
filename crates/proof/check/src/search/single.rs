//! Programs with a single execution: one run of the machine shows that there is no other.
//!
//! The threads are run one after another, each to its next barrier. Of each cell the run keeps the last accesses with
//! their clocks (Flanagan, Freund, "FastTrack", PLDI 2009). A clock is structural: it knows program order, the barriers
//! of whole blocks, and which launches end before others begin, and nothing that a read decides. If any two conflicting
//! accesses are ordered so, the run is the only execution, under every model:
//!
//! Take another execution, and of the reads that return something else than in the run one that no other such read
//! justifies (reads-from and dependencies have no cycle, in any model here). It happens in the run too, and so does the
//! write that it reads from. The run orders the two structurally, and the execution has that order too, since what
//! orders them stands before both. A read whose source is ordered against it breaks coherence of every model here, and
//! one that passes over a later write that is ordered before it does too. So there is no such read.
//!
//! - `portable`, `ptx`, `rust`: a barrier orders what precedes it before what follows (`barrier_hops`), and so does the
//!   end of a launch (`system_hops`); both are part of the order that keeps accesses from racing. Fences, acquire and
//!   release add to that order, and the order of sequentially consistent fences decides nothing, so they are passed over.
//! - `vulkan`: location-order takes the place of happens-before. The block's barrier acquires and releases all storage
//!   classes, makes available and visible, and has the block in its scope; so a non-private access before it is
//!   location-ordered before one by the same name after it. Between launches the system makes everything available and
//!   visible to the device. Other barriers, private accesses of two threads of a launch and cells of two names are not
//!   treated here.
//! - `sc`, `unordered`: the orders of all writes are part of an execution; there is one. `unordered` keeps the accesses
//!   of a thread to one place in order, and all accesses across barriers.
//!
//! **Updates that commute.** Two read-modify-writes of one place that are atomic with regard to each other, do the same
//! commuting operation and whose results nobody looks at can be exchanged: the memory after both is the same, and so is
//! what any read behind both finds. If nothing else is unordered, all executions leave one memory. The results are not
//! given to the threads ([`Process::answer`](super::Process::answer) with `None`), so that a thread that looks at one
//! shows it.

use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;
use wattle_ir::{AtomicOp, Type};
use wattle_memory::{Analysis, EventId, Graph, Kind, Label, Level, LocationId, Model, ThreadId};

use super::process::{Action, Address, Barrier, Change, Members, Target, Written};
use super::state::system_placement;
use super::{Setup, Thread, Watch};

/// The maximum number of events of a run of which the graph is kept.
const MOST_EVENTS: usize = 256;

/// The maximum number of iterations of a loop whose exit depends on memory.
const MOST_ITERATIONS: u64 = 1 << 16;

/// The number of actions between two looks at the limits.
const ACTIONS_PER_LOOK: u64 = 4096;

/// The one execution of a program, or one of those that differ in nothing but the order of updates that commute.
#[derive(Debug)]
pub struct SingleRun {
    /// The cells that were written, in ascending order, with the values that they are left with.
    pub memory: Vec<(Address, u64)>,
    /// The statements that were executed.
    pub executed: BTreeSet<u32>,
    /// The execution's graph and its analysis, if it is small.
    pub graph: Option<(Graph, Analysis)>,
    /// The cells of the graph, in ascending order, and their locations; empty if it is not small.
    pub cells: Vec<(Address, LocationId)>,
}

/// The treatment of unordered updates of one place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Updates {
    /// They are conflicting accesses, whatever they do.
    Conflict,
    /// Those that commute, and whose results nobody looks at, do not conflict.
    Commute,
}

/// Runs a program that has a single execution; `None` if it may have another one, or something is wrong with it: a
/// fault, a read of memory that was never written, a thread that waits for ever. A search shows which.
pub fn single_run(setup: &Setup<'_>, updates: Updates) -> Option<SingleRun> {
    if !setup.system.is_empty() {
        return None;
    }
    let mut runs = Runs::new(setup, updates);
    runs.run()?;
    Some(runs.finish())
}

/// When an access happened: the thread, and the number of barriers that it had passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Epoch {
    thread: ThreadId,
    phase: u32,
}

/// Accesses of the threads of one block, the last of those that nothing orders.
#[derive(Clone, Copy, Debug)]
struct Recent {
    last: Epoch,
    /// Whether another thread made one in the same phase.
    several: bool,
}

/// The accesses of a cell since its last write, or its updates: one entry for each block.
type Accesses = Vec<(usize, Recent)>;

/// The commuting operation of updates: with the operand where it matters that all have the same one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Commuting {
    op: AtomicOp,
    ty: Type,
    operand: Option<u64>,
    level: Level,
}

impl Commuting {
    /// The operation of an update, if any two of it commute. Sums of floats do not.
    fn of(change: Change, level: Level) -> Option<Commuting> {
        let Change::Apply { op, ty, operand: Some(operand) } = change else { return None };
        let operand = match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max => None,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => None,
            AtomicOp::Inc | AtomicOp::Dec => Some(operand),
            AtomicOp::Exchange => return None,
        };
        ty.is_int().then_some(Commuting { op, ty, operand, level })
    }
}

/// A cell, with its last accesses.
struct Cell {
    bytes: u8,
    reference: u32,
    value: u64,
    unwritten: bool,
    /// Whether some access is private (Vulkan).
    private: bool,
    /// The thread that alone has accessed the cell; `None` once there are several.
    owner: Option<ThreadId>,
    writer: Option<Epoch>,
    reads: Accesses,
    /// The updates since the last write, if they commute.
    updates: Accesses,
    commuting: Option<Commuting>,
    location: LocationId,
    /// The event of the last write.
    written: EventId,
}

/// A thread that is run.
struct Runner<'w> {
    process: Thread<'w>,
    block: usize,
    family: usize,
    phase: u32,
    status: Status,
    /// The open loops.
    heads: Vec<Head<'w>>,
    arrival: Option<Barrier>,
    last_event: Option<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    NotStarted,
    Ready,
    AtBarrier,
    Done,
}

/// An open loop: the thread as it was in some earlier iteration, to which it must not come back without effect
/// (Brent's search for a cycle).
struct Head<'w> {
    label: u32,
    earlier: Thread<'w>,
    iterations: u64,
    /// The number of iterations at which `earlier` is taken anew.
    next: u64,
    effect: bool,
}

/// Threads that begin after the same others, and end before the same others.
struct Families {
    /// For each family, those that end before it begins.
    before: Vec<Vec<bool>>,
}

struct Runs<'s, 'w> {
    setup: &'s Setup<'w>,
    updates: Updates,
    runners: Vec<Runner<'w>>,
    families: Families,
    /// The threads of each block, in ascending order.
    blocks: Vec<Vec<ThreadId>>,
    cells: HashMap<Address, Cell, FxBuildHasher>,
    executed: BTreeSet<u32>,
    last_source: u32,
    graph: Option<Graph>,
    watch: Watch<'s>,
    actions: u64,
}

impl<'s, 'w> Runs<'s, 'w> {
    fn new(setup: &'s Setup<'w>, updates: Updates) -> Self {
        let (families, of) = families(setup);
        let mut blocks: Vec<Vec<ThreadId>> = Vec::new();
        let mut known = HashMap::new();
        let mut runners = Vec::with_capacity(setup.threads.len());
        for (thread, spawn) in setup.threads.iter().enumerate() {
            let place = spawn.placement;
            let key = (place.device, place.queue_family, place.block, of[thread]);
            let block = *known.entry(key).or_insert_with(|| {
                blocks.push(Vec::new());
                blocks.len() - 1
            });
            blocks[block].push(thread);
            runners.push(Runner {
                process: spawn.process.clone(),
                block,
                family: of[thread],
                phase: 0,
                status: if spawn.after.is_empty() { Status::Ready } else { Status::NotStarted },
                heads: Vec::new(),
                arrival: None,
                last_event: None,
            });
        }
        let mut placements: Vec<_> = setup.threads.iter().map(|spawn| spawn.placement).collect();
        placements.push(system_placement());
        Runs {
            setup,
            updates,
            runners,
            families,
            blocks,
            cells: HashMap::default(),
            executed: BTreeSet::new(),
            last_source: u32::MAX,
            graph: (setup.threads.len() <= MOST_EVENTS).then(|| Graph::new(placements)),
            watch: Watch::new(&setup.limits),
            actions: 0,
        }
    }

    /// Runs all threads to their ends.
    fn run(&mut self) -> Option<()> {
        loop {
            let mut moved = false;
            for thread in 0..self.runners.len() {
                if self.runners[thread].status == Status::Ready {
                    self.run_thread(thread)?;
                    moved = true;
                }
            }
            moved |= self.open_barriers()?;
            moved |= self.start_threads();
            if !moved {
                break;
            }
        }
        self.runners.iter().all(|runner| runner.status == Status::Done).then_some(())
    }

    /// Runs a thread to its end, or to a barrier.
    fn run_thread(&mut self, thread: ThreadId) -> Option<()> {
        loop {
            self.actions += 1;
            if self.actions.is_multiple_of(ACTIONS_PER_LOOK) && self.watch.check().is_some() {
                return None;
            }
            match self.runners[thread].process.advance() {
                Action::Read { target, label, source } => {
                    self.executes(source);
                    let value = self.read(thread, target?, label, source)?;
                    self.runners[thread].process.answer(Some(value));
                }
                Action::Write { target, value, label, source } => {
                    self.executes(source);
                    self.write(thread, target?, value?, label, source)?;
                    self.has_effect(thread);
                }
                Action::Update { target, change, read, write, source } => {
                    self.executes(source);
                    let answer = self.update(thread, target?, change, [read, write], source)?;
                    self.runners[thread].process.answer(answer);
                    self.has_effect(thread);
                }
                Action::Fence { label, source } => {
                    self.executes(source);
                    self.event(thread, label, source, None);
                }
                Action::Barrier { barrier, label, source } => {
                    self.executes(source);
                    self.arrive(thread, barrier, label, source)?;
                    return Some(());
                }
                Action::LoopHead { label } => {
                    let runner = &mut self.runners[thread];
                    if let Some(at) = runner.heads.iter().position(|head| head.label == label) {
                        runner.heads.truncate(at);
                    }
                    let earlier = runner.process.clone();
                    runner.heads.push(Head { label, earlier, iterations: 0, next: 1, effect: false });
                }
                Action::BackEdge { label, waits, .. } => self.repeat(thread, label, waits)?,
                Action::Done => {
                    self.runners[thread].status = Status::Done;
                    return Some(());
                }
                // A search lets the lanes of a warp meet.
                Action::Exchange { .. } | Action::NeedsValue | Action::Fault { .. } | Action::Halt => return None,
            }
        }
    }

    fn executes(&mut self, source: u32) {
        if source != self.last_source {
            self.executed.insert(source);
            self.last_source = source;
        }
    }

    fn has_effect(&mut self, thread: ThreadId) {
        self.runners[thread].heads.iter_mut().for_each(|head| head.effect = true);
    }

    /// Records an iteration of a loop; `None` where the loop may go on for ever.
    fn repeat(&mut self, thread: ThreadId, label: u32, waits: bool) -> Option<()> {
        let runner = &mut self.runners[thread];
        let Some(at) = runner.heads.iter().position(|head| head.label == label) else { return Some(()) };
        runner.heads.truncate(at + 1);
        let head = &mut runner.heads[at];
        head.iterations += 1;
        let most = if waits { MOST_ITERATIONS } else { u64::from(super::run::MOST_BACK_EDGES) };
        if head.iterations > most || (!head.effect && head.earlier == runner.process) {
            return None;
        }
        if head.iterations == head.next {
            head.next *= 2;
            head.effect = false;
            head.earlier = runner.process.clone();
        }
        Some(())
    }

    /// Whether an earlier access comes before what a thread does now.
    fn is_before(&self, earlier: Epoch, thread: ThreadId) -> bool {
        if earlier.thread == thread {
            return true;
        }
        let (first, second) = (&self.runners[earlier.thread], &self.runners[thread]);
        self.families.before[second.family][first.family]
            || (first.block == second.block && earlier.phase < second.phase)
    }

    /// Whether all accesses come before what a thread does now.
    fn are_before(&self, accesses: &Accesses, thread: ThreadId) -> bool {
        let own = |recent: &Recent| !recent.several && recent.last.thread == thread;
        accesses.iter().all(|(block, recent)| {
            own(recent)
                || self.families.before[self.runners[thread].family][self.runners[recent.last.thread].family]
                || (*block == self.runners[thread].block && recent.last.phase < self.runners[thread].phase)
        })
    }

    /// Adds an access of a thread to those of its cell. Those before it need not be kept.
    fn add(&self, accesses: &mut Accesses, thread: ThreadId) {
        let Runner { block, phase, .. } = self.runners[thread];
        let last = Epoch { thread, phase };
        match accesses.iter_mut().find(|(of, _)| *of == block) {
            Some((_, recent)) if recent.last.phase == phase => {
                recent.several |= recent.last.thread != thread;
                recent.last = last;
            }
            Some((_, recent)) => *recent = Recent { last, several: false },
            None => accesses.push((block, Recent { last, several: false })),
        }
    }

    /// The cell of an access. The first one adds it.
    fn cell(&mut self, thread: ThreadId, target: Target, label: Label) -> Option<Cell> {
        let mut cell = match self.cells.remove(&target.address) {
            Some(cell) => cell,
            None => {
                let initial = self.setup.memory.initial(target.address);
                let location =
                    self.graph.as_mut().map_or(0, |graph| graph.add_location(initial.value, initial.unwritten));
                Cell {
                    bytes: target.bytes,
                    reference: target.reference,
                    value: initial.value,
                    unwritten: initial.unwritten,
                    private: false,
                    owner: Some(thread),
                    writer: None,
                    reads: Vec::new(),
                    updates: Vec::new(),
                    commuting: None,
                    location,
                    written: self.graph.as_ref().map_or(0, |graph| graph.initial(location)),
                }
            }
        };
        cell.private |= label.private;
        let names = cell.reference == target.reference || self.setup.model != Model::Vulkan;
        cell.owner = cell.owner.filter(|owner| *owner == thread);
        let alone = !cell.private || cell.owner.is_some();
        (cell.bytes == target.bytes && names && alone).then_some(cell)
    }

    fn read(&mut self, thread: ThreadId, target: Target, label: Label, source: u32) -> Option<u64> {
        let mut cell = self.cell(thread, target, label)?;
        let ordered =
            cell.writer.is_none_or(|writer| self.is_before(writer, thread)) && self.are_before(&cell.updates, thread);
        if !ordered || cell.unwritten {
            return None;
        }
        self.add(&mut cell.reads, thread);
        let value = cell.value;
        if let Some(event) = self.event(thread, label, source, Some((cell.location, target.reference, value))) {
            self.graph.iter_mut().for_each(|graph| graph.set_source(event, cell.written));
        }
        self.cells.insert(target.address, cell);
        Some(value)
    }

    fn write(&mut self, thread: ThreadId, target: Target, value: u64, label: Label, source: u32) -> Option<()> {
        let mut cell = self.cell(thread, target, label)?;
        if !self.is_exclusive(&cell, thread) {
            return None;
        }
        self.overwrite(&mut cell, thread, value);
        if let Some(event) = self.event(thread, label, source, Some((cell.location, target.reference, value))) {
            cell.written = event;
        }
        self.cells.insert(target.address, cell);
        Some(())
    }

    /// Whether all accesses of a cell come before what a thread does now.
    fn is_exclusive(&self, cell: &Cell, thread: ThreadId) -> bool {
        cell.writer.is_none_or(|writer| self.is_before(writer, thread))
            && self.are_before(&cell.reads, thread)
            && self.are_before(&cell.updates, thread)
    }

    fn overwrite(&self, cell: &mut Cell, thread: ThreadId, value: u64) {
        cell.writer = Some(Epoch { thread, phase: self.runners[thread].phase });
        cell.reads.clear();
        cell.updates.clear();
        cell.commuting = None;
        (cell.value, cell.unwritten) = (value, false);
    }

    /// Does an update; returns the answer for the thread.
    fn update(
        &mut self,
        thread: ThreadId,
        target: Target,
        change: Change,
        [read, write]: [Label; 2],
        source: u32,
    ) -> Option<Option<u64>> {
        let mut cell = self.cell(thread, target, write)?;
        if cell.unwritten {
            return None;
        }
        let old = cell.value;
        let commuting = match self.updates {
            Updates::Conflict => None,
            Updates::Commute => Commuting::of(change, write.level).filter(|_| read.level == write.level),
        };
        let written = match change.written(Some(old)) {
            Written::Unknown => return None,
            Written::Nothing => None,
            Written::Value(value) => Some(value),
        };
        match (commuting, written) {
            (Some(_), Some(value)) => {
                let alone = cell.writer.is_none_or(|writer| self.is_before(writer, thread))
                    && self.are_before(&cell.reads, thread);
                let among = cell.commuting == commuting && self.reach_each_other(&cell, thread, write.level);
                if !alone || !(among || self.are_before(&cell.updates, thread)) {
                    return None;
                }
                if cell.commuting != commuting {
                    cell.updates.clear();
                    cell.commuting = commuting;
                }
                self.add(&mut cell.updates, thread);
                cell.value = value;
            }
            _ if !self.is_exclusive(&cell, thread) => return None,
            (_, Some(value)) => self.overwrite(&mut cell, thread, value),
            (_, None) => self.add(&mut cell.reads, thread),
        }
        let at = |value| Some((cell.location, target.reference, value));
        let first = self.event(thread, read, source, at(old));
        let second = written.and_then(|value| self.event(thread, write, source, at(value)));
        if let (Some(first), Some(graph)) = (first, &mut self.graph) {
            graph.set_source(first, cell.written);
            if let Some(second) = second {
                graph.join_halves(first, second);
                cell.written = second;
            }
        }
        self.cells.insert(target.address, cell);
        Some(commuting.is_none().then_some(old))
    }

    /// Whether the updates of a cell and one of this thread are in each other's scope, as far as nothing orders them.
    /// All have one scope, so one thread stands for those of its block.
    fn reach_each_other(&self, cell: &Cell, thread: ThreadId, level: Level) -> bool {
        let place = self.setup.threads[thread].placement;
        cell.updates.iter().all(|(block, recent)| {
            let other = self.setup.threads[recent.last.thread].placement;
            self.families.before[self.runners[thread].family][self.runners[recent.last.thread].family]
                || (place.shares(&other, level) && level >= Level::Block)
                || (*block == self.runners[thread].block && recent.last.phase < self.runners[thread].phase)
        })
    }

    /// Lets a thread arrive at the barrier of its block; other barriers are not treated.
    fn arrive(&mut self, thread: ThreadId, barrier: Barrier, label: Label, source: u32) -> Option<()> {
        let Members::Threads(members) = &barrier.members else { return None };
        let whole = **members == *self.blocks[self.runners[thread].block];
        let orders_all = label == Label::barrier(label.level) && label.level >= Level::Block;
        if !whole || !orders_all || !barrier.waits || barrier.resource != 0 {
            return None;
        }
        self.has_effect(thread);
        self.event(thread, label, source, None);
        let runner = &mut self.runners[thread];
        runner.status = Status::AtBarrier;
        runner.arrival = Some(barrier);
        Some(())
    }

    /// Opens the barriers at which all threads of a block stand; `None` where they stand at different ones.
    fn open_barriers(&mut self) -> Option<bool> {
        let mut opened = false;
        for block in 0..self.blocks.len() {
            let threads = &self.blocks[block];
            if !threads.iter().all(|&thread| self.runners[thread].status == Status::AtBarrier) {
                continue;
            }
            let arrivals: Vec<Barrier> =
                threads.iter().filter_map(|&thread| self.runners[thread].arrival.take()).collect();
            if arrivals.iter().any(|arrival| arrival.instance != arrivals[0].instance) || !converge(&arrivals) {
                return None;
            }
            for &thread in threads {
                self.runners[thread].phase += 1;
                self.runners[thread].status = Status::Ready;
            }
            if let Some(graph) = &mut self.graph {
                let events = threads.iter().filter_map(|&thread| self.runners[thread].last_event);
                let events: Vec<EventId> = events.collect();
                for (&before, &after) in events.iter().flat_map(|a| events.iter().map(move |b| (a, b))) {
                    if before != after {
                        graph.synchronize_barrier(before, after);
                    }
                }
            }
            opened = true;
        }
        Some(opened)
    }

    /// Starts the threads whose predecessors have all ended.
    fn start_threads(&mut self) -> bool {
        let done: Vec<bool> = self.runners.iter().map(|runner| runner.status == Status::Done).collect();
        let mut begins = Vec::new();
        let mut last: Option<(&[ThreadId], bool)> = None;
        for (thread, spawn) in self.setup.threads.iter().enumerate() {
            if self.runners[thread].status != Status::NotStarted {
                continue;
            }
            let ended = match last {
                Some((after, ended)) if std::ptr::eq(after, &*spawn.after) => ended,
                _ => spawn.after.iter().all(|&earlier| done[earlier]),
            };
            last = Some((&spawn.after, ended));
            if ended {
                begins.push(thread);
            }
        }
        for &thread in &begins {
            self.runners[thread].status = Status::Ready;
        }
        if self.graph.is_some() {
            let mut open = &begins[..];
            while let Some(&first) = open.first() {
                let after = &self.setup.threads[first].after;
                let len = open.iter().take_while(|&&thread| self.setup.threads[thread].after == *after).count();
                self.show_launch(after, &open[..len]);
                open = &open[len..];
            }
        }
        !begins.is_empty()
    }

    /// Adds to the graph what the system does between launches.
    fn show_launch(&mut self, ended: &[ThreadId], begins: &[ThreadId]) {
        let system = self.runners.len();
        let operation = |kind| Label { kind, ..Label::fence(Level::System) };
        let Some(graph) = &mut self.graph else { return };
        let available = graph.add(system, operation(Kind::MakeAvailable), u32::MAX);
        let visible = graph.add(system, operation(Kind::MakeVisible), u32::MAX);
        for &thread in ended {
            self.runners[thread].last_event.into_iter().for_each(|last| graph.synchronize_system(last, available));
        }
        for &thread in begins {
            let first = graph.add(thread, Label::fence(Level::Thread), u32::MAX);
            graph.synchronize_system(visible, first);
            self.runners[thread].last_event = Some(first);
        }
    }

    /// Adds an event to the graph, while it is small.
    fn event(
        &mut self,
        thread: ThreadId,
        label: Label,
        source: u32,
        access: Option<(LocationId, u32, u64)>,
    ) -> Option<EventId> {
        let graph = self.graph.as_mut()?;
        if graph.len() >= MOST_EVENTS {
            self.graph = None;
            return None;
        }
        let event = graph.add(thread, label, source);
        if let Some((location, reference, value)) = access {
            graph.set_location(event, location, reference);
            graph.set_value(event, value);
        }
        self.runners[thread].last_event = Some(event);
        Some(event)
    }

    fn finish(self) -> SingleRun {
        let touched = |cell: &Cell| cell.writer.is_some() || !cell.updates.is_empty();
        let mut memory: Vec<_> =
            self.cells.iter().filter(|(_, cell)| touched(cell)).map(|(&address, cell)| (address, cell.value)).collect();
        memory.sort_unstable();
        let model = self.setup.model;
        let graph = self.graph.and_then(|graph| model.analyse(&graph).ok().map(|analysis| (graph, analysis)));
        let mut cells = Vec::new();
        if graph.is_some() {
            cells.extend(self.cells.iter().map(|(&address, cell)| (address, cell.location)));
            cells.sort_unstable();
        }
        SingleRun { memory, executed: self.executed, graph, cells }
    }
}

/// Whether the threads of each group have come to the same instance of the same statement.
fn converge(arrivals: &[Barrier]) -> bool {
    let mut instances = HashMap::new();
    arrivals
        .iter()
        .filter_map(|arrival| arrival.converges)
        .all(|converges| *instances.entry(converges.group).or_insert(converges.instance) == converges.instance)
}

/// The families of the threads, and the family of each.
fn families(setup: &Setup<'_>) -> (Families, Vec<usize>) {
    let mut lists: Vec<&[ThreadId]> = Vec::new();
    let list_of: Vec<usize> = setup
        .threads
        .iter()
        .map(|spawn| {
            let known = lists.iter().rposition(|list| std::ptr::eq(*list, &*spawn.after) || **list == *spawn.after);
            known.unwrap_or_else(|| {
                lists.push(&spawn.after);
                lists.len() - 1
            })
        })
        .collect();
    let mut listed = vec![Vec::new(); setup.threads.len()];
    for (number, list) in lists.iter().enumerate() {
        list.iter().for_each(|&thread| listed[thread].push(number));
    }
    let mut keys: HashMap<(usize, &[usize]), usize> = HashMap::new();
    let mut members: Vec<ThreadId> = Vec::new();
    let of: Vec<usize> = (0..setup.threads.len())
        .map(|thread| {
            *keys.entry((list_of[thread], &listed[thread][..])).or_insert_with(|| {
                members.push(thread);
                members.len() - 1
            })
        })
        .collect();
    // What ends before something that ends before a family ends before it too.
    let mut before = vec![vec![false; members.len()]; members.len()];
    for (family, &member) in members.iter().enumerate() {
        let mut open: Vec<ThreadId> = vec![member];
        while let Some(thread) = open.pop() {
            for &earlier in lists[list_of[thread]] {
                if !std::mem::replace(&mut before[family][of[earlier]], true) {
                    open.push(earlier);
                }
            }
        }
    }
    (Families { before }, of)
}
