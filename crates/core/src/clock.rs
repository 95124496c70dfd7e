//! Clocks: what keeps launching safe across launches, queues and host access.
//!
//! Types say how one launch shares a buffer. They cannot see two launches at once, so each use of a buffer (by a
//! launch, a copy, a fill, a host guard) is recorded with its region and kind against **vector clocks over the
//! queues**: a use is a point (queue, number), a queue knows for each other queue up to which number its work is
//! ordered after, and waiting for an event joins what the recording queue knew. Work that the host has waited for is
//! ordered before all that comes later. A use that conflicts with an earlier one which is not ordered before it is
//! refused when it is enqueued, so what runs at the same time never conflicts. What conflicts is told in
//! `domain.rs`.
//!
//! The answer depends on what was enqueued and waited for, never on how fast it ran.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wattle_ir::{MAX_RANK, Site};

use crate::domain::Sharing;
use crate::error::{Error, ErrorKind};

/// A part of a buffer: a box of indices, from `begin` up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) begin: [u32; MAX_RANK],
    pub(crate) end: [u32; MAX_RANK],
}

impl Region {
    #[inline]
    fn overlaps(&self, other: &Region) -> bool {
        (0..MAX_RANK).all(|d| self.begin[d] < other.end[d] && other.begin[d] < self.end[d])
    }

    pub(crate) fn extent(&self) -> [u32; MAX_RANK] {
        std::array::from_fn(|d| self.end[d] - self.begin[d])
    }
}

/// Who uses a buffer, for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    /// The kernel's name, or what else it is.
    pub(crate) what: &'static str,
    /// The kernel's parameter.
    pub(crate) parameter: Option<&'static str>,
    pub(crate) site: Site,
}

impl User {
    fn describe(&self, sharing: Sharing) -> String {
        let (User { what, parameter, site }, access) = (self, sharing.access);
        match parameter {
            Some(parameter) => format!("the launch of `{what}` at {site} (parameter `{parameter}`: {access:?})"),
            None => format!("{what} at {site}"),
        }
    }
}

/// One queue's clock.
#[derive(Debug, Default)]
pub(crate) struct QueueClock {
    /// The number of the last operation that was enqueued.
    issued: AtomicU64,
    /// The number of the last operation that the host has waited for.
    waited: AtomicU64,
    /// Up to which of its operations each other queue's work is ordered before what is enqueued here.
    known: Mutex<Moment>,
    /// Whether anything is known of another queue: most queues never wait for an event.
    knows_others: AtomicBool,
}

/// A point of a vector clock.
pub(crate) type Moment = Vec<(Arc<QueueClock>, u64)>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn join(into: &mut Moment, clock: &Arc<QueueClock>, number: u64) {
    match into.iter_mut().find(|(known, _)| Arc::ptr_eq(known, clock)) {
        Some((_, known)) => *known = number.max(*known),
        None => into.push((clock.clone(), number)),
    }
}

impl QueueClock {
    /// The number of the next operation.
    #[inline]
    pub(crate) fn tick(&self) -> u64 {
        self.issued.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What has been enqueued so far, and all that it is ordered after.
    pub(crate) fn moment(self: &Arc<Self>) -> Moment {
        let mut moment = lock(&self.known).clone();
        join(&mut moment, self, self.issued.load(Ordering::Relaxed));
        moment
    }

    /// What is enqueued from now on is ordered after `moment`.
    pub(crate) fn after(self: &Arc<Self>, moment: &Moment) {
        let mut known = lock(&self.known);
        for (clock, number) in moment {
            if !Arc::ptr_eq(clock, self) {
                join(&mut known, clock, *number);
            }
        }
        self.knows_others.store(!known.is_empty(), Ordering::Release);
    }

    /// What the operations up to now are ordered after, of other queues. It is taken in the operation's turn: what the
    /// queue learns while the host waits for that operation, the host has not waited for.
    #[inline]
    pub(crate) fn known(&self) -> Moment {
        if self.knows_others.load(Ordering::Acquire) { lock(&self.known).clone() } else { Moment::new() }
    }

    /// The host has waited for the operation `number` of this queue, for all before it, and for what was `known` then.
    #[inline]
    pub(crate) fn host_waited(&self, number: u64, known: &Moment) {
        self.waited.fetch_max(number, Ordering::Release);
        host_waited(known);
    }

    fn knows(&self, other: &Arc<QueueClock>, number: u64) -> bool {
        lock(&self.known).iter().any(|(clock, known)| Arc::ptr_eq(clock, other) && *known >= number)
    }
}

/// The host has waited for this moment.
pub(crate) fn host_waited(moment: &Moment) {
    for (clock, number) in moment {
        clock.waited.fetch_max(*number, Ordering::Release);
    }
}

/// Where a use stands.
#[derive(Clone, Debug)]
enum Holder {
    /// The operation of this number on this queue.
    Queue(Arc<QueueClock>, u64),
    /// A guard of the host's, until it is dropped.
    Guard(u64),
}

#[derive(Clone, Debug)]
struct Use {
    holder: Holder,
    region: Region,
    sharing: Sharing,
    user: User,
    /// The use by an earlier operation of the same queue for which this one stands too: what is left of the two if
    /// this operation is refused.
    earlier: Option<(u64, User)>,
}

/// The uses of one buffer that may still run.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<Vec<Use>>);

/// An operation that is about to be enqueued.
pub(crate) struct Stamp<'q> {
    pub(crate) clock: &'q Arc<QueueClock>,
    pub(crate) number: u64,
}

impl Uses {
    /// Records a use by an operation, unless a use that is not ordered before it conflicts. The operation's own other
    /// uses are never ordered with it.
    pub(crate) fn record(
        &self,
        at: &Stamp<'_>,
        region: Region,
        sharing: impl Into<Sharing>,
        user: User,
    ) -> Result<(), Error> {
        let sharing = sharing.into();
        let mut uses = lock(&self.0);
        let mut same = None;
        let mut index = 0;
        while index < uses.len() {
            let other = &uses[index];
            if let Holder::Queue(clock, number) = &other.holder {
                let own = Arc::ptr_eq(clock, at.clock);
                if own && other.sharing == sharing && other.region == region && *number < at.number {
                    same = Some(index);
                    index += 1;
                    continue;
                }
                if *number <= clock.waited.load(Ordering::Acquire) {
                    uses.swap_remove(index);
                    // What was last is here now, and has not been seen; unless it was `same`, which is before.
                    continue;
                }
            }
            if other.sharing.conflicts(sharing) && other.region.overlaps(&region) && !ordered(&other.holder, at) {
                return Err(refuse(
                    other,
                    sharing,
                    user,
                    matches!(&other.holder, Holder::Queue(c, n) if Arc::ptr_eq(c, at.clock) && *n == at.number),
                ));
            }
            index += 1;
        }
        match same {
            // A later use of the same kind by the same queue stands for the earlier one.
            Some(index) => {
                let same = &mut uses[index];
                if let Holder::Queue(_, number) = &mut same.holder {
                    same.earlier = Some((*number, same.user));
                    (*number, same.user) = (at.number, user);
                }
            }
            None => {
                let holder = Holder::Queue(at.clock.clone(), at.number);
                uses.push(Use { holder, region, sharing, user, earlier: None });
            }
        }
        Ok(())
    }

    /// Takes back what the operation has recorded: it was refused.
    pub(crate) fn forget(&self, at: &Stamp<'_>) {
        lock(&self.0).retain_mut(|other| match &mut other.holder {
            Holder::Queue(clock, number) if Arc::ptr_eq(clock, at.clock) && *number == at.number => {
                let Some(earlier) = other.earlier.take() else { return false };
                (*number, other.user) = earlier;
                true
            }
            _ => true,
        });
    }

    /// Records a use by a guard, until [`Uses::release`].
    pub(crate) fn hold(&self, region: Region, sharing: impl Into<Sharing>, user: User) -> Result<u64, Error> {
        let sharing = sharing.into();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut uses = lock(&self.0);
        uses.retain(|other| {
            !matches!(&other.holder, Holder::Queue(clock, number) if *number <= clock.waited.load(Ordering::Acquire))
        });
        let in_the_way = |other: &&Use| other.sharing.conflicts(sharing) && other.region.overlaps(&region);
        if let Some(other) = uses.iter().find(in_the_way) {
            return Err(refuse(other, sharing, user, false));
        }
        let guard = NEXT.fetch_add(1, Ordering::Relaxed);
        uses.push(Use { holder: Holder::Guard(guard), region, sharing, user, earlier: None });
        Ok(guard)
    }

    /// Ends a guard's use.
    pub(crate) fn release(&self, guard: u64) {
        lock(&self.0).retain(|other| !matches!(other.holder, Holder::Guard(held) if held == guard));
    }
}

fn ordered(holder: &Holder, at: &Stamp<'_>) -> bool {
    match holder {
        Holder::Queue(clock, number) if Arc::ptr_eq(clock, at.clock) => *number < at.number,
        Holder::Queue(clock, number) => at.clock.knows(clock, *number),
        Holder::Guard(_) => false,
    }
}

#[cold]
fn refuse(first: &Use, sharing: Sharing, second: User, same_operation: bool) -> Error {
    let help = match first.holder {
        _ if !first.sharing.conflicts_by_access(sharing) => {
            "the two are in different memory synchronization domains, between which only system scope orders: give the \
             fences and atomics of both kernels `Scope::System`, launch both in one domain, or let one wait for the \
             other"
        }
        Holder::Guard(_) => "drop the guard first",
        Holder::Queue(..) if same_operation => {
            "give each parameter a part of the buffer of its own, or one view for both uses"
        }
        Holder::Queue(..) => {
            "wait for the first on the host (`queue.wait()`), or let the second's queue wait for an event that the \
             first's queue records after it"
        }
    };
    let (first, second) = (first.user.describe(first.sharing), second.describe(sharing));
    ErrorKind::Conflict { first, second, help }.into()
}

#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;
