//! Queues over an [`Executor`]: one whose operations are done when they have been submitted, and one with a thread of
//! its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use wattle_core::{BackendQueue, Error, Kernel, LaunchOptions, LaunchRequest, Operation, Result, Shape};

use crate::error::{lock, panicked, system};
use crate::executor::{self, Executor};
use crate::first_error::FirstError;

/// A queue whose operations are done when they have been submitted.
pub struct Blocking<E> {
    executor: Mutex<E>,
}

impl<E: Executor> Blocking<E> {
    /// A queue of this executor's.
    pub fn new(executor: E) -> Blocking<E> {
        Blocking { executor: Mutex::new(executor) }
    }

    fn now(&self, work: impl FnOnce(&mut E)) -> Result<()> {
        let mut executor = lock(&self.executor);
        work(&mut executor);
        executor.flush();
        executor.drain();
        executor.errors().take().map_or(Ok(()), Err)
    }
}

// SAFETY: operations are given to the executor one after another, in the order in which they come, and it keeps that.
unsafe impl<E: Executor> BackendQueue for Blocking<E> {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        self.now(|executor| {
            let (kernel, shape, options) = (request.kernel.to_arc(), &request.shape, &request.options);
            // SAFETY: the caller's promise.
            unsafe {
                match request.host_part {
                    None => executor::launch(executor, kernel, shape, options),
                    Some(part) => executor::launch_with_host(executor, kernel, part, shape, options),
                }
            }
        })
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.now(|executor| executor::operate(executor, operation, false))
    }

    fn wait(&self) -> Result<()> {
        drop(lock(&self.executor));
        Ok(())
    }

    fn pending_error(&self) -> Option<Error> {
        None
    }
}

/// What is enqueued. Launches come from callers who have promised what [`BackendQueue::launch`] asks for.
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

/// A queue with a thread of its own. The thread ends when the queue is dropped and what was enqueued is done.
pub struct NonBlocking {
    tasks: Mutex<Sender<Task>>,
    status: Arc<Status>,
    error: FirstError,
}

impl NonBlocking {
    /// A queue of this executor's, on a thread of that name.
    ///
    /// # Errors
    /// The operating system does not start the thread.
    pub fn new<E: Executor>(executor: E, name: &str) -> Result<NonBlocking> {
        let (tasks, receiver) = channel();
        let status = Arc::<Status>::default();
        let error = executor.errors().clone();
        let seen = status.clone();
        std::thread::Builder::new()
            .name(name.to_owned())
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

fn serve<E: Executor>(tasks: &Receiver<Task>, mut executor: E, status: &Status) {
    let mut patience = FIRST_LOOK;
    let mut taken = 0;
    loop {
        let task = if executor.in_flight() == 0 {
            let Ok(task) = tasks.recv() else { return };
            task
        } else {
            match tasks.try_recv() {
                Ok(task) => task,
                Err(TryRecvError::Empty) => {
                    guarded(&mut executor, |executor| {
                        executor.flush();
                        executor.advance(patience);
                    });
                    patience = (patience * 2).min(LAST_LOOK);
                    publish(&executor, taken, status);
                    continue;
                }
                Err(TryRecvError::Disconnected) => {
                    guarded(&mut executor, |executor| {
                        executor.flush();
                        executor.drain();
                    });
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
            // SAFETY: who enqueued it has promised it.
            Task::Launch { kernel, host_part, shape, options } => unsafe {
                match host_part {
                    None => executor::launch(executor, kernel, &shape, &options),
                    Some(part) => executor::launch_with_host(executor, kernel, &*part, &shape, &options),
                }
            },
            Task::Other(operation) => executor::operate(executor, operation, stopped),
        });
        publish(&executor, taken, status);
    }
}

/// What a task owns may panic when it is dropped; the queue lives on.
fn guarded<E: Executor>(executor: &mut E, work: impl FnOnce(&mut E)) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(executor))) {
        executor.keep(Err(panicked("a queued operation", panic)));
    }
}

/// Tells how far the queue is: it has taken so many operations, and those that are not in flight are done.
fn publish<E: Executor>(executor: &E, taken: u64, status: &Status) {
    let done = taken - executor.in_flight();
    let mut progress = lock(&status.progress);
    if progress.done != done {
        progress.done = done;
        status.changed.notify_all();
    }
}

// SAFETY: operations are given to the executor one after another, in the order in which they come, and it keeps that.
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
        self.error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        self.error.get()
    }
}
