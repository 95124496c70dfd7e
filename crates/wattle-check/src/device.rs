//! The simulated device as a device: its memory, its queues, and who moves it on.
//!
//! Nothing here runs by itself. What is enqueued on a non-blocking queue waits until somebody waits: for a queue, for
//! an event, for a copy to the host. Then the launches at the heads of all queues run together, interleaved as the
//! seed says, on the thread that waits. So a program that enqueues and waits in one thread gives the same run every
//! time.

use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use wattle_core::{
    Allocation, Argument as KernelArgument, Backend, BackendQueue, Device, DeviceKind, Error, ErrorKind, EventState,
    FaultKind, Kernel, LaunchOptions, LaunchRequest as Request, Memory, Missing, Operation, Properties, Provider,
    Result, Shape, ShapeKind, ThreadLine, format_index, interrupt,
};
use wattle_ir::Type;
use wattle_machine::{Fault, LaunchShape, Program};
use wattle_memory::Scope;

use crate::simulate::{
    Actor, Agent, Argument, Finding, Findings, Init, LaunchId, LaunchRequest, MemoryId, Options, Simulator, StopReason,
    Waiting,
};

/// How many threads a block of the simulated device can have.
const MAX_THREADS_PER_BLOCK: u32 = 4096;
/// How much shared memory a block can have, in bytes.
const MAX_SHARED_MEMORY: u64 = 1 << 20;
/// How many blocks a cooperative launch can have.
const MAX_COOPERATIVE_BLOCKS: u32 = 1 << 14;
/// How many bursts pass between two looks at whether somebody asks for an end.
const BURSTS_PER_LOOK: u64 = 1024;

/// How long somebody waits who cannot move the device on at the moment.
const PAUSE: Duration = Duration::from_micros(50);

/// Makes simulated devices; [`Device`] has it as a method.
pub trait Simulated {
    /// A device that runs several threads per block, on one core, in a pseudo-random interleaving that `seed` repeats.
    /// It reports what hardware hides: accesses out of bounds, reads of memory nobody wrote, barriers that not all
    /// threads reach, data races, and launches that can never end.
    fn simulated(seed: u64) -> Device;
}

impl Simulated for Device {
    fn simulated(seed: u64) -> Device {
        let name = if seed == 0 { "simulated".to_owned() } else { format!("simulated:{seed}") };
        let stop = Arc::new(AtomicBool::new(false));
        let simulator = Simulator::new(Options { stop: Some(stop.clone()), ..Options::seeded(seed) });
        let properties = Properties {
            name,
            description: format!("one interleaving of all threads, which seed {seed} repeats; tells of races"),
            kind: DeviceKind::Simulated,
            workers: 1,
            memory: 0,
            warp_width: 1,
            max_threads_per_block: MAX_THREADS_PER_BLOCK,
            max_shared_memory: MAX_SHARED_MEMORY,
            max_cooperative_blocks: MAX_COOPERATIVE_BLOCKS,
            scopes: Scope::ALL.to_vec(),
        };
        Device::new(Arc::new(SimulatedBackend(Arc::new(State {
            properties,
            simulator: Mutex::new(simulator),
            queues: Mutex::default(),
            driver: Mutex::default(),
            freed: Mutex::default(),
            programs: Mutex::default(),
            stop,
        }))))
    }
}

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: "simulated", find, select };

fn find() -> Result<Vec<Device>, Missing> {
    Ok(vec![Device::simulated(0)])
}

fn select(rest: &str) -> Option<Device> {
    rest.parse().ok().map(Device::simulated)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct SimulatedBackend(Arc<State>);

struct State {
    properties: Properties,
    simulator: Mutex<Simulator>,
    queues: Mutex<Vec<Line>>,
    /// Held by the one that moves the device on. The other locks are held for moments only, and never while anything
    /// of the user's runs.
    driver: Mutex<()>,
    /// Memory to be freed at the next occasion: buffers are dropped anywhere.
    freed: Mutex<Vec<MemoryId>>,
    programs: Mutex<HashMap<TypeId, Arc<Program>>>,
    stop: Arc<AtomicBool>,
}

/// What is enqueued on one queue.
#[derive(Default)]
struct Line {
    tasks: VecDeque<Task>,
    /// The launch that runs, and its host part.
    running: Vec<LaunchId>,
    /// What the launch that runs needs kept.
    kept: Vec<Arc<dyn Kernel>>,
    /// Whether somebody is doing a task of this queue right now.
    busy: bool,
    options: LaunchOptions,
    error: Option<Error>,
}

impl Line {
    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.running.is_empty() && !self.busy
    }
}

enum Task {
    Launch { kernel: Arc<dyn Kernel>, host_part: Option<Arc<dyn Kernel>>, shape: Shape, options: LaunchOptions },
    Other(Operation),
}

struct SimulatedMemory {
    state: Arc<State>,
    id: MemoryId,
    element: Type,
}

impl Drop for SimulatedMemory {
    fn drop(&mut self) {
        lock(&self.state.freed).push(self.id);
    }
}

fn system(what: &str, message: impl ToString) -> Error {
    ErrorKind::System { what: what.to_owned(), message: message.to_string() }.into()
}

impl Memory for SimulatedMemory {
    unsafe fn read(&self, offset: usize, into: &mut [u8]) -> Result<()> {
        let size = self.element.size();
        let range = offset / size..(offset + into.len()) / size;
        let contents = lock(&self.state.simulator).read(self.id, range).map_err(|error| system("reading", error))?;
        for (bytes, value) in into.chunks_exact_mut(size).zip(contents.values) {
            bytes.copy_from_slice(&value.to_ne_bytes_of(size));
        }
        Ok(())
    }

    unsafe fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        let size = self.element.size();
        let values: Vec<_> = from.chunks_exact(size).map(u64::from_ne_bytes_of).collect();
        let mut simulator = lock(&self.state.simulator);
        simulator.write(self.id, offset / size, &values).map_err(|error| system("writing", error))
    }

    fn host_pointer(&self) -> Option<NonNull<u8>> {
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Raw words as the bytes of an element, in the host's order.
trait ElementBytes: Sized {
    fn to_ne_bytes_of(self, size: usize) -> Vec<u8>;
    fn from_ne_bytes_of(bytes: &[u8]) -> Self;
}

impl ElementBytes for u64 {
    fn to_ne_bytes_of(self, size: usize) -> Vec<u8> {
        match size {
            1 => (self as u8).to_ne_bytes().to_vec(),
            2 => (self as u16).to_ne_bytes().to_vec(),
            4 => (self as u32).to_ne_bytes().to_vec(),
            _ => self.to_ne_bytes().to_vec(),
        }
    }

    fn from_ne_bytes_of(bytes: &[u8]) -> u64 {
        match *bytes {
            [a] => a as u64,
            [a, b] => u16::from_ne_bytes([a, b]) as u64,
            [a, b, c, d] => u32::from_ne_bytes([a, b, c, d]) as u64,
            [a, b, c, d, e, f, g, h] => u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }
}

impl Backend for SimulatedBackend {
    fn properties(&self) -> &Properties {
        &self.0.properties
    }

    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>> {
        let state = &self.0;
        state.free();
        let init = if request.zeroed { Init::Zero } else { Init::Unwritten };
        let id = lock(&state.simulator).allocate(request.element, request.len, init).map_err(|error| {
            Error::from(ErrorKind::OutOfMemory {
                device: state.properties.name.clone(),
                bytes: request.bytes() as u64,
                why: error.to_string(),
            })
        })?;
        Ok(Box::new(SimulatedMemory { state: state.clone(), id, element: request.element }))
    }

    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        let mut queues = lock(&self.0.queues);
        queues.push(Line::default());
        Ok(Box::new(SimulatedQueue { state: self.0.clone(), number: queues.len() - 1, blocking }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct SimulatedQueue {
    state: Arc<State>,
    number: usize,
    blocking: bool,
}

impl SimulatedQueue {
    fn push(&self, task: Task) -> Result<()> {
        lock(&self.state.queues)[self.number].tasks.push_back(task);
        if self.blocking { self.wait() } else { Ok(()) }
    }
}

impl BackendQueue for SimulatedQueue {
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
        if let Ok(_driver) = self.state.driver.try_lock() {
            self.state.advance();
        }
    }
}

impl State {
    fn free(&self) {
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
            match self.driver.try_lock() {
                Ok(_driver) => self.advance(),
                Err(TryLockError::Poisoned(driver)) => {
                    let _driver = driver.into_inner();
                    self.advance();
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// One round: ends what is done, begins what can begin, and lets the threads of all launches run for a while.
    fn advance(&self) {
        let lines = lock(&self.queues).len();
        let mut moved = false;
        for number in 0..lines {
            moved |= self.collect(number);
            while self.begin(number) {
                moved = true;
            }
        }
        self.stop.store(interrupt::requested(), Ordering::Relaxed);
        let running = lock(&self.simulator).step_for(BURSTS_PER_LOOK);
        if !moved && !running && lock(&self.queues).iter().all(|line| line.running.is_empty()) {
            // All that is left waits for an event of another device.
            std::thread::sleep(PAUSE);
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

    /// Begins the queue's next task, if there is one and none is running; whether it did.
    fn begin(&self, number: usize) -> bool {
        let awaited = match lock(&self.queues)[number].tasks.front() {
            // Also after an error: the clocks count on it.
            Some(Task::Other(Operation::WaitFor(event))) if !event.is_reached() => Some(event.clone()),
            _ => None,
        };
        if let Some(event) = awaited {
            // It may be one of another simulated device, which moves only while somebody asks.
            event.nudge();
            return false;
        }
        let (task, stopped) = {
            let mut queues = lock(&self.queues);
            let line = &mut queues[number];
            if !line.running.is_empty() || line.tasks.is_empty() {
                return false;
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
            Some(Task::Other(Operation::Task(task))) => catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| {
                let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
                Err(ErrorKind::Panic { what: "a host task".into(), message }.into())
            }),
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
        true
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
        // Frames are blocks here, and their extents are threads, unless fewer were asked for.
        let (frame_count, frame_extent) = (shape.outer, shape.inner);
        let (grid_extent, block_extent) = match shape.kind {
            ShapeKind::Threads => (frame_count, frame_extent),
            ShapeKind::Frames => (
                Shape::at_most(frame_count, options.most_blocks()),
                Shape::at_most(frame_extent, options.most_threads()),
            ),
        };
        let blocks: u32 = grid_extent.iter().product();
        if options.is_cooperative() && blocks > MAX_COOPERATIVE_BLOCKS {
            return Err(ErrorKind::Capability {
                device: self.properties.name.clone(),
                what: format!("run {blocks} blocks at once: {MAX_COOPERATIVE_BLOCKS} at the most"),
                instead: "launch fewer blocks, and give each more work".into(),
            }
            .into());
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
                    refused = Some(ErrorKind::Capability {
                        device: self.properties.name.clone(),
                        what: format!("run this launch ({error})"),
                        instead: "launch less at a time".into(),
                    });
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
        refused.map_or(Ok(()), |refused| Err(refused.into()))
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
            shared_len: options.shared_elements(),
            agent,
            cooperative: options.is_cooperative(),
            deadline: options.limit().and_then(|limit| Instant::now().checked_add(limit)),
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

/// The error that stands for what was found: one of the kinds that all devices have, where there is one.
fn error_of(findings: Vec<Findings>, options: &LaunchOptions) -> Option<Error> {
    let mut all = findings.into_iter().flat_map(|findings| findings.0);
    let first = all.next()?;
    let kind = match &first {
        Finding::Fault { actor, fault, place, .. } => fault_of(actor, fault, place),
        Finding::Stopped { launch, reason: StopReason::Deadline, threads, .. } => ErrorKind::TimeLimit {
            kernel: launch.clone(),
            limit: options.limit().unwrap_or_default(),
            lines: lines(threads),
        },
        Finding::Stopped { launch, reason: StopReason::Interrupted, threads, .. } => {
            ErrorKind::Interrupted { kernel: launch.clone(), lines: lines(threads) }
        }
        _ => {
            let others: String = all.map(|finding| format!("\n{finding}")).collect();
            ErrorKind::Finding(format!("{first}{others}"))
        }
    };
    Some(kind.into())
}

fn lines(threads: &[Waiting]) -> Vec<ThreadLine> {
    let line = |waiting: &Waiting| {
        let Actor { rank, position, .. } = &waiting.actor;
        ThreadLine { block: format_index(&position.block[..*rank]), site: waiting.site }
    };
    let mut lines: Vec<_> = threads.iter().map(line).collect();
    // Threads of a block that are at one line are one entry.
    lines.dedup();
    lines
}

fn fault_of(actor: &Actor, fault: &Fault, place: &str) -> ErrorKind {
    let what = match fault {
        Fault::OutOfBounds { index, extent, .. } => {
            FaultKind::OutOfBounds { view: place.to_owned(), index: format_index(index), extent: format_index(extent) }
        }
        Fault::DivisionByZero { .. } => FaultKind::DivisionByZero,
        Fault::Assertion { message, .. } => FaultKind::Assertion(message.to_string()),
    };
    ErrorKind::Fault(Box::new(wattle_core::Fault {
        kernel: actor.kernel.clone(),
        block: format_index(&actor.position.block[..actor.rank]),
        thread: format_index(&actor.position.thread[..actor.rank]),
        site: fault.site(),
        what,
    }))
}
