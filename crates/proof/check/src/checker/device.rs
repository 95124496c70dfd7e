//! The checker's device: enqueued work runs only when the scenario waits.

use std::any::Any;
use std::sync::Arc;

use wattle_core::queue::Stepped;
use wattle_core::{Allocation, Backend, BackendQueue, Device, Error, ErrorKind, Memory, Properties, Result, lock};

use super::memory::CheckedMemory;
use super::module_batch::BatchBuffer;
use super::queue::Launches;
use super::run::Run;
use crate::peers::{Pair, not_its_peer};

/// The maximum number of elements of all buffers together: checked scenarios are small.
const MAX_ELEMENTS: usize = 1 << 22;

pub(super) struct CheckedBackend {
    properties: Properties,
    run: Arc<Run>,
    queues: Arc<Stepped<Launches>>,
    pair: Pair<CheckedBackend>,
}

impl CheckedBackend {
    /// The checker's device for a run.
    pub fn new(run: &Arc<Run>) -> Arc<CheckedBackend> {
        Arc::new_cyclic(|own| CheckedBackend {
            properties: run.properties.clone(),
            run: run.clone(),
            queues: Stepped::new(Launches::of(run)),
            pair: Pair::first(own),
        })
    }

    /// Runs all enqueued operations, as far as they can run.
    pub fn finish(&self) {
        self.queues.finish();
    }
}

// SAFETY: its memory has no host pointer, and its elements are counted by the run.
unsafe impl Backend for CheckedBackend {
    fn properties(&self) -> &Properties {
        &self.properties
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
        let (name, layout, len) = (String::new(), request.layout, request.len);
        lock(&self.run.buffers).push(BatchBuffer { name, first, layout, len });
        memories.extend((0..numbers).map(|_| vec![request.zeroed.then_some(0); request.len]));
        Ok(Box::new(CheckedMemory { run: self.run.clone(), first, layout: request.layout, kind: request.kind }))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let queue = self.queues.queue(blocking);
        self.run.devices.set(queue.number(), self.pair.number());
        Ok(Box::new(queue))
    }

    fn peers(&self) -> Result<Vec<Device>> {
        let target = self.run.checker.target;
        if !target.reaches_peers() {
            let what = format!("use another device's memory in kernels: devices of {target} reach none");
            let device = format!("checker for {target}");
            return Err(Error::capability(device, what, "copy between the devices (`Queue::copy`)"));
        }
        let other = self.pair.other(|pair| {
            let mut properties = self.properties.clone();
            properties.name += "'s peer";
            CheckedBackend { properties, run: self.run.clone(), queues: self.queues.clone(), pair }
        });
        Ok(other.into_iter().collect())
    }

    fn enable_peer_access(&self, other: &Device) -> Result<()> {
        if self.pair.enable(other) { Ok(()) } else { Err(not_its_peer(&self.properties, other)) }
    }

    fn reaches(&self, other: &Device) -> bool {
        self.pair.reaches(other)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
