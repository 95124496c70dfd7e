//! The end of the process.
//!
//! When a process ends, the C library runs what drivers have registered for that, also while other threads are within a
//! driver: what those use is gone then. So each driver's crate registers an [`at_exit`] of its own, which comes before
//! that: launches are told to end, threads that are within the driver get out of it, and those that come to it stop for
//! good.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the process waits for launches and threads.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const PAUSE: Duration = Duration::from_micros(200);

/// Tells this thread apart from all others that there are; never 0.
pub fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    // Destructors of other threads' values may come here when this one's is gone.
    PLACE.try_with(|place| std::ptr::from_ref(place).addr()).unwrap_or(1)
}

/// Sees to it that `end` comes before what has been registered so far: the C library goes backwards.
pub fn at_exit(end: extern "C" fn()) {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: it is the C library's, and the function lives as long as its crate. If it fails, then nothing is done at the
    // end.
    let _ = unsafe { atexit(end) };
}

/// Which thread ends the process, for one driver.
#[derive(Debug, Default)]
pub struct Ending(AtomicUsize);

impl Ending {
    /// Nobody ends the process yet.
    pub const fn new() -> Ending {
        Ending(AtomicUsize::new(0))
    }

    /// Whether the process ends, and this thread is not the one that ends it: then it must not come to the driver.
    pub fn keeps_out(&self) -> bool {
        // Sequentially consistent: a thread that comes to the driver says so before it looks here, and `run` looks for such
        // threads after it has said that the process ends.
        let ending = self.0.load(Ordering::SeqCst);
        ending != 0 && ending != this_thread()
    }

    /// Stops this thread for good.
    pub fn stop_here(&self) -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Ends the process for this driver: tells launches to end by `stop_all`, again and again, until `is_over`. Threads
    /// that were within the driver may have submitted something after launches were told to end. False if another call has
    /// done so.
    pub fn run(&self, stop_all: impl Fn(), is_over: impl Fn() -> bool) -> bool {
        if self.0.compare_exchange(0, this_thread(), Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            stop_all();
            if is_over() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        true
    }
}
