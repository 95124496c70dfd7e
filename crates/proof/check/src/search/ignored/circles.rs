//! Circles of threads each of which waits for a store of the one before it.
//!
//! Each thread of a circle has a read for which it waits, and behind that a store for which the next thread waits.
//! Where a store and the read of it synchronize, by themselves or by the fences around them, or where the read is plain
//! and nothing races, the store comes before all that stands behind the read, and so does whatever stands before the
//! store. No model has a circle in which all links but one are of that kind: the read of the last one would come before
//! the store that it reads from. Nor has any model one in which all links of another kind are of one cell: behind the
//! read of each comes the store of the next, and coherence would order each of these stores before itself.

use std::iter;

use wattle_memory::{EventId, Label, Level, Observed, ThreadId, stop};

use super::super::Setup;
use super::super::process::Address;

/// A thread that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiter {
    /// For this read: its first one, or a later one on which a write depends that it has made early.
    Reader(ThreadId, EventId),
    /// For other threads: one of those that do.
    Blocked,
}

/// Whether a store comes before what is behind the read of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Orders {
    Never,
    /// If the thread that reads has an acquire fence behind the read, in whose scope both are.
    Fenced,
    Always,
}

/// A store that one thread may make once it goes on, and that another one may wait to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub from: Waiter,
    pub to: Waiter,
    /// The cell, if coherence orders the store and the read.
    pub cell: Option<Address>,
    pub orders: Orders,
    /// The widest scope of the acquire fences between the read for which the first thread waits and what it releases by
    /// the store; [`Level::Thread`] where there is none.
    pub acquired: Level,
    /// Whether the store can be made early, with a value that is known.
    pub is_known: bool,
}

impl Link {
    /// A link of which nothing is known.
    pub fn unknown(from: Waiter, to: Waiter) -> Link {
        Link { from, to, cell: None, orders: Orders::Never, acquired: Level::Thread, is_known: false }
    }

    /// Whether the store comes before the one of the next link, as the read does for which its thread waits.
    pub fn comes_before(&self, setup: &Setup<'_>, next: &Link) -> bool {
        match self.orders {
            Orders::Never => false,
            Orders::Fenced => in_scope(setup, self.from, self.to, next.acquired),
            Orders::Always => true,
        }
    }

    /// Whether all circles with another link are ones with this one too, in place of that one.
    fn covers(&self, other: &Link) -> bool {
        let is_alike = (self.from, self.to) == (other.from, other.to) && self.is_known <= other.is_known;
        let orders_less = self.orders <= other.orders && self.acquired <= other.acquired;
        is_alike && orders_less && (self.cell.is_none() || self.cell == other.cell)
    }
}

/// The fences between the read for which a thread waits and a place behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Fences {
    released: Level,
    acquired: Level,
    /// What was acquired before the last release fence of that scope.
    acquired_before: Level,
}

impl Fences {
    pub const NONE: Fences =
        Fences { released: Level::Thread, acquired: Level::Thread, acquired_before: Level::Thread };

    /// Adds a fence that follows those so far in program order.
    pub fn pass(&mut self, fence: Label) {
        if fence.acquire {
            self.acquired = self.acquired.max(fence.level);
        }
        if fence.release && fence.level >= self.released {
            self.released = fence.level;
            self.acquired_before = self.acquired;
        }
    }

    /// The widest scope in which a store behind them releases, and in which what it releases has been acquired.
    fn of_store(&self, write: Label) -> (Level, Level) {
        let own = if write.release { write.level } else { Level::Thread };
        match own >= self.released {
            true => (own, self.acquired),
            false => (self.released, self.acquired_before),
        }
    }
}

/// A store to a cell, and the fences before it.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub write: Label,
    pub fences: Fences,
    pub is_known: bool,
}

impl Stored {
    /// The link with a read of the cell for which another thread waits.
    pub fn read_by(&self, setup: &Setup<'_>, (from, to): (Waiter, Waiter), cell: Option<Address>, read: Label) -> Link {
        let are_in_scope = |level: Level| in_scope(setup, from, to, level);
        let coheres = self.write.atomic && read.atomic && are_in_scope(self.write.level.min(read.level));
        let (released, acquired) = self.fences.of_store(self.write);
        let synchronizes = match coheres && released > Level::Thread && are_in_scope(released) {
            true if read.acquire => Orders::Always,
            true if !read.reduces => Orders::Fenced,
            true | false => Orders::Never,
        };
        // A weak read that no order lets see the write races with it.
        let must_be_ordered = setup.assume_race_free && !read.atomic;
        let orders = match setup.model.observed() {
            Observed::Undecided => Orders::Never,
            Observed::Decided if must_be_ordered => Orders::Always,
            Observed::DecidedExceptStrong if must_be_ordered && !self.write.atomic => Orders::Always,
            Observed::Decided | Observed::DecidedExceptStrong => synchronizes,
        };
        Link { from, to, cell: cell.filter(|_| coheres), orders, acquired, is_known: self.is_known }
    }

    /// The link with a read of the cell, where another thread than the one that waits stores: what it does behind a
    /// barrier at which it waits for that one, or as it begins when that one has ended, comes behind the read too.
    pub fn of_other(
        &self,
        setup: &Setup<'_>,
        of: ThreadId,
        (from, to): (Waiter, Waiter),
        cell: Option<Address>,
        read: Label,
    ) -> Link {
        let link = self.read_by(setup, (Waiter::Reader(of, 0), to), cell, read);
        let orders = match link.orders {
            Orders::Always => Orders::Always,
            // Which fences come between is not known.
            Orders::Fenced | Orders::Never => Orders::Never,
        };
        // Where synchronization goes by storage classes, not all barriers order all memory.
        let cell = link.cell.filter(|_| !setup.model.has_classes());
        Link { from, cell, orders, acquired: Level::Thread, ..link }
    }

    /// The link with whatever a thread may do that waits for other threads.
    pub fn blocks(&self, from: Waiter) -> Link {
        Link { is_known: self.is_known, ..Link::unknown(from, Waiter::Blocked) }
    }
}

fn in_scope(setup: &Setup<'_>, one: Waiter, other: Waiter, level: Level) -> bool {
    match (one, other) {
        (Waiter::Reader(one, _), Waiter::Reader(other, _)) => {
            setup.threads[one].placement.shares(&setup.threads[other].placement, level)
        }
        (Waiter::Blocked, _) | (_, Waiter::Blocked) => false,
    }
}

/// Links without those that others cover.
pub(super) fn without_covered(links: impl Iterator<Item = Link>) -> Vec<Link> {
    let mut kept: Vec<Link> = Vec::new();
    for link in links {
        if !kept.iter().any(|known| known.covers(&link)) {
            kept.retain(|known| !link.covers(known));
            kept.push(link);
        }
    }
    kept
}

/// Whether some circle that a model might have begins with a link; `true` at once where the search is asked to end.
///
/// Where a circle has several links that are known, it begins with that of the thread of lowest rank.
pub(super) fn begins_circle(setup: &Setup<'_>, links: &[Link], ranks: &[Option<usize>], first: &Link) -> bool {
    let may_follow = |link: &Link| match (link.from, first.from) {
        (Waiter::Reader(from, _), Waiter::Reader(first, _)) => ranks[from] > ranks[first] || !link.is_known,
        (Waiter::Blocked, _) | (_, Waiter::Blocked) => true,
    };
    has_circle(setup, links, first, may_follow)
}

/// Whether some circle that a model might have has a link in it; `true` at once where the search is asked to end.
pub(super) fn is_in_circle(setup: &Setup<'_>, links: &[Link], link: &Link) -> bool {
    has_circle(setup, links, link, |_| true)
}

fn has_circle(setup: &Setup<'_>, links: &[Link], first: &Link, may_follow: impl Fn(&Link) -> bool) -> bool {
    let mut open = vec![vec![*first]];
    while let Some(chain) = open.pop() {
        let last = chain[chain.len() - 1];
        if last.to == first.from {
            if is_circle(setup, &chain) {
                return true;
            }
            continue;
        }
        if stop::requested() {
            return true;
        }
        // Several threads may be blocked, so that a chain may come there more than once.
        let is_new = |to: Waiter| to == Waiter::Blocked || chain.iter().all(|link| link.to != to);
        let next = links.iter().filter(|link| link.from == last.to && is_new(link.to) && may_follow(link));
        open.extend(next.map(|link| chain.iter().copied().chain([*link]).collect()));
    }
    false
}

/// Whether some model might have a closed chain.
fn is_circle(setup: &Setup<'_>, chain: &[Link]) -> bool {
    let nexts = chain.iter().skip(1).chain(iter::once(&chain[0]));
    let mut loose = chain.iter().zip(nexts).filter(|(link, next)| !link.comes_before(setup, next));
    let Some((first, _)) = loose.next() else { return false };
    let mut others = loose.peekable();
    others.peek().is_some() && (first.cell.is_none() || others.any(|(link, _)| link.cell != first.cell))
}
