//! A CUDA device behind Wattle's device interface. It is opened when it is first used.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_core::queue::with_executor;
use wattle_core::{Allocation, Backend, BackendQueue, Device, Error, Memory, Properties, Result, lock, system};
use wattle_gpu::cannot;

use crate::context::Context;
use crate::executor::CudaExecutor;
use crate::memory::CudaMemory;
use crate::physical::Physical;
use crate::survey::survey;

/// A CUDA device.
pub(crate) struct CudaBackend {
    physical: Arc<Physical>,
    context: OnceLock<Arc<Context>>,
    /// Held while the device is opened.
    opening: Mutex<()>,
}

impl CudaBackend {
    pub(crate) fn new(physical: Physical) -> CudaBackend {
        CudaBackend { physical: Arc::new(physical), context: OnceLock::new(), opening: Mutex::default() }
    }

    /// The device, opened if it was not yet. A failed attempt is repeated, since there may be more memory then.
    pub(crate) fn context(&self) -> Result<&Arc<Context>> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let _opening = lock(&self.opening);
        if self.context.get().is_none() {
            let _ = self.context.set(Context::open(self.physical.clone())?);
        }
        self.context.get().ok_or_else(|| system("opening a CUDA device", "it was opened, and is not there"))
    }
}

// SAFETY: `CudaMemory` has as many bytes as are requested.
unsafe impl Backend for CudaBackend {
    fn properties(&self) -> &Properties {
        &self.physical.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        Ok(Box::new(CudaMemory::new(self.context()?, request)?))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        with_executor(CudaExecutor::new(self.context()?)?, blocking, "wattle-cuda-queue")
    }

    fn peers(&self) -> Result<Vec<Device>> {
        let reached = |device: &Device| {
            of(device).is_some_and(|other| {
                let (own, other) = (self.physical.ordinal, other.physical.ordinal);
                own != other && own.reaches(other)
            })
        };
        let peers: Vec<_> = survey().devices.into_iter().filter(reached).collect();
        if peers.is_empty() { Err(self.reaches_none("another device's")) } else { Ok(peers) }
    }

    fn enable_peer_access(&self, other: &Device) -> Result<()> {
        let refused = || self.reaches_none(&format!("device `{}`'s", other.name()));
        let other = of(other).ok_or_else(refused)?.context()?;
        let context = self.context()?;
        context.enter()?;
        if context.reach_by_kernels(other) { Ok(()) } else { Err(refused()) }
    }

    fn reaches(&self, other: &Device) -> bool {
        let contexts = self.context.get().zip(of(other).and_then(|other| other.context.get()));
        contexts.is_some_and(|(own, other)| own.is_reached_by_kernels(other))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl CudaBackend {
    #[cold]
    fn reaches_none(&self, whose: &str) -> Error {
        let what =
            format!("use {whose} memory in kernels: the driver reports no such access (`nvidia-smi topo -p2p r`)");
        cannot(&self.physical.properties.name, what, "copy between the devices (`Queue::copy`)")
    }
}

/// The CUDA device that a device is; `None` for one of another kind.
fn of(device: &Device) -> Option<&CudaBackend> {
    device.backend().as_any().downcast_ref()
}
