//! Locking what is whole at every moment.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what is whole at every moment, so that a panic elsewhere while it was locked harms nothing.
#[inline]
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
