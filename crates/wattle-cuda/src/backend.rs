//! A CUDA device as a device of Wattle's. It is opened when it is first used.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use wattle_core::{Allocation, Backend, BackendQueue, Memory, Properties, Result};
use wattle_gpu::{Blocking, NonBlocking};

use crate::context::Context;
use crate::executor::CudaExecutor;
use crate::memory::CudaMemory;
use crate::physical::Physical;

/// A CUDA device.
pub(crate) struct CudaBackend {
    physical: Arc<Physical>,
    context: OnceLock<Result<Arc<Context>>>,
}

impl CudaBackend {
    pub(crate) fn new(physical: Physical) -> CudaBackend {
        CudaBackend { physical: Arc::new(physical), context: OnceLock::new() }
    }

    /// The device, opened if it was not yet.
    pub(crate) fn context(&self) -> Result<&Arc<Context>> {
        let opened = self.context.get_or_init(|| Context::open(self.physical.clone()));
        opened.as_ref().map_err(Clone::clone)
    }
}

impl Backend for CudaBackend {
    fn properties(&self) -> &Properties {
        &self.physical.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        Ok(Box::new(CudaMemory::new(self.context()?, request)?))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let executor = CudaExecutor::new(self.context()?)?;
        Ok(if blocking {
            Box::new(Blocking::new(executor))
        } else {
            Box::new(NonBlocking::new(executor, "wattle-cuda-queue")?)
        })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
