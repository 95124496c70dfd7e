//! Deferred frees: memory that nothing uses any more. Freeing may wait for everything that runs on the device,
//! including launches that wait for what the caller does next, so memory is freed when nothing is in flight.

use std::ptr::NonNull;
use std::time::Duration;
use wattle_core::lock;

use crate::context::Context;
use crate::driver::{Address, free, free_host};
use crate::wait;

/// How long an allocation that finds no memory waits for the operations in flight, so that memory can be freed.
const PATIENCE: Duration = Duration::from_secs(2);

/// Memory that nothing uses any more, and that is still allocated.
pub(crate) enum DeferredFree {
    /// Device memory or managed memory: its address, and its size in bytes.
    Device(Address, usize),
    /// Page-locked host memory, by its start.
    Host(NonNull<u8>),
}

impl DeferredFree {
    /// The size of device or managed memory in bytes; 0 for host memory.
    fn bytes(&self) -> u64 {
        if let DeferredFree::Device(_, bytes) = self { *bytes as u64 } else { 0 }
    }
}

// SAFETY: nothing else refers to the memory.
unsafe impl Send for DeferredFree {}

impl Context {
    /// Frees memory at once if nothing is in flight, and otherwise when nothing is any more.
    ///
    /// # Safety
    /// The memory was allocated in this context, and nothing uses it any more.
    pub(crate) unsafe fn free_later(&self, memory: DeferredFree) {
        lock(&self.deferred).push(memory);
        self.free_deferred();
    }

    /// Frees the deferred memory if nothing is in flight; no launch begins meanwhile.
    pub(crate) fn free_deferred(&self) {
        if lock(&self.deferred).is_empty() {
            return;
        }
        let Some(_alone) = self.alone() else { return };
        // A lost context has nothing left to free; a launch that was given up may still use its memory.
        if self.usable().is_err() || self.enter().is_err() {
            return;
        }
        let deferred = std::mem::take(&mut *lock(&self.deferred));
        for memory in deferred {
            // SAFETY: nothing uses it any more.
            let freed = unsafe {
                match memory {
                    DeferredFree::Device(address, _) => free(address),
                    DeferredFree::Host(start) => free_host(start),
                }
            };
            // An error that is returned here is an earlier operation's, and is reported where that one is checked.
            let _ = self.check("freeing memory", freed);
        }
    }

    /// How many bytes of device memory are deferred: no longer used, and not freed yet.
    pub(crate) fn deferred_bytes(&self) -> u64 {
        lock(&self.deferred).iter().map(DeferredFree::bytes).sum()
    }

    /// Waits a while until nothing is in flight, and frees the memory; true if there was any and all of it was freed.
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
