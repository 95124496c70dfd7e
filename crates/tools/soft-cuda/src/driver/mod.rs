//! The driver: devices, contexts, streams, memory and modules, behind the exported functions.

pub mod allocate;
pub mod config;
pub mod context;
pub mod event;
pub mod handle;
pub mod image;
pub mod launch;
pub mod module;
pub mod status;
pub mod stream;
pub mod transfer;

use std::sync::{LazyLock, OnceLock};
use std::time::Instant;

use crate::machine::memory::Memory;

/// All live allocations.
pub static MEMORY: LazyLock<Memory> = LazyLock::new(Memory::default);

/// Nanoseconds since the process first asked.
pub fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A lock whose holders leave nothing half done.
pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
