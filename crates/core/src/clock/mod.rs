//! Clocks: what keeps launching safe across launches, queues and host access.
//!
//! Types say how one launch shares a buffer. They cannot see two launches at once, so each use of a buffer (by a
//! launch, a copy, a fill, a host guard) is recorded with its region and kind against **vector clocks over the
//! queues**: a use is a point (queue, number), a queue knows for each other queue up to which number its work is
//! ordered after, and waiting for an event joins what the recording queue knew. Work that the host has waited for is
//! ordered before all that comes later, and a host task comes after all that its queue did before it. A use that
//! conflicts with an earlier one which is not ordered before it is refused when it is enqueued, so what runs at the
//! same time never conflicts. Two uses of one part of a buffer conflict where they are of different kinds, and where
//! each has it for itself; two that both are `Shared`, or both `Atomic`, are of one kind: what races among their
//! accesses shows on the simulated device and to the checker.
//!
//! An operation records all its uses or none. The work of a queue that was dropped, and for which no event is left, is
//! waited for by the first use that conflicts with it, since nothing else can wait for it any more.
//!
//! The answer depends on what was enqueued and waited for, never on how fast it ran.
//!
//! What the host has waited for is forgotten, and so is a queue of which no buffer remembers a use: what an enqueue
//! costs does not grow with history.

mod moment;
mod point;
mod uses;

#[cfg(test)]
mod property;
#[cfg(test)]
mod tests;

use std::fmt;

use wattle_ir::{MAX_RANK, Site};

use crate::domain::Sharing;

pub(crate) use moment::{Moment, QueueClock, host_waited};
pub use point::Point;
pub use uses::Stamp;
pub(crate) use uses::{Refused, Uses, Wanted, record};

/// A part of a buffer: a box of indices, from `begin` up to and without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) begin: [u64; MAX_RANK],
    pub(crate) end: [u64; MAX_RANK],
}

impl Region {
    #[inline]
    fn overlaps(&self, other: &Region) -> bool {
        // A part without an element overlaps none.
        (0..MAX_RANK).all(|d| self.begin[d].max(other.begin[d]) < self.end[d].min(other.end[d]))
    }

    #[inline]
    fn contains(&self, other: &Region) -> bool {
        (0..MAX_RANK).all(|d| self.begin[d] <= other.begin[d] && other.end[d] <= self.end[d])
    }

    pub(crate) fn extent(&self) -> [u64; MAX_RANK] {
        std::array::from_fn(|d| self.end[d] - self.begin[d])
    }
}

/// The user of a buffer, as messages name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    /// The kernel's name, or the kind of operation.
    pub(crate) what: &'static str,
    /// The kernel's parameter; `None` if the user is no kernel.
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

/// A queue, as messages name it.
#[derive(Clone, Debug)]
pub(crate) struct QueueName {
    /// The device's name.
    pub(crate) device: String,
    /// The source line that made the queue.
    pub(crate) site: Site,
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the queue of `{}` made at {}", self.device, self.site)
    }
}
