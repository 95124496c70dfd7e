//! The limits at which a search stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thiserror::Error;

/// The limits of a search.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The time at which it stops.
    pub deadline: Option<Instant>,
    /// The maximum memory of the process, in bytes.
    pub memory: Option<u64>,
    /// Whether Ctrl-C ends it, through [`wattle_core::interrupt`].
    pub heeds_interrupt: bool,
    /// A flag that ends the search when it is set from outside, for example by Ctrl-C.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// The limit that has been reached, if one has.
    pub(crate) fn reached(&self) -> Option<Stopped> {
        Watch::new(self).check()
    }
}

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Stopped {
    /// The time is up.
    #[error("the time limit was reached")]
    Time,
    /// The memory is used up.
    #[error("the memory limit was reached")]
    Memory,
    /// The search was interrupted from outside.
    #[error("it was interrupted")]
    Cancelled,
}

/// The maximum number of events of a graph, and whether some graph had more.
#[derive(Debug)]
pub struct MostEvents {
    most: usize,
    exceeded: AtomicBool,
}

impl MostEvents {
    /// The maximum `most`, which no graph has exceeded yet.
    pub fn new(most: usize) -> MostEvents {
        MostEvents { most, exceeded: AtomicBool::new(false) }
    }

    /// Whether some graph had more events.
    pub fn was_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Whether these are more events, which is recorded.
    pub(super) fn is_exceeded_by(&self, events: usize) -> bool {
        let more = events > self.most;
        if more {
            self.exceeded.store(true, Ordering::Relaxed);
        }
        more
    }
}

/// A periodic check of the limits.
pub struct Watch<'a> {
    limits: &'a Limits,
    /// When the memory is looked at the next time, which costs as much as a hundred steps.
    next_look: Option<Instant>,
}

/// The time between two looks at the memory.
const LOOK: Duration = Duration::from_millis(2);

impl<'a> Watch<'a> {
    /// A check of these limits.
    pub fn new(limits: &'a Limits) -> Self {
        Watch { limits, next_look: None }
    }

    /// Whether a limit has been reached; cheap enough to be called for every step of the search.
    pub fn check(&mut self) -> Option<Stopped> {
        if self.limits.heeds_interrupt && wattle_core::interrupt::requested() {
            return Some(Stopped::Cancelled);
        }
        let limited = self.limits.deadline.is_some() || self.limits.memory.is_some();
        let now = limited.then(Instant::now);
        if now.zip(self.limits.deadline).is_some_and(|(now, deadline)| now >= deadline) {
            return Some(Stopped::Time);
        }
        let cancelled = self.limits.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed));
        if let Some((now, most)) = now.zip(self.limits.memory)
            // The flag may be set because of the memory.
            && (cancelled || self.next_look.is_none_or(|next| now >= next))
        {
            self.next_look = Some(now + LOOK);
            if resident_bytes().is_some_and(|used| used > most) {
                return Some(Stopped::Memory);
            }
        }
        cancelled.then_some(Stopped::Cancelled)
    }
}

/// The number of relations that an analysis holds at a time.
const RELATIONS: u64 = 16;

/// The most memory for the analysis of one graph where no limit is set, in bytes.
const MOST_MEMORY: u64 = 16 << 30;

impl Watch<'_> {
    /// Whether the relations over a graph of this number of events do not fit into memory.
    pub fn exceeds_memory(&self, events: usize) -> bool {
        let bytes = (events as u64).saturating_mul(events as u64).saturating_mul(RELATIONS) / 8;
        let Some(most) = self.limits.memory else { return bytes > MOST_MEMORY };
        // What is in use is looked up only where it can decide.
        bytes > most / 16 && bytes > most.saturating_sub(resident_bytes().unwrap_or(0))
    }
}

/// A closure that reports whether a limit has been reached, for long computations ([`wattle_memory::stop`]).
pub(super) fn asks(limits: Limits) -> impl FnMut() -> bool + 'static {
    let mut next_look = None;
    move || {
        let mut watch = Watch { limits: &limits, next_look };
        let reached = watch.check().is_some();
        next_look = watch.next_look;
        reached
    }
}

/// The resident memory of this process in bytes, where the system reports it.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_compared_with_what_is_in_use() {
        let used = resident_bytes().expect("Linux says what is in use");
        let reached = |memory: u64| Watch::new(&Limits { memory: Some(memory), ..Limits::default() }).check();
        assert_eq!(reached(used / 2), Some(Stopped::Memory));
        assert_eq!(reached(used * 64), None);
    }

    #[test]
    fn each_limit_is_named() {
        let flag = Arc::new(AtomicBool::new(false));
        let limits = Limits { cancelled: Some(flag.clone()), ..Limits::default() };
        assert_eq!(Watch::new(&limits).check(), None);
        flag.store(true, Ordering::Relaxed);
        assert_eq!(Watch::new(&limits).check(), Some(Stopped::Cancelled));
        let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        assert_eq!(Watch::new(&late).check(), Some(Stopped::Time));
        let early = Limits { deadline: Some(Instant::now() + Duration::from_secs(3600)), ..Limits::default() };
        assert_eq!(Watch::new(&early).check(), None);
    }
}
