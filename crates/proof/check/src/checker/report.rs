//! What a check found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use wattle_core::Error;
use wattle_ir::{Site, Stmt};
use wattle_memory::{EventId, Model, Target};

use super::orders::Orders;
use super::{Progress, Witness};
use crate::search::{Statistics, Stuck};

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In every execution, of the size that was checked.
    Holds,
    /// Not in some.
    Violated,
    /// Nothing wrong was found, but not everything was looked at: see [`Report::unknown`].
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

/// Why a check has not looked at everything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unknown {
    /// Executions that go through a loop more often than the bound.
    LoopBound(u32),
    /// A limit was reached, or somebody asked to stop.
    Stopped(String),
    /// Launches on several queues overlap across copies or events between them.
    Overlap,
    /// No execution came to its end, and nothing is known to keep it from that.
    Nothing,
    /// The program was sampled.
    Sampled(u64),
    /// Not with these of the shapes that were tried.
    InShapes {
        /// The shapes.
        shapes: Vec<String>,
        /// Why not everything was looked at in them.
        why: Box<Unknown>,
    },
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::LoopBound(bound) => {
                write!(f, "some loop goes on after {bound} iterations; --loop-bound looks further")
            }
            Unknown::Stopped(why) => f.write_str(why),
            Unknown::Overlap => f.write_str(
                "launches on several queues overlap across a copy, a task or an event, and not every such overlap was \
                 looked at",
            ),
            Unknown::Nothing => f.write_str("no execution came to its end, though none is known to be stuck"),
            Unknown::InShapes { shapes, why } => write!(f, "with {}: {why}", shapes.join("; ")),
            Unknown::Sampled(executions) => write!(f, "{executions} executions were sampled, not all looked at"),
        }
    }
}

/// Something that is wrong.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// Two accesses conflict, and nothing orders them.
    Race {
        /// The execution.
        witness: Box<Witness>,
        /// The accesses.
        accesses: (EventId, EventId),
    },
    /// A thread did something that must not happen: an index out of bounds, a failed assertion.
    Fault {
        /// The execution.
        witness: Box<Witness>,
        /// What happened, with the line.
        what: String,
    },
    /// A thread reads memory that nobody has written.
    Unwritten {
        /// The execution.
        witness: Box<Witness>,
        /// The read.
        read: EventId,
    },
    /// Threads can be stuck for ever.
    Stuck {
        /// The execution.
        witness: Box<Witness>,
        /// Which, and why.
        stuck: Vec<Stuck>,
        /// The blocks that the schedule leaves alone, though they could go on: launch and block.
        halted: Vec<(usize, u64)>,
    },
    /// The scenario's own check does not hold.
    Assertion {
        /// The last launches' execution, if there was any.
        witness: Option<Box<Witness>>,
        /// What the scenario said.
        error: Error,
    },
}

impl Violation {
    /// The execution that shows it.
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Violation::Race { witness, .. }
            | Violation::Fault { witness, .. }
            | Violation::Unwritten { witness, .. }
            | Violation::Stuck { witness, .. } => Some(witness),
            Violation::Assertion { witness, .. } => witness.as_deref(),
        }
    }

    /// What kind of thing is wrong, in a word or two.
    pub fn kind(&self) -> &'static str {
        match self {
            Violation::Race { .. } => "data race",
            Violation::Fault { .. } => "fault",
            Violation::Unwritten { .. } => "unwritten memory",
            Violation::Stuck { .. } => "can be stuck for ever",
            Violation::Assertion { .. } => "assertion",
        }
    }
}

/// What a check found. Its text, with `{}`, is what `wattle check` prints: the verdict, what it is for, and the story of
/// each violation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// What it says.
    pub verdict: Verdict,
    /// What was judged.
    pub target: Target,
    /// By which model.
    pub model: Model,
    /// Under which promise of progress.
    pub progress: Progress,
    /// The shapes of the launches: `3 blocks × 1 thread`. A launch by [`FrameSpec`](wattle_core::FrameSpec) is tried in
    /// those that devices choose.
    pub shapes: Vec<String>,
    /// The shapes in which the violation was found; empty unless the verdict is `Violated`.
    pub violated_in: Vec<String>,
    /// How often loops were gone through at the most.
    pub loop_bound: u32,
    /// What is wrong; empty unless the verdict is `Violated`.
    pub violations: Vec<Violation>,
    /// Why not everything was looked at; empty where it was.
    pub unknown: Vec<Unknown>,
    /// How often each combination of the scenario's observations came, over all distinct outcomes of its launches.
    pub outcomes: BTreeMap<String, u64>,
    /// An execution for each outcome, of the last launches before it.
    pub witnesses: BTreeMap<String, Box<Witness>>,
    /// An execution in which nothing is wrong, of the last launches of the first run.
    pub example: Option<Box<Witness>>,
    /// How many shapes of its launches by frames were tried: at least one, up to that in which something is wrong.
    pub shapes_tried: usize,
    /// The checks of the scenario that held in every run.
    pub checks: Vec<String>,
    /// Dependencies that keep some outcome away, each by the line that reads and the line whose store waits for it: a
    /// compiler that saw through them would let the outcome happen.
    pub rests_on: Vec<(Site, Site)>,
    /// How much was searched.
    pub statistics: Statistics,
    /// Whether like threads were taken for one another.
    pub symmetric: bool,
    /// How often the scenario's function was run.
    pub runs: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The instructions that ran, by the numbers of their kernels and their own.
    pub executed: BTreeSet<(u32, u32)>,
    /// In how many orders the accesses that threads share can happen, for each combination of observations; counted
    /// only where it was asked for.
    pub orders: BTreeMap<String, Orders>,
    /// The launches, in the first shape that was tried: what advice can change, and what is written as litmus files.
    pub launches: Vec<std::sync::Arc<crate::program::World>>,
}

/// What is judged, in a word: the target, or the model where that alone differs.
pub(super) fn name(target: Target, model: Model) -> String {
    match target {
        _ if model != target.model() => model.name().to_owned(),
        Target::Ptx { sm: 90 } => "ptx".to_owned(),
        target => target.to_string(),
    }
}

impl Report {
    /// What was judged, as [`Checker::name`](super::Checker::name) has it.
    pub fn name(&self) -> String {
        name(self.target, self.model)
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
