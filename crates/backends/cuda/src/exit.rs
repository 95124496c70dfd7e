//! The end of the process.
//!
//! When a process ends, the C library runs what the driver has registered for that, also while other threads are within
//! the driver: what those use is gone then. So before that, at exit, launches are told to end, threads that are within
//! the driver for a queue get out of it, and those that come to it stop for good. That takes [`PATIENCE`] at the most.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::watchdog::queues;

/// How long the end of the process waits for threads.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const PAUSE: Duration = Duration::from_micros(200);

/// The thread that ends the process; 0 while none does.
static ENDING: AtomicUsize = AtomicUsize::new(0);

/// Tells this thread apart from all others that there are; never 0.
fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    // Destructors of other threads' values may come here when this one's is gone.
    PLACE.try_with(|place| std::ptr::from_ref(place).addr()).unwrap_or(1)
}

/// Enters the driver for a queue, whose word `inside` this is. At the end of the process it does not return, except in
/// the thread that ends it.
pub(crate) fn enter(inside: &AtomicUsize) {
    // Either this is seen from [`end`], or it is seen here that the process ends: both are sequentially consistent.
    inside.store(this_thread(), Ordering::SeqCst);
    look(inside);
}

/// A thread that is within the driver for a queue and between two calls stops here if the process ends.
pub(crate) fn look(inside: &AtomicUsize) {
    let ending = ENDING.load(Ordering::SeqCst);
    if ending != 0 && ending != this_thread() {
        leave(inside);
        loop {
            std::thread::park();
        }
    }
}

/// Leaves the driver.
pub(crate) fn leave(inside: &AtomicUsize) {
    inside.store(0, Ordering::Release);
}

/// Sees to it that [`end`] comes before what the driver has registered so far: the C library goes backwards.
pub(crate) fn before_the_driver() {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: it is the C library's, and the function lives as long as this crate. If it fails, then nothing is done at
    // the end.
    let _ = unsafe { atexit(end) };
}

extern "C" fn end() {
    static BEGAN: AtomicBool = AtomicBool::new(false);
    if BEGAN.swap(true, Ordering::SeqCst) {
        return;
    }
    let this = this_thread();
    ENDING.store(this, Ordering::SeqCst);
    let queues = queues();
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        queues.iter().for_each(|queue| queue.stop_all());
        let is_out = |thread: usize| thread == 0 || thread == this;
        if queues.iter().all(|queue| is_out(queue.inside.load(Ordering::SeqCst))) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}
