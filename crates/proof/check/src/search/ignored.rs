//! What threads could do early if no dependency counted ([`Dependencies::Ignored`]).
//!
//! Take an execution that is consistent but for its dependencies, and add its events in an order of reads-from and
//! dependencies as far as that goes. The search with dependencies comes there too. What is left are threads that wait: most of
//! them for a read, whose source another one of them makes behind its own read. Follow the sources, and there is a circle. So a
//! thread need do something early only where no thread can go on, and only what is part of such a circle.
//!
//! Most circles no model has. A store that a read synchronizes with comes before all that is behind the read. If all links of
//! a circle but one are of that kind, the read of the last one comes before the store that it reads from; if all are of one
//! cell, coherence would have to order each store before itself. What a read-modify-write writes depends on what it reads
//! whatever compilers do, so that is not ignored.
//!
//! A thread that waits for others at a barrier, at an operation of its warp or for its start may do anything behind that, and so
//! may one that has been followed only to such a place, or into a loop: it may be part of any circle.

use wattle_memory::{EventId, Label, Model, ThreadId, stop};

use super::agreement::{Act, Agreement};
use super::completions::{Ways, each};
use super::determined::assume;
use super::process::Address;
use super::searcher::{Halt, Open, Search};
use super::state::{SearchState, Status};
use super::values::Values;
use super::{Dependencies, Setup};

/// The most threads among which circles are looked for; of more, whatever one may store is taken for a part of one.
const MOST_THREADS: usize = 6;

/// The read for which a thread waits, where the thread may write early since dependencies are ignored.
pub(super) fn ignorable(setup: &Setup<'_>, state: &SearchState<'_>, thread: ThreadId) -> Option<EventId> {
    let waiting = state.runners[thread].waiting.filter(|_| setup.dependencies == Dependencies::Ignored);
    waiting.filter(|&read| state.is_pending(read))
}

/// Whether some other thread may write early since dependencies are ignored.
pub(super) fn may_ignore(setup: &Setup<'_>, state: &SearchState<'_>, thread: ThreadId) -> bool {
    (0..state.runners.len()).any(|other| other != thread && ignorable(setup, state, other).is_some())
}

/// A thread that waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiter {
    /// For a read.
    Reader(ThreadId),
    /// For other threads: one of those that do.
    Blocked,
}

/// A store that one thread may make once it goes on, and that another one may wait to read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Link {
    from: Waiter,
    to: Waiter,
    /// The cell, if coherence orders the store and the read.
    cell: Option<Address>,
    /// Whether the read synchronizes with the store.
    orders: bool,
    /// Whether it can be made early, with a value that is known.
    is_known: bool,
}

/// What a thread may do early: all up to some store.
struct Early {
    thread: ThreadId,
    way: Agreement,
    /// The statement of the read for which the thread waits, and the one that stores.
    lines: (u32, u32),
    /// The links of the store, by their numbers.
    links: Vec<usize>,
}

/// Threads that wait in a row, each for a store of the one before it.
#[derive(Clone)]
struct Chain {
    first: ThreadId,
    /// Those behind the first one.
    others: Vec<Waiter>,
    /// The links whose read does not synchronize with the store.
    loose: usize,
    /// The cell, as long as it is one, all accesses of which coherence orders.
    cell: Option<Address>,
}

impl Chain {
    fn of(link: &Link) -> Option<Chain> {
        let Waiter::Reader(first) = link.from else { return None };
        Some(Chain { first, others: vec![link.to], loose: usize::from(!link.orders), cell: link.cell })
    }

    /// The chain with another link; `None` where the link does not continue it.
    fn with(&self, link: &Link) -> Option<Chain> {
        // A circle begins with the first thread that may do something early, so that it is tried once.
        let may_follow = match link.from {
            Waiter::Reader(from) => from != self.first && (from > self.first || !link.is_known),
            Waiter::Blocked => true,
        };
        let is_new = link.to == Waiter::Blocked || !self.others.contains(&link.to);
        (self.others.last() == Some(&link.from) && may_follow && is_new).then(|| Chain {
            first: self.first,
            others: self.others.iter().copied().chain([link.to]).collect(),
            loose: self.loose + usize::from(!link.orders),
            cell: self.cell.filter(|&cell| link.cell == Some(cell)),
        })
    }

    /// Whether it is a circle that some model might have.
    fn is_circle(&self) -> bool {
        self.others.last() == Some(&Waiter::Reader(self.first)) && self.loose > 1 && self.cell.is_none()
    }
}

impl<'w> Search<'_, 'w> {
    /// Branches, where no thread can go on, on what one of them may do early if dependencies are ignored. Returns whether there
    /// is anything.
    pub(super) fn branch_on_ignored(
        &mut self,
        state: &SearchState<'w>,
        stack: &mut Vec<Open<'w>>,
    ) -> Result<bool, Halt> {
        let before = stack.len();
        for Early { thread, way, lines, links: _ } in self.beginnings_of_circles(state)? {
            self.is_within_limits()?;
            let mut with = state.clone();
            assume(self.setup, &mut with, thread, &way)?;
            // What is known already, in another form, would be tried for ever.
            if with.known_events() > state.known_events() {
                with.ignored.push(lines);
                self.visitor().ignores(lines.0, lines.1);
                stack.push(Open { state: with, known: None });
            }
        }
        Ok(stack.len() > before)
    }

    /// What threads may do early with which circles begin.
    fn beginnings_of_circles(&mut self, state: &SearchState<'w>) -> Result<Vec<Early>, Halt> {
        let threads = 0..state.runners.len();
        let reads = |thread: ThreadId| Some((thread, ignorable(self.setup, state, thread)?));
        let readers: Vec<(ThreadId, EventId)> = threads.clone().filter_map(reads).collect();
        if readers.len() < 2 {
            return Ok(Vec::new());
        }
        let is_blocked = |thread: ThreadId| match state.runners[thread].status {
            Status::NotStarted | Status::AtBarrier(_) | Status::GoesRound => {
                ignorable(self.setup, state, thread).is_none()
            }
            Status::Ready | Status::Needs | Status::Spins => false,
            Status::Bounded | Status::Endless | Status::Halted | Status::Done => false,
        };
        let any_blocked = threads.into_iter().any(is_blocked);
        let (mut links, mut earlies) = (Vec::new(), Vec::new());
        if any_blocked {
            for &(thread, _) in &readers {
                let reader = Waiter::Reader(thread);
                links.extend([unknown_link(reader, Waiter::Blocked), unknown_link(Waiter::Blocked, reader)]);
            }
        }
        for &(thread, read) in &readers {
            self.is_within_limits()?;
            let values = self.shared.values.get_or_init(|| Values::find(self.setup));
            let Ways { ways, are_all } = each(self.setup, state, thread, values);
            self.statistics.undecided += u64::from(!are_all);
            let mut found = Found { setup: self.setup, state, readers: &readers, any_blocked, links: &mut links };
            if readers.len() <= MOST_THREADS {
                found.add_own(thread, read, ways.iter().any(|(_, is_open)| *is_open));
            }
            let first = earlies.len();
            ways.iter().for_each(|(way, _)| found.add_stores(thread, read, way, first, &mut earlies));
        }
        if readers.len() <= MOST_THREADS {
            let begins: Vec<bool> = links.iter().map(|link| link.is_known && begins_circle(&links, link)).collect();
            earlies.retain(|early: &Early| early.links.iter().any(|&link| begins[link]));
        }
        Ok(earlies)
    }
}

/// A link of which nothing is known.
fn unknown_link(from: Waiter, to: Waiter) -> Link {
    Link { from, to, cell: None, orders: false, is_known: false }
}

/// The links that have been found.
struct Found<'f, 'w> {
    setup: &'f Setup<'w>,
    state: &'f SearchState<'w>,
    readers: &'f [(ThreadId, EventId)],
    any_blocked: bool,
    links: &'f mut Vec<Link>,
}

impl Found<'_, '_> {
    fn add(&mut self, link: Link) -> usize {
        self.links.iter().position(|known| *known == link).unwrap_or_else(|| {
            self.links.push(link);
            self.links.len() - 1
        })
    }

    /// Adds the links of a thread that are not made early: of the write of a read-modify-write for which it waits, and of
    /// what it may do behind the ends of its completions.
    fn add_own(&mut self, thread: ThreadId, read: EventId, is_open: bool) {
        let graph = &self.state.graph;
        if let (Some(write), Some(cell)) = (graph.other_half(read), place(self.state, read)) {
            let links = self.links_of(thread, cell, graph.event(write).label, false);
            links.into_iter().for_each(|link| _ = self.add(link));
        }
        let others = self.readers.iter().filter(|(other, _)| is_open && *other != thread);
        for &(other, _) in others {
            self.add(unknown_link(Waiter::Reader(thread), Waiter::Reader(other)));
        }
    }

    /// Adds what a thread may do early of a completion: all up to each store that others may wait for. What the thread has
    /// done so far stands behind `first`.
    fn add_stores(&mut self, thread: ThreadId, read: EventId, way: &Agreement, first: usize, to: &mut Vec<Early>) {
        let state = self.state;
        let promised = &state.runners[thread].promised;
        let is_promised = |act: &Act| promised.iter().any(|&event| act.is(self.setup.model, state, event));
        // What has been promised stays so, and stands among the rest.
        let kept = way.beyond.iter().rposition(is_promised).map_or(0, |at| way.ahead.len() + at);
        for (number, act) in way.ahead.iter().chain(&way.beyond).enumerate() {
            let Some(store) = act.store() else { continue };
            let is_known = act.is_known() && matches!(act, Act::Store { .. });
            let found = self.links_of(thread, store.cell, store.label, is_known);
            if found.is_empty() {
                continue;
            }
            let few = self.readers.len() <= MOST_THREADS;
            let links = if few { found.into_iter().map(|link| self.add(link)).collect() } else { Vec::new() };
            if !act.is_known() {
                continue;
            }
            let way = way.up_to(number.max(kept));
            match to[first..].iter_mut().find(|known| known.way.is_same(&way)) {
                Some(known) => known.links.extend(links),
                None => to.push(Early { thread, way, lines: (state.graph.event(read).source, store.source), links }),
            }
        }
    }

    /// The links of a store to all that may wait for it: with the first read for which a thread waits, or with one that it
    /// makes early.
    fn links_of(&self, from: ThreadId, cell: Address, write: Label, is_known: bool) -> Vec<Link> {
        let state = self.state;
        let placement = |thread: ThreadId| &self.setup.threads[thread].placement;
        let link = |&(to, first): &(ThreadId, EventId)| {
            let read = state.pending(to).find(|&read| place(state, read) == Some(cell))?;
            let label = state.graph.event(read).label;
            let shared = placement(from).shares(placement(to), write.level.min(label.level));
            // What the thread does behind its first read may be before the other one.
            let coheres = read == first && write.atomic && label.atomic && shared;
            let orders = coheres && synchronizes(self.setup.model, write, label);
            let cell = Some(cell).filter(|_| coheres);
            Some(Link { from: Waiter::Reader(from), to: Waiter::Reader(to), cell, orders, is_known })
        };
        let blocked = Link { is_known, ..unknown_link(Waiter::Reader(from), Waiter::Blocked) };
        let blocked = Some(blocked).filter(|_| self.any_blocked);
        let others = self.readers.iter().filter(|&&(to, _)| to != from);
        others.filter_map(link).chain(blocked).collect()
    }
}

fn place(state: &SearchState<'_>, read: EventId) -> Option<Address> {
    state.graph.event(read).location.and_then(|location| state.addresses.get(location)).copied()
}

/// Whether a read synchronizes with a store that it reads from, if each is in the other's scope.
fn synchronizes(model: Model, write: Label, read: Label) -> bool {
    match model {
        Model::Portable | Model::Ptx | Model::Rust => write.release && read.acquire,
        // It depends on storage classes, on availability and on visibility besides.
        Model::Vulkan => false,
        // Nothing is ordered by it, or everything is.
        Model::Sc | Model::Unordered => false,
    }
}

/// Whether some circle begins with a link; `true` at once where the search is asked to end.
fn begins_circle(links: &[Link], first: &Link) -> bool {
    let mut open: Vec<Chain> = Chain::of(first).into_iter().collect();
    while let Some(chain) = open.pop() {
        if chain.is_circle() || stop::requested() {
            return true;
        }
        open.extend(links.iter().filter_map(|link| chain.with(link)));
    }
    false
}
