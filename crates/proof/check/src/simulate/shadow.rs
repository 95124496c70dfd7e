//! The shadow of an element: its accesses since the last time that no launch was in flight, and what its latest write
//! passes on.
//!
//! An element has one track for all its bytes as long as each access covers all of them, as those of Wattle's own
//! kernels do. The first access that covers a part of them, by a module's kernel, divides it: from then on each byte
//! has its own, so that accesses of different bytes never race, and those of any sizes that share a byte do.

use std::collections::BTreeMap;

use wattle_memory::Scope;

use super::clock::Clock;
use super::history::{Event, Extent, History};
use super::sync::{Member, Releases, ThreadSync, strong};

/// The accesses of an element.
#[derive(Default)]
pub(super) struct Shadow {
    pub generation: u64,
    whole: Track,
    /// A track for each byte, once they differ.
    bytes: Option<Box<[Track]>>,
}

/// The accesses of some bytes that were always accessed together.
#[derive(Clone, Default)]
pub(super) struct Track {
    last: Option<Write>,
    releases: Releases,
    history: History,
    of_modules: Option<Box<OfModules>>,
}

/// What only the accesses of modules need.
#[derive(Clone, Default)]
struct OfModules {
    /// What each thread has released here, by scope: its later writes pass it on too.
    released: BTreeMap<u32, [Clock; 3]>,
    /// What the relaxed reads of each thread have observed here, by scope: a later acquire read acquires it too.
    observed: BTreeMap<u32, [Clock; 3]>,
    /// What atomic writes here pass on of the other class of memory, where classes are ordered each by itself.
    other: Releases,
    /// The latest read by each launch through a cache that is not coherent, by the launch's first thread.
    uncached: BTreeMap<u32, Event>,
}

/// A write that gave its bytes their present value.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub member: Member,
    /// The scope of an atomic one.
    scope: Option<Scope>,
    extent: Extent,
    /// Whether the value is the mark of a copy that is not complete.
    pub is_mark: bool,
}

/// How an atomic operation passes clocks on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passing {
    pub scope: Scope,
    pub reads: bool,
    pub writes: bool,
    pub acquires: bool,
    pub releases: bool,
    pub extent: Extent,
    /// Whether release patterns go on to later writes of the thread to the same place, and acquire patterns begin with
    /// earlier reads there, as in PTX (PTX ISA 8.8, 8.8 "Release and acquire patterns").
    pub extends: bool,
    /// Whether its read begins no acquire pattern: that of PTX's `red`.
    pub reduces: bool,
}

impl Shadow {
    pub fn of(generation: u64) -> Shadow {
        Shadow { generation, ..Shadow::default() }
    }

    /// The tracks of the bytes of an access, of an element of `size` bytes.
    pub fn tracks(&mut self, extent: Extent, size: usize) -> &mut [Track] {
        let within = extent.within(size);
        if self.bytes.is_none() {
            if within == (0..size) {
                return std::slice::from_mut(&mut self.whole);
            }
            self.bytes = Some(vec![self.whole.clone(); size].into());
        }
        self.bytes.as_deref_mut().and_then(|bytes| bytes.get_mut(within)).unwrap_or_default()
    }

    /// Adds an access to the whole element; returns an earlier access that races with it.
    #[inline]
    pub fn record(&mut self, event: Event, thread: &ThreadSync) -> Option<Event> {
        match &mut self.bytes {
            None => self.whole.history.record(event, thread),
            Some(bytes) => bytes.iter_mut().map(|track| track.record(event, thread)).fold(None, Option::or),
        }
    }

    /// Handles a plain store to the whole element.
    #[inline]
    pub fn store(&mut self, thread: &ThreadSync, extent: Extent) {
        match &mut self.bytes {
            None => self.whole.store(thread, extent, false),
            Some(bytes) => bytes.iter_mut().for_each(|track| track.store(thread, extent, false)),
        }
    }

    /// Handles the read half of an atomic operation on the whole element; returns whether it and the write that it
    /// observes are morally strong.
    #[inline]
    pub fn observe(&mut self, thread: &mut ThreadSync, passing: Passing) -> bool {
        let (first, others) = match &mut self.bytes {
            None => (&mut self.whole, &[][..]),
            Some(bytes) => match bytes.split_first_mut() {
                Some((first, others)) => (first, &*others),
                None => return false,
            },
        };
        let linked = first.links(thread, passing) && others.iter().all(|track| track.links(thread, passing));
        if linked {
            first.observe(thread, passing);
        }
        linked
    }

    /// Handles the write half of an atomic operation on the whole element.
    #[inline]
    pub fn publish(&mut self, thread: &mut ThreadSync, passing: Passing, linked: bool) {
        match &mut self.bytes {
            None => self.whole.publish(thread, passing, linked),
            Some(bytes) => bytes.iter_mut().for_each(|track| track.publish(thread, passing, linked)),
        }
    }

    /// Forgets the latest write, after the host has written.
    pub fn forget_writer(&mut self) {
        for track in self.bytes.iter_mut().flatten().chain([&mut self.whole]) {
            track.last = None;
            track.clear_releases();
        }
    }
}

impl Track {
    /// Adds an access; returns an earlier access that races with it.
    pub fn record(&mut self, event: Event, thread: &ThreadSync) -> Option<Event> {
        self.history.record(event, thread)
    }

    /// Handles a plain store, from which nothing can be acquired.
    pub fn store(&mut self, thread: &ThreadSync, extent: Extent, is_mark: bool) {
        self.clear_releases();
        self.last = Some(Write { member: thread.member, scope: None, extent, is_mark });
    }

    /// Whether the read half of an atomic operation and the write that it observes are morally strong.
    pub fn links(&self, thread: &ThreadSync, passing: Passing) -> bool {
        let observed = self.last.filter(|_| passing.reads);
        observed.is_some_and(|write| {
            write.extent == passing.extent && strong(&write.member, write.scope, &thread.member, Some(passing.scope))
        })
    }

    /// Handles the read half of an atomic operation that is morally strong with the write that it observes. An acquire
    /// read is itself ordered after what it acquires, so this comes before its access is recorded.
    pub fn observe(&mut self, thread: &mut ThreadSync, passing: Passing) {
        if passing.reduces {
            return;
        }
        thread.observe(&self.releases, passing.scope, passing.acquires);
        if passing.extends && !passing.acquires {
            let known = self.of_modules.get_or_insert_default().observed.entry(thread.member.thread).or_default();
            thread.visible(&self.releases, passing.scope, known);
        }
    }

    /// Handles an acquire read after relaxed reads of the thread of the same bytes, whose pattern it ends.
    pub fn acquire_observed(&self, thread: &mut ThreadSync, passing: Passing) {
        let observed = self.of_modules.as_ref().and_then(|known| known.observed.get(&thread.member.thread));
        if passing.extends && passing.acquires {
            let reached = observed.into_iter().flat_map(|by_scope| &by_scope[..=passing.scope as usize]);
            reached.for_each(|clock| thread.seen.join(clock));
        }
    }

    /// Handles the write half. A write that does not continue a chain ends the releases made here before.
    pub fn publish(&mut self, thread: &mut ThreadSync, passing: Passing, linked: bool) {
        if !passing.writes {
            return;
        }
        if !linked {
            self.clear_releases();
        }
        thread.publish(&mut self.releases, passing.scope, passing.releases);
        if passing.extends {
            self.extend_pattern(thread, passing);
        }
        let (scope, extent) = (Some(passing.scope), passing.extent);
        self.last = Some(Write { member: thread.member, scope, extent, is_mark: false });
    }

    fn clear_releases(&mut self) {
        self.releases.clear();
        if let Some(known) = &mut self.of_modules {
            known.other.clear();
        }
    }

    /// Handles the read half of an atomic operation, of the other class of memory.
    pub fn observe_other(&self, thread: &mut ThreadSync, scope: Scope, acquires: bool) {
        if let Some(known) = &self.of_modules {
            thread.observe(&known.other, scope, acquires);
        }
    }

    /// Handles the write half, of the other class of memory.
    pub fn publish_other(&mut self, thread: &mut ThreadSync, scope: Scope, releases: bool) {
        let known = self.of_modules.get_or_insert_default();
        thread.publish(&mut known.other, scope, releases);
    }

    /// Adds what the thread has released here before, and keeps what it releases now.
    fn extend_pattern(&mut self, thread: &ThreadSync, passing: Passing) {
        let number = thread.member.thread;
        if let Some(by_scope) = self.of_modules.as_ref().and_then(|known| known.released.get(&number)) {
            for (clock, scope) in by_scope.iter().zip(Scope::ALL).filter(|(clock, _)| !clock.is_empty()) {
                self.releases.add(&thread.member, scope, [clock; 3]);
            }
        }
        if passing.releases {
            let known = self.of_modules.get_or_insert_default().released.entry(number).or_default();
            known[passing.scope as usize].join(&thread.seen);
        }
    }

    /// The write that gave the bytes their present value, if a launch that overlaps with those in flight made it.
    pub fn last(&self) -> Option<Write> {
        self.last
    }

    /// Records a read through a cache that is not coherent, by the launch whose first thread this is.
    pub fn read_uncached(&mut self, launch: u32, event: Event) {
        self.of_modules.get_or_insert_default().uncached.insert(launch, event);
    }

    /// A read of that launch through a cache that is not coherent.
    pub fn uncached(&self, launch: u32) -> Option<Event> {
        self.of_modules.as_ref()?.uncached.get(&launch).copied()
    }
}
