//! The launches of the simulated device's queues, and how the simulator advances them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wattle_core::queue::{Goal, Lines, QueuedLaunch, Stepper};
use wattle_core::{Error, Kernel, LaunchOptions, Result, ShapeKind, interrupt, lock};
use wattle_machine::{LaunchShape, Program};

use super::memory::SimulatedMemory;
use super::report::error_of;
use super::shape::split;
use super::{DeviceState, MAX_COOPERATIVE_BLOCKS};
use crate::arguments::arguments;
use crate::simulate::{Agent, LaunchId, LaunchRequest, ModuleRequest, Simulator};

/// How many runs of steps pass between two checks for an interrupt.
const RUNS_PER_LOOK: u64 = 1024;

/// A launch that runs, and its host part.
pub(super) struct Running {
    launches: Vec<LaunchId>,
    options: LaunchOptions,
}

impl Running {
    fn is_done(&self, simulator: &Simulator) -> bool {
        self.launches.iter().all(|&id| simulator.is_done(id))
    }
}

/// A request for a launch of a kernel of either kind.
enum Request {
    Own(LaunchRequest),
    Module(ModuleRequest),
}

/// The launches of all queues of a simulated device.
pub(super) struct Launches(pub(super) Arc<DeviceState>);

// SAFETY: a launch is reported as done only when the simulator has ended it.
unsafe impl Stepper for Launches {
    const GATHERS: bool = false;

    fn begin(&self, queue: usize, launch: &QueuedLaunch) -> Result<()> {
        self.0.start(queue, launch)
    }

    fn end(&self, queue: usize) -> Option<Result<()>> {
        let mut running = lock(&self.0.running);
        // A refused launch does not run.
        let Some(launch) = running.get(&queue) else { return Some(Ok(())) };
        let mut simulator = lock(&self.0.simulator);
        if !launch.is_done(&simulator) {
            return None;
        }
        let findings = launch.launches.iter().filter_map(|&id| simulator.finish(id).err()).collect();
        let failed = error_of(findings, &launch.options);
        running.remove(&queue);
        Some(failed.map_or(Ok(()), Err))
    }

    fn step(&self, moved: bool, lines: &Lines, _: &Goal<'_>) -> bool {
        self.0.stop.store(interrupt::requested(), Ordering::Relaxed);
        // What the host waits for may have come: then it goes on, while other launches run.
        if moved {
            return false;
        }
        let mut simulator = lock(&self.0.simulator);
        if simulator.step_for(RUNS_PER_LOOK) {
            return true;
        }
        // A launch that has ended must still be collected.
        if lock(&self.0.running).values().any(|launch| launch.is_done(&simulator)) {
            return true;
        }
        // A waiting launch can still be released by an operation that a queue has yet to begin, once its event is
        // reached or its task is done. Otherwise no enqueued operation can end it.
        if !lines.can_begin_more() {
            simulator.end_stuck();
        }
        false
    }
}

impl DeviceState {
    /// When a launch with these options ends that has not ended before.
    pub(super) fn deadline(&self, options: &LaunchOptions) -> Option<Instant> {
        let own = options.get_time_limit().and_then(|limit| Instant::now().checked_add(limit));
        own.into_iter().chain(self.patience.map(|patience| patience.until)).min()
    }

    pub(super) fn free(&self) {
        let freed = std::mem::take(&mut *lock(&self.freed));
        let mut simulator = lock(&self.simulator);
        for id in freed {
            // Memory that a launch still uses is freed on a later attempt.
            if simulator.free(id).is_err() {
                lock(&self.freed).push(id);
            }
        }
    }

    fn start(&self, number: usize, launch: &QueuedLaunch) -> Result<()> {
        self.free();
        let QueuedLaunch { kernel, host_part, shape, options, point: _ } = launch;
        let (grid_extent, block_extent) = match shape.kind {
            ShapeKind::Threads => (shape.outer, shape.inner),
            ShapeKind::Frames => split(shape, options, self.program(&**kernel)?.words()),
        };
        let blocks: u64 = grid_extent.iter().map(|&extent| u64::from(extent)).product();
        if options.is_cooperative() && blocks > MAX_COOPERATIVE_BLOCKS.into() {
            let what = format!("run {blocks} blocks at once: {MAX_COOPERATIVE_BLOCKS} at the most");
            let instead = "launch fewer blocks, and give each more work";
            let error = Error::capability(&self.properties.name, what, instead);
            return Err(error.limited(blocks, MAX_COOPERATIVE_BLOCKS));
        }
        let warp_size = options.lanes(&self.properties, |_| true)?;
        let launch_shape = shape.launched(grid_extent, block_extent, warp_size);
        let device = self.devices.of(number);
        let first = match kernel.module() {
            Some(call) => Request::Module(self.module_request(call, launch, launch_shape, device)?),
            None => Request::Own(self.request(&**kernel, launch_shape, Agent::Device(device), options)?),
        };
        let mut requests = vec![first];
        if let Some(host_part) = host_part {
            let shape = LaunchShape::linear(1, 1);
            requests.push(Request::Own(self.request(&**host_part, shape, Agent::Host, options)?));
        }
        let mut running = Vec::new();
        let mut simulator = lock(&self.simulator);
        let mut refused = None;
        for request in requests {
            let launched = match request {
                Request::Own(request) => simulator.launch(request),
                Request::Module(request) => simulator.launch_module(request),
            };
            match launched {
                Ok(id) => running.push(id),
                Err(error) => {
                    let what = format!("run this launch ({error})");
                    refused = Some(Error::capability(&self.properties.name, what, "launch less at a time"));
                    break;
                }
            }
        }
        drop(simulator);
        lock(&self.running).insert(number, Running { launches: running, options: *options });
        refused.map_or(Ok(()), Err)
    }

    fn request(
        &self,
        kernel: &dyn Kernel,
        shape: LaunchShape,
        agent: Agent,
        options: &LaunchOptions,
    ) -> Result<LaunchRequest> {
        let program = self.program(kernel)?;
        let number = |memory: &SimulatedMemory, number: usize| {
            std::ptr::eq(&*memory.state, self).then(|| memory.ids.get(number).copied().map(Into::into)).flatten()
        };
        let arguments = arguments(kernel, number)?;
        Ok(LaunchRequest {
            shared_len: options.get_shared_len(),
            agent,
            cooperative: options.is_cooperative(),
            deadline: self.deadline(options),
            step_limit: self.patience.map(|patience| patience.steps),
            ..LaunchRequest::new(program, shape, arguments)
        })
    }

    fn program(&self, kernel: &dyn Kernel) -> Result<Arc<Program>> {
        let identity = kernel.identity();
        if let Some(program) = lock(&self.programs).get(&identity) {
            return Ok(program.clone());
        }
        let program = Arc::new(Program::compile(Arc::new(kernel.build()?))?);
        lock(&self.programs).insert(identity, program.clone());
        Ok(program)
    }
}
