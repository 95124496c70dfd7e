//! Events: points in a queue's order that the host and other queues can wait for.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::place::begin_to_wait;
use crate::backend::{BackendQueue, Decided, Mover};
use crate::clock::{self, Moment};
use crate::error::Result;
use crate::sync::lock;

/// When a point was reached, by some clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// The number of the clock: 0 is the host's, others are those of devices.
    pub clock: u64,
    /// The clock's reading, in nanoseconds.
    pub nanoseconds: u64,
}

impl Timestamp {
    /// The host's clock, now.
    pub fn now() -> Timestamp {
        static START: OnceLock<Instant> = OnceLock::new();
        let since = START.get_or_init(Instant::now).elapsed();
        Timestamp { clock: 0, nanoseconds: since.as_nanos().try_into().unwrap_or(u64::MAX) }
    }
}

/// Whether a point has been reached.
#[derive(Debug, Default)]
pub struct EventState {
    reached: Mutex<Option<Timestamp>>,
    changed: Condvar,
    /// The recording device's own handle of the point.
    mark: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl EventState {
    /// Whether the point has been reached.
    pub fn is_reached(&self) -> bool {
        self.reached().is_some()
    }

    /// When the point was reached.
    pub fn timestamp(&self) -> Option<Timestamp> {
        *self.reached()
    }

    /// Records that the point is reached, now.
    pub fn reach(&self) {
        self.reach_at(Timestamp::now());
    }

    /// Records that the point was reached at `timestamp`, by the device's own clock.
    pub fn reach_at(&self, timestamp: Timestamp) {
        *self.reached() = Some(timestamp);
        self.changed.notify_all();
    }

    /// Records the handle of a device that is going to record the point: its other queues can wait without the host.
    pub fn mark(&self, mark: Arc<dyn Any + Send + Sync>) {
        let _reached = self.reached();
        // The first of several marks stands.
        let _ = self.mark.set(mark);
        self.changed.notify_all();
    }

    fn reached(&self) -> MutexGuard<'_, Option<Timestamp>> {
        lock(&self.reached)
    }

    /// Waits until the point has been reached.
    pub fn wait(&self) {
        let mut reached = self.reached();
        while reached.is_none() {
            reached = self.changed.wait(reached).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A point in a queue's order: what [`Queue::record`](crate::Queue::record) gives.
#[doc(alias = "cudaEvent_t")]
#[derive(Clone)]
pub struct Event {
    pub(crate) state: Arc<EventState>,
    pub(crate) moment: Arc<Moment>,
    pub(crate) queue: Arc<dyn BackendQueue>,
}

/// The end of the work of a queue that was dropped before it was waited for.
pub(crate) struct LastPoint {
    pub(crate) state: Arc<EventState>,
    pub(crate) mover: Option<Arc<dyn Mover>>,
}

impl fmt::Debug for LastPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastPoint").field("state", &self.state).finish_non_exhaustive()
    }
}

impl LastPoint {
    pub(super) fn wait(&self) {
        if let Some(mover) = &self.mover {
            mover.progress(&self.state);
        }
        self.state.wait();
    }
}

impl Event {
    /// Whether the event has been reached, as far as the work has moved by itself: what devices ask.
    pub fn is_reached(&self) -> bool {
        self.state.is_reached()
    }

    /// Waits until the event has been reached, as a device does for one of its queues: nothing is ordered for the host
    /// by it.
    pub fn wait_as_device(&self) {
        self.progress();
        self.state.wait();
    }

    /// The device's own handle of the event, once the device is going to record it ([`EventState::mark`]).
    pub fn mark(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.state.mark.get()
    }

    /// Waits until the event has a mark, since the device is going to record it, or until the event has been reached:
    /// for queues of devices, which then have nothing in flight that other queues may wait for.
    pub fn wait_for_mark(&self) {
        self.progress();
        let mut reached = self.state.reached();
        while reached.is_none() && self.state.mark.get().is_none() {
            reached = self.state.changed.wait(reached).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Moves the work before the event on a little, where it moves only while a thread waits.
    pub fn nudge(&self) {
        if let Some(mover) = self.queue.mover() {
            mover.nudge();
        }
    }

    fn progress(&self) {
        if let Some(mover) = self.queue.mover() {
            mover.progress(&self.state);
        }
    }

    /// How long it took from `earlier` to this event, by the device's clock where it has one. `None` while one of the
    /// two has not been reached, or where they are of devices whose clocks cannot be compared.
    #[doc(alias = "cudaEventElapsedTime")]
    pub fn elapsed_since(&self, earlier: &Event) -> Option<Duration> {
        let (from, to) = (earlier.state.timestamp()?, self.state.timestamp()?);
        let elapsed = to.nanoseconds.checked_sub(from.nanoseconds)?;
        (from.clock == to.clock).then(|| Duration::from_nanos(elapsed))
    }

    /// Whether all that was enqueued before the event is done.
    ///
    /// On a device whose work moves only while a thread waits, as the simulated one, it is done then. The checker does
    /// not answer for a scenario that asks before it has waited, since devices may say either.
    pub fn is_complete(&self) -> bool {
        if let Some(mover) = self.queue.mover().filter(|_| !self.moment.is_over()) {
            mover.decided(Decided::EventIsComplete);
        }
        self.progress();
        self.state.is_reached()
    }

    /// Waits until all that was enqueued before the event is done. What comes later on the host is ordered after it.
    ///
    /// # Errors
    /// The first error of the queue that was not yet taken. It stays with the queue, whose `wait` takes it. In a host
    /// task, also that the event comes after the task.
    pub fn wait(&self) -> Result<()> {
        let _waiting = if self.is_reached() { None } else { begin_to_wait(|| Moment::clone(&self.moment))? };
        self.progress();
        self.state.wait();
        clock::host_waited(&self.moment);
        self.queue.pending_error().map_or(Ok(()), Err)
    }
}
