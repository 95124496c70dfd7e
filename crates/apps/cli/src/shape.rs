//! A device with limits on blocks and threads, for launches that leave the choice to the device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wattle::{Device, LaunchOptions};
use wattle_core::{LaunchRequest, ShapeKind};

/// The most blocks and threads per block that a user requests for launches by frames, which are right for any choice.
/// Launches that name their blocks and threads keep them.
#[derive(Clone, Debug, Default)]
pub struct AskedShape {
    blocks: Option<u32>,
    threads: Option<u32>,
    used: Arc<AtomicBool>,
}

impl AskedShape {
    /// A request for at most this many blocks and threads per block; `None` sets no limit.
    pub fn new(blocks: Option<u32>, threads: Option<u32>) -> AskedShape {
        AskedShape { blocks, threads, used: Arc::default() }
    }

    /// Whether anything is requested.
    pub fn is_some(&self) -> bool {
        self.blocks.is_some() || self.threads.is_some()
    }

    /// Whether there was a launch that left the choice.
    pub fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// The device, or if there is a request one that keeps it.
    pub fn on(&self, device: &Device) -> Device {
        if !self.is_some() {
            return device.clone();
        }
        let asked = self.clone();
        device.launching_with(Arc::new(move |request| asked.options(request)))
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
