//! A queue with a thread of its own, which does what is enqueued.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::executor::{self, Executor};
use super::first_error::FirstError;
use super::operation::Operation;
use super::task::{QueuedLaunch, Task};
use crate::backend::{BackendQueue, LaunchRequest};
use crate::error::{Error, Result, system};
use crate::panics::panicked;
use crate::sync::lock;

/// A message to the queue's thread.
enum Message {
    Task(Task),
    /// Prepare a launch, and send the result to the thread that waits for it.
    Prepare(QueuedLaunch, Sender<Result<()>>),
}

/// A number that one side counts up and the other reads, on a line of the caches of its own.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

/// The progress of a queue. The threads that enqueue and the queue's thread each have their counter, and take the lock
/// only when a thread waits.
#[derive(Default)]
struct Progress {
    submitted: Counter,
    done: Counter,
    /// How many threads wait; changed with the lock held.
    waiting: AtomicU64,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Progress {
    /// Publishes how many operations are done. Only the queue's thread calls it.
    fn publish(&self, done: u64) {
        if self.done.0.load(Ordering::Relaxed) == done {
            return;
        }
        // Either the waiter sees the counter, or this sees the waiter: both are sequentially consistent.
        self.done.0.store(done, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // The waiter holds the mutex from registering until it parks.
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

/// A queue with a thread of its own. The thread ends when the queue is dropped, its events are, and what was enqueued
/// is done.
pub(super) struct Threaded {
    messages: Sender<Message>,
    progress: Arc<Progress>,
    error: FirstError,
    prepares: bool,
}

impl Threaded {
    /// A queue over this executor, with a thread of its own named `name`.
    ///
    /// # Errors
    /// The operating system does not start the thread.
    pub(super) fn new<E: Executor>(executor: E, name: &str) -> Result<Threaded> {
        let (messages, receiver) = channel();
        let progress = Arc::<Progress>::default();
        let error = executor.errors().clone();
        let seen = progress.clone();
        std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || serve(&receiver, executor, &seen))
            .map_err(|error| system("starting a queue's thread", error))?;
        Ok(Threaded { messages, progress, error, prepares: E::PREPARES })
    }

    fn send(&self, message: Message) -> Result<()> {
        let submitted = &self.progress.submitted.0;
        submitted.fetch_add(1, Ordering::AcqRel);
        self.messages.send(message).map_err(|_| {
            submitted.fetch_sub(1, Ordering::AcqRel);
            system("enqueuing", "the queue's thread is gone")
        })
    }
}

/// How long the thread waits for the device before it looks for new work: at first, and at the most. The device has
/// work meanwhile, and ends each wait when it is done with it.
const FIRST_LOOK: Duration = Duration::from_micros(100);
const LAST_LOOK: Duration = Duration::from_millis(2);

/// The number of launches in a row after which progress is published, while there is always another one.
const PUBLISH_EVERY: u64 = 16;

fn serve<E: Executor>(messages: &Receiver<Message>, mut executor: E, progress: &Progress) {
    let mut patience = FIRST_LOOK;
    let (mut taken, mut published) = (0, 0);
    loop {
        let message = match messages.try_recv() {
            Ok(message) => message,
            Err(TryRecvError::Empty) if executor.in_flight() > 0 => {
                guarded(&mut executor, |executor| {
                    executor.flush();
                    executor.advance(patience);
                });
                patience = (patience * 2).min(LAST_LOOK);
                published = taken;
                progress.publish(taken - executor.in_flight());
                continue;
            }
            Err(TryRecvError::Empty) => {
                progress.publish(taken);
                published = taken;
                let Ok(message) = messages.recv() else { return };
                message
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
        // After an error launches, copies and tasks are discarded until a wait takes it; points are still reached.
        let stopped = executor.has_failed();
        let is_quick = matches!(&message, Message::Task(Task::Launch(launch)) if launch.host_part.is_none());
        guarded(&mut executor, |executor| match message {
            Message::Task(Task::Launch(_)) if stopped => {}
            // SAFETY: the code that enqueued the launch has promised it.
            Message::Task(Task::Launch(launch)) => unsafe { executor::launch(executor, &launch.request()) },
            Message::Task(Task::Other(operation)) => executor::operate(executor, operation, stopped),
            Message::Prepare(launch, done) => {
                // The send fails if the thread no longer waits, and the result is not needed then.
                let _ = done.send(executor.prepare(&launch.kernel, &launch.shape, &launch.options));
            }
        });
        // Other operations may take long, and so may those behind them; what is not in flight any more is done.
        let in_flight = executor.in_flight();
        if !is_quick || in_flight == 0 || taken - published >= PUBLISH_EVERY {
            published = taken;
            progress.publish(taken - in_flight);
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
unsafe impl BackendQueue for Threaded {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        self.send(Message::Task(Task::Launch(QueuedLaunch::of(request))))
    }

    fn prepare(&self, request: &LaunchRequest<'_>) -> Result<()> {
        if !self.prepares {
            return Ok(());
        }
        let (done, answer) = channel();
        self.send(Message::Prepare(QueuedLaunch::of(request), done))?;
        answer.recv().unwrap_or_else(|_| Err(system("preparing a launch", "the queue's thread could not")))
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.send(Message::Task(Task::Other(operation)))
    }

    fn wait(&self) -> Result<()> {
        self.progress.wait();
        self.error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        self.error.get()
    }
}
