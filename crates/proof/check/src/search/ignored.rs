//! What threads could do early if no dependency counted ([`Dependencies::Ignored`]).
//!
//! Take an execution that is consistent but for its dependencies, and add its events in an order of reads-from and
//! dependencies as far as that goes. The search with dependencies comes there too. What is left are threads that wait:
//! most of them for a read, whose source another one of them makes behind its own read. Follow the sources, and there
//! is a circle. So a thread need do something early only where no thread can go on, and only what is part of such a
//! circle.
//!
//! Most circles no model has ([`circles`]), and most reads can be part of none ([`reads`]). What a read-modify-write
//! writes depends on what it reads whatever compilers do, so that is not ignored: where such a write, or another one
//! that has been added without its value, is read, its own reads are followed.
//!
//! Whatever a thread may store at most says whether there can be a circle at all; only then are its completions listed.
//! Where not all are, or one goes on behind a barrier or in another turn of a loop, the search is decided all the same
//! if each circle has a store that is listed: one of them made early is enough. A thread that waits for others at a
//! barrier, at an operation of its warp or for its start may be part of any circle with two that wait for reads; what a
//! lane brings is brought when it is known.
//!
//! Where nothing races, plain reads return what happens before them here too: an execution in which one races only
//! since no dependency counts is not looked for.

mod circles;
mod reads;

use std::collections::BTreeSet;

use wattle_memory::{EventId, Kind, ThreadId};

#[cfg(doc)]
use super::Dependencies;
use super::Setup;
use super::agreement::{Act, Agreement};
use super::completions::{MayStore, Ways, each, may_store};
use super::determined::assume;
use super::process::{Address, Change};
use super::searcher::{Halt, Open, Search};
use super::state::{SearchState, Status};
use super::values::Values;
pub(super) use circles::Fences;
use circles::{Link, Stored, Waiter, begins_circle, is_in_circle, without_covered};
pub(super) use reads::circle_reads;

/// The most threads among which circles are looked for; of more, whatever one may store is taken for a part of one.
const MOST_THREADS: usize = 6;

/// The read for which a thread waits, where the thread may write early since dependencies are ignored.
pub(super) fn ignorable(state: &SearchState<'_>, thread: ThreadId) -> Option<EventId> {
    let (reads, waiting) = (state.circle_reads.as_ref()?, state.runners[thread].waiting?);
    let may_be = |read: EventId| reads.contains(thread, state.graph.event(read).source);
    (state.is_pending(waiting) && state.pending(thread).any(may_be)).then_some(waiting)
}

/// Whether some other thread may write early since dependencies are ignored.
pub(super) fn may_ignore(state: &SearchState<'_>, thread: ThreadId) -> bool {
    (0..state.runners.len()).any(|other| other != thread && ignorable(state, other).is_some())
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

impl<'w> Search<'_, 'w> {
    /// Branches, where no thread can go on, on what one of them may do early if dependencies are ignored. Returns
    /// whether there is anything.
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
            } else {
                self.statistics.undecided += 1;
            }
        }
        Ok(stack.len() > before)
    }

    /// What threads may do early with which circles begin.
    fn beginnings_of_circles(&mut self, state: &SearchState<'w>) -> Result<Vec<Early>, Halt> {
        let setup = self.setup;
        let threads = 0..state.runners.len();
        let reads = |thread: ThreadId| Some((thread, ignorable(state, thread)?));
        let readers: Vec<(ThreadId, EventId)> = threads.clone().filter_map(reads).collect();
        if readers.len() < 2 {
            return Ok(Vec::new());
        }
        let is_blocked = |thread: ThreadId| match state.runners[thread].status {
            Status::NotStarted | Status::AtBarrier(_) | Status::GoesRound => ignorable(state, thread).is_none(),
            // At an operation of its warp it needs what the other lanes bring.
            Status::Needs => state.runners[thread].waiting.is_some_and(|event| !state.is_pending(event)),
            Status::Ready | Status::Spins => false,
            Status::Bounded | Status::Endless | Status::Halted | Status::Done => false,
        };
        let waiting = Waiting { setup, state, readers: &readers, any_blocked: threads.into_iter().any(is_blocked) };
        let values = self.shared.values.get_or_init(|| Values::find(setup));
        // All that each thread may do, and what it cannot do early.
        let (mut may, mut certain, mut lines) = (Vec::new(), waiting.of_blocked(), Vec::new());
        for &(thread, read) in &readers {
            self.is_within_limits()?;
            let stores = may_store(state, thread, values);
            let first = stores.as_ref().and_then(|stores| stores.first());
            lines.push(first.map(|store| (state.graph.event(read).source, store.source)));
            may.push(waiting.of_all((thread, read), stores));
            certain.extend(waiting.of_open_writes(thread));
        }
        let looks = readers.len() <= MOST_THREADS;
        let all = without_covered(may.iter().flatten().chain(&certain).copied());
        let is_in_any = |links: &Vec<Link>| !looks || links.iter().any(|link| is_in_circle(setup, &all, link));
        // To list what completions do may take all the time there is.
        let of_circle = may.iter().zip(&lines).find(|(may, lines)| lines.is_some() && is_in_any(may));
        if let Some((read, store)) = of_circle.and_then(|(_, lines)| *lines) {
            self.visitor().may_ignore(read, store);
        }
        let (mut earlies, mut listed, mut unlisted) = (Vec::new(), Vec::new(), Vec::new());
        for (&(thread, read), may) in readers.iter().zip(&may).filter(|(_, may)| is_in_any(may)) {
            self.is_within_limits()?;
            let Ways { mut ways, are_all } = each(setup, state, thread, values);
            // A store that is not known is in no completion's list.
            if !are_all || ways.iter().any(|(way, is_open)| *is_open || way.depends) {
                unlisted.extend_from_slice(may);
            }
            ways.retain(|(way, _)| waiting.keeps_promises(thread, way));
            let mut of_thread = Vec::new();
            ways.iter().for_each(|(way, _)| waiting.add_stores(thread, read, way, &mut listed, &mut of_thread));
            earlies.push(of_thread);
        }
        // Nothing of them can be tried.
        unlisted.extend(listed.iter().filter(|link| !link.is_known));
        if !looks {
            self.statistics.undecided += u64::from(!unlisted.is_empty());
            return Ok(earlies.into_iter().flatten().collect());
        }
        let all = without_covered(listed.iter().chain(&unlisted).chain(&certain).copied());
        // One store of a circle made early is enough: one of the thread that has the fewest ways.
        earlies.sort_by_key(Vec::len);
        let is_of = |thread: ThreadId| move |of: &Vec<Early>| of.first().is_some_and(|early| early.thread == thread);
        let ranks: Vec<_> = (0..state.runners.len()).map(|thread| earlies.iter().position(is_of(thread))).collect();
        let begins: Vec<bool> =
            listed.iter().map(|link| link.is_known && begins_circle(setup, &all, &ranks, link)).collect();
        let untried = without_covered(unlisted.iter().chain(&certain).copied());
        let is_lost = unlisted.iter().any(|link| is_in_circle(setup, &untried, link));
        self.statistics.undecided += u64::from(is_lost);
        let is_tried = |early: &Early| early.links.iter().any(|&link| begins[link]);
        Ok(earlies.into_iter().flatten().filter(is_tried).collect())
    }
}

/// A state in which no thread can go on.
struct Waiting<'f, 'w> {
    setup: &'f Setup<'w>,
    state: &'f SearchState<'w>,
    /// The threads that wait for reads, each with the first of them.
    readers: &'f [(ThreadId, EventId)],
    /// Whether some thread waits for others.
    any_blocked: bool,
}

impl Waiting<'_, '_> {
    /// The links with threads that wait for others.
    fn of_blocked(&self) -> Vec<Link> {
        let threads = self.readers.iter().filter(|_| self.any_blocked).map(|&(thread, _)| thread);
        let reads = threads.flat_map(|thread| self.state.pending(thread).map(move |read| Waiter::Reader(thread, read)));
        let both = |reader| [Link::unknown(reader, Waiter::Blocked), Link::unknown(Waiter::Blocked, reader)];
        reads.flat_map(both).collect()
    }

    /// The links of the writes of a thread that wait for one of its reads.
    fn of_open_writes(&self, thread: ThreadId) -> Vec<Link> {
        let (state, graph) = (self.state, &self.state.graph);
        let runner = &state.runners[thread];
        let is_open = |&write: &EventId| {
            let event = graph.event(write);
            event.label.kind == Kind::Write && (event.value.is_none() || event.location.is_none())
        };
        let mut links = Vec::new();
        let events = runner.waiting.iter().chain(&runner.trail).chain(&runner.promised).copied();
        let writes: BTreeSet<EventId> =
            events.flat_map(|event| [Some(event), graph.other_half(event)]).flatten().collect();
        for write in writes.into_iter().filter(is_open) {
            let event = graph.event(write);
            let stored = Stored { write: event.label, fences: Fences::NONE, is_known: false };
            // The write of a compare-exchange has a place once it is known to succeed.
            let cell = place(state, graph.other_half(write).unwrap_or(write));
            // An update waits for its own read alone, where all else is known.
            let is_known = |&half: &EventId| {
                state.early_update(half).is_some() || state.change(half).is_some_and(Change::is_known)
            };
            let half = graph.other_half(write).filter(is_known);
            let is_before = |&read: &EventId| half.is_none_or(|half| half == read || cell.is_none());
            for read in state.pending(thread).filter(is_before) {
                links.extend(self.of_store((thread, read), &stored, cell, event.source));
            }
        }
        links
    }

    /// The links of all that a thread may store, or of anything where that is not known.
    fn of_all(&self, (thread, read): (ThreadId, EventId), stores: Option<Vec<MayStore>>) -> Vec<Link> {
        let Some(stores) = stores else {
            let to = self.reads(thread).map(|(to, _)| to).chain(self.any_blocked.then_some(Waiter::Blocked));
            return to.map(|to| Link::unknown(Waiter::Reader(thread, read), to)).collect();
        };
        let links = |store: &MayStore| {
            let stored = Stored { write: store.label, fences: store.fences, is_known: false };
            self.of_store((thread, read), &stored, store.cell, store.source)
        };
        stores.iter().flat_map(links).collect()
    }

    /// Whether a thread does in a completion what it has been assumed to do.
    fn keeps_promises(&self, thread: ThreadId, way: &Agreement) -> bool {
        let mut left = way.beyond.iter();
        let mut promised = self.state.runners[thread].promised.iter();
        promised.all(|&event| left.any(|act| act.is(self.setup.model, self.state, event)))
    }

    /// Adds what a thread may do early of a completion, all up to each store that others may wait for, and its links.
    fn add_stores(&self, thread: ThreadId, read: EventId, way: &Agreement, links: &mut Vec<Link>, to: &mut Vec<Early>) {
        let state = self.state;
        let runner = &state.runners[thread];
        let is_promised = |act: &Act| runner.promised.iter().any(|&event| act.is(self.setup.model, state, event));
        // What has been promised stays so, and stands among the rest.
        let kept = way.beyond.iter().rposition(is_promised).map_or(0, |at| way.ahead.len() + at);
        let (mut fences, mut at) = (Fences::NONE, 0);
        for (number, act) in way.ahead.iter().chain(&way.beyond).enumerate() {
            let first = runner.trail.get(at).copied();
            // The fences to which the thread has run ahead are in the graph.
            let there = runner.trail.iter().skip(at).take(act.events());
            let labels = there.map(|&event| state.graph.event(event).label);
            labels.filter(|label| label.kind == Kind::Fence).for_each(|label| fences.pass(label));
            at += act.events();
            if let Act::Fence { label, .. } = act {
                fences.pass(*label);
            }
            let Some(store) = act.store().filter(|_| act.is_known()) else { continue };
            let is_there = first.filter(|_| matches!(act, Act::Update { .. }));
            let is_known = is_there.and_then(|first| state.change(first)).is_some_and(Change::is_known);
            // A store that is known already is read if need be, and an update waits for its own read alone.
            if is_promised(act) || (is_known && is_there.is_some_and(|first| place(state, first).is_some())) {
                continue;
            }
            // Another turn of a loop may make an update again.
            let is_made = is_there.is_none() || runner.heads.is_empty();
            let stored = Stored { write: store.label, fences, is_known: is_made };
            let found = self.of_store((thread, read), &stored, Some(store.cell), store.source);
            if found.is_empty() {
                continue;
            }
            let found: Vec<usize> = found.into_iter().map(|link| number_of(links, link)).collect();
            if !is_made {
                continue;
            }
            let way = way.up_to(number.max(kept));
            match to.iter_mut().find(|known| known.way.is_same(&way)) {
                Some(known) => known.links.extend(found),
                None => {
                    to.push(Early { thread, way, lines: (state.graph.event(read).source, store.source), links: found })
                }
            }
        }
    }

    /// The reads for which other threads wait.
    fn reads(&self, thread: ThreadId) -> impl Iterator<Item = (Waiter, EventId)> {
        let others = self.readers.iter().filter(move |&&(other, _)| other != thread);
        others.flat_map(|&(of, _)| self.state.pending(of).map(move |read| (Waiter::Reader(of, read), read)))
    }

    /// The links of a store of this statement, behind a read for which its thread waits, to all reads that may wait for
    /// it.
    fn of_store(
        &self,
        (thread, read): (ThreadId, EventId),
        stored: &Stored,
        cell: Option<Address>,
        source: u32,
    ) -> Vec<Link> {
        let (from, process) = (Waiter::Reader(thread, read), &self.state.runners[thread].process);
        let is_at = |at: Address| cell.map_or_else(|| process.may_reach(source, at), |cell| cell == at);
        let there = self.reads(thread).filter(|&(_, read)| place(self.state, read).is_none_or(&is_at));
        let label = |read: EventId| self.state.graph.event(read).label;
        let links = there.map(|(to, read)| stored.read_by(self.setup, (from, to), cell, label(read)));
        links.chain(self.any_blocked.then(|| stored.blocks(from))).collect()
    }
}

/// The number of a link among others, to which it is added if it is not there.
fn number_of(links: &mut Vec<Link>, link: Link) -> usize {
    links.iter().position(|known| *known == link).unwrap_or_else(|| {
        links.push(link);
        links.len() - 1
    })
}

/// The cell of an access, if it is known.
fn place(state: &SearchState<'_>, event: EventId) -> Option<Address> {
    state.graph.event(event).location.and_then(|location| state.addresses.get(location)).copied()
}
