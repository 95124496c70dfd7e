//! Where an operation stands among those of all queues, kept for longer than its turn.

use std::sync::Arc;

use super::{Moment, QueueClock, Stamp};

/// An operation that was enqueued, and what it is ordered after.
#[derive(Clone, Debug)]
pub struct Point {
    clock: Arc<QueueClock>,
    number: u64,
    /// What its queue knew of others when it was enqueued.
    known: Moment,
}

impl Stamp<'_> {
    /// The operation's point. It is taken in the operation's turn: what its queue learns later, it is not ordered
    /// after.
    pub fn point(&self) -> Point {
        Point { clock: self.clock.clone(), number: self.number, known: self.clock.known() }
    }
}

impl Point {
    /// Whether the host has waited for the operation, so that all that is enqueued from now on comes after it.
    pub fn is_over(&self) -> bool {
        self.clock.is_over(self.number)
    }

    /// Whether the operation was enqueued behind another one on its queue, or on a queue that waits for it by an event.
    /// What it is ordered after because the host had waited for it is not asked for here ([`Point::is_over`]).
    pub fn is_behind(&self, earlier: &Point) -> bool {
        if Arc::ptr_eq(&self.clock, &earlier.clock) {
            return earlier.number < self.number;
        }
        self.known.has(&earlier.clock, earlier.number)
    }
}
