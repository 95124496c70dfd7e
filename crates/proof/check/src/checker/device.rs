//! The checker's device: enqueued work runs only when the scenario waits.

use std::any::Any;
use std::sync::Arc;

use wattle_core::queue::Stepped;
use wattle_core::{Allocation, Backend, BackendQueue, ErrorKind, Memory, Properties, Result, lock};

use super::memory::CheckedMemory;
use super::queue::Launches;
use super::run::Run;

/// The maximum number of elements of all buffers together: checked scenarios are small.
const MAX_ELEMENTS: usize = 1 << 22;

pub(super) struct CheckedBackend {
    run: Arc<Run>,
    queues: Arc<Stepped<Launches>>,
}

impl CheckedBackend {
    /// The checker's device for a run.
    pub fn new(run: &Arc<Run>) -> Arc<CheckedBackend> {
        Arc::new(CheckedBackend { run: run.clone(), queues: Stepped::new(Launches::of(run)) })
    }

    /// Runs all enqueued operations, as far as they can run.
    pub fn finish(&self) {
        self.queues.finish();
    }
}

// SAFETY: its memory has no host pointer, and its elements are counted by the run.
unsafe impl Backend for CheckedBackend {
    fn properties(&self) -> &Properties {
        &self.run.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        let mut memories = lock(&self.run.memories);
        let held: usize = memories.iter().map(Vec::len).sum();
        let numbers = request.layout.count();
        if held.saturating_add(request.len.saturating_mul(numbers)) > MAX_ELEMENTS {
            return Err(ErrorKind::OutOfMemory {
                device: "checker".into(),
                bytes: request.bytes() as u64,
                why: format!("it holds {MAX_ELEMENTS} elements in all; what is proved is small"),
            }
            .into());
        }
        let first = memories.len() as u32;
        memories.extend((0..numbers).map(|_| vec![request.zeroed.then_some(0); request.len]));
        Ok(Box::new(CheckedMemory { run: self.run.clone(), first, layout: request.layout, kind: request.kind }))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        Ok(Box::new(self.queues.queue(blocking)))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
