//! The interface of a thread to the search: a deterministic machine that can run past reads whose value is not known
//! yet.

use std::hash::Hash;
use std::sync::Arc;

use wattle_ir::{AtomicOp, Type, WarpOp, eval};
use wattle_memory::{Label, ThreadId};

/// A memory cell: the number of its memory, and of the element in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The number of the memory.
    pub memory: u32,
    /// The number of the element.
    pub element: u64,
}

/// An address, with the size and name of an access to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessTarget {
    /// The cell.
    pub address: Address,
    /// The size of the access in bytes.
    pub bytes: u8,
    /// The name that the access goes through, for models that distinguish names of one cell.
    pub reference: u32,
}

/// The value of a cell before all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Initial {
    /// The value.
    pub value: u64,
    /// Whether the memory has never been written.
    pub unwritten: bool,
}

/// The change that a read-modify-write makes to the value read. An unknown operand is `None`.
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
        /// The value that is compared with.
        expected: Option<u64>,
        /// The value that is written on success.
        desired: Option<u64>,
        /// Whether a failing one writes the old value back (PTX), or nothing.
        writes_back: bool,
        /// The label of a succeeding one's read, where it is stronger than that of the operation (SPIR-V has semantics
        /// of its own for what is not equal). What is compared with is known then.
        succeeded: Option<Label>,
    },
}

/// The result that a read-modify-write writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The result is not known yet.
    Unknown,
    /// The read-modify-write writes nothing.
    Nothing,
    /// The read-modify-write writes this value.
    Value(u64),
}

impl Change {
    /// The operands, as far as they are known: of a compare-exchange what is compared with, then what is written.
    pub fn operands(self) -> [Option<u64>; 2] {
        match self {
            Change::Apply { operand, .. } => [operand, None],
            Change::CompareExchange { expected, desired, .. } => [expected, desired],
        }
    }

    /// Whether its operands are known.
    pub fn is_known(self) -> bool {
        match self {
            Change::Apply { operand, .. } => operand.is_some(),
            Change::CompareExchange { expected, desired, .. } => expected.is_some() && desired.is_some(),
        }
    }

    /// The label of its read, where that of the operation is `read` and `old` is read.
    pub fn read_label(self, read: Label, old: Option<u64>) -> Label {
        match (self, old) {
            (Change::CompareExchange { expected: Some(expected), succeeded: Some(succeeded), .. }, Some(old))
                if old == expected =>
            {
                succeeded
            }
            (Change::CompareExchange { .. } | Change::Apply { .. }, _) => read,
        }
    }

    /// The strongest label that its read can have.
    pub fn strongest_label(self, read: Label) -> Label {
        match self {
            Change::CompareExchange { succeeded, .. } => succeeded.unwrap_or(read),
            Change::Apply { .. } => read,
        }
    }

    /// The value written where `old` is read, as far as it is known.
    pub fn written(self, old: Option<u64>) -> Written {
        match self {
            Change::Apply { op: AtomicOp::Exchange, operand: Some(new), .. } => Written::Value(new),
            Change::Apply { op, ty, operand: Some(operand) } => {
                old.map_or(Written::Unknown, |old| Written::Value(eval::atomic(op, ty, old, operand)))
            }
            Change::Apply { .. } => Written::Unknown,
            Change::CompareExchange { expected: Some(expected), desired, writes_back, .. } => match (old, desired) {
                (Some(old), _) if old != expected && writes_back => Written::Value(old),
                (Some(old), _) if old != expected => Written::Nothing,
                (Some(_), Some(desired)) => Written::Value(desired),
                _ => Written::Unknown,
            },
            Change::CompareExchange { .. } => Written::Unknown,
        }
    }
}

/// The threads that must arrive at a barrier before it opens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Members {
    /// All of these threads.
    Threads(Arc<[ThreadId]>),
    /// All of these threads but those that have ended.
    Remaining(Arc<[ThreadId]>),
    /// As many threads of the block as the number, whichever arrive first; later ones pass at once.
    Quorum(u32),
    /// As many groups as `count`, whichever arrive first; later ones wait for others. A group has arrived once all of
    /// its threads have that have not ended.
    Groups {
        /// The threads of all groups.
        of: Arc<[ThreadId]>,
        /// The threads of a group, which stand one behind the other; the last group may have fewer.
        size: u32,
        /// The number of groups.
        count: u32,
    },
}

/// A control barrier that a thread arrives at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Barrier {
    /// The number of the barrier in its block: arrivals with the same number belong together; at a barrier of groups
    /// those up to its opening, and the next ones then again.
    pub instance: u64,
    /// The barrier's resource: arrivals with different ones do not synchronize.
    pub resource: u64,
    /// The threads that must arrive.
    pub members: Members,
    /// Whether the thread waits; otherwise it only arrives.
    pub waits: bool,
    /// The statement instance at which the threads of a group must be together; `None` if any barrier of the resource
    /// matches.
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

/// What a lane brings to an operation of its warp. An unknown value is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The operation.
    pub op: WarpOp,
    /// The type of the values.
    pub ty: Type,
    /// The lane's value.
    pub value: Option<u64>,
    /// The second operand; 0 where there is none.
    pub operand: Option<u64>,
}

impl Exchange {
    /// Whether the value and the operand are known.
    pub(super) fn is_known(&self) -> bool {
        self.value.is_some() && self.operand.is_some()
    }
}

/// The next action of a thread. `source` is the statement, by a number that the process assigns. A target or value that
/// depends on an unchosen read is `None`.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are documented on the enumeration and their types")]
pub enum Action {
    /// A read, which expects [`Process::answer`].
    Read { target: Option<AccessTarget>, label: Label, source: u32 },
    /// A write.
    Write { target: Option<AccessTarget>, value: Option<u64>, label: Label, source: u32 },
    /// A read-modify-write, which expects [`Process::answer`] with the old value.
    Update { target: Option<AccessTarget>, change: Change, read: Label, write: Label, source: u32 },
    /// A fence.
    Fence { label: Label, source: u32 },
    /// A control barrier.
    Barrier { barrier: Barrier, label: Label, source: u32 },
    /// An operation of the thread's warp, whose lanes are the members of `barrier`, in their order. It expects
    /// [`Process::answer`] with the lane's result.
    Exchange { barrier: Barrier, exchange: Exchange, source: u32 },
    /// A loop that may go on for ever is about to begin. The process now holds only values that it will use again.
    LoopHead { label: u32 },
    /// A loop that may go on for ever is about to begin again. If its exit depends on memory, it `waits`: other threads
    /// may prolong it without limit, so the loop bound applies to it, unless it `ends` by itself in the end, whatever
    /// memory holds: then they may prolong it as far as that.
    BackEdge { label: u32, source: u32, waits: bool, ends: bool },
    /// The thread cannot continue before a value that it was not given is known. The next call repeats the attempt.
    NeedsValue,
    /// A fault happened; the thread continues. `fault` is a number that the process assigns.
    Fault { fault: u32, source: u32 },
    /// The thread is never scheduled again, though it could go on.
    Halt,
    /// The thread has ended.
    Done,
}

/// What an action is made of.
#[derive(Clone, Copy, Debug)]
pub struct ActionParts {
    /// The labels of the events that the action is.
    pub labels: [Option<Label>; 2],
    /// What the action writes, combines, compares or brings, as far as that is known; of a compare-exchange first the
    /// value that is compared with.
    pub operands: [Option<u64>; 2],
    /// Whether the action may write memory.
    pub writes: bool,
    /// Whether the action expects [`Process::answer`].
    pub is_answered: bool,
}

impl Action {
    /// What the action is made of.
    pub fn parts(&self) -> ActionParts {
        let none = ActionParts { labels: [None; 2], operands: [None; 2], writes: false, is_answered: false };
        match *self {
            Action::Read { target: _, label, source: _ } => {
                ActionParts { labels: [Some(label), None], is_answered: true, ..none }
            }
            Action::Write { target: _, value, label, source: _ } => {
                ActionParts { labels: [Some(label), None], operands: [value, None], writes: true, ..none }
            }
            Action::Update { target: _, change, read, write, source: _ } => ActionParts {
                labels: [Some(read), Some(write)],
                operands: change.operands(),
                writes: true,
                is_answered: true,
            },
            Action::Exchange { barrier: _, exchange, source: _ } => {
                ActionParts { operands: [exchange.value, exchange.operand], is_answered: true, ..none }
            }
            Action::Fence { label, source: _ } | Action::Barrier { barrier: _, label, source: _ } => {
                ActionParts { labels: [Some(label), None], ..none }
            }
            Action::LoopHead { label: _ }
            | Action::BackEdge { label: _, source: _, waits: _, ends: _ }
            | Action::NeedsValue
            | Action::Fault { fault: _, source: _ }
            | Action::Halt
            | Action::Done => none,
        }
    }
}

/// The memory before all threads.
pub trait Memory: Sync {
    /// The value of a cell.
    fn initial(&self, address: Address) -> Initial;
}

/// What a thread runs. Two are equal when they will do the same, given the same answers.
pub trait Process: Clone + Eq + Hash + Send + Sync + 'static {
    /// The state that all processes of this type share: programs, arguments, initial memory.
    type World: Sync + ?Sized;

    /// Runs to the next action.
    fn next(&mut self, world: &Self::World) -> Action;

    /// Answers the last read, update or exchange; with `None` where the value is not known yet.
    fn answer(&mut self, world: &Self::World, value: Option<u64>);

    /// Answers the last read, which has found memory that nobody has written; the word stands for whatever is there.
    fn answer_unwritten(&mut self, world: &Self::World, word: u64) {
        self.answer(world, Some(word));
    }

    /// Whether the thread takes along what the read at which it stands finds in unwritten memory, and reports a fault
    /// where that matters. Of others the read is the error.
    fn carries_unwritten(&self, _world: &Self::World) -> bool {
        false
    }

    /// Whether the thread will do the same as another of another position, given the same answers. Both wait for an
    /// answer.
    fn is_alike(&self, _world: &Self::World, other: &Self) -> bool {
        self == other
    }

    /// Whether it is at the back edge of a loop as it was at another time, so that the iteration between the two will
    /// come again: in which iterations of the loops around it the thread is makes no difference.
    fn repeats(&self, _world: &Self::World, earlier: &Self) -> bool {
        self == earlier
    }

    /// Whether it is at the back edge of a loop as it was at another time, where all threads that it met at barriers
    /// meanwhile are too: how often it has come to them makes no difference then, since all have as often.
    fn comes_round(&self, world: &Self::World, earlier: &Self) -> bool {
        self.repeats(world, earlier)
    }

    /// Takes for unknown what differs from another thread that stands at the same place, so that it stands for both;
    /// `false` where they stand at different places, or that is not possible. How often they have gone round their
    /// loops makes no difference, nor, if all threads of their block are `together`, how often they have come to its
    /// barriers.
    fn widen(&mut self, _world: &Self::World, _other: &Self, _together: bool) -> bool {
        false
    }

    /// The ways in which a thread whose last action was [`Action::NeedsValue`] can continue, whatever the value is;
    /// `None` where they are too many.
    fn ways(&self, world: &Self::World) -> Option<Vec<Self>>;

    /// Whether the thread holds a value that is not known.
    fn any_pending(&self) -> bool;

    /// Marks the values that are not known, each with another mark, so that it is the same value wherever the mark is
    /// found again: it has only been kept or copied.
    fn mark_pending(&mut self) {}

    /// Whether the thread holds a value that is not known and has no mark: it may be another one than that of a state
    /// which is equal otherwise.
    fn any_unmarked(&self) -> bool {
        self.any_pending()
    }

    /// Forgets values that it will not use again, as far as it knows: threads with equal futures are equal then.
    fn forget_dead(&mut self, _world: &Self::World) {}

    /// Whether the thread may write to the cell from here on; where that is not known, `true`. The more often the
    /// answer is `false`, the fewer ways the search tries in vain.
    fn may_write(&self, world: &Self::World, address: Address) -> bool;

    /// Whether an access of this statement, whose place depends on what is read, may be to the cell. The more often the
    /// answer is `false`, the fewer ways the search tries in vain.
    fn may_reach(&self, _world: &Self::World, _source: u32, _address: Address) -> bool {
        true
    }
}
