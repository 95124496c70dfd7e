//! What a thread is in the midst of: an access, a copy or a meeting that has more events than one.

use wattle_modules::Deferred;

use super::matching::Matching;

/// An access of which some cells are not done yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Open {
    Load {
        at: u32,
        address: Deferred,
        read: Vec<Deferred>,
        any: bool,
    },
    Store {
        at: u32,
        address: Deferred,
        values: Vec<Deferred>,
        written: u32,
    },
    /// Events of an access that has fewer cells than it might have had.
    Nothing {
        at: u32,
        left: usize,
    },
    Update {
        at: u32,
        any: bool,
        /// What it adds, if it takes subnormal numbers for zero.
        flushed: Option<u32>,
    },
    Meeting {
        at: u32,
        mask: u64,
        any: bool,
        /// The lane whose value it takes, if it is a shuffle.
        from: Option<u32>,
    },
    /// A lane that looks for those with its value.
    Matching(Matching),
    /// A barrier that gathers from its threads, once they have passed it.
    Gathering {
        at: u32,
        holds: Deferred,
    },
    /// A copy; `until` is the number of the first one that stays open, and `done` that of the cells that are done.
    Copy {
        at: u32,
        stage: Stage,
        until: u32,
        done: u32,
    },
}

/// What a thread does for one of its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The thread reads the source, when the copy begins.
    Begin,
    /// The thread writes marks to the target, when the copy begins.
    Mark,
    /// The thread looks for the marks, at the wait.
    Look,
    /// The thread reads the source again, at the wait.
    Read,
    /// The thread writes what it has read to the target, at the wait.
    Write,
}
