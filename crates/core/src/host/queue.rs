//! The queues of the host devices.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::handover::Handover;
use super::run::{launch, panicked};
use crate::device::{BackendQueue, LaunchRequest, Properties};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Kernel;
use crate::operation::Operation;
use crate::spec::{LaunchOptions, Shape};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A queue's own helpers, so that a launch which waits on one queue does not starve another's. They are started by the
/// first launch that can use them.
struct Team {
    handover: Arc<Handover>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    fn start(helpers: u32) -> Team {
        let handover = Arc::new(Handover::new());
        let start = |number: u32| {
            let handover = handover.clone();
            let name = format!("wattle-worker-{number}");
            // Without a helper the owner does all the work itself.
            std::thread::Builder::new().name(name).spawn(move || handover.help()).ok()
        };
        let helpers = (1..=helpers).filter_map(start).collect();
        Team { handover, helpers }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.handover.quit();
        for helper in self.helpers.drain(..) {
            // A helper cannot panic: jobs do not unwind.
            let _ = helper.join();
        }
    }
}

/// Does the queue's operations on the thread that calls.
struct Executor {
    properties: Arc<Properties>,
    team: Option<Team>,
}

impl Executor {
    /// # Safety
    /// As for [`BackendQueue::launch`].
    unsafe fn launch(&mut self, request: &LaunchRequest<'_>) -> Result<()> {
        let helpers = self.properties.workers - 1;
        if self.team.is_none() && helpers > 0 {
            self.team = Some(Team::start(helpers));
        }
        // SAFETY: the caller's promise; the queue is a host device's, and so are its buffers.
        unsafe { launch(&self.properties, self.team.as_ref().map(|team| &*team.handover), request) }
    }

    fn operate(&mut self, operation: Operation) -> Result<()> {
        match operation {
            Operation::Copy(transfer) => transfer.run(),
            Operation::Task(task) => {
                catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| Err(panicked("a host task", panic)))
            }
            Operation::Record(event) => {
                event.reach();
                Ok(())
            }
            Operation::WaitFor(event) => {
                event.wait_as_device();
                Ok(())
            }
        }
    }
}

/// A queue whose operations are done when they have been submitted.
pub(super) struct Blocking {
    executor: Mutex<Executor>,
}

impl Blocking {
    pub(super) fn new(properties: Arc<Properties>) -> Self {
        Blocking { executor: Mutex::new(Executor { properties, team: None }) }
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for Blocking {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { lock(&self.executor).launch(request) }
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        lock(&self.executor).operate(operation)
    }

    fn wait(&self) -> Result<()> {
        drop(lock(&self.executor));
        Ok(())
    }

    fn pending_error(&self) -> Option<Error> {
        None
    }
}

/// A launch that owns what it needs.
struct OwnedLaunch {
    kernel: Arc<dyn Kernel>,
    host_part: Option<Arc<dyn Kernel>>,
    shape: Shape,
    options: LaunchOptions,
}

enum Task {
    Launch(OwnedLaunch),
    Other(Operation),
}

#[derive(Default)]
struct Progress {
    submitted: u64,
    done: u64,
    error: Option<Error>,
}

#[derive(Default)]
struct Status {
    progress: Mutex<Progress>,
    changed: Condvar,
}

/// A queue with a thread of its own.
pub(super) struct NonBlocking {
    tasks: Mutex<Sender<Task>>,
    status: Arc<Status>,
}

impl NonBlocking {
    pub(super) fn new(properties: Arc<Properties>) -> Result<Self> {
        let (tasks, receiver) = channel();
        let status = Arc::<Status>::default();
        let executor = Executor { properties, team: None };
        let seen = status.clone();
        // It ends when the queue is dropped and what was enqueued is done.
        std::thread::Builder::new()
            .name("wattle-queue".into())
            .spawn(move || serve(&receiver, executor, &seen))
            .map_err(|error| {
                Error::from(ErrorKind::System { what: "starting a queue's thread".into(), message: error.to_string() })
            })?;
        Ok(NonBlocking { tasks: Mutex::new(tasks), status })
    }

    fn push(&self, task: Task) -> Result<()> {
        let tasks = lock(&self.tasks);
        lock(&self.status.progress).submitted += 1;
        tasks.send(task).map_err(|_| {
            ErrorKind::System { what: "enqueuing".into(), message: "the queue's thread is gone".into() }.into()
        })
    }
}

fn serve(tasks: &Receiver<Task>, mut executor: Executor, status: &Status) {
    for task in tasks {
        let stopped = lock(&status.progress).error.is_some();
        let run = || match task {
            // After an error nothing is done until somebody has taken it, but nobody waits for ever either.
            Task::Launch(_) if stopped => Ok(()),
            // What the queue has promised to wait for it waits for all the same: the clocks count on it.
            Task::Other(Operation::Copy(_) | Operation::Task(_)) if stopped => Ok(()),
            Task::Other(operation) => executor.operate(operation),
            Task::Launch(OwnedLaunch { kernel, host_part, shape, options }) => {
                let request = LaunchRequest { kernel: &*kernel, host_part: host_part.as_deref(), shape, options };
                // SAFETY: who enqueued it promised it.
                unsafe { executor.launch(&request) }
            }
        };
        // What a task owns may panic when it is dropped; the queue lives on.
        let done =
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(panicked("a queued operation", panic)));
        let mut progress = lock(&status.progress);
        progress.done += 1;
        if let Err(error) = done {
            progress.error.get_or_insert(error);
        }
        status.changed.notify_all();
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for NonBlocking {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        self.push(Task::Launch(OwnedLaunch {
            kernel: request.kernel.to_arc(),
            host_part: request.host_part.map(Kernel::to_arc),
            shape: request.shape,
            options: request.options,
        }))
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
        progress.error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        lock(&self.status.progress).error.clone()
    }
}
