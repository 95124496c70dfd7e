//! How a launch is handed to helpers, and how its end is waited for.
//!
//! One owner publishes a job; any number of helpers may join it while it is open. The owner does the job too, and when
//! nothing is left to take it closes the job and waits for the helpers that have joined, not for those that were
//! asleep. So an empty launch costs no wake-up. `tests` proves it with loom.

use super::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Condvar, LOOKS_BEFORE_SLEEP, Mutex, Ordering, UnsafeCell, fence, lock, relax,
    with, with_mut,
};

/// A job: called once by each thread that joins, at the same time.
pub(crate) type Job<'j> = &'j (dyn Fn() + Sync + 'j);

/// The low half of the state counts the helpers that are in the job.
const HELPERS: u64 = (1 << 32) - 1;
/// Whether helpers may join.
const OPEN: u64 = 1 << 32;
/// The bits above number the jobs, so that a helper joins the one it saw and no job twice.
const NEXT: u64 = 1 << 33;

pub(crate) struct Handover {
    state: AtomicU64,
    /// The job, valid from its opening until it is closed and no helper is in it.
    job: UnsafeCell<Option<Job<'static>>>,
    sleepers: AtomicUsize,
    /// Held to go to sleep and to wake.
    door: Mutex<()>,
    bell: Condvar,
    quit: AtomicBool,
}

// SAFETY: the owner writes `job` only while it is closed and no helper is in it, as `state` records; helpers read it
// only between joining and leaving. Jobs are `Sync`.
unsafe impl Send for Handover {}
// SAFETY: as above.
unsafe impl Sync for Handover {}

impl Handover {
    pub(crate) fn new() -> Self {
        Handover {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            sleepers: AtomicUsize::new(0),
            door: Mutex::new(()),
            bell: Condvar::new(),
            quit: AtomicBool::new(false),
        }
    }

    /// Does `job`, together with the helpers that come. Returns when all of them have left it.
    ///
    /// One owner calls this at a time. `job` must not unwind.
    pub(crate) fn run(&self, job: Job<'_>) {
        // SAFETY: only the lifetime changes. No thread is in a job once this function has returned, and none joins one
        // that is closed, so the reference is not used beyond its lifetime.
        let erased = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        // SAFETY: the last job is closed and empty, and there is one owner.
        with_mut(&self.job, |slot| unsafe { *slot = Some(erased) });
        let last = self.state.load(Ordering::Relaxed);
        self.state.store(((last & !(NEXT - 1)) + NEXT) | OPEN, Ordering::Release);
        // Either this sees a sleeper, or the sleeper sees the job (both sides: write, fence, read).
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            let _door = lock(&self.door);
            self.bell.notify_all();
        }
        job();
        // Acquire: see what the helpers did that have left before.
        let mut state = self.state.fetch_and(!OPEN, Ordering::AcqRel);
        let mut looks = 0;
        while state & HELPERS != 0 {
            relax(looks);
            looks = looks.saturating_add(1);
            state = self.state.load(Ordering::Acquire);
        }
    }

    /// What a helper does: joins jobs until [`Handover::quit`].
    pub(crate) fn help(&self) {
        let mut last = 0;
        let mut looks = 0;
        loop {
            let state = self.state.load(Ordering::Acquire);
            if self.is_new(state, last) {
                last = state & !(NEXT - 1);
                looks = 0;
                if self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    self.work();
                } else {
                    // Another helper joined at that moment, or the job was closed: look again.
                    last = last.wrapping_sub(NEXT);
                }
                continue;
            }
            if self.quit.load(Ordering::Relaxed) {
                return;
            }
            if looks < LOOKS_BEFORE_SLEEP {
                looks += 1;
                relax(looks);
                continue;
            }
            looks = 0;
            self.sleep(last);
        }
    }

    fn is_new(&self, state: u64, last: u64) -> bool {
        state & OPEN != 0 && state & !(NEXT - 1) != last
    }

    fn work(&self) {
        // SAFETY: this helper has joined and not left, so the job is there.
        let job = with(&self.job, |slot| unsafe { *slot });
        if let Some(job) = job {
            job();
        }
        // Release: publish what this helper did to the owner that waits.
        self.state.fetch_sub(1, Ordering::Release);
    }

    fn sleep(&self, last: u64) {
        let door = lock(&self.door);
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let state = self.state.load(Ordering::Relaxed);
        if !self.is_new(state, last) && !self.quit.load(Ordering::Relaxed) {
            // A spurious wake-up does no harm: `help` looks again.
            drop(self.bell.wait(door));
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Makes every helper return from [`Handover::help`].
    pub(crate) fn quit(&self) {
        let _door = lock(&self.door);
        self.quit.store(true, Ordering::Relaxed);
        self.bell.notify_all();
    }
}

#[cfg(all(test, loom))]
mod tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    use super::Handover;

    /// Each thread that joins does the job once; when `run` returns, all that helpers did has happened, and is seen.
    fn jobs(helpers: usize, jobs: usize) {
        let handover = Arc::new(Handover::new());
        let threads: Vec<_> = (0..helpers)
            .map(|_| {
                let handover = handover.clone();
                thread::spawn(move || handover.help())
            })
            .collect();
        for _ in 0..jobs {
            let inside = AtomicUsize::new(0);
            let calls = AtomicUsize::new(0);
            handover.run(&|| {
                inside.fetch_add(1, Ordering::Relaxed);
                calls.fetch_add(1, Ordering::Relaxed);
                inside.fetch_sub(1, Ordering::Relaxed);
            });
            assert_eq!(inside.load(Ordering::Relaxed), 0);
            assert!((1..=helpers + 1).contains(&calls.load(Ordering::Relaxed)));
        }
        handover.quit();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    /// Bounds the preemptions, without which the executions of a loop that looks and sleeps are too many.
    fn model(helpers: usize, count: usize, preemptions: usize) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(preemptions);
        builder.check(move || jobs(helpers, count));
    }

    #[test]
    fn one_helper_one_job() {
        model(1, 1, 3);
    }

    #[test]
    fn one_helper_two_jobs() {
        model(1, 2, 2);
    }

    #[test]
    fn two_helpers_one_job() {
        model(2, 1, 2);
    }
}
