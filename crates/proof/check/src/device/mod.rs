//! The simulated device as a Wattle device: its memory, its queues, and what advances them.
//!
//! Nothing here runs by itself. What is enqueued on a non-blocking queue waits until a thread waits: for a queue, for
//! an event, for a copy to the host. Then the launches at the heads of all queues run together, interleaved as the seed
//! decides, on the thread that waits. So a program that enqueues and waits in one thread gives the same run every time.
//!
//! This device and the checker refer to each other, for two reasons: where the search has no answer the checker looks
//! at some runs of this device, and both hand launches of modules to the same readers of modules, as the checker
//! describes such launches ([`BatchLaunch`](crate::checker::BatchLaunch)).

mod launches;
mod memory;
mod modules;
mod report;
mod shape;

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use wattle_core::queue::Stepped;
use wattle_core::{
    Allocation, Backend, BackendQueue, Device, DeviceKind, Error, ErrorKind, Found, KernelIdentity, Memory,
    ModuleLanguage, Properties, Provider, Result, lock,
};
use wattle_machine::Program;

use self::launches::{Launches, Running};
use self::memory::SimulatedMemory;
use self::modules::Reachable;

use crate::peers::{DeviceOfQueue, Pair, not_its_peer};
use crate::simulate::{Init, MemoryId, Options, Simulator};

/// The maximum number of threads per block of the simulated device.
const MAX_THREADS_PER_BLOCK: u32 = crate::simulate::MAX_BLOCK as u32;
/// The maximum size of a block's shared memory, in bytes.
const MAX_SHARED_MEMORY: u64 = 1 << 20;
/// The maximum number of blocks of a cooperative launch.
const MAX_COOPERATIVE_BLOCKS: u32 = 1 << 14;
/// The lanes of a warp where a launch asks for no others: what CUDA devices have.
const WARP_SIZE: u32 = 32;

/// Makes simulated devices; [`Device`] has it as a method.
pub trait Simulated {
    /// A device that runs several threads per block, on one core, in a pseudo-random interleaving that `seed` repeats.
    /// It reports what hardware hides: accesses out of bounds, reads of unwritten memory, barriers that not all threads
    /// reach, data races, and launches that can never end.
    fn simulated(seed: u64) -> Device;
}

impl Simulated for Device {
    fn simulated(seed: u64) -> Device {
        simulated(seed, None)
    }
}

/// What the launches of a simulated device may do before they are ended.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// The statements of a launch.
    pub steps: u64,
    pub until: Instant,
}

/// A simulated device that ends its launches, and launches no modules: what some of them do cannot be judged.
pub(crate) fn simulated_within(seed: u64, patience: Patience) -> Device {
    simulated(seed, Some(patience))
}

fn simulated(seed: u64, patience: Option<Patience>) -> Device {
    let name = if seed == 0 { "simulated".to_owned() } else { format!("simulated:{seed}") };
    let stop = Arc::new(AtomicBool::new(false));
    let simulator = Simulator::new(Options { stop: Some(stop.clone()), ..Options::seeded(seed) });
    let mut properties = Properties::new(
        name,
        format!("one interleaving of all threads, which seed {seed} repeats; reports races"),
        DeviceKind::Simulated,
    );
    properties.max_threads_per_block = MAX_THREADS_PER_BLOCK;
    properties.warp_width = WARP_SIZE;
    properties.max_shared_memory = MAX_SHARED_MEMORY;
    properties.max_cooperative_blocks = MAX_COOPERATIVE_BLOCKS;
    properties.modules = match patience {
        None => vec![ModuleLanguage::Ptx, ModuleLanguage::Spirv],
        Some(_) => Vec::new(),
    };
    let state = Arc::new(DeviceState {
        properties: properties.clone(),
        seed,
        patience,
        simulator: Mutex::new(simulator),
        devices: DeviceOfQueue::default(),
        running: Mutex::default(),
        freed: Mutex::default(),
        programs: Mutex::default(),
        reachable: Mutex::default(),
        stop,
    });
    let queues = Stepped::new(Launches(state.clone()));
    Device::new(Arc::new_cyclic(|own| SimulatedBackend { properties, state, queues, pair: Pair::first(own) }))
}

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: "simulated", find, select };

fn find() -> Found {
    Found { devices: vec![Device::simulated(0)], missing: Vec::new() }
}

fn select(rest: &str) -> Option<Device> {
    rest.parse().ok().map(Device::simulated)
}

struct SimulatedBackend {
    properties: Properties,
    /// What both devices of the pair share.
    state: Arc<DeviceState>,
    queues: Arc<Stepped<Launches>>,
    pair: Pair<SimulatedBackend>,
}

struct DeviceState {
    properties: Properties,
    seed: u64,
    /// When launches end that have not ended before.
    patience: Option<Patience>,
    simulator: Mutex<Simulator>,
    devices: DeviceOfQueue,
    /// The running launches of each queue.
    running: Mutex<HashMap<usize, Running>>,
    /// Memory whose deferred free is pending, since buffers are dropped anywhere.
    freed: Mutex<Vec<MemoryId>>,
    programs: Mutex<HashMap<KernelIdentity, Arc<Program>>>,
    /// What kernels of modules can reach.
    reachable: Mutex<Reachable>,
    stop: Arc<AtomicBool>,
}

// SAFETY: the simulator allocates as many elements as are asked for; its memory has no host pointer.
unsafe impl Backend for SimulatedBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        let state = &self.state;
        state.free();
        let init = if request.zeroed { Init::Zero } else { Init::Unwritten };
        let (layout, kind) = (request.layout, request.kind);
        let mut memory = SimulatedMemory { state: state.clone(), ids: Vec::new(), layout, kind };
        for leaf in layout.numbers() {
            let id = lock(&state.simulator).allocate(leaf.ty, request.len, init).map_err(|error| {
                Error::from(ErrorKind::OutOfMemory {
                    device: state.properties.name.clone(),
                    bytes: request.bytes() as u64,
                    why: error.to_string(),
                })
            })?;
            memory.ids.push(id);
        }
        Ok(Box::new(memory))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let queue = self.queues.queue(blocking);
        self.state.devices.set(queue.number(), self.pair.number());
        Ok(Box::new(queue))
    }

    fn peers(&self) -> Result<Vec<Device>> {
        let other = self.pair.other(|pair| {
            let mut properties = self.properties.clone();
            properties.name += "'s peer";
            SimulatedBackend { properties, state: self.state.clone(), queues: self.queues.clone(), pair }
        });
        Ok(other.into_iter().collect())
    }

    fn enable_peer_access(&self, other: &Device) -> Result<()> {
        if self.pair.enable(other) { Ok(()) } else { Err(not_its_peer(&self.properties, other)) }
    }

    fn reaches(&self, other: &Device) -> bool {
        self.pair.reaches(other)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
