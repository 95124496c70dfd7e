//! A cell as the one run of a program leaves it, with its last accesses and when they happened.

use wattle_memory::{EventId, LocationId, ThreadId};

use super::commuting::Commuting;
use super::exact::Exact;

/// When an access happened: the thread, and the number of barriers about its memory that it had passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Epoch {
    pub thread: ThreadId,
    pub phase: u32,
    /// The number of barriers of its group that the thread had passed.
    pub round: u32,
    /// The statement.
    pub source: u32,
    /// Whether the access is atomic.
    pub atomic: bool,
}

/// Accesses of the threads of one block, the last of those that nothing orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recent {
    pub last: Epoch,
    /// The last one of another thread in the same phase.
    pub other: Option<Epoch>,
    /// Whether all of them are of one thread, or of threads of one group.
    pub together: bool,
}

/// The accesses of a cell since its last write, or its updates: one entry for each block.
pub(super) type Accesses = Vec<(usize, Recent)>;

/// The accesses of a cell before its last store: those before them come before them too.
pub(super) struct Past {
    pub writer: Option<Epoch>,
    pub alike: Accesses,
    pub reads: Accesses,
    pub updates: Accesses,
}

/// A cell, with its last accesses.
pub(super) struct Cell {
    pub bytes: u8,
    pub reference: u32,
    pub value: u64,
    pub unwritten: bool,
    /// The number of its storage class.
    pub class: usize,
    /// Whether some access is private (Vulkan).
    pub private: bool,
    /// The thread that alone has accessed the cell; `None` once there are several.
    pub owner: Option<ThreadId>,
    /// Whether private accesses of several threads are to be ordered, which barriers do not do.
    pub apart: bool,
    pub writer: Option<Epoch>,
    /// The other stores of the value of the last store that nothing orders with it.
    pub alike: Accesses,
    /// The accesses before the first of these stores, where there may be several.
    pub past: Option<Box<Past>>,
    pub reads: Accesses,
    /// Whether all reads since the last write are atomic.
    pub reads_atomic: bool,
    /// The thread that first accessed the cell atomically.
    pub accessor: Option<ThreadId>,
    /// The updates since the last write, if they commute.
    pub updates: Accesses,
    pub commuting: Option<Commuting>,
    /// What the updates have added up, where that is floats.
    pub sum: Option<Exact>,
    pub location: LocationId,
    /// The event of the last write.
    pub written: EventId,
}
