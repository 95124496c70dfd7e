//! Which devices reach each other's memory.

use std::sync::Mutex;
use wattle_core::lock;

use rustc_hash::FxHashMap;

use crate::context::Context;

/// The devices whose memory a device was let reach, or not, by their contexts' numbers.
#[derive(Default)]
pub(crate) struct Peers(Mutex<FxHashMap<usize, bool>>);

impl Context {
    /// Lets this device reach another one's memory, where the machine allows it: copies between them go a shorter way
    /// then. It is this device's context that is current.
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
