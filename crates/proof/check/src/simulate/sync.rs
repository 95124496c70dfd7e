//! Which thread is ordered after which: fences, atomics and scopes as operations on vector clocks.
//!
//! Rules, from the portable model: a release pattern is a release write, or a release fence and a later atomic write;
//! an acquire pattern is an acquire read, or an atomic read and a later acquire fence. They synchronize when the read
//! observes the write, or a chain of read-modify-writes from it, each link of which is morally strong, and when every
//! scope in the two patterns includes the other pattern's thread. Causality is cumulative: a synchronization passes on
//! all that its thread knows, by whatever scopes it learned it. (PTX ISA 8.5, sections 8.7 to 8.9.)

use std::collections::BTreeMap;

use wattle_memory::{FenceOrder, Scope};

use super::clock::Clock;

/// A thread, with the data that scopes depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// The thread's number in clocks.
    pub thread: u32,
    /// The number of its block's first thread, which names the block.
    pub block: u32,
    /// The number of the device that it runs on; `None` for the host.
    pub device: Option<u32>,
    /// Whether its block has no other thread.
    pub alone: bool,
}

/// Whether the scope of an operation of `of` includes `other`.
fn includes(scope: Scope, of: &Member, other: &Member) -> bool {
    of.block == other.block
        || match scope {
            Scope::Block => false,
            Scope::Device => of.device.is_some() && of.device == other.device,
            Scope::System => true,
        }
}

/// Whether two accesses are morally strong: both atomic (they have scopes), each one's scope including the other.
pub(super) fn strong(x: &Member, x_scope: Option<Scope>, y: &Member, y_scope: Option<Scope>) -> bool {
    match (x_scope, y_scope) {
        (Some(x_scope), Some(y_scope)) => includes(x_scope, x, y) && includes(y_scope, y, x),
        _ => false,
    }
}

/// The clocks that can be acquired from a place, by the distance of the releasing thread.
///
/// A record of a thread can be acquired through scope `s` by the threads that the record's own scope includes and whose
/// scope `s` includes that thread. So it is enough to keep, joined: for each block the clocks that its threads
/// released, for each device those released at device scope or wider, and those released by any thread at system scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Releases {
    blocks: BTreeMap<u32, Clock>,
    devices: BTreeMap<u32, Clock>,
    system: Clock,
}

impl Releases {
    pub fn clear(&mut self) {
        *self = Releases::default();
    }

    pub fn add(&mut self, member: &Member, scope: Scope, by_scope: [&Clock; 3]) {
        let [block, device, system] = by_scope;
        if !member.alone && !block.is_empty() {
            self.blocks.entry(member.block).or_default().join(block);
        }
        if let (Scope::Device | Scope::System, Some(number)) = (scope, member.device)
            && !device.is_empty()
        {
            self.devices.entry(number).or_default().join(device);
        }
        if scope == Scope::System {
            self.system.join(system);
        }
    }

    /// The clocks that `member` can acquire through `scope`, by the narrowest scope that suffices.
    fn visible(&self, member: &Member, scope: Scope) -> [Option<&Clock>; 3] {
        [
            self.blocks.get(&member.block),
            member.device.filter(|_| scope >= Scope::Device).and_then(|number| self.devices.get(&number)),
            (scope == Scope::System).then_some(&self.system),
        ]
    }
}

/// The clocks of one thread, and its pending releases and acquires.
#[derive(Clone, Debug)]
pub(super) struct ThreadSync {
    pub member: Member,
    /// The thread's own epoch; it ends whenever the thread passes its clock on.
    pub now: u32,
    /// The clock of everything ordered before the thread's next operation.
    pub seen: Clock,
    /// The clock of everything that had ended when its launch began.
    pub start: Clock,
    /// The clocks that its release fences pass on with its next atomic writes, by scope.
    released: [Clock; 3],
    /// The clocks that its relaxed reads have observed and an acquire fence would add, by scope.
    observed: [Clock; 3],
}

impl ThreadSync {
    pub fn new(member: Member, start: Clock) -> ThreadSync {
        ThreadSync {
            member,
            now: 1,
            seen: start.clone(),
            start,
            released: Default::default(),
            observed: Default::default(),
        }
    }

    /// Returns all that the thread knows, its own past included, and begins a new epoch.
    pub fn hand_on(&mut self) -> Clock {
        self.seen.set(self.member.thread, self.now);
        self.now = self.now.saturating_add(1);
        self.seen.clone()
    }

    /// Adds to a clock that has all that the thread knows its own past, and begins a new epoch: what
    /// [`hand_on`](ThreadSync::hand_on) does, without a clock of the thread's own.
    pub fn join_into(&mut self, all: &mut Clock) {
        all.set(self.member.thread, self.now);
        self.now = self.now.saturating_add(1);
    }

    /// Handles a fence. `fences` holds the clocks that sequentially consistent fences pass to each other.
    pub fn fence(&mut self, order: FenceOrder, scope: Scope, fences: &mut Releases) {
        if order.acquires() {
            for observed in &mut self.observed[..=scope as usize] {
                self.seen.join(&std::mem::take(observed));
            }
        }
        if order == FenceOrder::SeqCst {
            for clock in fences.visible(&self.member, scope).into_iter().flatten() {
                self.seen.join(clock);
            }
        }
        if order.releases() {
            let clock = self.hand_on();
            if order == FenceOrder::SeqCst {
                fences.add(&self.member, scope, [&clock; 3]);
            }
            self.released[..=scope as usize].fill(clock);
        }
    }

    /// Handles an atomic read that observed the write to which `releases` belongs.
    pub fn observe(&mut self, releases: &Releases, scope: Scope, acquires: bool) {
        for (clock, observed) in releases.visible(&self.member, scope).into_iter().zip(&mut self.observed) {
            let Some(clock) = clock else { continue };
            if acquires {
                self.seen.join(clock);
            } else {
                observed.join(clock);
            }
        }
    }

    /// Adds the clocks of a place that the thread can acquire through `scope`, by the narrowest scope that suffices.
    pub fn visible(&self, releases: &Releases, scope: Scope, known: &mut [Clock; 3]) {
        for (clock, known) in releases.visible(&self.member, scope).into_iter().zip(known) {
            clock.into_iter().for_each(|clock| known.join(clock));
        }
    }

    /// Passes on, at a barrier, what the thread knows, or what its release fences have passed on to its block.
    pub fn arrive(&mut self, releases: bool) -> Clock {
        if releases { self.hand_on() } else { self.released[Scope::Block as usize].clone() }
    }

    /// Takes what was passed on at a barrier: the thread is ordered after it, or its next acquire fence is.
    pub fn pass(&mut self, clock: &Clock, acquires: bool) {
        if acquires {
            self.seen.join(clock);
        } else {
            self.observed[Scope::Block as usize].join(clock);
        }
    }

    /// Handles an atomic write, which passes clocks on through `releases`.
    pub fn publish(&mut self, releases: &mut Releases, scope: Scope, release: bool) {
        if release {
            let clock = self.hand_on();
            releases.add(&self.member, scope, [&clock; 3]);
        } else {
            let [block, device, system] = &self.released;
            releases.add(&self.member, scope, [block, device, system]);
        }
    }
}
