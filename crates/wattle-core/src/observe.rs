//! A device that shows somebody each kernel it launches.

use std::any::Any;
use std::sync::Arc;

use crate::device::{Backend, BackendQueue, Device, LaunchRequest, Properties};
use crate::error::{Error, Result};
use crate::event::EventState;
use crate::kernel::Kernel;
use crate::memory::{Allocation, Memory};
use crate::operation::Operation;

/// What is called with each kernel.
pub type Observer = Arc<dyn Fn(&dyn Kernel) + Send + Sync>;

struct Observed {
    inner: Device,
    observer: Observer,
}

struct ObservedQueue {
    inner: Box<dyn BackendQueue>,
    observer: Observer,
}

impl Device {
    /// The same device, which calls `observer` with each kernel that it launches, host parts included, before it runs.
    /// Its buffers are its own: those of the device itself are another one's.
    pub fn observed(&self, observer: Observer) -> Device {
        Device::new(Arc::new(Observed { inner: self.clone(), observer }))
    }
}

impl Backend for Observed {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        self.inner.backend().allocate(request)
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let inner = self.inner.backend().queue(blocking)?;
        Ok(Box::new(ObservedQueue { inner, observer: self.observer.clone() }))
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.backend().as_any()
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for ObservedQueue {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        [Some(request.kernel), request.host_part].into_iter().flatten().for_each(|kernel| (self.observer)(kernel));
        // SAFETY: the caller's promise.
        unsafe { self.inner.launch(request) }
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

    fn progress(&self, event: &EventState) {
        self.inner.progress(event);
    }

    fn nudge(&self) {
        self.inner.nudge();
    }
}
