//! Which devices reach each other's memory.

use std::sync::{Arc, Mutex, Weak};

use rustc_hash::FxHashMap;
use wattle_core::lock;

use crate::context::Context;

/// A device that another one reaches.
struct Reached {
    /// Whether the machine and the driver allow it.
    can: bool,
    /// The device, if the program lets kernels use its memory; without that, only copies are shorter.
    by_kernels: Option<Weak<Context>>,
}

/// The devices that were asked for, by their contexts' numbers.
#[derive(Default)]
pub(crate) struct Peers(Mutex<FxHashMap<usize, Reached>>);

impl Context {
    /// Lets this device reach another device's memory, where the machine allows it, which makes copies between them
    /// shorter. This device's context is current. Returns whether it reaches it.
    pub(crate) fn reach(&self, other: &Context) -> bool {
        self.reached(other, |_| ())
    }

    /// As [`Context::reach`], by kernels too.
    pub(crate) fn reach_by_kernels(&self, other: &Arc<Context>) -> bool {
        self.reached(other, |reached| reached.by_kernels = reached.can.then(|| Arc::downgrade(other)))
    }

    fn reached(&self, other: &Context, change: impl FnOnce(&mut Reached)) -> bool {
        let mut peers = lock(&self.peers.0);
        let reached = peers.entry(other.primary.number()).or_insert_with(|| {
            let can = self.physical.ordinal.reaches(other.physical.ordinal)
                && match other.primary.let_current_reach() {
                    Ok(()) => true,
                    Err(refusal) => refusal.is_already(),
                };
            Reached { can, by_kernels: None }
        });
        change(reached);
        reached.can
    }

    /// Whether kernels of this device may use another one's memory.
    pub(crate) fn is_reached_by_kernels(&self, other: &Context) -> bool {
        lock(&self.peers.0).get(&other.primary.number()).is_some_and(|reached| reached.by_kernels.is_some())
    }

    /// The devices whose memory kernels of this one may use.
    pub(crate) fn reached_by_kernels(&self) -> Vec<Arc<Context>> {
        lock(&self.peers.0).values().filter_map(|reached| reached.by_kernels.as_ref()?.upgrade()).collect()
    }
}
