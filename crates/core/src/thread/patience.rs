//! How a worker waits: it polls, looks at the clock now and then, and gives its core away where another needs it.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many polls pass between two looks at the clock.
pub(crate) const POLLS_PER_LOOK: u32 = 64;
/// How many iterations of loops that wait for no other thread pass between two looks at the time limit: enough that the
/// inner ones, which have no check in them, stay as fast as if there were none.
pub const STEPS_PER_LOOK: u32 = 1 << 16;
/// The number of polls from which on a waiting thread gives its core away at each look, where other threads of this
/// process need one.
const POLLS_BEFORE_YIELD: u32 = 1024;
/// How long a thread that polls keeps its core where no other thread of this process needs it. Another process may, but
/// what looks like a wait may be a search, which needs processor time.
const TURN: Duration = Duration::from_millis(1);

/// How many threads of this process are in kernels.
static IN_KERNELS: AtomicUsize = AtomicUsize::new(0);

/// A thread that runs blocks.
pub(crate) struct InKernel(());

impl InKernel {
    #[inline]
    pub(crate) fn enter() -> InKernel {
        IN_KERNELS.fetch_add(1, Ordering::Relaxed);
        InKernel(())
    }

    /// Whether more threads are in kernels than there are cores.
    fn is_crowded() -> bool {
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, Into::into));
        IN_KERNELS.load(Ordering::Relaxed) > cores
    }
}

impl Drop for InKernel {
    #[inline]
    fn drop(&mut self) {
        IN_KERNELS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a thread gives its core away after `polls` polls, where it last did so `since` ago.
fn gives_way(polls: u32, is_crowded: bool, since: Duration) -> bool {
    polls >= POLLS_BEFORE_YIELD && (is_crowded || since >= TURN)
}

/// The polls of one wait after another.
#[derive(Default)]
pub(crate) struct Patience {
    polls: Cell<u32>,
    /// When the core was last given away, or the clock first looked at.
    yielded: Cell<Option<Instant>>,
}

impl Patience {
    /// Counts a poll, and gives their number.
    #[inline(always)]
    pub(crate) fn poll(&self) -> u32 {
        let polls = self.polls.get().wrapping_add(1);
        self.polls.set(polls);
        polls
    }

    /// Gives the core away, if it is time to.
    #[cold]
    pub(crate) fn give_way(&self) {
        let now = Instant::now();
        let last = self.yielded.get().unwrap_or(now);
        let gives_way = gives_way(self.polls.get(), InKernel::is_crowded(), now.saturating_duration_since(last));
        self.yielded.set(Some(if gives_way { now } else { last }));
        if gives_way {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gives_its_core_away_where_others_need_it_and_otherwise_seldom() {
        let (soon, later) = (Duration::from_micros(1), TURN);
        assert!(!gives_way(POLLS_BEFORE_YIELD - 1, true, later), "it has just begun");
        assert!(gives_way(POLLS_BEFORE_YIELD, true, soon) && gives_way(POLLS_BEFORE_YIELD, false, later));
        assert!(!gives_way(u32::MAX, false, soon), "nobody of this process waits for a core");
    }
}
