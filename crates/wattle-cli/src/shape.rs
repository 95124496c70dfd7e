//! A device that is told how many blocks and threads to take, where the kernel leaves the choice to the device.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wattle::{Device, Error, LaunchOptions, Properties, Result};
use wattle_core::{Allocation, Backend, BackendQueue, EventState, LaunchRequest, Memory, Operation, ShapeKind};

/// The most blocks and threads per block that a user wants of launches by frames, which are right for any choice.
/// Launches that name their blocks and threads keep them.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    blocks: Option<u32>,
    threads: Option<u32>,
    used: Arc<AtomicBool>,
}

impl Wish {
    /// A wish.
    pub fn new(blocks: Option<u32>, threads: Option<u32>) -> Wish {
        Wish { blocks, threads, used: Arc::default() }
    }

    /// Whether anything is wished for.
    pub fn is_some(&self) -> bool {
        self.blocks.is_some() || self.threads.is_some()
    }

    /// Whether there was a launch that left the choice.
    pub fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// The device, or if there is a wish one that keeps it.
    pub fn on(&self, device: &Device) -> Device {
        if !self.is_some() {
            return device.clone();
        }
        Device::new(Arc::new(Shaped { inner: device.clone(), wish: self.clone() }))
    }

    fn options(&self, request: &LaunchRequest<'_>) -> LaunchOptions {
        if request.shape.kind == ShapeKind::Threads {
            return request.options;
        }
        self.used.store(true, Ordering::Relaxed);
        let options = request.options;
        let options = self.blocks.map_or(options, |blocks| options.blocks(blocks));
        self.threads.map_or(options, |threads| options.threads(threads))
    }
}

struct Shaped {
    inner: Device,
    wish: Wish,
}

impl Backend for Shaped {
    fn properties(&self) -> &Properties {
        self.inner.properties()
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        self.inner.backend().allocate(request)
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let inner = self.inner.backend().queue(blocking)?;
        Ok(Box::new(ShapedQueue { inner, wish: self.wish.clone() }))
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.backend().as_any()
    }
}

struct ShapedQueue {
    inner: Box<dyn BackendQueue>,
    wish: Wish,
}

// SAFETY: all is handed on, in the order in which it was given.
unsafe impl BackendQueue for ShapedQueue {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let options = self.wish.options(request);
        // SAFETY: the caller's promise; the kernel and its arguments are the same.
        unsafe { self.inner.launch(&LaunchRequest { options, ..*request }) }
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
