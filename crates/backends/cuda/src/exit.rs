//! The end of the process ([`wattle_gpu::exit`]): each queue records which thread is within the driver for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use wattle_gpu::exit::{Ending, at_exit, this_thread};

use crate::watchdog::queues;

static ENDING: Ending = Ending::new();

/// Records that this thread enters the driver for a queue, in the queue's word `inside`. At the end of the process it
/// does not return, except in the thread that ends it.
pub(crate) fn enter(inside: &AtomicUsize) {
    // Either [`end`] sees this, or the process is seen to end here: both are sequentially consistent.
    inside.store(this_thread(), Ordering::SeqCst);
    look(inside);
}

/// Stops a thread that is within the driver for a queue, and between two calls, if the process ends.
pub(crate) fn look(inside: &AtomicUsize) {
    if ENDING.keeps_out() {
        leave(inside);
        ENDING.stop_here();
    }
}

/// Records that the thread has left the driver.
pub(crate) fn leave(inside: &AtomicUsize) {
    inside.store(0, Ordering::Release);
}

/// Registers this crate's exit function anew, so that it runs before those that the driver has registered so far.
pub(crate) fn before_the_driver() {
    at_exit(end);
}

extern "C" fn end() {
    let (queues, this) = (queues(), this_thread());
    let is_out = |thread: usize| thread == 0 || thread == this;
    ENDING.run(
        || queues.iter().for_each(|queue| queue.stop_all()),
        || queues.iter().all(|queue| is_out(queue.inside.load(Ordering::SeqCst))),
    );
}
