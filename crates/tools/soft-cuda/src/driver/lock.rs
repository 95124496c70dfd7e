//! Locks whose holders leave nothing half done, so that a panic of one of them is no news for the next.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
