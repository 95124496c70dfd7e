//! The synchronization that the pool is written in: the standard library's, or loom's where loom proves it.

#[cfg(not(loom))]
mod imp {
    pub(crate) use std::cell::UnsafeCell;
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

    /// How often an idle worker looks before it sleeps: some tens of microseconds.
    pub(crate) const LOOKS_BEFORE_SLEEP: u32 = 2000;

    /// Waits a moment, the `looks`th time.
    #[inline]
    pub(crate) fn relax(looks: u32) {
        if looks < 4000 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }

    /// Calls `f` with the cell's pointer.
    pub(crate) fn with<T, R>(cell: &UnsafeCell<T>, f: impl FnOnce(*const T) -> R) -> R {
        f(cell.get())
    }

    /// Calls `f` with the cell's pointer, to write there.
    pub(crate) fn with_mut<T, R>(cell: &UnsafeCell<T>, f: impl FnOnce(*mut T) -> R) -> R {
        f(cell.get())
    }
}

#[cfg(loom)]
mod imp {
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

    pub(crate) const LOOKS_BEFORE_SLEEP: u32 = 0;

    pub(crate) fn relax(_: u32) {
        loom::thread::yield_now();
    }

    pub(crate) fn with<T, R>(cell: &UnsafeCell<T>, f: impl FnOnce(*const T) -> R) -> R {
        cell.with(f)
    }

    pub(crate) fn with_mut<T, R>(cell: &UnsafeCell<T>, f: impl FnOnce(*mut T) -> R) -> R {
        cell.with_mut(f)
    }
}

pub(crate) use imp::*;

/// Locks, also after a panic with the lock held: nothing behind these locks is ever half done. [`crate::lock`] is the
/// same of the standard library's mutex alone; here it may be loom's.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
