//! Builds every execution that a memory model permits, each once.
//!
//! The search builds execution graphs, not interleavings (Kokologiannakis, Vafeiadis, "HMC: Model Checking for
//! Hardware Memory Models", ASPLOS 2020, is the nearest relative). A thread runs on past a read whose source is not
//! chosen until control needs the value ([`Action::NeedsValue`]). When no thread can go on, one pending read is taken
//! and the search branches: it reads from each consistent write that is there, or from one still to come. The branches
//! are disjoint, so nothing is built twice and nothing is revisited. A write can be read from only when its address
//! and its value are known, which is exactly that (rf ∪ dependency) is acyclic: load buffering is found, values out of
//! thin air are not.
//!
//! An execution's identity is its events, its reads-from, and the order of those writes that the model wants ordered
//! ([`Model::orders_writes`]). The order of sequentially consistent fences is found, and never counted.
//!
//! **Waiting.** An iteration of a loop without a bound that brings its thread back to the same state, and has only
//! read (or written back what it read), is left out: whatever follows could have followed without it. So a loop that
//! waits is one read with a condition. The effects of such iterations are checked in each execution that was built
//! (`failed`). A thread is *stuck* where all that is left to it are such iterations, on values
//! that no thread will overwrite, or a barrier that will never open.

mod agreement;
mod boundaries;
mod choices;
mod choose;
mod completions;
mod contents;
mod counted;
mod determined;
mod exchange;
mod execution;
mod failed;
mod feasibility;
mod forwarding;
mod gate;
mod gates;
mod head;
mod ignored;
mod interleaving;
mod leaf;
mod limit;
mod own;
mod possible;
mod private;
mod process;
mod promises;
mod race_free;
mod root;
mod rounds;
mod run;
mod same_stores;
mod searcher;
mod selection;
mod settle;
mod share;
mod single;
mod state;
mod symmetry;
mod thread;
mod values;
mod workers;

use std::ops::ControlFlow;
use std::sync::Arc;

use wattle_memory::{Analysis, EventId, Graph, Model, Placement, ThreadId};

pub use counted::{Answers, Counted, counted_runs};
pub use exchange::FROM_NOBODY;
pub(crate) use exchange::of_remaining;
pub use execution::last_values;
pub use limit::{Limits, MostEvents, Stopped, Watch, resident_bytes};
pub use own::Own;
pub use private::{PrivateCells, SharedCells, keeping};
pub use process::{
    AccessTarget, Action, ActionParts, Address, Barrier, Change, Convergence, Exchange, Initial, Members, Memory,
    Process, Written,
};
pub use run::MOST_BACK_EDGES as MOST_TURNS;
pub use same_stores::Lanes;
pub use share::{Meter, Reading};
pub use single::{SingleRun, Updates, Wrong, WrongRun, always_faults, single_or_commuting_run, single_run};
pub use state::Fault;
pub use thread::Thread;

/// A thread of a program.
#[derive(Clone, Debug)]
pub struct Spawn<P> {
    /// The place of the thread in the hierarchy of groups.
    pub placement: Placement,
    /// The process that it runs.
    pub process: P,
    /// The threads that must have ended before it begins.
    pub after: Arc<[ThreadId]>,
}

/// Parameters of random sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The number of executions to draw.
    pub executions: u64,
    /// The seed; equal seeds draw equal executions.
    pub seed: u64,
}

/// The dependencies of a thread's stores on its reads that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// The dependencies of its instructions: of operands, addresses and branches. Litmus files keep them (PTX ISA
    /// 8.10.4).
    AsWritten,
    /// The dependencies that a compiler cannot remove, which is what kernels have: a store that every value of the open
    /// reads leads to does not depend on them (`completions`).
    AsCompiled,
    /// No dependencies but those of what read-modify-writes write on what they read, and of what operations of warps
    /// return on what the lanes bring: where no thread can go on, one may do early what some value of its open read
    /// makes it do, as long as it then does so. Values still come from some write of the program. An outcome that
    /// exists here and not under [`Dependencies::AsCompiled`] rests on a dependency.
    Ignored,
}

/// The loop bound of a search that sets no other.
const LOOP_BOUND: u32 = 8;

/// The input of a search.
pub struct Setup<'w> {
    /// The memory before the threads.
    pub memory: &'w dyn Memory,
    /// The threads to search, each in its world.
    pub threads: Vec<Spawn<Thread<'w>>>,
    /// The memory model.
    pub model: Model,
    /// The maximum number of iterations of a loop that may go on for ever and that changes something each time.
    pub loop_bound: u32,
    /// Threads with equal programs and equal roles, in classes. Of executions that differ only by exchanging threads of
    /// a class that have done the same before their first reads, fewer are built; at least one always is.
    pub symmetric: Vec<Vec<ThreadId>>,
    /// Whether a data race makes the rest uninteresting. Then a plain read reads what happens before it, once nothing
    /// more can be added to that: whatever else it could read would race with it, and that race shows in the execution
    /// that is built. (A write that races with the read does not depend on it, so it is there whatever the read gives.)
    /// The executions of a program without races are all built; of others not all, but one with a race is.
    pub assume_race_free: bool,
    /// The lanes whose plain stores of one value are no race, if any.
    pub same_stores: Option<Lanes>,
    /// Pairs of threads of which the system, outside of kernels, orders the first before the second; it does not keep
    /// them from running at the same time.
    pub system: Vec<(ThreadId, ThreadId)>,
    /// The dependencies between operations of a thread that executions keep.
    pub dependencies: Dependencies,
    /// Under [`Dependencies::Ignored`]: values that reads are tried with, besides those that the program's writes give
    /// their places. An execution in which a read returns one has a write of it, which may exist only since the read
    /// returns it.
    pub tried_values: Vec<u64>,
    /// Whether the visitor also receives the failing iterations of waiting loops ([`Visitor::failed_iteration`]).
    pub failed_iterations: bool,
    /// The parameters if executions are drawn at random; `None` to build all.
    pub sample: Option<Sample>,
    /// The cells that its threads keep for themselves ([`keeping`]), if any: the search is broken off when it turns out
    /// that one is shared ([`PrivateCells::contradicted`]).
    pub private: Option<&'w PrivateCells<'w>>,
    /// The number of events of a graph at which the search is broken off; `None` if it goes on with any.
    pub most_events: Option<&'w MostEvents>,
    /// The limits at which the search stops.
    pub limits: Limits,
    /// The meter on which the search shows how far it is, if anyone watches. The visitor counts the finished
    /// executions.
    pub meter: Option<Arc<Meter>>,
}

impl<'w> Setup<'w> {
    /// A search without threads yet, with the dependencies as written, and without anything that is optional.
    pub fn new(memory: &'w dyn Memory, model: Model) -> Setup<'w> {
        Setup {
            memory,
            threads: Vec::new(),
            model,
            loop_bound: LOOP_BOUND,
            symmetric: Vec::new(),
            assume_race_free: false,
            same_stores: None,
            system: Vec::new(),
            dependencies: Dependencies::AsWritten,
            tried_values: Vec::new(),
            failed_iterations: false,
            sample: None,
            private: None,
            most_events: None,
            limits: Limits::default(),
            meter: None,
        }
    }

    /// Adds threads of one world to the search.
    pub fn with_threads<P: Process>(mut self, world: &'w P::World, threads: Vec<Spawn<P>>) -> Setup<'w> {
        self.threads.extend(threads.into_iter().map(|Spawn { placement, process, after }| Spawn {
            placement,
            process: Thread::new(process, world),
            after,
        }));
        self
    }
}

/// A property of the program that the search does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Accesses of different sizes to one cell.
    MixedSizes {
        /// The cell.
        address: Address,
        /// The bytes of the two accesses.
        bytes: [u8; 2],
        /// The statement of the second access.
        source: u32,
    },
}

/// A finished execution, or one whose threads cannot continue.
pub struct Execution<'a> {
    /// The execution graph.
    pub graph: &'a Graph,
    /// The model's analysis; if several orders of its fences are possible, under one of them.
    pub analysis: &'a Analysis,
    /// The analyses of the ends that it can have, the one above among them: several where the order of its fences
    /// decides which writes are last.
    pub endings: Vec<&'a Analysis>,
    /// The final states of the threads.
    pub threads: Vec<&'a Thread<'a>>,
    /// The faults within threads.
    pub faults: Vec<Fault>,
    /// The stuck threads; empty in a finished execution.
    pub stuck: Vec<Stuck>,
    /// Under [`Dependencies::Ignored`]: the dependencies that were ignored, each by the statement that reads and the
    /// one that stores.
    pub ignored: Vec<(u32, u32)>,
    /// The cells that were touched, and their locations.
    pub cells: Vec<(Address, wattle_memory::LocationId)>,
}

/// A thread that can be stuck for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The stuck thread.
    pub thread: ThreadId,
    /// The reason why it is stuck.
    pub why: Why,
}

/// The reason why a thread is stuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The thread waits for a value that no thread will write: the repeated reads, and the writes from which they read.
    Spins(Vec<(EventId, EventId)>),
    /// The thread waits at a barrier that some thread of its block will never reach.
    Barrier(EventId),
}

impl Why {
    /// The reads that a spinning thread repeats, each with the write from which it reads.
    pub(crate) fn looks(&self) -> &[(EventId, EventId)] {
        match self {
            Why::Spins(looks) => looks,
            Why::Barrier(_) => &[],
        }
    }
}

/// A receiver of the executions as the search finds them. Breaking off ends the search.
pub trait Visitor: Send {
    /// Receives a finished execution; each existing one is passed once.
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()>;

    /// The search begins again: executions that were passed may be passed once more.
    fn begin_again(&mut self) {}

    /// Receives an execution with stuck threads. The same one may be passed more than once.
    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()>;

    /// Receives the statement of a jump back to the head of a loop at whose bound a branch of the search ended, or of
    /// which not all failing iterations were looked at.
    fn at_bound(&mut self, _source: u32) {}

    /// Under [`Dependencies::Ignored`]: receives a dependency that some branch of the search ignores, by the statement
    /// that reads and the one that stores.
    fn ignores(&mut self, _read: u32, _store: u32) {}

    /// Under [`Dependencies::Ignored`]: receives a dependency that may be part of a circle, by the same statements,
    /// before any is ignored.
    fn may_ignore(&mut self, _read: u32, _store: u32) {}

    /// Receives the statement of a read in an iteration of a waiting loop that leaves its thread as it was: there it
    /// may wait. A loop each of whose iterations changes something never does. The same one may be passed more than
    /// once.
    fn may_wait_at(&mut self, _source: u32) {}

    /// Under [`Setup::failed_iterations`]: an execution with one iteration more of a waiting loop, or one of each of
    /// two threads, that changes nothing. It is passed where an access of such an iteration might race, or a fault
    /// happens.
    fn failed_iteration(&mut self, _execution: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Under [`Setup::failed_iterations`], where a branch ended at the bound of a loop and nothing else was broken off:
    /// receives an execution as far as it goes with threads that stop at the bounds of their loops. Whatever is wrong
    /// with it is wrong in some execution.
    fn cut_off(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.failed_iteration(execution)
    }

    /// Receives, under [`Setup::assume_race_free`], a graph in which a thread waits for a write that it could only see
    /// by a race. It is no execution, but shows a race if there is one. If all of it has happened, some execution
    /// begins so; else nothing is found to be wrong here before a search that assumes nothing finds it.
    fn waits_in_vain(&mut self, _graph: &Execution<'_>, _has_happened: bool) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// What is said of a search that [found nothing](Statistics::found_nothing).
pub const FOUND_NOTHING: &str =
    "the search found no execution at all, though every program has one: a fault of the checker, please report it";

/// The counts of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of finished executions.
    pub complete: u64,
    /// The number of candidate executions that turned out not to exist after a choice had been made. A choice that is
    /// impossible by itself is none, unless all of a read's are.
    pub abandoned: u64,
    /// The number of executions with stuck threads.
    pub stuck: u64,
    /// The number of times that several threads waited for reads on which stores of theirs depend: if it is 0, no
    /// outcome is excluded by a dependency.
    pub dependent: u64,
    /// The number of branches that ended at the loop bound: the search is not exhaustive unless it is 0.
    pub bounded: u64,
    /// The number of branches that ended in a loop that does not depend on memory, after [`MOST_TURNS`] iterations: the
    /// search is not exhaustive unless it is 0.
    pub endless: u64,
    /// The number of times that several threads waited for reads and it was not decided whether a store of one of them
    /// depends on its read, because too much precedes the store. Under [`Dependencies::Ignored`] also the number of
    /// times that threads may wait for one another's stores in a circle and none of these can be tried. The search may
    /// not be exhaustive unless it is 0.
    pub undecided: u64,
    /// The number of waiting loops with more ways for an iteration to fail than were searched: the search is not
    /// exhaustive unless it is 0.
    pub cut: u64,
    /// The number of choices at which threads were taken for one another ([`Setup::symmetric`]).
    pub alike: u64,
    /// The number of finished executions in which groups of the threads of a block passed one of its barriers at
    /// different statements or in different iterations: what holds rests on the size of these groups unless it is 0.
    pub apart: u64,
}

impl Statistics {
    /// Adds the counts of another search.
    pub fn add(&mut self, other: &Statistics) {
        self.complete += other.complete;
        self.abandoned += other.abandoned;
        self.stuck += other.stuck;
        self.dependent += other.dependent;
        self.bounded += other.bounded;
        self.cut += other.cut;
        self.endless += other.endless;
        self.undecided += other.undecided;
        self.alike += other.alike;
        self.apart += other.apart;
    }

    /// Whether the search was exhaustive, apart from limits: if `false`, an outcome that was not found may still exist.
    pub fn is_exhaustive(&self) -> bool {
        self.bounded + self.cut + self.endless + self.undecided == 0
    }

    /// Whether candidates were abandoned and nothing was found. Every program has an execution, so that such a search
    /// has shown nothing, not even that it was exhaustive.
    pub fn found_nothing(&self) -> bool {
        self.abandoned > 0 && self.complete + self.stuck == 0 && self.is_exhaustive()
    }

    /// Counts a branch that ended at a bound.
    fn at_bound(&mut self, endless: bool) {
        if endless {
            self.endless += 1;
        } else {
            self.bounded += 1;
        }
    }
}

/// The way in which a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All executions were seen, up to the loop bound ([`Statistics::bounded`]).
    Exhausted,
    /// The visitor broke it off.
    BrokenOff,
    /// A limit was reached.
    Stopped(Stopped),
    /// The program has a property that the search does not support.
    Problem(Problem),
}

/// Builds the executions of a program and passes each to the visitor, until all are built, the visitor ends the search,
/// or a limit is reached.
pub fn search(setup: &Setup<'_>, visitor: &mut dyn Visitor) -> (End, Statistics) {
    workers::search(setup, visitor)
}
