//! Locks whose holders leave nothing half done, so that a panic of one does not matter to the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a holder has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
