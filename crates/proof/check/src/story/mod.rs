//! The story of a counterexample: what a person needs to see why a check failed.
//!
//! [`tell`] makes a [`Story`] of a violation: the threads that matter, their source lines in an order that explains
//! the outcome, and why nothing orders what should be ordered, with the clause that says so. A story is data; it is
//! also text ([`Story::render`]) and a picture ([`svg`]). [`show`] does the same for an execution in which nothing is
//! wrong: people learn from those too.
//!
//! What never will live here: judgement. A story explains what the checker found.

mod clause;
mod cycle;
mod diagnose;
mod draw;
mod explain;
mod layout;
mod names;
mod path;
mod rows;
mod source;
mod steps;
mod stuck;
mod svg;
mod text;

use wattle_memory::{EventId, ThreadId};

pub use clause::Clause;
pub use svg::{SvgOptions, svg};
pub use text::Role;
pub(crate) use text::wrapped;

use crate::checker::{Report, Violation, Witness};

/// A story: columns of threads, edges between their steps, and the sentences that explain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The files that the lines are of.
    pub files: Vec<String>,
    /// The threads that matter.
    pub columns: Vec<Column>,
    /// What leads from step to step.
    pub edges: Vec<Edge>,
    /// Values from before the launch that matter.
    pub initials: Vec<Initial>,
    /// What the other threads do, in a sentence; empty where there are none.
    pub left_out: String,
    /// What is wrong, in a sentence; empty where nothing is.
    pub headline: String,
    /// Why.
    pub reasons: Vec<String>,
    /// What the specifications say about it.
    pub clauses: Vec<Clause>,
}

/// A thread of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The thread.
    pub thread: ThreadId,
    /// What it is called: `block 2`.
    pub name: String,
    /// Its kernel.
    pub kernel: String,
    /// What it does, in order.
    pub steps: Vec<Step>,
}

/// What a thread does in a line of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its events.
    pub events: Vec<EventId>,
    /// When it comes, beside the steps of other threads: those of one row go together.
    pub row: usize,
    /// The line.
    pub line: Option<u32>,
    /// The source line's text; words like it where the source cannot be read.
    pub text: String,
    /// What is read and written.
    pub accesses: Vec<Access>,
    /// What else is to be said.
    pub notes: Vec<String>,
    /// What it is in the story.
    pub part: Part,
    /// How many steps of the thread before this one are left out.
    pub skipped: usize,
}

/// What a step is in the story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// One of the others.
    #[default]
    Other,
    /// Too weak, and so the cause.
    Cause,
    /// What is wrong: an access that races, a read of an old value.
    Wrong,
}

/// A value that is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The place: `payload[0]`.
    pub place: String,
    /// What is read.
    pub reads: Option<String>,
    /// What is written.
    pub writes: Option<String>,
    /// Where the value that is read comes from, in words.
    pub from: Option<String>,
}

/// A value that a place has before the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The place.
    pub place: String,
    /// The value; `None` where the memory has never been written.
    pub value: Option<String>,
}

/// What an edge means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// From a write to a read of it.
    ReadsFrom,
    /// From a write to a read of what it became through read-modify-writes of threads that are not shown.
    Observes,
    /// From a write to a newer one of the same place.
    Coherence,
    /// From a read to a write that it does not see.
    FromReads,
    /// What synchronizes.
    Synchronizes,
    /// The threads of a barrier.
    Barrier,
    /// The order that is missing.
    Missing,
}

impl EdgeKind {
    /// What stands at an arrow.
    pub fn label(self) -> &'static str {
        match self {
            EdgeKind::ReadsFrom => "rf",
            EdgeKind::Observes => "rf…rf",
            EdgeKind::Coherence => "co",
            EdgeKind::FromReads => "fr",
            EdgeKind::Synchronizes => "sync",
            EdgeKind::Barrier => "barrier",
            EdgeKind::Missing => "no order",
        }
    }
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A step: its column and its number there.
    Step(usize, usize),
    /// A value from before the launch.
    Initial(usize),
}

/// What leads from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What it means.
    pub kind: EdgeKind,
    /// Where it begins.
    pub from: End,
    /// Where it ends.
    pub to: End,
}

/// The story of something that is wrong.
pub fn tell(violation: &Violation, report: &Report) -> Story {
    explain::violation(violation, report.model, report.progress)
}

/// The story of an execution in which nothing is wrong.
pub fn show(witness: &Witness) -> Story {
    explain::holding(witness)
}
