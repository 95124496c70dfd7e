//! A story as data: what threads do, what connects it, and the sentences that explain.

use wattle_memory::{Clause, EventId, ThreadId};

/// A story: columns of threads, edges between their steps, and the sentences that explain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// The source files of the lines.
    pub files: Vec<String>,
    /// The threads that matter.
    pub columns: Vec<Column>,
    /// The edges between steps.
    pub edges: Vec<Edge>,
    /// Values from before the launch that matter.
    pub initials: Vec<Initial>,
    /// A sentence on what the other threads do; empty if there are none.
    pub left_out: String,
    /// A sentence that says what is wrong; empty if nothing is.
    pub headline: String,
    /// The reasons.
    pub reasons: Vec<String>,
    /// The clauses of the specifications that apply.
    pub clauses: Vec<Clause>,
}

/// A thread of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The thread.
    pub thread: ThreadId,
    /// The name of the thread: `block 2`.
    pub name: String,
    /// The name of the kernel that the thread runs.
    pub kernel: String,
    /// The steps of the thread, in order.
    pub steps: Vec<Step>,
}

/// A step of a thread: what it does at one source line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The events of the step, in program order.
    pub events: Vec<EventId>,
    /// The row: steps of different threads in one row go together.
    pub row: usize,
    /// The line.
    pub line: Option<u32>,
    /// The text of the source line, or a description if the source cannot be read.
    pub text: String,
    /// The values that are read and written.
    pub accesses: Vec<Access>,
    /// Further remarks.
    pub notes: Vec<String>,
    /// The role of the step in the story.
    pub part: Part,
    /// The number of omitted steps of the thread before this one.
    pub skipped: usize,
}

/// The role of a step in the story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Any other step.
    #[default]
    Other,
    /// A step that is too weak and so the cause.
    Cause,
    /// A step that shows the violation: an access that races, a read of an old value.
    Wrong,
}

/// A value that is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The place: `payload[0]`.
    pub place: String,
    /// The value read, if any.
    pub reads: Option<String>,
    /// The value written, if any.
    pub writes: Option<String>,
    /// The origin of the value read, in words.
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

/// The meaning of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EdgeKind {
    /// From a write to a read of it.
    ReadsFrom,
    /// From a write to a read of its value after read-modify-writes of threads that are not shown.
    Observes,
    /// From a write to a newer one of the same place.
    Coherence,
    /// From a read to a write that it does not see.
    FromReads,
    /// Between operations that synchronize.
    Synchronizes,
    /// Between the threads of a barrier.
    Barrier,
    /// The order that is missing between two accesses.
    Missing,
}

impl EdgeKind {
    /// The text beside an arrow.
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
#[non_exhaustive]
pub enum End {
    /// A step: its column and its number there.
    Step(usize, usize),
    /// A value from before the launch.
    Initial(usize),
}

/// An edge between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The meaning of the edge.
    pub kind: EdgeKind,
    /// The end where it begins.
    pub from: End,
    /// The end where it points.
    pub to: End,
}
