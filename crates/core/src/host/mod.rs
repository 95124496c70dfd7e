//! The host devices: the pool of this machine's cores, and one core alone. A kernel's own Rust function is what runs.
//!
//! A block lives on one worker, which runs it to its end. Blocks start in index order, so the progress between blocks
//! is linear occupancy-bound (`lobe`); within a block it is fair ([`fibers`]). Where the kernel shows that no thread
//! waits for another ([`wattle_ir::Waits`]), a block's threads are a loop.

mod executor;
mod fibers;
mod handover;
mod run;
mod stacks;
mod sync;
mod ticks;
mod vectors;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wattle_memory::{Scope, Target};

pub use run::run_beside;
pub(crate) use stacks::{building, stack_bytes};
pub(crate) use ticks::{TICKS_PER_SECOND, ticks};
pub use vectors::{Vectors, vectors};

use crate::backend::{Backend, BackendQueue};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::memory::{Allocation, HostMemory, Memory, total_memory};
use crate::properties::{DeviceKind, Properties};
use crate::queue::with_executor;
use crate::thread::SHARED_MEMORY;

/// The most blocks of a cooperative launch: beyond the workers, each is a thread of its own.
const MAX_COOPERATIVE_BLOCKS: u32 = 1024;

/// The most threads of a block: what CUDA devices have.
const MAX_THREADS_PER_BLOCK: u32 = 1024;

/// The backend of a host device.
pub(crate) struct HostBackend {
    properties: Arc<Properties>,
    /// Whether kernels may use the memory of the other host device, which is the same memory.
    reaches_other: AtomicBool,
}

impl HostBackend {
    /// The device of all cores.
    pub(crate) fn pool() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        Self::new("host", format!("{workers} cores of this machine"), workers)
    }

    /// The device of one core.
    pub(crate) fn serial() -> Self {
        Self::new("host-serial", "one core of this machine".to_owned(), 1)
    }

    fn new(name: &str, mut description: String, workers: u32) -> Self {
        match vectors::name() {
            Ok(vectors) => description.push_str(&format!("; optimized builds use {vectors} instructions")),
            // It is the error of each queue, too.
            Err(error) => description.push_str(&format!("; runs no kernel: {error}")),
        }
        HostBackend {
            reaches_other: AtomicBool::new(false),
            properties: Arc::new(Properties {
                name: name.to_owned(),
                description,
                kind: DeviceKind::Host,
                target: Some(Target::Host),
                workers,
                memory: total_memory().unwrap_or(0),
                warp_width: 1,
                max_threads_per_block: MAX_THREADS_PER_BLOCK,
                max_shared_memory: SHARED_MEMORY,
                max_cooperative_blocks: MAX_COOPERATIVE_BLOCKS,
                modules: Vec::new(),
                concurrent_queues: u32::MAX,
                sync_domains: 1,
                exact_floats: true,
                clock_ticks_per_second: Some(TICKS_PER_SECOND),
                scopes: Scope::ALL.to_vec(),
            }),
        }
    }
}

// SAFETY: `HostMemory` has the bytes that it is made with.
unsafe impl Backend for HostBackend {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        // Zeroed or not, the operating system gives zeros.
        Ok(Box::new(HostMemory::new(&self.properties.name, request.bytes())?))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        vectors::name()?;
        with_executor(executor::HostExecutor::new(self.properties.clone()), blocking, "wattle-queue")
    }

    fn peers(&self) -> Result<Vec<Device>> {
        let all = [Device::host(), Device::host_serial()];
        Ok(all.into_iter().filter(|device| device.name() != self.properties.name).collect())
    }

    fn enable_peer_access(&self, other: &Device) -> Result<()> {
        if is_of_host(other) {
            self.reaches_other.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let what = format!("use device `{}`'s memory in kernels: it reaches the host's alone", other.name());
        Err(Error::capability(&self.properties.name, what, "copy it (`Queue::copy`)"))
    }

    fn reaches(&self, other: &Device) -> bool {
        self.reaches_other.load(Ordering::Relaxed) && is_of_host(other)
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}

fn is_of_host(device: &Device) -> bool {
    device.backend().as_any().is::<HostBackend>()
}
