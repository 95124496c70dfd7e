//! Queues over an [`Executor`]: one whose operations are done when they have been submitted, and one with a thread of
//! its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
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

    fn prepare(&self, request: &LaunchRequest<'_>) -> Result<()> {
        lock(&self.executor).prepare(request.kernel, &request.shape, &request.options)
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
    Launch {
        kernel: Arc<dyn Kernel>,
        host_part: Option<Arc<dyn Kernel>>,
        shape: Shape,
        options: LaunchOptions,
    },
    /// Somebody waits for the answer.
    Prepare {
        kernel: Arc<dyn Kernel>,
        shape: Shape,
        options: LaunchOptions,
        done: Sender<Result<()>>,
    },
    Other(Operation),
}

/// A number that one side counts up and the other reads, on a line of the caches of its own.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// How far a queue is. Who enqueues and the queue's thread each have their counter, and no lock: that is taken only when
/// somebody waits.
#[derive(Default)]
struct Progress {
    submitted: Counter,
    done: Counter,
    /// How many wait; changed with the lock held.
    waiting: AtomicU64,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Progress {
    /// So many operations are done. Only the queue's thread calls it.
    fn publish(&self, done: u64) {
        if self.done.0.load(Ordering::Relaxed) == done {
            return;
        }
        // Either who waits sees the counter, or this sees who waits: both are sequentially consistent.
        self.done.0.store(done, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // Who counted himself has the lock until he sleeps.
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }

    /// Waits until all that has been enqueued so far is done.
    fn wait(&self) {
        let target = self.submitted.0.load(Ordering::Acquire);
        if self.done.0.load(Ordering::SeqCst) >= target {
            return;
        }
        let mut held = lock(&self.lock);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while self.done.0.load(Ordering::SeqCst) < target {
            held = self.changed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A queue with a thread of its own. The thread ends when the queue is dropped and what was enqueued is done.
pub struct NonBlocking {
    tasks: Sender<Task>,
    progress: Arc<Progress>,
    error: FirstError,
}

impl NonBlocking {
    /// A queue of this executor's, on a thread of that name.
    ///
    /// # Errors
    /// The operating system does not start the thread.
    pub fn new<E: Executor>(executor: E, name: &str) -> Result<NonBlocking> {
        let (tasks, receiver) = channel();
        let progress = Arc::<Progress>::default();
        let error = executor.errors().clone();
        let seen = progress.clone();
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(&receiver, executor, &seen))
            .map_err(|error| system("starting a queue's thread", error))?;
        Ok(NonBlocking { tasks, progress, error })
    }

    fn push(&self, task: Task) -> Result<()> {
        let submitted = &self.progress.submitted.0;
        submitted.fetch_add(1, Ordering::AcqRel);
        self.tasks.send(task).map_err(|_| {
            submitted.fetch_sub(1, Ordering::AcqRel);
            system("enqueuing", "the queue's thread is gone")
        })
    }
}

/// How long the thread waits for the device before it looks for new work: at first, and at the most. The device has
/// work meanwhile, and ends each wait when it is done with it.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const LAST_LOOK: Duration = Duration::from_millis(2);

/// After how many launches in a row it is told how far the queue is, where there is always another one.
const PUBLISH_EVERY: u64 = 16;

fn serve<E: Executor>(tasks: &Receiver<Task>, mut executor: E, progress: &Progress) {
    let mut patience = FIRST_LOOK;
    let (mut taken, mut told) = (0, 0);
    loop {
        let task = match tasks.try_recv() {
            Ok(task) => task,
            Err(TryRecvError::Empty) if executor.in_flight() > 0 => {
                guarded(&mut executor, |executor| {
                    executor.flush();
                    executor.advance(patience);
                });
                patience = (patience * 2).min(LAST_LOOK);
                told = taken;
                progress.publish(taken - executor.in_flight());
                continue;
            }
            Err(TryRecvError::Empty) => {
                progress.publish(taken);
                told = taken;
                let Ok(task) = tasks.recv() else { return };
                task
            }
            Err(TryRecvError::Disconnected) => {
                guarded(&mut executor, |executor| {
                    executor.flush();
                    executor.drain();
                });
                progress.publish(taken - executor.in_flight());
                return;
            }
        };
        patience = FIRST_LOOK;
        taken += 1;
        let is_quick = matches!(task, Task::Launch { host_part: None, .. });
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
            Task::Prepare { kernel, shape, options, done } => {
                // If nobody waits any more, nobody wants to know.
                let _ = done.send(executor.prepare(&*kernel, &shape, &options));
            }
            Task::Other(operation) => executor::operate(executor, operation, stopped),
        });
        // Other operations may take long, and so may what comes behind them.
        if !is_quick || taken - told >= PUBLISH_EVERY {
            told = taken;
            progress.publish(taken - executor.in_flight());
        }
    }
}

/// What a task owns may panic when it is dropped; the queue lives on.
fn guarded<E: Executor>(executor: &mut E, work: impl FnOnce(&mut E)) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(executor))) {
        executor.keep(Err(panicked("a queued operation", panic)));
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

    fn prepare(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let (done, answer) = channel();
        let (kernel, shape, options) = (request.kernel.to_arc(), request.shape, request.options);
        self.push(Task::Prepare { kernel, shape, options, done })?;
        answer.recv().unwrap_or_else(|_| Err(system("preparing a launch", "the queue's thread could not")))
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.push(Task::Other(operation))
    }

    fn wait(&self) -> Result<()> {
        self.progress.wait();
        self.error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        self.error.get()
    }
}
