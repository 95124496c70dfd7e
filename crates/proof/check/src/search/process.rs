//! What the search asks of a thread: a deterministic machine that can run past reads whose value is not known yet.

use std::hash::Hash;
use std::sync::Arc;

use wattle_ir::{AtomicOp, Type, eval};
use wattle_memory::{Label, ThreadId};

/// A memory cell: the memory it is in, and which of its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The memory.
    pub memory: u32,
    /// The element.
    pub element: u64,
}

/// An address, and how an access comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The cell.
    pub address: Address,
    /// The bytes of the access.
    pub bytes: u8,
    /// The name that the access goes through, for models that distinguish names of one cell.
    pub reference: u32,
}

/// The value that a cell has before all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The value.
    pub value: u64,
    /// Whether the memory has never been written.
    pub unwritten: bool,
}

/// What a read-modify-write does with the value that it reads. An operand that is not known is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Applies an operator.
    Apply {
        /// The operator.
        op: AtomicOp,
        /// The type of both operands.
        ty: Type,
        /// The second operand.
        operand: Option<u64>,
    },
    /// Writes `desired` where it reads `expected`.
    CompareExchange {
        /// What it compares with.
        expected: Option<u64>,
        /// What it writes.
        desired: Option<u64>,
        /// Whether one that fails writes the old value back (PTX), or nothing.
        writes_back: bool,
    },
}

/// What a read-modify-write writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is not known yet.
    Unknown,
    /// Nothing.
    Nothing,
    /// This value.
    Value(u64),
}

impl Change {
    /// Whether its operands are known.
    pub fn is_known(self) -> bool {
        match self {
            Change::Apply { operand, .. } => operand.is_some(),
            Change::CompareExchange { expected, desired, .. } => expected.is_some() && desired.is_some(),
        }
    }

    /// What is written where `old` is read, as far as that is known.
    pub fn written(self, old: Option<u64>) -> Written {
        match self {
            Change::Apply { op: AtomicOp::Exchange, operand: Some(new), .. } => Written::Value(new),
            Change::Apply { op, ty, operand: Some(operand) } => {
                old.map_or(Written::Unknown, |old| Written::Value(eval::atomic(op, ty, old, operand)))
            }
            Change::Apply { .. } => Written::Unknown,
            Change::CompareExchange { expected: Some(expected), desired, writes_back } => match (old, desired) {
                (Some(old), _) if old != expected && writes_back => Written::Value(old),
                (Some(old), _) if old != expected => Written::Nothing,
                (Some(_), Some(desired)) => Written::Value(desired),
                _ => Written::Unknown,
            },
            Change::CompareExchange { .. } => Written::Unknown,
        }
    }
}

/// Who has to be at a barrier before it opens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Members {
    /// All of these threads.
    Threads(Arc<[ThreadId]>),
    /// That many of the block's threads, whichever; those that come later pass at once.
    Quorum(u32),
}

/// A control barrier that a thread arrives at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// Which one of the block's: arrivals with the same number belong together.
    pub instance: u64,
    /// The barrier's resource: arrivals with different ones do not synchronize.
    pub resource: u64,
    /// Who has to come.
    pub members: Members,
    /// Whether the thread waits; one that only arrives goes on.
    pub waits: bool,
    /// Which threads must be at the same dynamic instance of the same statement as this one; none if any barrier of the
    /// resource will do.
    pub converges: Option<Convergence>,
}

/// The dynamic instance of a barrier's statement that a thread is at: a barrier at which threads of one group are at
/// different ones never opens, since no specification gives that a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convergence {
    /// The thread's group within its block: a warp where that is all that has to converge, else the block.
    pub group: u32,
    /// The instance: equal for the same statement in the same iterations of the loops around it.
    pub instance: u64,
}

/// What a thread does next. `source` is the statement, by a number that the thread's owner understands. A target or
/// value that depends on a read that is not chosen is none.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are documented on the enumeration and their types")]
pub enum Action {
    /// Reads. Wants [`Process::answer`].
    Read { target: Option<Target>, label: Label, source: u32 },
    /// Writes.
    Write { target: Option<Target>, value: Option<u64>, label: Label, source: u32 },
    /// Reads and writes at once. Wants [`Process::answer`] with the old value.
    Update { target: Option<Target>, change: Change, read: Label, write: Label, source: u32 },
    /// A fence.
    Fence { label: Label, source: u32 },
    /// A control barrier.
    Barrier { barrier: Barrier, label: Label, source: u32 },
    /// A loop that may go on for ever is about to begin. The process holds nothing now that it will not use again.
    LoopHead { label: u32 },
    /// Such a loop is about to begin again. One whose exit depends on memory `waits`: others may send it round as often
    /// as they please, so that the loop bound is about it.
    BackEdge { label: u32, source: u32, waits: bool },
    /// Cannot go on before a value that it was not given is known. The next call repeats the attempt.
    NeedsValue,
    /// Something that must not happen did; the thread goes on. `fault` is a number that its owner understands.
    Fault { fault: u32, source: u32 },
    /// The thread is never scheduled again, though it could go on.
    Halt,
    /// The thread has ended.
    Done,
}

/// A thread. Two are equal when they will do the same, given the same answers.
pub trait Process: Clone + Eq + Hash + Send + Sync {
    /// What all threads share: programs, arguments, initial memory.
    type World: Sync + ?Sized;

    /// Runs until there is something to do.
    fn next(&mut self, world: &Self::World) -> Action;

    /// Answers the last read or update; with nothing where the value is not known yet.
    fn answer(&mut self, world: &Self::World, value: Option<u64>);

    /// Whether it will do the same as another thread, which may have another place, as long as neither asks where it is.
    fn is_alike(&self, other: &Self) -> bool {
        self == other
    }

    /// The ways in which a thread can go on whose last action was [`Action::NeedsValue`], whatever the value is; none where
    /// they are not a few.
    fn ways(&self, world: &Self::World) -> Option<Vec<Self>>;

    /// Whether it holds a value that is not known.
    fn any_pending(&self) -> bool;

    /// Whether the thread may write to the cell from here on; where that is not known, it may. The more often the
    /// answer is no, the fewer ways the search tries in vain.
    fn may_write(&self, world: &Self::World, address: Address) -> bool;

    /// What a cell holds before all threads.
    fn initial(world: &Self::World, address: Address) -> Initial;
}
