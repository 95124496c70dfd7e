//! The result of a check: its verdict, what was found, and the executions that show it.

mod orders;
mod progress;
mod story;
mod witness;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use wattle_core::{Decided, Error};
use wattle_ir::{Site, Stmt};
use wattle_memory::{EventId, Model, Target};

pub use orders::Orders;
pub use progress::Progress;
pub use story::{Access, Column, Edge, EdgeKind, End, Initial, Part, Step, Story};
pub use witness::Witness;

use crate::search::{Statistics, Stuck, Why};

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The scenario holds in every execution of the size that was checked.
    Holds,
    /// The scenario does not hold in some execution.
    Violated,
    /// No violation was found, but the search was incomplete: see [`Report::unknown`].
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
        })
    }
}

/// A reason why a search was incomplete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unknown {
    /// Executions that iterate a loop more often than the bound were not searched.
    LoopBound(u32),
    /// As [`Unknown::LoopBound`], of loops whose places in the source are known.
    LoopsAtBound {
        /// The loops, in words: `the loop at scan.cu:12:9`.
        loops: String,
        /// The bound.
        bound: u32,
    },
    /// A limit was reached, or the check was interrupted.
    Stopped(String),
    /// Launches on several queues overlap across copies or events between them, and not all interleavings were
    /// searched.
    Overlap,
    /// Threads wait for what no other launch does that was looked at with theirs, and the host had waited for another
    /// queue then: it may go on, and let them go.
    WaitedElsewhere,
    /// The host saw one of several answers that devices may give.
    Decided(Decided),
    /// No execution finished, and no reason is known.
    Nothing,
    /// The program was sampled with this many executions instead of searched.
    Sampled(u64),
    /// The search was incomplete in some of the shapes that were tried.
    InShapes {
        /// The shapes.
        shapes: Vec<String>,
        /// The reason that applies to these shapes.
        why: Box<Unknown>,
    },
}

impl Unknown {
    /// Whether a limit or an interruption ended the search, in some of the shapes at least.
    pub fn is_stopped(&self) -> bool {
        match self {
            Unknown::Stopped(_) => true,
            Unknown::InShapes { why, .. } => why.is_stopped(),
            Unknown::LoopBound(_)
            | Unknown::LoopsAtBound { .. }
            | Unknown::Overlap
            | Unknown::WaitedElsewhere
            | Unknown::Decided(_)
            | Unknown::Nothing
            | Unknown::Sampled(_) => false,
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::LoopBound(bound) => {
                write!(f, "some loop goes on after {bound} iterations; --loop-bound looks further")
            }
            Unknown::LoopsAtBound { loops, bound } => {
                write!(f, "{loops} goes on after {bound} iterations; --loop-bound looks further")
            }
            Unknown::Stopped(why) => f.write_str(why),
            Unknown::Overlap => f.write_str(
                "launches on several queues overlap, and not every such overlap was looked at: a launch that the host has not \
                 waited for may still run while others come that were enqueued behind a wait, a copy, a task or an event; \
                 wait for it first, or let the others' queue wait for an event recorded behind it",
            ),
            Unknown::WaitedElsewhere => f.write_str(
                "threads wait for what nothing does that was looked at with them, while the host waits for another queue, behind \
                 which it may still let them go; wait for their launch's queue first",
            ),
            Unknown::Decided(Decided::EventIsComplete) => f.write_str(
                "the scenario asks whether an event is complete for which it has not waited, and was told that it is; wait for \
                 the event instead, or for its queue",
            ),
            Unknown::Decided(Decided::TaskOrder) => f.write_str(
                "host tasks of several queues ran in the order in which they were enqueued alone, though nothing orders them; \
                 order them by an event, or enqueue them on one queue",
            ),
            Unknown::Nothing => f.write_str("no execution came to its end, though none is known to be stuck"),
            Unknown::InShapes { shapes, why } => write!(f, "with {}: {why}", shapes.join("; ")),
            Unknown::Sampled(executions) => write!(f, "{executions} executions were sampled, not all looked at"),
        }
    }
}

/// A violation that a check found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// Two accesses conflict, and nothing orders them.
    Race {
        /// The execution that shows it.
        witness: Box<Witness>,
        /// The two accesses.
        accesses: (EventId, EventId),
    },
    /// A thread did something that must not happen: an index out of bounds, a failed assertion.
    Fault {
        /// The execution that shows it.
        witness: Box<Witness>,
        /// What happened, with the line.
        what: String,
    },
    /// A thread reads memory that has never been written.
    Unwritten {
        /// The execution that shows it.
        witness: Box<Witness>,
        /// The read.
        read: EventId,
    },
    /// Threads can be stuck for ever.
    Stuck {
        /// The execution that shows it.
        witness: Box<Witness>,
        /// The stuck threads, and why each is stuck.
        stuck: Vec<Stuck>,
        /// The blocks that the schedule stops although they could go on: launch and block.
        halted: Vec<(usize, u64)>,
    },
    /// Something wrong with launches of modules.
    Module {
        /// What it is, in a word or two.
        kind: &'static str,
        /// The story of an execution that shows it.
        story: Box<Story>,
    },
    /// The scenario's own check does not hold.
    Assertion {
        /// The execution of the last launches, if there was any.
        witness: Option<Box<Witness>>,
        /// The scenario's error.
        error: Error,
    },
    /// A run of the simulated device shows it, where the search had no answer.
    Seen {
        /// The seed of the run.
        seed: u64,
        /// The error of the run.
        error: Error,
    },
}

/// The kind of a violation in which threads can be stuck for ever.
pub(crate) const IS_STUCK: &str = "can be stuck for ever";

impl Violation {
    /// The execution that shows it.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Violation::Race { witness, .. }
            | Violation::Fault { witness, .. }
            | Violation::Unwritten { witness, .. }
            | Violation::Stuck { witness, .. } => Some(witness),
            Violation::Assertion { witness, .. } => witness.as_deref(),
            Violation::Module { .. } | Violation::Seen { .. } => None,
        }
    }

    /// The kind of violation in a word or two.
    pub fn kind(&self) -> &'static str {
        match self {
            Violation::Race { .. } => "data race",
            Violation::Fault { .. } => "fault",
            Violation::Unwritten { .. } => "unwritten memory",
            Violation::Stuck { .. } => IS_STUCK,
            Violation::Assertion { .. } => "assertion",
            Violation::Module { kind, .. } => kind,
            Violation::Seen { .. } => "seen in a run",
        }
    }

    /// Adds it to others, unless one is like it: of its kind, and the same fault, the same failed check, or threads
    /// that are stuck at barriers, elsewhere, or both as they are in it.
    pub(crate) fn join(self, others: &mut Vec<Violation>) {
        let detail = |violation: &Violation| match violation {
            Violation::Fault { what, .. } => what.clone(),
            Violation::Assertion { error, .. } | Violation::Seen { error, .. } => error.to_string(),
            Violation::Stuck { stuck, .. } => {
                let at_barrier = |stuck: &Stuck| matches!(stuck.why, Why::Barrier(_));
                format!("{} {}", stuck.iter().any(at_barrier), stuck.iter().all(at_barrier))
            }
            Violation::Race { .. } | Violation::Unwritten { .. } | Violation::Module { .. } => String::new(),
        };
        let is_alike = |other: &Violation| other.kind() == self.kind() && detail(other) == detail(&self);
        if !others.iter().any(is_alike) {
            others.push(self);
        }
    }
}

/// The report of a check. Formatted with `{}` it is what `wattle check` prints: the verdict, its shapes and bounds, and
/// the story of each violation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// The target whose code was judged.
    pub target: Target,
    /// The memory model.
    pub model: Model,
    /// Whether the emitted code itself was read back and judged
    /// ([`Checker::emitted`](crate::checker::Checker::emitted)).
    pub emitted: bool,
    /// The progress model.
    pub progress: Progress,
    /// The shapes of the launches: `3 blocks × 1 thread`. A launch by [`FrameSpec`](wattle_core::FrameSpec) is tried in
    /// those that devices choose.
    pub shapes: Vec<String>,
    /// The shapes in which the violation was found; empty unless the verdict is `Violated`.
    pub violated_in: Vec<String>,
    /// The maximum number of iterations of loops.
    pub loop_bound: u32,
    /// The violations; empty unless the verdict is `Violated`.
    pub violations: Vec<Violation>,
    /// The reasons why the search was incomplete; empty if it was complete.
    pub unknown: Vec<Unknown>,
    /// The number of times that each combination of the scenario's observations occurred, over all distinct outcomes of
    /// its launches.
    pub outcomes: BTreeMap<String, u64>,
    /// An execution for each outcome, of the last launches before it.
    pub witnesses: BTreeMap<String, Box<Witness>>,
    /// An execution in which nothing is wrong, of the last launches of the first run.
    pub example: Option<Box<Witness>>,
    /// The number of shapes of its launches by frames that were tried: at least one, up to the one in which something
    /// is wrong.
    pub shapes_tried: usize,
    /// The checks of the scenario that held in every run, if all runs were right.
    pub checks: Vec<String>,
    /// Whether the scenario has read what its launches left.
    pub reads_back: bool,
    /// What the scenario said that it did, in each run that was right, if it observes nothing: several texts tell
    /// results that differ, and that it accepted. At most [`Report::MOST_SUMMARIES`].
    pub summaries: BTreeSet<String>,
    /// Dependencies that exclude some outcome, each by the line that reads and the line whose store depends on it: a
    /// compiler that removed them would let the outcome happen.
    pub rests_on: Vec<(Site, Site)>,
    /// Dependencies that may exclude some outcome, likewise, where [`rests_unfinished`](Report::rests_unfinished): of
    /// those that the search for such outcomes has ignored, the first.
    pub may_rest_on: Vec<(Site, Site)>,
    /// Whether stores wait for what is read, and it is not known whether outcomes are missing only because of that. The
    /// search for such outcomes ends after one second and at the bounds of loops, looks at no more than 96 ways in
    /// which a thread may go on, and is not made where some outcomes are unknown.
    pub rests_unfinished: bool,
    /// Loops in which a thread may wait for another of its block, each by the line that reads there and the one that
    /// writes what it reads: the search takes all threads of a block that has begun for ones that run, which the target
    /// does not promise. Empty for targets that do ([`Target::promises_threads`]).
    pub rests_on_progress: Vec<(Site, Site)>,
    /// The lines that store what the clock shows, which the search takes for 0: the verdict says nothing of what comes
    /// of other times.
    pub assumes: Vec<Site>,
    /// What the verdict rests on that no device or language promises, in words: of launches of modules, and of
    /// arithmetic whose bits are each device's own.
    pub notes: Vec<String>,
    /// The size of the search.
    pub statistics: Statistics,
    /// The number of events of the finished executions together.
    pub events: u64,
    /// If a limit ended a search: the share of it that was covered until then, from 0 to 1, where at each branching
    /// every branch counts for as much as the others. Of several such searches it is that of the one covered least.
    pub covered: Option<f64>,
    /// Whether equal threads were treated as interchangeable.
    pub symmetric: bool,
    /// The number of searches.
    pub searches: u32,
    /// The number of searches whose results were kept from an earlier run.
    pub kept: u32,
    /// The number of runs of the scenario's function.
    pub runs: u64,
    /// The duration of the check.
    pub elapsed: Duration,
    /// The instructions that ran, by kernel number and instruction number.
    pub executed: BTreeSet<(u32, u32)>,
    /// The number of orders in which the accesses that threads share can happen, for each combination of observations;
    /// counted only on request.
    pub orders: BTreeMap<String, Orders>,
    /// The launches in the first shape that was tried: advice changes these, and litmus files are written from them.
    pub launches: Vec<std::sync::Arc<crate::program::World>>,
}

/// The name of what is judged: the target, or the model where that alone differs.
pub(crate) fn name(target: Target, model: Model, emitted: bool) -> String {
    let name = match target {
        _ if model != target.model() => model.name().to_owned(),
        Target::Ptx { sm: 90 } => "ptx".to_owned(),
        target => target.to_string(),
    };
    if emitted { format!("{name}, as emitted") } else { name }
}

impl Report {
    /// The most texts that are kept of what a scenario said that it did.
    pub const MOST_SUMMARIES: usize = 8;

    /// The number of threads in a warp, if some execution rests on it: its warps pass the block's barrier at different
    /// statements or in different iterations, which the target permits to warps alone.
    pub fn rests_on_warps(&self) -> Option<u32> {
        self.target.converging_threads().filter(|_| self.statistics.apart > 0)
    }

    /// The name of what was judged, as in [`Checker::name`](crate::checker::Checker::name).
    pub fn name(&self) -> String {
        name(self.target, self.model, self.emitted)
    }

    /// Whether a kernel of the scenario's launches asserts something.
    pub fn kernels_assert(&self) -> bool {
        let mut asserts = false;
        for launch in self.launches.iter().flat_map(|world| &world.launches) {
            launch.program.kernel().walk(&mut |stmt| asserts |= matches!(stmt, Stmt::Assert { .. }));
        }
        asserts
    }
}
