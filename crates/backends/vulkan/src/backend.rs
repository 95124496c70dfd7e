//! A Vulkan device as a Wattle device. It is opened when it is first used.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use wattle_core::queue::with_executor;
use wattle_core::{Allocation, Backend, BackendQueue, Memory, Properties, Result};

use crate::context::Context;
use crate::executor::Executor;
use crate::memory::VulkanMemory;
use crate::physical::Physical;

/// A Vulkan device.
pub(crate) struct VulkanBackend {
    physical: Arc<Physical>,
    context: OnceLock<Result<Arc<Context>>>,
}

impl VulkanBackend {
    pub(crate) fn new(physical: Physical) -> VulkanBackend {
        VulkanBackend { physical: Arc::new(physical), context: OnceLock::new() }
    }

    /// Returns the device, opening it if it is not open yet.
    pub(crate) fn context(&self) -> Result<&Arc<Context>> {
        let opened = self.context.get_or_init(|| Context::open(self.physical.clone()));
        opened.as_ref().map_err(Clone::clone)
    }
}

// SAFETY: `VulkanMemory` has as many bytes as are asked for.
unsafe impl Backend for VulkanBackend {
    fn properties(&self) -> &Properties {
        &self.physical.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        Ok(Box::new(VulkanMemory::new(self.context()?, request)?))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        with_executor(Executor::new(self.context()?)?, blocking, "wattle-vulkan-queue")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
