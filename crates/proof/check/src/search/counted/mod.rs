//! Programs whose threads are ordered by barriers, launches and counters: a few runs of the machine stand for all of
//! their executions.
//!
//! A *counter* is a cell that threads add the same to, or, where they take tickets, different numbers, with
//! read-modify-writes that are atomic with regard to each other. Whoever comes last finds it from what it returns ("the
//! last block adds up"), and whoever waits until it shows that all have come knows it too (a barrier across the grid).
//! In which order they come decides nothing else, but a search builds each of these orders.
//!
//! The threads are run one after another, with vector clocks (Mattern, "Virtual Time and Global States", 1989;
//! Flanagan, Freund, "FastTrack", PLDI 2009) that know program order, the barriers of whole blocks, which launches end
//! before others begin, and what every execution's counters synchronize, whatever the order is. Any two conflicting
//! accesses that these clocks leave unordered end the proof: then a search decides. Otherwise a thread runs on until
//!
//! - it ends or stands at a barrier;
//! - it reads a counter in a loop;
//! - it adds to a counter and is to be given the result ([`Answers`]; else the result is kept from it, as in
//!   [`single_run`](super::single_run)).
//!
//! **What has happened then happens in every execution.** What is behind depends on those results and reads: neither a
//! loop that waits nor a branch on a result that its two sides do not agree on lets anything go ahead (`completions`;
//! nothing is claimed of [`Dependencies::Ignored`](super::Dependencies)). So take any execution in the order in which
//! the search builds it, where each event comes after what it depends on and each read after its source. Up to the
//! first of those results and reads that lets its thread go on, it consists of these events. All additions to a counter
//! are in one chain, since no two read-modify-writes read from one write, and none but additions has written it since
//! the chain began. An addition makes the value larger, so that the place in the chain follows from the value: a thread
//! that reads the value of place `n` reads behind `n` additions.
//!
//! - **The last of `m` additions.** `m` threads stand at an addition. The first `m - 1` places are *quiet* if the
//!   thread's block, given any of their values, runs to the same end, with the same accesses, none of which is atomic.
//!   Then all that is left to happen depends on one of the `m` returning the value before place `m`, for which all of
//!   them must be in the chain before it. So exactly one does: there are `m` ways to go on, one for each thread that
//!   can be the last, and in which order the others came changes nothing but which of them is ordered before which. The
//!   quiet accesses are checked with the clocks of their threads from before, so nothing rests on that order.
//! - **A loop until all have come.** The loop only reads the counter. If it goes on, without an effect, at each value
//!   so far but the last, and ends at the last one, then the first such loop to end has read the last value, and every
//!   other one that or a later one. The process goes on without the value ([`Process::ways`](super::Process::ways)), so
//!   nothing rests on which. In the end all values that the counter came to later are tried too: a loop that would go
//!   on at one of them could wait for ever. If none would, nobody does: of the threads that wait for ever in some
//!   execution take one that the run let go first; all additions before are there, and it sees the last value of the
//!   counter in the end.
//!
//! - **Phases.** Threads look at nothing of a counter but the number of its phase, as at a barrier object ([`phases`]).
//! - **Tickets.** What an addition returns says where its thread writes, or which work it does ([`tickets`]).
//!
//! - **Writes that commute.** Atomic writes of one value, or updates of one operation that commutes and whose results
//!   nobody is given, leave the same in whatever order they come (a flag that several threads set). Whatever else is
//!   done to the cell comes behind all of them by its clock, and so does whoever reads it; nothing is taken to
//!   synchronize by way of them.
//!
//! A thread that has seen place `n` of the chain synchronizes with the releases of the first `n` additions, which are
//! those that have happened: through a chain of read-modify-writes. This is what the models have in common for events
//! whose scopes are the device or wider, of threads on one device, and for those whose scope is the block, of a cell
//! that threads of one block alone access: where another block comes to such a cell, the proof ends. Other fences and
//! synchronization are passed over, since more order only takes races away, and narrower atomics are treated as plain
//! accesses.
//!
//! - `portable`, `ptx`: "observation order" goes through read-modify-writes that are morally strong; a release pattern
//!   is a release fence before the write, or a release write; an acquire pattern a fence behind the read, or an acquire
//!   read. Base causality contains synchronization, program order, barriers and the system's order. `ptx` has more
//!   release patterns.
//! - `rust`: release sequences are chains of read-modify-writes; fences and accesses synchronize as above.
//! - `sc`: each execution is one of `portable`, in which nothing is left to be decided.
//! - `vulkan` orders accesses by chains of availability and visibility operations, for sets of storage classes. Where
//!   all that orders is about buffers and the block's memory, makes available what it releases and visible what it
//!   acquires, and reaches the device ([`orders_all`]), the chains are those of the clocks: an access, a release behind
//!   it, what that synchronizes with, step by step, an acquire, and an access behind that. Each access is by one name
//!   for its cell, and none is private.
//! - `unordered` orders no accesses of a thread to different cells. It is not treated here.
//!
//! Where the clocks order all conflicting accesses, each read of a cell that is no counter has the one source that
//! coherence leaves, by the argument of [`single_run`](super::single_run); and so no execution has a race. A write of a
//! counter that is not an addition ends its chain. It must come after all reads of it, and after all additions: by the
//! clocks or, if it is atomic, by coherence, as what comes after the last addition does. Under `ptx` it need not be
//! atomic: what the last addition observes, all others, comes in causality order before whatever follows it.

mod cells;
mod chain;
mod clock;
mod going;
mod phases;
mod quiescence;
mod tickets;
mod varying;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use wattle_memory::{Classes, Label, Level, ThreadId};

use super::process::{AccessTarget, Address, Barrier};
use super::{Dependencies, Setup, Thread, Watch};
use cells::Cell;
use chain::Addition;
use clock::Clock;
use varying::Values;

/// The maximum number of threads: each has a clock with a time for each of them.
const MOST_THREADS: usize = 2048;

/// The most tickets of which all orders are shown.
const MOST_TICKETS_SHOWN: usize = 5;

/// The maximum number of runs.
const MOST_RUNS: usize = 4096;

/// The ways of all executions of a program that counters and barriers order.
#[derive(Debug)]
pub struct Counted {
    /// What each of the runs leaves: the cells that were written, in ascending order, with their values. There is one
    /// run for each choice of the threads that come last.
    pub memories: Vec<Vec<(Address, u64)>>,
    /// The cells in which executions leave different values, of which the runs have one each, with the values that they
    /// can be, where these are known.
    pub varying: BTreeMap<Address, Option<BTreeSet<u64>>>,
    /// The statements that were executed.
    pub executed: BTreeSet<u32>,
    /// The number of accesses, fences and arrivals at barriers of all runs.
    pub events: u64,
    /// Whether a thread has waited for another one, so that it matters whether all threads are scheduled.
    pub waits: bool,
    /// The most tickets that threads take of one counter.
    pub tickets: usize,
}

impl Counted {
    /// Whether executions are larger than what is shown whole, or there are many of them.
    pub fn is_large(&self, most_events: u64) -> bool {
        self.events > most_events * self.memories.len() as u64 || self.tickets > MOST_TICKETS_SHOWN
    }
}

/// What an addition to a counter returns to its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answers {
    /// An unknown value: a thread that looks at the result ends the proof.
    Nothing,
    /// The value of its place in the chain of additions.
    Places,
    /// Any value that it can find, with all of which it does the same.
    Phases,
    /// Any value that it can find, each of which says what it does next.
    Tickets,
}

impl Answers {
    /// All, in the order in which they are tried.
    pub const ALL: [Answers; 4] = [Answers::Nothing, Answers::Places, Answers::Phases, Answers::Tickets];
}

/// Runs a program whose executions differ by the orders of additions to counters alone; `None` if they may differ
/// otherwise, or something is wrong with it: a fault, a read of memory that was never written, a thread that waits for
/// ever. A search shows which.
pub fn counted_runs(setup: &Setup<'_>, answers: Answers) -> Option<Counted> {
    let treated = setup.model.clocks_order_counters();
    let device = setup.threads.first()?.placement.device;
    let one_device = setup.threads.iter().all(|spawn| spawn.placement.device == device);
    let fits = setup.threads.len() <= MOST_THREADS && setup.system.is_empty();
    if !treated || !one_device || !fits || setup.dependencies == Dependencies::Ignored {
        return None;
    }
    let mut runs = Runs::new(setup, answers);
    let mut open = vec![CountedState::new(setup)];
    let mut counted = Counted {
        memories: Vec::new(),
        varying: BTreeMap::new(),
        executed: BTreeSet::new(),
        events: 0,
        waits: false,
        tickets: 0,
    };
    while let Some(mut state) = open.pop() {
        let branches = runs.run(&mut state)?;
        if branches.is_empty() {
            counted.memories.push(state.memory()?);
            for (address, values) in state.varying() {
                let known = counted.varying.entry(address).or_insert_with(|| Some(BTreeSet::new()));
                *known = known.take().zip(values.known()).map(|(known, values)| &known | values);
            }
            counted.events += state.events;
        }
        open.extend(branches);
        if open.len() + counted.memories.len() > MOST_RUNS {
            return None;
        }
    }
    (counted.executed, counted.waits, counted.tickets) = (runs.executed, runs.waits, runs.tickets);
    Some(counted)
}

/// What all runs share.
struct Runs<'s, 'w> {
    setup: &'s Setup<'w>,
    answers: Answers,
    /// The block of each thread, and the threads of each block.
    block_of: Vec<usize>,
    blocks: Vec<Vec<ThreadId>>,
    executed: BTreeSet<u32>,
    last_source: u32,
    /// Whether a thread has read a cell in a loop.
    waits: bool,
    /// The most tickets of a counter.
    tickets: usize,
    watch: Watch<'s>,
    actions: u64,
}

/// A run under way.
#[derive(Clone)]
struct CountedState<'w> {
    runners: Vec<Runner<'w>>,
    cells: FxHashMap<Address, Cell<'w>>,
    events: u64,
    /// The accesses of a quiet block while it is tried.
    quiet: Option<Vec<LoggedAccess>>,
}

/// An access of a quiet block: the thread, the cell, whether it writes, and the value.
type LoggedAccess = (ThreadId, Address, bool, u64);

#[derive(Clone)]
struct Runner<'w> {
    process: Thread<'w>,
    /// What it can be too, where what it has read of a counter may be one of several values: it does the same.
    others: Vec<Thread<'w>>,
    status: Status,
    heads: Vec<Head<'w>>,
    arrival: Option<Barrier>,
    clock: Clock,
    /// The clock of the thread at its last release fence.
    released: Option<Clock>,
    /// What its reads of counters have seen released, for its next acquire fence.
    observed: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    NotStarted,
    Ready,
    AtBarrier,
    /// The thread reads a cell in a loop.
    Waits(Waiting),
    /// The thread adds to a counter and waits for the result.
    Adds(Adding),
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Waiting {
    target: AccessTarget,
    label: Label,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Adding {
    address: Address,
    addition: Addition,
    acquire: bool,
    release: bool,
    /// Whether its read begins no acquire pattern.
    reduces: bool,
}

/// An open loop, with the thread as it was when the current iteration began.
#[derive(Clone)]
struct Head<'w> {
    label: u32,
    process: Thread<'w>,
    others: Vec<Thread<'w>>,
    iterations: u64,
    /// Whether the current iteration has done something that other threads can see.
    effect: bool,
    /// Whether it has done anything.
    busy: bool,
}

/// Whether an event reaches all threads of the device.
fn is_wide(level: Level) -> bool {
    level >= Level::Device
}

/// Whether an event orders as its flags say, for each access and each thread of the device; or is a plain access that
/// others order. Vulkan has operations that do so for some classes of memory, or some threads, alone, and releases that
/// leave out the write that they are a part of.
fn orders_all(label: Label) -> bool {
    let is_plain = label.is_access() && !label.atomic;
    let about_all = label.semantics.includes(Classes::BOTH);
    !label.private
        && Classes::BOTH.includes(label.storage)
        && (!label.acquire || about_all && label.makes_visible)
        && (!label.release || about_all && label.makes_available)
        && (is_plain || is_wide(label.level))
        && (label.coherent || !label.atomic)
}

impl<'s, 'w> Runs<'s, 'w> {
    fn new(setup: &'s Setup<'w>, answers: Answers) -> Self {
        let (_, families) = super::single::families(setup);
        let mut blocks: Vec<Vec<ThreadId>> = Vec::new();
        let mut known = FxHashMap::default();
        let mut block_of = Vec::with_capacity(setup.threads.len());
        for (thread, spawn) in setup.threads.iter().enumerate() {
            let place = spawn.placement;
            let key = (place.device, place.queue_family, place.block, families[thread]);
            let block = *known.entry(key).or_insert_with(|| {
                blocks.push(Vec::new());
                blocks.len() - 1
            });
            blocks[block].push(thread);
            block_of.push(block);
        }
        let watch = Watch::new(&setup.limits);
        let executed = BTreeSet::new();
        Runs {
            setup,
            answers,
            block_of,
            blocks,
            executed,
            last_source: u32::MAX,
            waits: false,
            tickets: 0,
            watch,
            actions: 0,
        }
    }
}

impl<'w> CountedState<'w> {
    fn new(setup: &Setup<'w>) -> Self {
        let threads = setup.threads.len();
        let runners = setup.threads.iter().enumerate().map(|(thread, spawn)| Runner {
            process: spawn.process.clone(),
            others: Vec::new(),
            status: if spawn.after.is_empty() { Status::Ready } else { Status::NotStarted },
            heads: Vec::new(),
            arrival: None,
            clock: Clock::of(thread, threads),
            released: None,
            observed: Clock::new(threads),
        });
        CountedState { runners: runners.collect(), cells: FxHashMap::default(), events: 0, quiet: None }
    }

    /// What the run leaves; `None` if a loop that has ended could have gone on for ever.
    fn memory(&self) -> Option<Vec<(Address, u64)>> {
        let ends = |cell: &Cell<'w>| cell.chain.as_ref().is_none_or(|chain| chain.ends_all());
        if !self.cells.values().all(ends) {
            return None;
        }
        let written = self.cells.iter().filter(|(_, cell)| cell.is_written);
        let mut memory: Vec<_> = written.map(|(&address, cell)| (address, cell.value)).collect();
        memory.sort_unstable();
        Some(memory)
    }

    /// The cells in which executions leave different values.
    fn varying(&self) -> impl Iterator<Item = (Address, &Values)> {
        self.cells.iter().filter_map(|(&address, cell)| Some((address, cell.varies.as_ref()?)))
    }
}
