//! Vector clocks: what comes before a point of a thread.

use std::sync::Arc;

use wattle_memory::ThreadId;

/// When an access happened, by the clock of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch {
    pub thread: ThreadId,
    pub time: u32,
}

/// For each thread the time up to which all that it did comes before a point. Copies share it until one changes.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Vec<u32>>);

impl Clock {
    /// The clock of a point that nothing comes before.
    pub fn new(threads: usize) -> Clock {
        Clock(Arc::new(vec![0; threads]))
    }

    /// The clock of a thread that begins.
    pub fn of(thread: ThreadId, threads: usize) -> Clock {
        let mut clock = Clock::new(threads);
        clock.tick(thread);
        clock
    }

    /// Whether an access comes before this point.
    pub fn has(&self, earlier: Epoch) -> bool {
        earlier.time <= self.0[earlier.thread]
    }

    /// Whether all of them come before this point.
    pub fn has_all(&self, earlier: &[Epoch]) -> bool {
        earlier.iter().all(|&earlier| self.has(earlier))
    }

    /// What a thread does now.
    pub fn now(&self, thread: ThreadId) -> Epoch {
        Epoch { thread, time: self.0[thread] }
    }

    /// What the thread does from here on is not before those who have taken its clock.
    pub fn tick(&mut self, thread: ThreadId) {
        Arc::make_mut(&mut self.0)[thread] += 1;
    }

    /// All that comes before the other point comes before this one.
    pub fn join(&mut self, other: &Clock) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        for (time, other) in Arc::make_mut(&mut self.0).iter_mut().zip(&*other.0) {
            *time = (*time).max(*other);
        }
    }
}

/// Adds an access to those of its cell, of which the last one of each thread is kept.
pub fn add(accesses: &mut Vec<Epoch>, access: Epoch) {
    match accesses.iter_mut().find(|known| known.thread == access.thread) {
        Some(known) => *known = access,
        None => accesses.push(access),
    }
}
