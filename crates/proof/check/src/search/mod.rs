//! Every execution that a memory model permits, each once.
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
//! waits is one read with a condition. What such iterations do themselves is looked at in each execution that was built
//! (`failed`). A thread is *stuck* where all that is left to it are such iterations, on values
//! that no thread will overwrite, or a barrier that will never open.

mod agreement;
mod choices;
mod choose;
mod completions;
mod determined;
mod execution;
mod failed;
mod feasibility;
mod gates;
mod leaf;
mod limit;
mod process;
mod race_free;
mod run;
mod searcher;
mod state;
mod symmetry;
mod values;
mod workers;

use std::ops::ControlFlow;
use std::sync::Arc;

use wattle_memory::{Analysis, EventId, Graph, Model, Placement, ThreadId};

pub use execution::last_values;
pub use limit::{Limits, Stopped, Watch, resident_bytes};
pub use process::{Action, Address, Barrier, Change, Convergence, Initial, Members, Process, Target, Written};
pub use run::MOST_BACK_EDGES as MOST_TURNS;
pub use state::Fault;

/// A thread of a program.
#[derive(Clone, Debug)]
pub struct Spawn<P> {
    /// Where it is.
    pub placement: Placement,
    /// What it does.
    pub process: P,
    /// The threads that must have ended before it begins.
    pub after: Arc<[ThreadId]>,
}

/// How executions are drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub executions: u64,
    /// The same seed draws the same ones.
    pub seed: u64,
}

/// Which dependencies of a thread's stores on its reads count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependencies {
    /// Those of its instructions: of operands, addresses and branches. Litmus files keep them (PTX ISA 8.10.4).
    AsWritten,
    /// Those that a compiler cannot remove, which is what kernels have: a store that every value of the open reads leads
    /// to does not depend on them (`completions`).
    AsCompiled,
    /// None: each thread may do early what any values of its open reads make it do, as long as it then does so. Values still
    /// come from some write of the program. What is there then and not [`Dependencies::AsCompiled`] rests on a dependency.
    Ignored,
}

/// What to search.
pub struct Setup<'a, P: Process> {
    /// What all threads share.
    pub world: &'a P::World,
    /// The threads.
    pub threads: Vec<Spawn<P>>,
    /// The model.
    pub model: Model,
    /// How often a loop that may go on for ever, and that changes something each time, is gone through.
    pub loop_bound: u32,
    /// Threads with equal programs and equal roles, in classes. Of executions that differ only in which of them
    /// is which, fewer are built; at least one always is.
    pub symmetric: Vec<Vec<ThreadId>>,
    /// Whether a data race makes the rest uninteresting. Then a plain read reads what happens before it, once nothing
    /// more can come to: whatever else it could read would race with it, and that race shows in the execution that is
    /// built. (A write that races with the read does not depend on it, so it is there whatever the read gives.) The
    /// executions of a program without races are all built; of others not all, but one with a race is.
    pub assume_race_free: bool,
    /// Pairs of threads of which the system, outside of kernels, orders the first before the second; it does not keep
    /// them from running at the same time.
    pub system: Vec<(ThreadId, ThreadId)>,
    /// Which dependencies count.
    pub dependencies: Dependencies,
    /// Whether the visitor is shown the iterations of waiting loops that fail ([`Visitor::failed_iteration`]).
    pub failed_iterations: bool,
    /// Draws executions at random instead of building all.
    pub sample: Option<Sample>,
    /// When to give up.
    pub limits: Limits,
}

/// Something about the program that the search does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Accesses of different sizes to one cell.
    MixedSizes {
        /// The cell.
        address: Address,
        /// The bytes of the two accesses.
        bytes: [u8; 2],
        /// The second one's statement.
        source: u32,
    },
}

/// A finished execution, or one whose threads can go no further.
pub struct Execution<'a, P> {
    /// The graph.
    pub graph: &'a Graph,
    /// What the model says of it; where several orders of its fences are possible, under one of them.
    pub analysis: &'a Analysis,
    /// The threads as they ended.
    pub threads: Vec<&'a P>,
    /// What went wrong within threads.
    pub faults: Vec<Fault>,
    /// The threads that are stuck; none in a finished execution.
    pub stuck: Vec<Stuck>,
    /// Under [`Dependencies::Ignored`]: the dependencies that were ignored, each by the statement that reads and the one
    /// that stores.
    pub ignored: Vec<(u32, u32)>,
    /// The cells that were touched, and their locations.
    pub cells: Vec<(Address, wattle_memory::LocationId)>,
}

/// A thread that can be stuck for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The thread.
    pub thread: ThreadId,
    /// Why.
    pub why: Why,
}

/// Why a thread is stuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It waits for a value that no thread will write: the reads that go on, and what they read from.
    Spins(Vec<(EventId, EventId)>),
    /// It waits at a barrier that some thread of its block will never reach.
    Barrier(EventId),
}

/// What receives the executions as the search finds them. Breaking off ends the search.
pub trait Visitor<P> {
    /// A finished execution: each that there is, once.
    fn complete(&mut self, execution: &Execution<'_, P>) -> ControlFlow<()>;

    /// An execution with stuck threads. The same one may come more than once.
    fn stuck(&mut self, execution: &Execution<'_, P>) -> ControlFlow<()>;

    /// Under [`Setup::failed_iterations`]: an execution with one iteration more of a waiting loop, or one of each of two
    /// threads, that changes nothing. It is shown where an access of such an iteration might race, or a fault happens.
    fn failed_iteration(&mut self, _execution: &Execution<'_, P>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Under [`Setup::assume_race_free`]: no execution, but a graph that shows a race if there is one. A thread waits
    /// here for a write that is there, and that it could only see by a race.
    fn waits_in_vain(&mut self, _graph: &Execution<'_, P>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How much was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Finished executions.
    pub complete: u64,
    /// Executions that turned out not to exist after something had been chosen.
    pub abandoned: u64,
    /// Ends with stuck threads.
    pub stuck: u64,
    /// How often several threads waited for reads that stores of theirs depend on: where there is none, no outcome is
    /// kept away by a dependency.
    pub dependent: u64,
    /// Ends at the loop bound: the search is not exhaustive if there is one.
    pub bounded: u64,
    /// Ends in a loop that does not depend on memory and was gone through [`MOST_TURNS`] times: the search is not exhaustive
    /// if there is one.
    pub endless: u64,
    /// How often several threads waited for reads, and whether a store of one of them depends on its read was not decided,
    /// because it has too much to do before: the search may not be exhaustive if there is one.
    pub undecided: u64,
    /// Waiting loops of executions with more ways for an iteration to fail than were looked at: the search is not
    /// exhaustive if there is one.
    pub cut: u64,
}

impl Statistics {
    /// Adds those of another search.
    pub fn add(&mut self, other: &Statistics) {
        self.complete += other.complete;
        self.abandoned += other.abandoned;
        self.stuck += other.stuck;
        self.dependent += other.dependent;
        self.bounded += other.bounded;
        self.cut += other.cut;
        self.endless += other.endless;
        self.undecided += other.undecided;
    }

    /// Whether everything was looked at, but for limits: `false` says that "none found" does not mean that there is none.
    pub fn is_exhaustive(&self) -> bool {
        self.bounded + self.cut + self.endless + self.undecided == 0
    }

    /// Counts an end of the search at a bound.
    fn at_bound(&mut self, endless: bool) {
        if endless {
            self.endless += 1;
        } else {
            self.bounded += 1;
        }
    }
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It has seen everything, up to the loop bound ([`Statistics::bounded`]).
    Exhausted,
    /// The visitor broke it off.
    BrokenOff,
    /// A limit was reached.
    Stopped(Stopped),
    /// The program does something that the search does not do.
    Problem(Problem),
}

/// Searches all executions.
pub fn search<P: Process>(setup: &Setup<'_, P>, visitor: &mut (impl Visitor<P> + Send)) -> (End, Statistics) {
    workers::search(setup, visitor)
}
