//! The queues of a Vulkan device.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wattle_core::{BackendQueue, Error, Kernel, LaunchOptions, LaunchRequest, Operation, Result, Shape};

use crate::context::{Context, lock};
use crate::error::system;
use crate::executor::Executor;
use crate::host_part::panicked;
use crate::transfer::transfer;

impl Executor {
    /// Does an operation, or skips it.
    fn operate(&mut self, operation: Operation, skip: bool) {
        if let Operation::Record(event) = operation {
            return self.record(event);
        }
        self.drain();
        let outcome = match operation {
            // What the queue has promised to wait for it waits for also after an error: the clocks count on it.
            Operation::WaitFor(event) => {
                event.wait_as_device();
                Ok(())
            }
            _ if skip || self.has_failed() => Ok(()),
            Operation::Copy(copy) => transfer(copy),
            Operation::Task(task) => {
                catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| Err(panicked("a host task", panic)))
            }
            Operation::Record(_) => Ok(()),
        };
        self.keep(outcome);
    }
}

/// A queue whose operations are done when they have been submitted.
pub(crate) struct Blocking {
    executor: Mutex<Executor>,
}

impl Blocking {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Blocking> {
        Ok(Blocking { executor: Mutex::new(Executor::new(context)?) })
    }

    fn now(&self, work: impl FnOnce(&mut Executor)) -> Result<()> {
        let mut executor = lock(&self.executor);
        work(&mut executor);
        executor.drain();
        executor.take_error().map_or(Ok(()), Err)
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for Blocking {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        self.now(|executor| {
            let kernel = request.kernel.to_arc();
            match request.host_part {
                None => executor.launch(kernel, &request.shape, &request.options),
                Some(part) => executor.launch_with_host(kernel, part, &request.shape, &request.options),
            }
        })
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.now(|executor| executor.operate(operation, false))
    }

    fn wait(&self) -> Result<()> {
        drop(lock(&self.executor));
        Ok(())
    }

    fn pending_error(&self) -> Option<Error> {
        None
    }
}

enum Task {
    Launch { kernel: Arc<dyn Kernel>, host_part: Option<Arc<dyn Kernel>>, shape: Shape, options: LaunchOptions },
    Other(Operation),
}

#[derive(Default)]
struct Progress {
    submitted: u64,
    done: u64,
}

#[derive(Default)]
struct Status {
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// A queue with a thread of its own.
pub(crate) struct NonBlocking {
    tasks: Mutex<Sender<Task>>,
    status: Arc<Status>,
    error: Arc<Mutex<Option<Error>>>,
}

impl NonBlocking {
    pub(crate) fn new(context: &Arc<Context>) -> Result<NonBlocking> {
        let (tasks, receiver) = channel();
        let status = Arc::<Status>::default();
        let executor = Executor::new(context)?;
        let (seen, error) = (status.clone(), executor.errors());
        // It ends when the queue is dropped and what was enqueued is done.
        std::thread::Builder::new()
            .name("wattle-vulkan-queue".into())
            .spawn(move || serve(&receiver, executor, &seen))
            .map_err(|error| system("starting a queue's thread", error))?;
        Ok(NonBlocking { tasks: Mutex::new(tasks), status, error })
    }

    fn push(&self, task: Task) -> Result<()> {
        let tasks = lock(&self.tasks);
        lock(&self.status.progress).submitted += 1;
        tasks.send(task).map_err(|_| system("enqueuing", "the queue's thread is gone"))
    }
}

/// How long the thread waits for the device before it looks for new work: at first, and at the most. The device has
/// work meanwhile, and ends each wait when it is done with it.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const LAST_LOOK: Duration = Duration::from_millis(2);

fn serve(tasks: &Receiver<Task>, mut executor: Executor, status: &Status) {
    let mut patience = FIRST_LOOK;
    let mut taken = 0;
    loop {
        let task = if executor.is_idle() {
            let Ok(task) = tasks.recv() else { return };
            task
        } else {
            match tasks.try_recv() {
                Ok(task) => task,
                Err(TryRecvError::Empty) => {
                    guarded(&mut executor, |executor| executor.advance(patience));
                    patience = (patience * 2).min(LAST_LOOK);
                    publish(&executor, taken, status);
                    continue;
                }
                Err(TryRecvError::Disconnected) => {
                    guarded(&mut executor, Executor::drain);
                    publish(&executor, taken, status);
                    return;
                }
            }
        };
        patience = FIRST_LOOK;
        taken += 1;
        // After an error nothing is done until somebody has taken it, but nobody waits for ever either.
        let stopped = executor.has_failed();
        guarded(&mut executor, |executor| match task {
            Task::Launch { .. } if stopped => {}
            Task::Launch { kernel, host_part: None, shape, options } => executor.launch(kernel, &shape, &options),
            Task::Launch { kernel, host_part: Some(part), shape, options } => {
                executor.launch_with_host(kernel, &*part, &shape, &options);
            }
            Task::Other(operation) => executor.operate(operation, stopped),
        });
        publish(&executor, taken, status);
    }
}

/// What a task owns may panic when it is dropped; the queue lives on.
fn guarded(executor: &mut Executor, work: impl FnOnce(&mut Executor)) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(executor))) {
        executor.keep(Err(panicked("a queued operation", panic)));
    }
}

/// Tells how far the queue is: it has taken so many operations, and those that are not in flight are done.
fn publish(executor: &Executor, taken: u64, status: &Status) {
    let done = taken - executor.in_flight();
    let mut progress = lock(&status.progress);
    if progress.done != done {
        progress.done = done;
        status.changed.notify_all();
    }
}

// SAFETY: operations are done one after another, in the order in which they were given: launches in flight together are
// kept in order by barriers on the device, and all else waits for them.
unsafe impl BackendQueue for NonBlocking {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        self.push(Task::Launch {
            kernel: request.kernel.to_arc(),
            host_part: request.host_part.map(Kernel::to_arc),
            shape: request.shape,
            options: request.options,
        })
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.push(Task::Other(operation))
    }

    fn wait(&self) -> Result<()> {
        let mut progress = lock(&self.status.progress);
        let target = progress.submitted;
        while progress.done < target {
            progress = self.status.changed.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        drop(progress);
        lock(&self.error).take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        lock(&self.error).clone()
    }
}
