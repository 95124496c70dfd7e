//! Stopping what runs, from a signal handler or another thread.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Asks every launch of the process to end: waits end at once, and no further block starts. Each launch so ended
/// returns [`crate::ErrorKind::Interrupted`]. Safe in a signal handler.
pub fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Withdraws the request to interrupt.
pub fn clear() {
    REQUESTED.store(false, Ordering::Relaxed);
}

/// Whether an interruption is requested.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
