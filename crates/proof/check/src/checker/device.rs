//! The checker's device: nothing happens on it until somebody waits.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wattle_core::{
    Allocation, Backend, BackendQueue, Device, DeviceKind, Error, ErrorKind, KernelIdentity, LaunchOptions, Memory,
    Properties, Result, Shape,
};
use wattle_machine::Program;
use wattle_memory::{Scope, Target};

use super::Checker;
use super::batch::Phase;
use super::frames::Frames;
use super::memory::CheckedMemory;
use super::queue::{CheckedQueue, Line};

/// The greatest number of elements of all buffers together: what is proved is small.
const MAX_ELEMENTS: usize = 1 << 22;

/// One run of a scenario's function.
pub(super) struct Run {
    pub checker: Checker,
    pub frames: Frames,
    pub properties: Properties,
    pub memories: Mutex<Vec<Vec<Option<u64>>>>,
    pub lines: Mutex<Vec<Line>>,
    /// Held by the one that moves the run on.
    pub driver: Mutex<()>,
    /// What every run of this check shares.
    pub shared: Arc<Shared>,
    pub path: Mutex<Path>,
}

/// What the runs of one check share.
#[derive(Default)]
pub(super) struct Shared {
    pub programs: Mutex<HashMap<KernelIdentity, (Arc<Program>, u32)>>,
    pub deadline: Option<std::time::Instant>,
}

/// Which outcomes this run goes on with, and what has come of it.
#[derive(Default)]
pub(super) struct Path {
    /// The searches so far, of this run and, from where it goes on, of the ones before.
    pub phases: Vec<Arc<Phase>>,
    /// Which outcome of each is gone on with.
    pub chosen: Vec<usize>,
    /// How many phases this run has come to.
    pub at: usize,
    /// The run did something else than an earlier one up to the same point.
    pub strayed: Option<String>,
    /// Something that the checker cannot do.
    pub refused: Option<Error>,
    /// Launches whose overlap with others was not looked at in full.
    pub overlaps: bool,
    /// The distinct launches by frames.
    pub framed: Vec<(Shape, LaunchOptions)>,
}

/// The most threads of a block.
pub(super) fn most_threads(target: Target) -> u32 {
    if target == Target::Host { 1 } else { 1024 }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Run {
    pub fn new(checker: &Checker, frames: Frames, shared: Arc<Shared>, path: Path) -> Run {
        let scopes = match checker.target {
            Target::Vulkan => vec![Scope::Block, Scope::Device],
            _ => Scope::ALL.to_vec(),
        };
        let mut properties =
            Properties::new("checker", "every execution that a memory model permits", DeviceKind::Checker);
        properties.max_threads_per_block = most_threads(checker.target);
        properties.max_shared_memory = 1 << 20;
        properties.max_cooperative_blocks = 1 << 14;
        properties.scopes = scopes;
        Run {
            checker: checker.clone(),
            frames,
            properties,
            memories: Mutex::default(),
            lines: Mutex::default(),
            driver: Mutex::default(),
            shared,
            path: Mutex::new(path),
        }
    }
}

pub(super) struct CheckedBackend(pub Arc<Run>);

impl CheckedBackend {
    pub fn device(run: &Arc<Run>) -> Device {
        Device::new(Arc::new(CheckedBackend(run.clone())))
    }
}

// SAFETY: its memory has no host pointer, and its elements are counted by the run.
unsafe impl Backend for CheckedBackend {
    fn properties(&self) -> &Properties {
        &self.0.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        let mut memories = lock(&self.0.memories);
        let held: usize = memories.iter().map(Vec::len).sum();
        if held + request.len > MAX_ELEMENTS {
            return Err(ErrorKind::OutOfMemory {
                device: "checker".into(),
                bytes: request.bytes() as u64,
                why: format!("it holds {MAX_ELEMENTS} elements in all; what is proved is small"),
            }
            .into());
        }
        memories.push(vec![request.zeroed.then_some(0); request.len]);
        let id = memories.len() as u32 - 1;
        Ok(Box::new(CheckedMemory { run: self.0.clone(), id, element: request.element }))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let mut lines = lock(&self.0.lines);
        lines.push(Line::default());
        Ok(Box::new(CheckedQueue { run: self.0.clone(), number: lines.len() - 1, blocking }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
