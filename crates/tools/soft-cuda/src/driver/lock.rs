//! Locks whose holders leave nothing half done, so that a panic of one does not matter to the next.
//!
//! `wattle_core` has the same function. It is written once more here because the driver stands for NVIDIA's in tests,
//! and so shares nothing with the library that is tested but the reader of PTX.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a holder has panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
