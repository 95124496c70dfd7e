//! A barrier at which threads arrive, or an operation of a warp to which lanes bring values.

use wattle_memory::{EventId, ThreadId};

use super::process::{Convergence, Exchange, Members};

/// A barrier of a block, or an operation of a warp, with the arrivals at it.
#[derive(Clone)]
pub(super) struct Gate {
    pub members: Members,
    pub arrivals: Vec<Arrival>,
    pub open: bool,
    /// What the threads have brought, if it is an operation of a warp.
    pub brought: Vec<(ThreadId, Exchange)>,
}

impl Gate {
    /// Whether those of these arrivals that are of one group are at the same instance of the same statement.
    pub fn converges(&self, arrivals: &[usize]) -> bool {
        let instances = || arrivals.iter().filter_map(|&number| self.arrivals[number].converges);
        instances().all(|one| instances().all(|other| one.group != other.group || one.instance == other.instance))
    }

    /// Whether groups of threads have passed the gate at different statements, or in different iterations.
    pub fn was_passed_apart(&self) -> bool {
        let mut instances = self.arrivals.iter().filter_map(|arrival| arrival.converges);
        let first = instances.next();
        self.open && first.is_some_and(|first| instances.any(|other| other.instance != first.instance))
    }
}

/// The arrival of a thread at a gate.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    pub thread: ThreadId,
    pub event: EventId,
    pub resource: u64,
    pub waits: bool,
    pub passed: bool,
    pub converges: Option<Convergence>,
}
