//! The reads that may be part of a circle in some state, found once for all states.

use rustc_hash::FxHashSet;
use wattle_memory::{Level, Relation, Set, ThreadId, stop};

use super::super::Setup;
use super::super::completions::{MayRead, MayStore, Reach, reach};
use super::super::state::CircleReads;
use super::super::values::Values;
use super::circles::{Fences, Link, Stored, Waiter, without_covered};

/// The maximum number of actions that are run.
const MOST_ACTIONS: u32 = 1 << 17;

/// The maximum number of links.
const MOST_LINKS: usize = 1 << 10;

/// A read of a thread, with what the thread may store behind it.
struct Node<'w> {
    thread: ThreadId,
    read: MayRead<'w>,
    stores: Vec<MayStore>,
}

/// Finds the reads of all threads that may be part of circles; all may be where that is not found out within bounds.
pub(in super::super) fn circle_reads(setup: &Setup<'_>, values: &Values) -> CircleReads {
    CircleReads(of_circles(setup, values))
}

fn of_circles(setup: &Setup<'_>, values: &Values) -> Option<FxHashSet<(ThreadId, u32)>> {
    let mut left = MOST_ACTIONS;
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut all = Vec::new();
    for (thread, spawn) in setup.threads.iter().enumerate() {
        let of_thread = reach(&spawn.process, values, &mut left)?;
        for read in &of_thread.reads {
            let behind = read.stores_behind(values, &mut left)?;
            let is_alike = |node: &&mut Node<'_>| node.thread == thread && node.read.is_alike(read);
            match nodes.iter_mut().find(is_alike) {
                Some(Node { stores, .. }) => {
                    let new: Vec<_> = behind.into_iter().filter(|store| !stores.contains(store)).collect();
                    stores.extend(new);
                }
                None => nodes.push(Node { thread, read: read.clone(), stores: behind }),
            }
        }
        all.push(of_thread);
    }
    let links = links(setup, &nodes, &all)?;
    let mut follows = Relation::new(links.len());
    for (first, one) in links.iter().enumerate() {
        let next = links.iter().enumerate().filter(|(_, other)| other.from == one.to);
        next.for_each(|(second, _)| follows.insert(first, second));
    }
    let reaches = follows.plus();
    let mut seen = Set::new(links.len());
    let mut found = FxHashSet::default();
    for first in 0..links.len() {
        if seen.contains(first) || !reaches.has(first, first) {
            continue;
        }
        let around = |other: usize| reaches.has(first, other) && reaches.has(other, first);
        let component: Vec<usize> = (0..links.len()).filter(|&other| around(other)).collect();
        component.iter().for_each(|&link| seen.insert(link));
        let is_loose = |&&link: &&usize| {
            let mut next = follows.after(link).filter(|&next| around(next));
            next.any(|next| !links[link].link.comes_before(setup, &links[next].link))
        };
        let loose: Vec<&Link> = component.iter().filter(is_loose).map(|&link| &links[link].link).collect();
        let differs = |one: &Link, other: &Link| one.cell.is_none() || one.cell != other.cell;
        let may_be_circle = loose.first().is_some_and(|one| {
            loose.iter().any(|other| other.from != one.from) && loose.iter().any(|other| differs(one, other))
        });
        let read = |link: &usize| (nodes[links[*link].from].thread, nodes[links[*link].from].read.source);
        found.extend(component.iter().filter(|_| may_be_circle).map(read));
        if stop::requested() {
            return None;
        }
    }
    Some(found)
}

/// A link between two reads, which have these numbers.
struct Between {
    from: usize,
    to: usize,
    link: Link,
}

/// The links between all reads; `None` where there are too many.
fn links(setup: &Setup<'_>, nodes: &[Node<'_>], all: &[Reach<'_>]) -> Option<Vec<Between>> {
    let mut links = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let own = node.read.own_store();
        let behind: Vec<&MayStore> = node.stores.iter().chain(&own).collect();
        let waiting = waiting_for(setup, all, node.thread);
        let ordered = !waiting.iter().chain([&node.thread]).any(|&thread| all[thread].unordered);
        let theirs: Vec<_> =
            waiting.iter().flat_map(|&of| all[of].stores.iter().map(move |store| (of, store))).collect();
        for (to, other) in nodes.iter().enumerate().filter(|(_, other)| other.thread != node.thread) {
            let ends = (Waiter::Reader(node.thread, from), Waiter::Reader(other.thread, to));
            let meets = |of: ThreadId, store: &MayStore| meet(setup, of, store, &other.read);
            let link = |store: &MayStore| {
                let stored = Stored { write: store.label, fences: store.fences, is_known: false };
                stored.read_by(setup, ends, store.cell, other.read.label)
            };
            let own = behind.iter().filter(|_| !begins_after(setup, node.thread, other.thread));
            let own = own.filter(|store| meets(node.thread, store)).map(|store| link(store));
            let is_behind = |&&(of, store): &&(ThreadId, &MayStore)| {
                of != other.thread && !begins_after(setup, of, other.thread) && meets(of, store)
            };
            let of_other = |&(of, store): &(ThreadId, &MayStore)| match ordered {
                true => {
                    let stored = Stored { write: store.label, fences: Fences::NONE, is_known: false };
                    stored.of_other(setup, of, ends, store.cell, other.read.label)
                }
                false => Link::unknown(ends.0, ends.1),
            };
            let found = without_covered(own.chain(theirs.iter().filter(is_behind).map(of_other)));
            links.extend(found.into_iter().map(|link| Between { from, to, link }));
            if links.len() > MOST_LINKS || stop::requested() {
                return None;
            }
        }
    }
    Some(links)
}

/// Whether a store of a thread may be to the cell of a read.
fn meet(setup: &Setup<'_>, thread: ThreadId, store: &MayStore, read: &MayRead<'_>) -> bool {
    match (store.cell, read.cell) {
        (Some(store), Some(read)) => store == read,
        (None, Some(read)) => setup.threads[thread].process.may_reach(store.source, read),
        (Some(store), None) => read.process.may_reach(read.source, store),
        (None, None) => true,
    }
}

/// Whether a thread begins only when another one has ended.
fn begins_after(setup: &Setup<'_>, thread: ThreadId, other: ThreadId) -> bool {
    closure(setup, thread, |thread, of| setup.threads[thread].after.contains(&of)).contains(&other)
}

/// The threads that may wait, at a barrier, at an operation of their warp or for their start, until this one has come
/// there or has ended; and those that wait for them.
fn waiting_for(setup: &Setup<'_>, all: &[Reach<'_>], thread: ThreadId) -> Vec<ThreadId> {
    let placement = |thread: ThreadId| &setup.threads[thread].placement;
    closure(setup, thread, |thread, of| {
        let is_in_block = || placement(of).shares(placement(thread), Level::Block);
        let meets = all[of].meets.contains(&thread) || (all[of].meets_block && is_in_block());
        meets || setup.threads[of].after.contains(&thread)
    })
}

/// The other threads that are reached from one by some steps.
fn closure(setup: &Setup<'_>, from: ThreadId, is_step: impl Fn(ThreadId, ThreadId) -> bool) -> Vec<ThreadId> {
    let mut found = vec![from];
    let mut done = 0;
    while let Some(&thread) = found.get(done) {
        done += 1;
        let is_new = |of: &ThreadId| !found.contains(of) && is_step(thread, *of);
        let new: Vec<ThreadId> = (0..setup.threads.len()).filter(is_new).collect();
        found.extend(new);
    }
    found.split_off(1)
}
