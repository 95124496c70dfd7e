//! The accesses of one element that a later one could race with.

use std::collections::BTreeMap;
use std::ops::Range;

use wattle_ir::Site;
use wattle_memory::Scope;

use super::sync::{Member, ThreadSync, strong};

/// The bytes of an access, counted from the first byte of an element. An access that is wider than the element may
/// begin in front of it, and end behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub first: i8,
    pub bytes: u8,
}

impl Extent {
    /// All of an element of that size.
    pub fn whole(bytes: usize) -> Extent {
        Extent { first: 0, bytes: bytes as u8 }
    }

    /// The bytes of an element of that size that are among these.
    pub fn within(self, size: usize) -> Range<usize> {
        let end = i16::from(self.first) + i16::from(self.bytes);
        self.first.max(0) as usize..(end.max(0) as usize).min(size)
    }
}

/// An access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub member: Member,
    /// The thread's epoch.
    pub epoch: u32,
    pub site: Site,
    /// The scope of an atomic access; `None` for a plain one.
    pub scope: Option<Scope>,
    pub write: bool,
    pub extent: Extent,
    /// Whether nothing but the boundaries of launches orders it with accesses of other threads: a private one of
    /// Vulkan.
    pub private: bool,
}

/// Whether two accesses are morally strong: both atomic, each one's scope including the other's thread, and of the same
/// bytes (PTX ISA 8.8, 8.7: "if both operations are memory operations, then they overlap completely").
fn strong_events(x: &Event, y: &Event) -> bool {
    x.extent == y.extent && strong(&x.member, x.scope, &y.member, y.scope)
}

/// Whether an earlier access of another thread may have happened at the same time as one of this thread.
#[inline]
fn misses(thread: &ThreadSync, past: &Event, now: &Event) -> bool {
    let known = if past.private || now.private { &thread.start } else { &thread.seen };
    past.member.thread != now.member.thread && past.epoch > known.get(past.member.thread)
}

/// The accesses since the last generation that are not dominated: an access is dropped once whatever could race with
/// it would also race with a later one that it is ordered before.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    write: Option<Event>,
    reads: Reads,
    atomics: Option<Box<Atomics>>,
}

/// The plain reads since the last plain write: the last one of each thread.
#[derive(Clone, Debug, Default)]
enum Reads {
    #[default]
    None,
    One(Event),
    Many(BTreeMap<u32, Event>),
}

/// Atomic accesses since the last plain write: the last one of each thread, scope and kind.
#[derive(Clone, Debug)]
struct Atomics {
    events: BTreeMap<(u32, Scope, bool), Event>,
    /// The block of all of them, if they are in one block.
    block: Option<u32>,
    /// The narrowest scope among them.
    scope: Scope,
    /// The device of all of them, if they are on one.
    device: Option<u32>,
    /// The bytes of all of them, if they are the same.
    extent: Option<Extent>,
}

impl History {
    /// Adds an access of a thread; returns an earlier access that races with it.
    pub fn record(&mut self, event: Event, thread: &ThreadSync) -> Option<Event> {
        let race = self.race(&event, thread);
        match (event.scope, event.write) {
            (None, true) => *self = History { write: Some(event), ..History::default() },
            (None, false) => self.reads.insert(event),
            (Some(scope), _) => match &mut self.atomics {
                Some(atomics) => atomics.insert(event, scope),
                None => self.atomics = Some(Box::new(Atomics::new(event, scope))),
            },
        }
        race
    }

    fn race(&self, event: &Event, thread: &ThreadSync) -> Option<Event> {
        let unordered = |past: &&Event| misses(thread, past, event);
        if let Some(write) = self.write.as_ref().filter(unordered) {
            return Some(*write);
        }
        if event.write {
            let read = match &self.reads {
                Reads::None => None,
                Reads::One(read) => Some(read).filter(unordered),
                Reads::Many(reads) => reads.values().find(unordered),
            };
            if read.is_some() {
                return read.copied();
            }
        }
        let atomics = self.atomics.as_ref().filter(|atomics| !atomics.all_strong(event))?;
        let conflicts = |past: &&Event| (event.write || past.write) && !strong_events(past, event);
        atomics.events.values().filter(conflicts).find(unordered).copied()
    }
}

impl Reads {
    fn insert(&mut self, event: Event) {
        match self {
            Reads::One(past) if past.member.thread != event.member.thread => {
                let reads = [*past, event].into_iter().map(|read| (read.member.thread, read));
                *self = Reads::Many(reads.collect());
            }
            Reads::None | Reads::One(_) => *self = Reads::One(event),
            Reads::Many(reads) => {
                reads.insert(event.member.thread, event);
            }
        }
    }
}

impl Atomics {
    fn new(event: Event, scope: Scope) -> Atomics {
        let Member { block, device, .. } = event.member;
        let extent = Some(event.extent);
        let mut atomics = Atomics { events: BTreeMap::new(), block: Some(block), scope: Scope::System, device, extent };
        atomics.insert(event, scope);
        atomics
    }

    fn insert(&mut self, event: Event, scope: Scope) {
        self.block = self.block.filter(|&block| block == event.member.block);
        self.scope = self.scope.min(scope);
        self.device = self.device.filter(|&device| event.member.device == Some(device));
        self.extent = self.extent.filter(|&extent| extent == event.extent);
        self.events.insert((event.member.thread, scope, event.write), event);
    }

    /// Whether all are morally strong with `event` for a reason that needs no check of each.
    fn all_strong(&self, event: &Event) -> bool {
        let Some(scope) = event.scope else { return false };
        let narrowest = self.scope.min(scope);
        self.extent == Some(event.extent)
            && (self.block == Some(event.member.block)
                || narrowest == Scope::System
                || (narrowest == Scope::Device && self.device.is_some() && self.device == event.member.device))
    }
}
