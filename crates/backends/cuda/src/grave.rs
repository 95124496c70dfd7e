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
pub(crate) enum Grave {
    /// The device's own, or managed; and how many bytes.
    Device(Address, usize),
    /// The host's.
    Host(NonNull<u8>),
}

impl Grave {
    /// How many bytes of the device's memory there are.
    fn bytes(&self) -> u64 {
        if let Grave::Device(_, bytes) = self { *bytes as u64 } else { 0 }
    }
}

// SAFETY: nobody has the memory.
unsafe impl Send for Grave {}

impl Context {
    /// Frees memory: now, or when nothing is in flight.
    ///
    /// # Safety
    /// It is this context's, and nobody uses it any more.
    pub(crate) unsafe fn bury(&self, grave: Grave) {
        lock(&self.graves).push(grave);
        self.clear_graves();
    }

    /// Frees what nobody needs any more, if nothing is in flight: no launch begins meanwhile.
    pub(crate) fn clear_graves(&self) {
        if lock(&self.graves).is_empty() {
            return;
        }
        let Some(_alone) = self.alone() else { return };
        // Of a context that is gone nothing is left to free; what still runs may use what it was given.
        if self.usable().is_err() || self.enter().is_err() {
            return;
        }
        let graves = std::mem::take(&mut *lock(&self.graves));
        for grave in graves {
            // SAFETY: nobody uses it any more.
            let freed = unsafe {
                match grave {
                    Grave::Device(address, _) => free(address),
                    Grave::Host(start) => free_host(start),
                }
            };
            // An error that came up here is an earlier one's, and is told where that is looked for.
            let _ = self.check("freeing memory", freed);
        }
    }

    /// How many bytes of the device's memory nobody needs any more, and are not free yet.
    pub(crate) fn buried(&self) -> u64 {
        lock(&self.graves).iter().map(Grave::bytes).sum()
    }

    /// Waits a while for nothing to be in flight, and frees what nobody needs any more; whether there was anything.
    pub(crate) fn await_graves(&self) -> bool {
        let there_are = || !lock(&self.graves).is_empty();
        let there_were = there_are();
        let cleared = wait::until::<()>(PATIENCE, || {
            self.clear_graves();
            Ok(!there_are())
        });
        there_were && cleared == Ok(true)
    }
}
