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
//!   release add to that order, and the order of sequentially consistent fences decides nothing, so they are passed
//!   over.
//! - `vulkan`: location-order takes the place of happens-before. The block's barrier acquires and releases all storage
//!   classes, makes available and visible, and has the block in its scope; so a non-private access before it is
//!   location-ordered before one by the same name after it; fences around it do the same for other classes (`fences`).
//!   Between launches the system makes everything available and visible to the device. Other barriers, private accesses
//!   of two threads of a launch to what a thread writes and cells of two names are not treated here.
//! - `sc`, `unordered`: the orders of all writes are part of an execution; there is one. `unordered` keeps the accesses
//!   of a thread to one place in order, and all accesses across barriers.
//!
//! An operation of a warp gives its lanes what they have brought, and orders nothing: its result differs only where a
//! read does. A barrier of some threads of a block, such as a warp's, orders those: where each thread meets at most one
//! such group, and the whole block, an order by way of a third thread is one by a barrier of both.
//!
//! **Updates that commute.** Two read-modify-writes of one place that are atomic with regard to each other, do the same
//! commuting operation and whose results nobody looks at can be exchanged: the memory after both is the same, and so is
//! what any read behind both finds. If nothing else is unordered, all executions leave one memory. The results are not
//! given to the threads ([`Process::answer`](super::Process::answer) with `None`), so that a thread that looks at one
//! shows it.

mod access;
mod barriers;
mod cell;
mod commuting;
mod exact;
mod fences;
mod meetings;
mod order;
mod shown;
mod wrong;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use wattle_memory::{Analysis, Classes, EventId, Graph, LocationId, ThreadId};

use super::boundaries::placements;
use super::process::{Action, Address, Barrier, Exchange};
use super::{Fault, Setup, Thread, Watch};
pub(super) use barriers::{Meeting, converge, families};
use cell::{Accesses, Cell, Epoch, Past, Recent};
pub(super) use commuting::Commuting;
use fences::{Acquired, Fenced};
use order::Order;
pub use wrong::{Wrong, WrongRun, always_faults};

/// The maximum number of events of a run of which the graph is kept.
const MOST_EVENTS: usize = 256;

/// A search through the executions of so few threads is no long one.
const FEW_THREADS: usize = 32;

/// A search through the executions of so few threads is soon at a fault, and shows more of it.
const FEW_FOR_FAULTS: usize = 8;

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
    /// The number of its accesses, fences and arrivals at barriers.
    pub events: u64,
    /// The execution's graph and its analysis, if it is small.
    pub graph: Option<(Graph, Analysis)>,
    /// The cells of the graph, in ascending order, and their locations; empty if it is not small.
    pub cells: Vec<(Address, LocationId)>,
    /// Whether groups of the threads of a block passed one of its barriers at different statements.
    pub apart: bool,
    /// How unordered updates of one place were treated.
    pub updates: Updates,
    /// The statements whose stores of one value nothing orders ([`Setup::same_stores`]).
    pub alike: BTreeSet<u32>,
}

/// The treatment of unordered updates of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updates {
    /// Two updates of one location conflict, whatever operation they are.
    Conflict,
    /// Two updates of one location whose operations commute, and whose results nobody uses, do not conflict.
    Commute,
    /// Atomic accesses do not conflict: the run is one of several executions, and shows what is wrong with it alone.
    OneOfSeveral,
}

/// Runs a program that has a single execution.
///
/// # Errors
/// It may have another one, or something is wrong with it: a fault, a read of memory that was never written, a thread
/// that waits for ever. A search shows which; it need not where the run has come to a race among many events.
pub fn single_run(setup: &Setup<'_>, updates: Updates) -> Result<SingleRun, Option<Box<WrongRun>>> {
    if !setup.system.is_empty() {
        return Err(None);
    }
    let run = |shown: Option<ThreadId>| {
        let mut runs = Runs::new(setup, updates, shown);
        match runs.run() {
            Some(()) => Ok(runs),
            None if runs.faulted && setup.threads.len() <= FEW_FOR_FAULTS => Err(None),
            None => Err(runs.wrong),
        }
    };
    run(None).map(Runs::finish).map_err(|wrong| match wrong {
        // The same run once more, with what the thread did before its fault.
        Some(long) if long.graph.is_empty() => match long.wrong {
            Wrong::Fault(fault) => run(Some(fault.thread)).err().flatten().or(Some(long)),
            Wrong::Race(..) => Some(long),
        },
        wrong => wrong,
    })
}

/// Proves a launch by one run as [`single_run`] does, also where updates that commute, and whose results nobody looks
/// at, leave one memory in whatever order they come.
///
/// # Errors
/// As those of [`single_run`].
pub fn single_or_commuting_run(setup: &Setup<'_>) -> Result<SingleRun, Option<Box<WrongRun>>> {
    let several = (setup.threads.len() > FEW_THREADS).then_some(Updates::OneOfSeveral);
    let mut ran = single_run(setup, Updates::Conflict);
    for updates in [Some(Updates::Commute), several].into_iter().flatten() {
        // A run that a limit has ended is not begun again.
        if !matches!(ran, Err(None)) || Watch::new(&setup.limits).check().is_some() {
            break;
        }
        ran = single_run(setup, updates);
    }
    ran
}

/// The number of storage classes that a set of them may have.
const CLASSES: usize = u8::BITS as usize;

/// A thread that is run.
struct Runner<'w> {
    process: Thread<'w>,
    block: usize,
    family: usize,
    /// The number of barriers that it has passed, for each storage class of those that order it.
    phases: [u32; CLASSES],
    /// What its fences order, besides the barriers themselves.
    fenced: Fenced,
    /// The number of the group with which it meets at barriers of some threads of the block, and how many of those it
    /// has passed.
    group: Option<usize>,
    round: u32,
    status: Status,
    /// The open loops.
    heads: Vec<Head<'w>>,
    arrival: Option<(Barrier, Classes)>,
    /// The operation of its warp at which it stands, and what it brings.
    meeting: Option<(Barrier, Exchange)>,
    last_event: Option<EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    NotStarted,
    Ready,
    AtBarrier,
    AtGroupBarrier,
    Meets,
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
pub(super) struct Families {
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
    /// What the threads of each block have acquired behind its barriers.
    acquired: Vec<Acquired>,
    /// The threads of each group, in ascending order.
    groups: Vec<Arc<[ThreadId]>>,
    cells: HashMap<Address, Cell, FxBuildHasher>,
    executed: BTreeSet<u32>,
    events: u64,
    last_source: u32,
    graph: Option<Graph>,
    /// The thread whose events alone the graph has, if it has not those of all.
    shown: Option<ThreadId>,
    watch: Watch<'s>,
    actions: u64,
    apart: bool,
    /// The statements whose stores of one value nothing orders.
    alike: BTreeSet<u32>,
    /// What may have ordered threads, besides barriers and the ends of launches.
    order: Order,
    /// Whether a thread has gone wrong.
    failed: bool,
    /// Whether a thread has had a fault.
    faulted: bool,
    /// The race or fault that the run has come to.
    wrong: Option<Box<WrongRun>>,
}

impl<'s, 'w> Runs<'s, 'w> {
    fn new(setup: &'s Setup<'w>, updates: Updates, shown: Option<ThreadId>) -> Self {
        let (families, of) = barriers::families(setup);
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
                phases: [0; CLASSES],
                fenced: Fenced::default(),
                group: None,
                round: 0,
                status: if spawn.after.is_empty() { Status::Ready } else { Status::NotStarted },
                heads: Vec::new(),
                arrival: None,
                meeting: None,
                last_event: None,
            });
        }
        Runs {
            setup,
            updates,
            runners,
            families,
            acquired: vec![Acquired::default(); blocks.len()],
            blocks,
            groups: Vec::new(),
            cells: HashMap::default(),
            executed: BTreeSet::new(),
            events: 0,
            last_source: u32::MAX,
            graph: (shown.is_some() || setup.threads.len() <= MOST_EVENTS).then(|| Graph::new(placements(setup))),
            shown,
            watch: Watch::new(&setup.limits),
            actions: 0,
            apart: false,
            alike: BTreeSet::new(),
            order: Order::default(),
            failed: false,
            faulted: false,
            wrong: None,
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
            moved |= self.open_group_barriers()?;
            moved |= self.open_meetings()?;
            moved |= self.start_threads();
            if !moved {
                break;
            }
        }
        (!self.failed && self.runners.iter().all(|runner| runner.status == Status::Done)).then_some(())
    }

    /// Runs a thread to its end, or to where it waits for others.
    fn run_thread(&mut self, thread: ThreadId) -> Option<()> {
        loop {
            self.actions += 1;
            if self.actions.is_multiple_of(ACTIONS_PER_LOOK) && self.watch.check().is_some() {
                return None;
            }
            match self.runners[thread].process.advance() {
                Action::Read { target, label, source } => {
                    self.executes(source);
                    self.read(thread, target?, label, source)?;
                    if self.runners[thread].status == Status::Done {
                        return Some(());
                    }
                }
                Action::Write { target, value, label, source } => {
                    self.executes(source);
                    self.write(thread, target?, value?, label, source)?;
                    self.has_effect(thread);
                }
                Action::Update { target, change, read, write, source } => {
                    self.executes(source);
                    let answer = self.update(thread, target?, change, [read, write], source)?;
                    if self.runners[thread].status == Status::Done {
                        return Some(());
                    }
                    self.runners[thread].process.answer(answer);
                    self.has_effect(thread);
                }
                Action::Fence { label, source } => {
                    self.executes(source);
                    self.fence(thread, label);
                    self.event(thread, label, source, None);
                }
                Action::Barrier { barrier, label, source } => {
                    self.executes(source);
                    self.arrive(thread, barrier, label, source)?;
                    return Some(());
                }
                Action::LoopHead { label } => {
                    let heads = &mut self.runners[thread].heads;
                    if let Some(at) = heads.iter().position(|head| head.label == label) {
                        heads.truncate(at);
                    }
                    self.enter(thread, label);
                }
                Action::BackEdge { label, waits, .. } => self.repeat(thread, label, waits)?,
                Action::Done => {
                    self.runners[thread].status = Status::Done;
                    return Some(());
                }
                Action::Exchange { barrier, exchange, source } => {
                    self.executes(source);
                    self.meet(thread, barrier, exchange, source)?;
                    return Some(());
                }
                Action::Fault { fault, source } => {
                    self.end_at_fault(Fault { thread, fault, source })?;
                    return Some(());
                }
                Action::NeedsValue | Action::Halt => return None,
            }
        }
    }

    /// Ends a thread that has gone wrong, so that no single run stands for all executions; `None` where a search shows
    /// what is wrong soon. Where there are many threads the others go on: one of them may race with it, as the writer
    /// of what was read too early.
    fn end_wrong(&mut self, thread: ThreadId) -> Option<()> {
        if self.order.is_uncertain() || self.runners.len() <= FEW_THREADS {
            return None;
        }
        self.failed = true;
        self.graph = self.graph.take().filter(|_| self.shown.is_some());
        self.runners[thread].status = Status::Done;
        Some(())
    }

    fn executes(&mut self, source: u32) {
        self.events += 1;
        if source != self.last_source {
            self.executed.insert(source);
            self.last_source = source;
        }
    }

    fn has_effect(&mut self, thread: ThreadId) {
        self.runners[thread].heads.iter_mut().for_each(|head| head.effect = true);
    }

    /// Records that a thread is at the head of a loop for the first time.
    fn enter(&mut self, thread: ThreadId, label: u32) {
        let runner = &mut self.runners[thread];
        let earlier = runner.process.clone();
        runner.heads.push(Head { label, earlier, iterations: 0, next: 1, effect: false });
    }

    /// Records an iteration of a loop; `None` where the loop may go on for ever.
    fn repeat(&mut self, thread: ThreadId, label: u32, waits: bool) -> Option<()> {
        let runner = &mut self.runners[thread];
        let Some(at) = runner.heads.iter().position(|head| head.label == label) else {
            // Its first iteration began in the middle.
            self.enter(thread, label);
            return Some(());
        };
        runner.heads.truncate(at + 1);
        let head = &mut runner.heads[at];
        head.iterations += 1;
        let most = if waits { MOST_ITERATIONS } else { u64::from(super::run::MOST_BACK_EDGES) };
        if head.iterations > most || (!head.effect && runner.process.repeats(&head.earlier)) {
            return None;
        }
        if head.iterations == head.next {
            head.next *= 2;
            head.effect = false;
            head.earlier = runner.process.clone();
        }
        Some(())
    }
}
