//! A CUDA device behind Wattle's device interface. It is opened when it is first used.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_core::queue::with_executor;
use wattle_core::{Allocation, Backend, BackendQueue, Memory, Properties, Result, lock, system};

use crate::context::Context;
use crate::executor::CudaExecutor;
use crate::memory::CudaMemory;
use crate::physical::Physical;

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

    fn as_any(&self) -> &dyn Any {
        self
    }
}
