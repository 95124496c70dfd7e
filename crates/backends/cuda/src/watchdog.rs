//! A thread that enforces time limits where a queue's own thread cannot.
//!
//! A queue's thread, or the waiter of a blocking queue, requests launches to end that are past their limit. But while
//! another thread loads a module, the driver may hold its locks until what runs has ended (CUDA C++ Programming Guide,
//! "Lazy Loading: Concurrent Execution"), and then the queue's thread stands still in whichever function it has called.
//! So one thread of the process looks at all queues, and calls no function of the driver's. It sleeps while no queue
//! has launches in flight.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::Thread;
use std::time::{Duration, Instant};

use wattle_core::{interrupt, lock};
use wattle_gpu::Reason;

use crate::slots::Words;

/// How often the watchdog looks at the queues.
const TICK: Duration = Duration::from_millis(50);
/// How long a queue's thread must stand still, and a launch be past its limit, before the watchdog acts.
const MARGIN: Duration = Duration::from_millis(250);
/// After how many looks without a launch in flight the watchdog sleeps.
const LAST_LOOKS: u32 = 20;

/// The state of a queue that all threads may read.
pub(crate) struct Watched {
    words: Words,
    /// The number of the last launch that was submitted, and of the last whose end the queue's thread has seen.
    submitted: AtomicU32,
    ended: AtomicU32,
    /// Changes whenever the queue's thread looks for the end of launches.
    looks: AtomicU32,
    /// Time limits, each with the number of the first launch that it applies to.
    limits: Mutex<VecDeque<(u32, Option<Duration>)>>,
    /// The launch that the watchdog requested to end, and why.
    requested: Mutex<Option<(u32, Reason)>>,
    /// The number of the thread that is within the driver for this queue ([`crate::exit`]); 0 if none is.
    pub(crate) inside: AtomicUsize,
}

/// Whether the watchdog sleeps, or was not started yet.
static SLEEPS: AtomicBool = AtomicBool::new(true);
static QUEUES: Mutex<Vec<Weak<Watched>>> = Mutex::new(Vec::new());

/// Returns all queues that exist.
pub(crate) fn queues() -> Vec<Arc<Watched>> {
    lock(&QUEUES).iter().filter_map(Weak::upgrade).collect()
}

impl Watched {
    /// Registers a new queue with these words.
    pub(crate) fn new(words: Words) -> Arc<Watched> {
        let watched = Arc::new(Watched {
            words,
            submitted: AtomicU32::new(0),
            ended: AtomicU32::new(0),
            looks: AtomicU32::new(0),
            limits: Mutex::default(),
            requested: Mutex::default(),
            inside: AtomicUsize::new(0),
        });
        let mut queues = lock(&QUEUES);
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&watched));
        watched
    }

    /// Sets the time limit of the launches from this number on.
    pub(crate) fn limit_from(&self, number: u32, limit: Option<Duration>) {
        let ended = self.ended.load(Ordering::Relaxed);
        let mut limits = lock(&self.limits);
        // The first one is that of what has ended, if the second is of no later launch than the next.
        while limits.get(1).is_some_and(|(from, _)| *from <= ended + 1) {
            limits.pop_front();
        }
        limits.push_back((number, limit));
    }

    /// Records that a launch was submitted.
    pub(crate) fn begin(&self, number: u32) {
        // Either the watchdog sees it before it sleeps, or it is seen here that it sleeps: both are sequentially
        // consistent.
        self.submitted.store(number, Ordering::SeqCst);
        if SLEEPS.load(Ordering::SeqCst) {
            wake();
        }
    }

    /// Records that all launches up to this one have ended.
    pub(crate) fn end(&self, number: u32) {
        self.ended.store(number, Ordering::Release);
    }

    /// Lets launch numbers begin anew; nothing is in flight.
    pub(crate) fn restart(&self) {
        self.submitted.store(0, Ordering::Release);
        self.ended.store(0, Ordering::Release);
        lock(&self.limits).clear();
        self.take_request();
    }

    /// Records that the queue's thread does not stand still.
    pub(crate) fn looks(&self) {
        // No other thread changes it.
        self.looks.store(self.looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Takes the launch that the watchdog requested to end, if there is one, and why. It may have ended before that.
    pub(crate) fn take_request(&self) -> Option<(u32, Reason)> {
        lock(&self.requested).take()
    }

    /// Requests all launches of the queue to end, whatever their numbers.
    pub(crate) fn stop_all(&self) {
        self.words.stop(u32::MAX);
    }

    /// The numbers of the first and the last launch in flight, as far as is known.
    fn in_flight(&self) -> Option<(u32, u32)> {
        let (ended, submitted) = (self.ended.load(Ordering::Acquire), self.submitted.load(Ordering::SeqCst));
        (ended < submitted).then(|| (ended + 1, submitted))
    }

    fn limit(&self, number: u32) -> Option<Duration> {
        lock(&self.limits).iter().rev().find(|(from, _)| *from <= number).and_then(|(_, limit)| *limit)
    }

    fn tell(&self, up_to: u32, running: u32, reason: Reason) {
        let mut requested = lock(&self.requested);
        if requested.is_some_and(|(number, _)| number >= running) {
            return;
        }
        *requested = Some((running, reason));
        drop(requested);
        self.words.stop(up_to);
    }
}

/// What the watchdog has seen of a queue.
#[derive(Clone, Copy, Default)]
struct Seen {
    looks: u32,
    /// How long the queue's thread has stood still.
    still: Duration,
    /// The number of the running launch, and for how long it has run.
    running: u32,
    ran: Duration,
    /// How long ago the process was interrupted.
    interrupted: Duration,
}

impl Seen {
    /// Looks at a queue when `passed` has gone by since the last look; returns whether anything is in flight.
    fn look(&mut self, queue: &Watched, passed: Duration, is_interrupted: bool) -> bool {
        let Some((first, last)) = queue.in_flight() else {
            *self = Seen::default();
            return false;
        };
        let looks = queue.looks.load(Ordering::Relaxed);
        self.still = if looks == self.looks { self.still + passed } else { Duration::ZERO };
        self.looks = looks;
        self.interrupted = if is_interrupted { self.interrupted + passed } else { Duration::ZERO };
        let started = Some(queue.words.started()).filter(|started| (first..=last).contains(started));
        match started {
            Some(number) if number == self.running => self.ran += passed,
            _ => (self.running, self.ran) = (started.unwrap_or(0), Duration::ZERO),
        }
        if self.still < MARGIN {
            return true;
        }
        if self.interrupted >= MARGIN {
            queue.tell(last, started.unwrap_or(first), Reason::Interrupted);
        } else if let Some(number) = started
            && let Some(limit) = queue.limit(number)
            && self.ran >= limit.saturating_add(MARGIN)
        {
            queue.tell(number, number, Reason::TimeLimit(limit));
        }
        true
    }
}

#[cold]
fn wake() {
    static THREAD: OnceLock<Option<Thread>> = OnceLock::new();
    if !SLEEPS.swap(false, Ordering::SeqCst) {
        return;
    }
    let begin = || {
        let thread = std::thread::Builder::new().name("wattle-cuda-watchdog".into()).spawn(watch);
        // Without the thread, limits are enforced as long as the driver lets the queues' threads go on.
        thread.ok().map(|thread| thread.thread().clone())
    };
    if let Some(thread) = THREAD.get_or_init(begin) {
        thread.unpark();
    }
}

fn watch() {
    let mut seen: Vec<(Weak<Watched>, Seen)> = Vec::new();
    let (mut idle, mut looked) = (0, Instant::now());
    loop {
        std::thread::sleep(TICK);
        // A process that was stopped for a while has not run for that time, and neither has the queue's thread.
        let passed = looked.elapsed().min(TICK * 2);
        looked = Instant::now();
        seen.retain(|(queue, _)| queue.strong_count() > 0);
        for queue in lock(&QUEUES).iter() {
            if !seen.iter().any(|(known, _)| known.ptr_eq(queue)) {
                seen.push((queue.clone(), Seen::default()));
            }
        }
        let is_interrupted = interrupt::requested();
        let mut is_busy = false;
        for (queue, seen) in &mut seen {
            is_busy |= queue.upgrade().is_some_and(|queue| seen.look(&queue, passed, is_interrupted));
        }
        idle = if is_busy { 0 } else { idle + 1 };
        if idle < LAST_LOOKS {
            continue;
        }
        SLEEPS.store(true, Ordering::SeqCst);
        if queues().iter().any(|queue| queue.in_flight().is_some()) {
            SLEEPS.store(false, Ordering::SeqCst);
        }
        while SLEEPS.load(Ordering::SeqCst) {
            std::thread::park();
        }
        (idle, looked) = (0, Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    /// A queue whose launches 1 to 3 are in flight, and of which the second has begun.
    fn queue() -> (Watched, Seen) {
        let words = Words::of_nobody();
        let queue = Watched {
            words,
            submitted: AtomicU32::new(3),
            ended: AtomicU32::new(0),
            looks: AtomicU32::new(0),
            limits: Mutex::default(),
            requested: Mutex::default(),
            inside: AtomicUsize::new(0),
        };
        queue.limit_from(1, Some(LIMIT));
        queue.limit_from(3, None);
        words.start(2);
        (queue, Seen::default())
    }

    /// Looks at the queue for a duration of `time`; returns whether anything was in flight at the last look.
    fn pass(queue: &Watched, seen: &mut Seen, time: Duration, is_interrupted: bool) -> bool {
        (0..time.as_millis() / TICK.as_millis()).map(|_| seen.look(queue, TICK, is_interrupted)).last() == Some(true)
    }

    #[test]
    fn a_launch_past_its_limit() {
        let (queue, mut seen) = queue();
        assert!(pass(&queue, &mut seen, LIMIT + MARGIN, false));
        assert_eq!(queue.words.stopped(), 0);
        assert!(pass(&queue, &mut seen, TICK, false));
        assert_eq!((queue.words.stopped(), queue.take_request()), (2, Some((2, Reason::TimeLimit(LIMIT)))));
        // The launch that begins then is timed anew, and has no limit.
        queue.words.start(3);
        assert!(pass(&queue, &mut seen, LIMIT * 10, false));
        assert_eq!((queue.words.stopped(), queue.take_request()), (2, None));
        queue.end(3);
        assert!(!pass(&queue, &mut seen, TICK, false));
    }

    #[test]
    fn what_a_queue_s_own_thread_looks_after() {
        let (queue, mut seen) = queue();
        for _ in 0..100 {
            queue.looks();
            pass(&queue, &mut seen, MARGIN, true);
        }
        assert_eq!((queue.words.stopped(), queue.take_request()), (0, None));
    }

    #[test]
    fn what_has_not_begun_has_its_time() {
        let (queue, mut seen) = queue();
        queue.words.start(0);
        assert!(pass(&queue, &mut seen, LIMIT * 10, false));
        assert_eq!(queue.words.stopped(), 0);
        // An interruption ends it all the same, when it begins.
        assert!(pass(&queue, &mut seen, MARGIN, true));
        assert_eq!((queue.words.stopped(), queue.take_request()), (3, Some((1, Reason::Interrupted))));
    }

    #[test]
    fn limits_of_what_has_ended_are_forgotten() {
        let (queue, _) = queue();
        for number in 4..1000 {
            queue.end(number - 2);
            queue.limit_from(number, Some(LIMIT * number));
            assert_eq!(queue.limit(number), Some(LIMIT * number));
            assert_eq!(queue.limit(number - 1), if number == 4 { None } else { Some(LIMIT * (number - 1)) });
        }
        assert!(lock(&queue.limits).len() < 5);
        queue.restart();
        assert_eq!((queue.limit(5), queue.in_flight()), (None, None));
    }
}
