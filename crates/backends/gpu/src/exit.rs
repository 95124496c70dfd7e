//! The end of the process.
//!
//! When a process ends, the C library runs the functions that drivers have registered for that, even while other
//! threads are within a driver, which then use what is gone. So each driver's crate registers an [`at_exit`] of its
//! own, which runs before those: launches are requested to end, threads that are within the driver leave it, and those
//! that enter it stop for good.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the process waits for launches and threads at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often the end of the process checks for launches and threads.
const PAUSE: Duration = Duration::from_micros(200);

/// A number that distinguishes this thread from all other live ones; never 0.
pub fn this_thread() -> usize {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    // Destructors of thread-local values may call this when this thread's own value is gone.
    PLACE.try_with(|place| std::ptr::from_ref(place).addr()).unwrap_or(1)
}

/// Registers `end` to run before all functions registered so far: the C library goes backwards.
pub fn at_exit(end: extern "C" fn()) {
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> c_int;
    }
    // SAFETY: the function is the C library's, and `end` lives as long as its crate. If it fails, nothing is done at
    // the end of the process.
    let _ = unsafe { atexit(end) };
}

/// The thread that ends the process, as seen by one driver.
#[derive(Debug, Default)]
pub struct Ending(AtomicUsize);

impl Ending {
    /// The state while no thread ends the process.
    pub const fn new() -> Ending {
        Ending(AtomicUsize::new(0))
    }

    /// Whether the process ends, and this thread is not the one that ends it: then it must not enter the driver.
    pub fn keeps_out(&self) -> bool {
        // Sequentially consistent: a thread that enters the driver records that before it looks here, and `run` looks
        // for such threads after it has recorded that the process ends.
        let ending = self.0.load(Ordering::SeqCst);
        ending != 0 && ending != this_thread()
    }

    /// Stops this thread for good.
    pub fn stop_here(&self) -> ! {
        loop {
            std::thread::park();
        }
    }

    /// Ends the process for this driver: calls `stop_all`, which requests launches to end, again and again until
    /// `is_over`, since threads that were within the driver may have submitted something after the first request.
    /// Returns false if another call has done so.
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
