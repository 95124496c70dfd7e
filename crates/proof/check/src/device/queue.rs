//! The queues of the simulated device, and how the device moves on.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, TryLockError};
use std::time::{Duration, Instant};

use wattle_core::{
    Argument as KernelArgument, BackendQueue, Error, ErrorKind, EventState, Kernel, LaunchOptions,
    LaunchRequest as Request, Operation, Result, Shape, ShapeKind, interrupt,
};
use wattle_machine::{LaunchShape, Program};

use super::memory::SimulatedMemory;
use super::report::error_of;
use super::shape::split;
use super::{MAX_COOPERATIVE_BLOCKS, State, lock, system};
use crate::simulate::{Agent, Argument, LaunchId, LaunchRequest, Simulator};

/// How many bursts pass between two looks at whether somebody asks for an end.
const BURSTS_PER_LOOK: u64 = 1024;

/// How long somebody waits who cannot move the device on at the moment.
const PAUSE: Duration = Duration::from_micros(50);

/// What is enqueued on one queue.
#[derive(Default)]
pub(super) struct Line {
    tasks: VecDeque<Task>,
    /// The launch that runs, and its host part.
    running: Vec<LaunchId>,
    /// What the launch that runs needs kept.
    kept: Vec<Arc<dyn Kernel>>,
    /// Whether somebody is doing a task of this queue right now.
    busy: bool,
    options: LaunchOptions,
    error: Option<Error>,
    /// Whether its queue is gone. What was enqueued is done all the same, when somebody waits.
    closed: bool,
}

type HostTask = Box<dyn FnOnce() -> Result<()> + Send>;

/// What became of a queue's next task.
enum Begun {
    /// There is none, or it must wait.
    Nothing,
    /// It is done, or its launch runs.
    Done,
    /// It is the user's.
    Task(HostTask),
}

impl Line {
    /// Whether a launch of this queue has ended and was not yet collected.
    fn is_done(&self, simulator: &Simulator) -> bool {
        !self.running.is_empty() && self.running.iter().all(|&id| simulator.is_done(id))
    }

    /// The number of a line for a new queue: one whose queue is gone and has nothing left to do, or another one.
    pub(super) fn open(lines: &mut Vec<Line>) -> usize {
        let number = lines.iter().position(|line| line.closed && line.is_idle()).unwrap_or(lines.len());
        if number == lines.len() {
            lines.push(Line::default());
        } else {
            lines[number] = Line::default();
        }
        number
    }

    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.running.is_empty() && !self.busy
    }
}

enum Task {
    Launch { kernel: Arc<dyn Kernel>, host_part: Option<Arc<dyn Kernel>>, shape: Shape, options: LaunchOptions },
    Other(Operation),
}

pub(super) struct SimulatedQueue {
    pub(super) state: Arc<State>,
    pub(super) number: usize,
    pub(super) blocking: bool,
}

impl Drop for SimulatedQueue {
    fn drop(&mut self) {
        lock(&self.state.queues)[self.number].closed = true;
    }
}

impl SimulatedQueue {
    fn push(&self, task: Task) -> Result<()> {
        lock(&self.state.queues)[self.number].tasks.push_back(task);
        if self.blocking { self.wait() } else { Ok(()) }
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for SimulatedQueue {
    unsafe fn launch(&self, request: &Request<'_>) -> Result<()> {
        let (shape, options) = (request.shape, request.options);
        let (kernel, host_part) = (request.kernel.to_arc(), request.host_part.map(Kernel::to_arc));
        self.push(Task::Launch { kernel, host_part, shape, options })
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.push(Task::Other(operation))
    }

    fn wait(&self) -> Result<()> {
        self.state.drive(|queues| queues[self.number].is_idle());
        lock(&self.state.queues)[self.number].error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        lock(&self.state.queues)[self.number].error.clone()
    }

    fn progress(&self, event: &EventState) {
        self.state.drive(|_| event.is_reached());
    }

    fn nudge(&self) {
        self.state.round();
    }
}

impl State {
    pub(super) fn free(&self) {
        let freed = std::mem::take(&mut *lock(&self.freed));
        let mut simulator = lock(&self.simulator);
        for id in freed {
            // What a launch still uses is freed at the next occasion.
            if simulator.free(id).is_err() {
                lock(&self.freed).push(id);
            }
        }
    }

    /// Moves the device on until the goal is reached, or waits while somebody else does.
    fn drive(&self, reached: impl Fn(&[Line]) -> bool) {
        while !reached(&lock(&self.queues)) {
            if !self.round() {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// One round, unless somebody else moves the device on right now; whether anything moved.
    fn round(&self) -> bool {
        let driver = match self.driver.try_lock() {
            Ok(driver) => driver,
            Err(TryLockError::Poisoned(driver)) => driver.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let (moved, task) = self.advance();
        drop(driver);
        // A task of the user's runs without any lock: it may use other queues of this device.
        if let Some((number, task)) = task {
            self.run(number, task);
        }
        moved
    }

    /// Ends what is done, begins what can begin, and lets the threads of all launches run for a while. Whether anything
    /// moved; and a host task that is to run now.
    fn advance(&self) -> (bool, Option<(usize, HostTask)>) {
        let lines = lock(&self.queues).len();
        let mut moved = false;
        for number in 0..lines {
            moved |= self.collect(number);
            loop {
                match self.begin(number) {
                    Begun::Nothing => break,
                    Begun::Done => moved = true,
                    Begun::Task(task) => return (true, Some((number, task))),
                }
            }
        }
        self.stop.store(interrupt::requested(), Ordering::Relaxed);
        let runs = lock(&self.simulator).step_for(BURSTS_PER_LOOK);
        if !runs && !moved {
            // A launch that waits can still be helped by what a queue has yet to begin, once the event that it waits for
            // is reached or its task is done. Else nothing that has been enqueued can end it.
            let queues = lock(&self.queues);
            let done = queues.iter().any(|line| line.is_done(&lock(&self.simulator)));
            let more = queues.iter().any(|line| line.busy || (line.running.is_empty() && !line.tasks.is_empty()));
            drop(queues);
            if done {
                return (true, None);
            }
            if !more {
                lock(&self.simulator).end_stuck();
            }
        }
        (moved || runs, None)
    }

    fn run(&self, number: usize, task: HostTask) {
        let done = catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            // What was thrown may throw again when it is dropped.
            std::mem::forget(panic);
            Err(ErrorKind::Panic { what: "a host task".into(), message }.into())
        });
        let mut queues = lock(&self.queues);
        queues[number].busy = false;
        if let Err(error) = done {
            queues[number].error.get_or_insert(error);
        }
    }

    /// Ends the queue's launch, if it is done.
    fn collect(&self, number: usize) -> bool {
        let running = lock(&self.queues)[number].running.clone();
        if running.is_empty() {
            return false;
        }
        let findings: Vec<_> = {
            let mut simulator = lock(&self.simulator);
            if !running.iter().all(|&id| simulator.is_done(id)) {
                return false;
            }
            running.iter().filter_map(|&id| simulator.finish(id).err()).collect()
        };
        let kept = {
            let mut queues = lock(&self.queues);
            let line = &mut queues[number];
            line.running.clear();
            if let Some(error) = error_of(findings, &line.options) {
                line.error.get_or_insert(error);
            }
            std::mem::take(&mut line.kept)
        };
        // Dropped here, without a lock: it may own buffers.
        drop(kept);
        true
    }

    /// Begins the queue's next task, if there is one and none is running.
    fn begin(&self, number: usize) -> Begun {
        let awaited = match lock(&self.queues)[number].tasks.front() {
            // Also after an error: the clocks count on it.
            Some(Task::Other(Operation::WaitFor(event))) if !event.is_reached() => Some(event.clone()),
            _ => None,
        };
        if let Some(event) = awaited {
            // It may be one of another simulated device, which moves only while somebody asks.
            event.nudge();
            return Begun::Nothing;
        }
        let (task, stopped) = {
            let mut queues = lock(&self.queues);
            let line = &mut queues[number];
            if line.busy || !line.running.is_empty() || line.tasks.is_empty() {
                return Begun::Nothing;
            }
            line.busy = true;
            (line.tasks.pop_front(), line.error.is_some())
        };
        let done = match task {
            // After an error nothing is done until somebody has taken it, but nobody waits for ever either.
            Some(Task::Other(Operation::Record(event))) => {
                event.reach();
                Ok(())
            }
            _ if stopped => Ok(()),
            Some(Task::Other(Operation::Copy(transfer))) => transfer.run(),
            Some(Task::Other(Operation::Task(task))) => return Begun::Task(task),
            Some(Task::Other(Operation::WaitFor(_))) | None => Ok(()),
            Some(Task::Launch { kernel, host_part, shape, options }) => {
                self.start(number, kernel, host_part, &shape, options)
            }
        };
        let mut queues = lock(&self.queues);
        queues[number].busy = false;
        if let Err(error) = done {
            queues[number].error.get_or_insert(error);
        }
        Begun::Done
    }

    fn start(
        &self,
        number: usize,
        kernel: Arc<dyn Kernel>,
        host_part: Option<Arc<dyn Kernel>>,
        shape: &Shape,
        options: LaunchOptions,
    ) -> Result<()> {
        self.free();
        let (frame_count, frame_extent) = (shape.outer, shape.inner);
        let (grid_extent, block_extent) = match shape.kind {
            ShapeKind::Threads => (frame_count, frame_extent),
            ShapeKind::Frames => split(shape, &options, self.program(&*kernel)?.words()),
        };
        let blocks: u64 = grid_extent.iter().map(|&extent| u64::from(extent)).product();
        if options.is_cooperative() && blocks > MAX_COOPERATIVE_BLOCKS.into() {
            let what = format!("run {blocks} blocks at once: {MAX_COOPERATIVE_BLOCKS} at the most");
            let instead = "launch fewer blocks, and give each more work";
            let error = Error::capability(&self.properties.name, what, instead);
            return Err(error.limited(blocks, MAX_COOPERATIVE_BLOCKS));
        }
        let launch_shape = LaunchShape { grid_extent, block_extent, frame_count, frame_extent };
        let mut requests = vec![self.request(&*kernel, launch_shape, Agent::Device, &options)?];
        if let Some(host_part) = &host_part {
            let one = [1; 4];
            let shape = LaunchShape { grid_extent: one, block_extent: one, frame_count: one, frame_extent: one };
            requests.push(self.request(&**host_part, shape, Agent::Host, &options)?);
        }
        let mut running = Vec::new();
        let mut simulator = lock(&self.simulator);
        let mut refused = None;
        for request in requests {
            match simulator.launch(request) {
                Ok(id) => running.push(id),
                Err(error) => {
                    let what = format!("run this launch ({error})");
                    refused = Some(Error::capability(&self.properties.name, what, "launch less at a time"));
                    break;
                }
            }
        }
        drop(simulator);
        let mut queues = lock(&self.queues);
        let line = &mut queues[number];
        line.running = running;
        line.options = options;
        line.kept = std::iter::once(kernel).chain(host_part).collect();
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
        let mut arguments = Vec::new();
        kernel.arguments(&mut |argument| {
            arguments.push(match argument {
                KernelArgument::Scalar(constant) => Argument::Scalar(constant.raw),
                KernelArgument::View(view) => {
                    let Some(memory) = view.buffer.memory().as_any().downcast_ref::<SimulatedMemory>() else {
                        return Err(system("launching", "a buffer of another kind of device"));
                    };
                    let (offset, extent, strides) = (view.offset() as u64, view.extent(), view.strides());
                    Argument::View { memory: memory.id, offset, extent, strides }
                }
            });
            Ok(())
        })?;
        Ok(LaunchRequest {
            shared_len: options.get_shared_len(),
            agent,
            cooperative: options.is_cooperative(),
            deadline: options.get_time_limit().and_then(|limit| Instant::now().checked_add(limit)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_used_again_when_its_queue_is_gone_and_its_work_done() {
        let mut lines = Vec::new();
        assert_eq!([Line::open(&mut lines), Line::open(&mut lines)], [0, 1]);
        lines[0].closed = true;
        lines[0].tasks.push_back(Task::Other(Operation::Record(Arc::default())));
        assert_eq!(Line::open(&mut lines), 2);
        lines[0].tasks.clear();
        assert_eq!(Line::open(&mut lines), 0);
        assert!(!lines[0].closed);
    }
}
