//! A device that shows each launch to an observer, or changes its options.

use std::any::Any;
use std::sync::Arc;

use crate::backend::{Backend, BackendQueue, LaunchRequest, Mover};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::memory::{Allocation, Memory};
use crate::properties::Properties;
use crate::queue::Operation;
use crate::spec::LaunchOptions;

/// A function that is called with each kernel.
pub type Observer = Arc<dyn Fn(&dyn Kernel) + Send + Sync>;

/// A function that is called with each launch, and returns the options that it is to have.
pub type OptionsFor = Arc<dyn Fn(&LaunchRequest<'_>) -> LaunchOptions + Send + Sync>;

struct Observed {
    inner: Device,
    options_for: OptionsFor,
}

struct ObservedQueue {
    inner: Box<dyn BackendQueue>,
    options_for: OptionsFor,
}

impl Device {
    /// A device that runs everything on this one, and calls `observer` with each kernel that it launches, host parts
    /// included, before it runs. Its buffers are its own: those of the original device count as another device's.
    pub fn observed(&self, observer: Observer) -> Device {
        self.launching_with(Arc::new(move |request| {
            [Some(request.kernel), request.host_part].into_iter().flatten().for_each(|kernel| observer(kernel));
            request.options
        }))
    }

    /// A device that runs everything on this one, with the options for each launch that `options_for` returns. Its
    /// buffers are its own.
    pub fn launching_with(&self, options_for: OptionsFor) -> Device {
        Device::new(Arc::new(Observed { inner: self.clone(), options_for }))
    }
}

// SAFETY: the memory is the inner device's.
unsafe impl Backend for Observed {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        self.inner.backend().allocate(request)
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let inner = self.inner.backend().queue(blocking)?;
        Ok(Box::new(ObservedQueue { inner, options_for: self.options_for.clone() }))
    }

    fn peers(&self) -> Result<Vec<Device>> {
        self.inner.peers()
    }

    fn enable_peer_access(&self, other: &Device) -> Result<()> {
        self.inner.backend().enable_peer_access(other)
    }

    fn reaches(&self, other: &Device) -> bool {
        self.inner.backend().reaches(other)
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.backend().as_any()
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for ObservedQueue {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let options = (self.options_for)(request);
        // SAFETY: the caller's promise; the kernel and its arguments are the same.
        unsafe { self.inner.launch(&LaunchRequest { options, ..*request }) }
    }

    fn prepare(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let options = (self.options_for)(request);
        self.inner.prepare(&LaunchRequest { options, ..*request })
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.inner.submit(operation)
    }

    fn wait(&self) -> Result<()> {
        self.inner.wait()
    }

    fn pending_error(&self) -> Option<Error> {
        self.inner.pending_error()
    }

    fn mover(&self) -> Option<Arc<dyn Mover>> {
        self.inner.mover()
    }
}
