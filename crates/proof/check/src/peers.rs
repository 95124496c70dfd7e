//! The second device of the checker, and of a simulated device: the two reach each other's memory.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use rustc_hash::FxHashMap;
use wattle_core::{Backend, Device, Error, Properties, lock};

/// A device's place in a pair of devices.
pub(crate) struct Pair<B> {
    place: PairPlace<B>,
    /// Whether its kernels may use the other one's memory.
    reaches: AtomicBool,
}

enum PairPlace<B> {
    First { own: Weak<B>, second: OnceLock<Device> },
    Second { first: Weak<B> },
}

impl<B: Backend> Pair<B> {
    /// The place of the first device, which makes the second one when it is asked for.
    pub fn first(own: &Weak<B>) -> Pair<B> {
        Pair { place: PairPlace::First { own: own.clone(), second: OnceLock::new() }, reaches: AtomicBool::new(false) }
    }

    /// The number of the device: 0 or 1.
    pub fn number(&self) -> u32 {
        match self.place {
            PairPlace::First { .. } => 0,
            PairPlace::Second { .. } => 1,
        }
    }

    /// The other device; `make` makes it, where it is the second. `None` where the first is gone.
    pub fn other(&self, make: impl FnOnce(Pair<B>) -> B) -> Option<Device> {
        match &self.place {
            PairPlace::First { own, second } => {
                let place =
                    || Pair { place: PairPlace::Second { first: own.clone() }, reaches: AtomicBool::new(false) };
                Some(second.get_or_init(|| Device::new(Arc::new(make(place())))).clone())
            }
            PairPlace::Second { first } => Some(Device::new(first.upgrade()?)),
        }
    }

    /// Lets kernels use the other device's memory; `false` if `device` is another one.
    pub fn enable(&self, device: &Device) -> bool {
        let is_other = self.is_other(device);
        self.reaches.fetch_or(is_other, Ordering::Relaxed);
        is_other
    }

    /// Whether kernels may use the memory of `device`.
    pub fn reaches(&self, device: &Device) -> bool {
        self.reaches.load(Ordering::Relaxed) && self.is_other(device)
    }

    fn is_other(&self, device: &Device) -> bool {
        let backend = |device: &Device| device.backend().as_any().downcast_ref::<B>().map(std::ptr::from_ref);
        let other = match &self.place {
            PairPlace::First { second, .. } => second.get().and_then(backend),
            PairPlace::Second { first } => Some(first.as_ptr()),
        };
        other.is_some() && backend(device) == other
    }
}

/// The error of a device that is to reach one which is not its peer.
#[cold]
pub(crate) fn not_its_peer(properties: &Properties, other: &Device) -> Error {
    let what = format!("use device `{}`'s memory in kernels", other.name());
    Error::capability(&properties.name, what, "take the device that `Device::peers` gives for it")
}

/// The number of the device that each queue is on, by the queue's number.
#[derive(Default)]
pub(crate) struct DeviceOfQueue(Mutex<FxHashMap<usize, u32>>);

impl DeviceOfQueue {
    /// Records a new queue's device.
    pub fn set(&self, queue: usize, device: u32) {
        lock(&self.0).insert(queue, device);
    }

    /// The number of a queue's device.
    pub fn of(&self, queue: usize) -> u32 {
        lock(&self.0).get(&queue).copied().unwrap_or(0)
    }
}
