//! Memory that nobody needs any more. Freeing may wait for all that the device does, also for launches that wait for
//! what the caller does next; so it is freed when nothing is in flight.

use std::ptr::NonNull;
use std::time::Duration;
use wattle_core::lock;

use crate::context::Context;
use crate::driver::{Address, free, free_host};
use crate::wait;

/// How long who needs memory waits for what is in flight, so that memory can be freed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Memory that nobody uses any more.
pub(crate) enum DeferredFree {
    /// The device's own, or managed; and how many bytes.
    Device(Address, usize),
    /// The host's.
    Host(NonNull<u8>),
}

impl DeferredFree {
    /// How many bytes of the device's memory there are.
    fn bytes(&self) -> u64 {
        if let DeferredFree::Device(_, bytes) = self { *bytes as u64 } else { 0 }
    }
}

// SAFETY: nobody has the memory.
unsafe impl Send for DeferredFree {}

impl Context {
    /// Frees memory: now, or when nothing is in flight.
    ///
    /// # Safety
    /// It is this context's, and nobody uses it any more.
    pub(crate) unsafe fn free_later(&self, memory: DeferredFree) {
        lock(&self.deferred).push(memory);
        self.free_deferred();
    }

    /// Frees what nobody needs any more, if nothing is in flight: no launch begins meanwhile.
    pub(crate) fn free_deferred(&self) {
        if lock(&self.deferred).is_empty() {
            return;
        }
        let Some(_alone) = self.alone() else { return };
        // Of a context that is gone nothing is left to free; what still runs may use what it was given.
        if self.usable().is_err() || self.enter().is_err() {
            return;
        }
        let deferred = std::mem::take(&mut *lock(&self.deferred));
        for memory in deferred {
            // SAFETY: nobody uses it any more.
            let freed = unsafe {
                match memory {
                    DeferredFree::Device(address, _) => free(address),
                    DeferredFree::Host(start) => free_host(start),
                }
            };
            // An error that came up here is an earlier one's, and is told where that is looked for.
            let _ = self.check("freeing memory", freed);
        }
    }

    /// How many bytes of the device's memory nobody needs any more, and are not free yet.
    pub(crate) fn deferred_bytes(&self) -> u64 {
        lock(&self.deferred).iter().map(DeferredFree::bytes).sum()
    }

    /// Waits a while for nothing to be in flight, and frees what nobody needs any more; whether there was anything.
    pub(crate) fn await_deferred(&self) -> bool {
        let there_are = || !lock(&self.deferred).is_empty();
        let there_were = there_are();
        let cleared = wait::until::<()>(PATIENCE, || {
            self.free_deferred();
            Ok(!there_are())
        });
        there_were && cleared == Ok(true)
    }
}
