//! Queues' clocks, and what each knows of the others.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::QueueName;
use crate::queue::LastPoint;
use crate::sync::lock;

/// The clock of a queue: the numbers of its operations, and what is known of other queues' operations there.
#[derive(Debug)]
pub(crate) struct QueueClock {
    pub(crate) name: QueueName,
    /// The number of the last operation that was enqueued.
    issued: AtomicU64,
    /// The number of the last operation that the host has waited for.
    waited: AtomicU64,
    /// For each other queue, the last of its operations that comes before all that is enqueued here from now on.
    known: Mutex<Moment>,
    /// Whether anything is known of another queue: most queues never wait for an event.
    knows_others: AtomicBool,
    /// The number of the last event, and whether it still has an owner: it can be waited for after the queue is gone.
    event: Mutex<(u64, Weak<Moment>)>,
    /// The end of all its work, once the queue was dropped.
    last: OnceLock<LastPoint>,
}

/// A point of a vector clock: of each queue the last operation that comes before the point, in the order of the clocks'
/// addresses. A clock without an owner is of a queue that is gone and has no use in any buffer: nothing will ask for
/// it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moment(Vec<(Weak<QueueClock>, u64)>);

impl Moment {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The clocks that still have an owner, with the last operation of each.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Arc<QueueClock>, u64)> {
        self.0.iter().filter_map(|(clock, number)| Some((clock.upgrade()?, *number)))
    }

    /// Whether the host has waited for all that comes before the point.
    pub(crate) fn is_over(&self) -> bool {
        self.entries().all(|(clock, number)| clock.is_over(number))
    }

    /// Whether this operation comes before the point.
    #[inline]
    pub(crate) fn has(&self, clock: &Arc<QueueClock>, number: u64) -> bool {
        let at = self.0.binary_search_by_key(&Arc::as_ptr(clock), |(known, _)| known.as_ptr());
        at.is_ok_and(|at| self.0[at].1 >= number)
    }

    /// The point, with this operation added to what comes before it.
    pub(crate) fn with(mut self, clock: &Arc<QueueClock>, number: u64) -> Moment {
        match self.0.binary_search_by_key(&Arc::as_ptr(clock), |(known, _)| known.as_ptr()) {
            Ok(at) => self.0[at].1 = number.max(self.0[at].1),
            Err(at) => self.0.insert(at, (Arc::downgrade(clock), number)),
        }
        self
    }

    /// Adds what comes before another point.
    fn join(&mut self, other: &Moment) {
        self.0.extend(other.0.iter().cloned());
        // Both are sorted, which the sort makes use of.
        self.0.sort_by_key(|(clock, number)| (clock.as_ptr(), Reverse(*number)));
        self.0.dedup_by(|later, first| later.0.ptr_eq(&first.0));
    }

    /// Drops what nothing will ask for, since the host has waited for it or the queue left no trace.
    fn prune(&mut self) {
        self.0.retain(|(clock, number)| clock.upgrade().is_some_and(|clock| !clock.is_over(*number)));
    }
}

impl QueueClock {
    /// The clock of a new queue.
    pub(crate) fn new(name: QueueName) -> Arc<QueueClock> {
        Arc::new(QueueClock {
            name,
            issued: AtomicU64::new(0),
            waited: AtomicU64::new(0),
            known: Mutex::default(),
            knows_others: AtomicBool::new(false),
            event: Mutex::default(),
            last: OnceLock::new(),
        })
    }

    /// Issues the number of the next operation.
    #[inline]
    pub(crate) fn tick(&self) -> u64 {
        self.issued.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What has been enqueued so far, and all that it is ordered after.
    pub(crate) fn moment(self: &Arc<Self>) -> Moment {
        self.known().with(self, self.issued.load(Ordering::Relaxed))
    }

    /// Orders what is enqueued from now on after `moment`.
    pub(crate) fn after(self: &Arc<Self>, moment: &Moment) {
        let mut known = lock(&self.known);
        known.join(moment);
        known.0.retain(|(clock, _)| clock.as_ptr() != Arc::as_ptr(self));
        known.prune();
        self.knows_others.store(!known.is_empty(), Ordering::Release);
    }

    /// What the operations up to now are ordered after, of other queues. It is taken in the operation's turn: what the
    /// queue learns while the host waits for that operation, the host has not waited for.
    #[inline]
    pub(crate) fn known(&self) -> Moment {
        if self.knows_others.load(Ordering::Acquire) { self.known_others() } else { Moment::default() }
    }

    #[cold]
    fn known_others(&self) -> Moment {
        let mut known = lock(&self.known);
        known.prune();
        self.knows_others.store(!known.is_empty(), Ordering::Release);
        known.clone()
    }

    /// Records that the host has waited for operation `number` of this queue, all before it, and what was `known` then.
    #[inline]
    pub(crate) fn host_waited(&self, number: u64, known: &Moment) {
        self.waited.fetch_max(number, Ordering::Release);
        host_waited(known);
    }

    /// Records that the host has waited for operation `number` of this queue, and for all that it knows of others.
    #[inline]
    pub(crate) fn host_waited_for_all(&self, number: u64) {
        self.waited.fetch_max(number, Ordering::Release);
        if self.knows_others.load(Ordering::Acquire) {
            host_waited(&self.known_others());
        }
    }

    /// Whether the host has waited for this operation.
    #[inline]
    pub(crate) fn is_over(&self, number: u64) -> bool {
        number <= self.waited.load(Ordering::Acquire)
    }

    /// Whether the host has waited for all that was enqueued.
    pub(crate) fn is_all_over(&self) -> bool {
        self.is_over(self.issued.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn knows(&self, other: &Arc<QueueClock>, number: u64) -> bool {
        self.knows_others.load(Ordering::Acquire) && lock(&self.known).has(other, number)
    }

    /// An event for what has been enqueued so far, which can be waited for as long as it has an owner.
    pub(crate) fn event(self: &Arc<Self>) -> Arc<Moment> {
        let moment = Arc::new(self.moment());
        *lock(&self.event) = (self.issued.load(Ordering::Relaxed), Arc::downgrade(&moment));
        moment
    }

    /// Whether the queue was dropped, and its last event, if that is behind this operation, has no owner either.
    pub(super) fn is_gone(&self, number: u64) -> bool {
        let has_event = || {
            let (last, event) = &*lock(&self.event);
            *last >= number && event.strong_count() > 0
        };
        self.last.get().is_some() && !has_event()
    }

    /// Records that the queue is dropped, with the end of its work.
    pub(crate) fn leave(&self, last: LastPoint) {
        // A queue is dropped once.
        let _ = self.last.set(last);
    }

    /// The end of the queue's work, if it was dropped before that was waited for.
    pub(crate) fn last(&self) -> Option<&LastPoint> {
        self.last.get()
    }
}

/// Records that the host has waited for this moment.
pub(crate) fn host_waited(moment: &Moment) {
    for (clock, number) in moment.entries() {
        clock.waited.fetch_max(number, Ordering::Release);
    }
}
