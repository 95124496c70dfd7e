//! Which devices reach each other's memory.

use std::sync::Mutex;
use wattle_core::lock;

use rustc_hash::FxHashMap;

use crate::context::Context;

/// For other devices, by their contexts' numbers: whether this device reaches their memory.
#[derive(Default)]
pub(crate) struct Peers(Mutex<FxHashMap<usize, bool>>);

impl Context {
    /// Lets this device reach another device's memory, where the machine allows it, which makes copies between them
    /// shorter. This device's context is current.
    pub(crate) fn reach(&self, other: &Context) {
        let mut peers = lock(&self.peers.0);
        peers.entry(other.primary.number()).or_insert_with(|| {
            self.physical.ordinal.reaches(other.physical.ordinal)
                && match other.primary.let_current_reach() {
                    Ok(()) => true,
                    Err(refusal) => refusal.is_already(),
                }
        });
    }
}
