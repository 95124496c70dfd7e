//! Events: points in a queue's order that others can wait for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::clock::{self, Moment};
use crate::device::BackendQueue;
use crate::error::Result;

/// Whether a point has been reached.
#[derive(Debug, Default)]
pub struct EventState {
    reached: Mutex<bool>,
    changed: Condvar,
}

impl EventState {
    /// Whether the point has been reached.
    pub fn is_reached(&self) -> bool {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The point has been reached.
    pub fn reach(&self) {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits until the point has been reached.
    pub fn wait(&self) {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        while !*reached {
            reached = self.changed.wait(reached).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A point in a queue's order: what [`Queue::record`](crate::Queue::record) gives.
#[derive(Clone)]
pub struct Event {
    pub(crate) state: Arc<EventState>,
    pub(crate) moment: Moment,
    pub(crate) queue: Arc<dyn BackendQueue>,
}

impl Event {
    /// Whether the event has been reached, as far as the work has moved by itself: what devices ask.
    pub fn is_reached(&self) -> bool {
        self.state.is_reached()
    }

    /// Moves the work before the event on a little, where it moves only while somebody asks.
    pub fn nudge(&self) {
        self.queue.nudge();
    }

    /// Whether all that was enqueued before the event is done.
    pub fn is_complete(&self) -> bool {
        self.queue.progress(&self.state);
        self.state.is_reached()
    }

    /// Waits until all that was enqueued before the event is done. What comes later on the host is ordered after it.
    ///
    /// # Errors
    /// The first error of the queue that was not yet taken. It stays with the queue, whose `wait` takes it.
    pub fn wait(&self) -> Result<()> {
        self.queue.progress(&self.state);
        self.state.wait();
        clock::host_waited(&self.moment);
        self.queue.pending_error().map_or(Ok(()), Err)
    }
}
