//! The relations of a candidate execution, as matrices, in which all axioms are written.

use wattle_memory::{Label, Level, Placement};

use super::candidate::{Candidate, Event};
use super::matrix::{Matrix, pairs};

pub struct Facts<'a> {
    pub events: &'a [Event],
    pub places: &'a [Placement],
    pub source: &'a [Option<usize>],
    pub n: usize,
    pub po: Matrix,
    /// Reads-from, without reads of the initial value.
    pub rf: Matrix,
    /// Pairs of accesses of one cell, an access with itself included.
    pub same_cell: Matrix,
}

impl<'a> Facts<'a> {
    pub fn new(candidate: &'a Candidate, places: &'a [Placement]) -> Self {
        let (events, source, n) = (&candidate.events[..], &candidate.source[..], candidate.events.len());
        Facts {
            events,
            places,
            source,
            n,
            po: pairs(n, |a, b| a < b && events[a].thread == events[b].thread),
            rf: pairs(n, |a, b| source[b] == Some(a)),
            same_cell: pairs(n, |a, b| events[a].cell.is_some() && events[a].cell == events[b].cell),
        }
    }

    pub fn reads(&self, a: usize) -> bool {
        self.events[a].read.is_some()
    }

    pub fn writes(&self, a: usize) -> bool {
        self.events[a].write.is_some()
    }

    pub fn is_fence(&self, a: usize) -> bool {
        self.events[a].fence.is_some()
    }

    pub fn is_access(&self, a: usize) -> bool {
        self.events[a].cell.is_some()
    }

    /// The label of an event; of a read-modify-write that of its read, which differs only in acquire and release.
    pub fn label(&self, a: usize) -> Label {
        let event = &self.events[a];
        event.read.or(event.write).or(event.fence).expect("it does something")
    }

    pub fn atomic(&self, a: usize) -> bool {
        self.label(a).atomic
    }

    /// Whether it acquires: a read by its label, a fence by its own.
    pub fn acquires(&self, a: usize) -> bool {
        self.events[a].read.or(self.events[a].fence).is_some_and(|label| label.acquire)
    }

    pub fn releases(&self, a: usize) -> bool {
        self.events[a].write.or(self.events[a].fence).is_some_and(|label| label.release)
    }

    pub fn sc_fence(&self, a: usize) -> bool {
        self.events[a].fence.is_some_and(|label| label.sc)
    }

    /// Whether two threads are in one group.
    pub fn grouped(&self, a: usize, b: usize, level: Level) -> bool {
        let (a, b) = (self.events[a].thread, self.events[b].thread);
        a == b || self.places[a].shares(&self.places[b], level)
    }

    /// Whether each event's scope includes the other's thread.
    pub fn in_scope(&self, a: usize, b: usize) -> bool {
        self.grouped(a, b, self.label(a).level) && self.grouped(a, b, self.label(b).level)
    }

    pub fn same_thread(&self, a: usize, b: usize) -> bool {
        self.events[a].thread == self.events[b].thread
    }

    /// Whether two accesses conflict: different threads, one cell, one of them a write.
    pub fn conflict(&self, a: usize, b: usize) -> bool {
        !self.same_thread(a, b) && self.same_cell[a][b] && (self.writes(a) || self.writes(b))
    }

    /// From-reads: from a read to all writes after its source; to all writes of the cell if that is the initial value.
    pub fn reads_before(&self, co: &Matrix) -> Matrix {
        pairs(self.n, |read, write| {
            read != write
                && self.reads(read)
                && self.writes(write)
                && self.same_cell[read][write]
                && self.source[read].is_none_or(|source| co[source][write])
        })
    }
}
