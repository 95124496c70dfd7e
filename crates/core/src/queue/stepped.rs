//! Queues of devices on which nothing runs by itself.
//!
//! What is enqueued is kept until a thread waits: for a queue, for an event, for a copy to the host. Then all queues of
//! the device move on together, on the thread that waits. So a program that enqueues and waits in one thread gives the
//! same run every time.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use super::event::EventState;
use super::executor::run_task;
use super::lines::{Goal, Line, Lines};
use super::operation::Operation;
use super::task::{QueuedLaunch, Task};
use crate::backend::{BackendQueue, Decided, LaunchRequest, Mover};
use crate::error::{Error, Result};
use crate::panics::panicked;

/// How long a waiting thread sleeps when it cannot move the device on at the moment.
const PAUSE: Duration = Duration::from_micros(50);

/// What such a device does with launches. Its queues are numbered. It is called from one thread at a time.
///
/// # Safety
/// A launch is done when [`end`](Stepper::end) says so: the clocks, and copies to the host's memory, rely on it.
pub unsafe trait Stepper: Send + Sync + 'static {
    /// Whether a queue begins the launches at its head together, instead of one behind the other.
    const GATHERS: bool;

    /// Called on each thread that enqueues something or waits, before it does.
    fn used(&self) {}

    /// Called for each launch before it is enqueued, in its turn.
    fn enqueued(&self, _launch: &QueuedLaunch) {}

    /// Called where the host sees one of several answers, before it does.
    fn decided(&self, _what: Decided) {}

    /// Begins a queue's launch.
    ///
    /// # Errors
    /// The device cannot run the launch.
    fn begin(&self, queue: usize, launch: &QueuedLaunch) -> Result<()>;

    /// Ends what a queue has begun, if all of it is done, and returns what went wrong; `None` while it is not done.
    fn end(&self, queue: usize) -> Option<Result<()>>;

    /// Moves on what has begun; `moved` says whether anything else of the device has moved since the last time, and
    /// `goal` what the host waits for. Returns whether anything moves now.
    fn step(&self, moved: bool, lines: &Lines, goal: &Goal<'_>) -> bool;
}

/// A device on which nothing runs by itself: what all its queues share.
pub struct Stepped<S> {
    stepper: S,
    lines: Lines,
    /// Held by the thread that moves the device on, but not while a host task runs.
    driver: Mutex<()>,
}

impl<S> Deref for Stepped<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.stepper
    }
}

/// What became of a queue's next task.
enum Begun {
    /// The queue has no task, or its next task must wait.
    Nothing,
    /// The task is done, or its launch has begun.
    Done,
    /// The task is a function of the user's, which is still to be run.
    Task(Box<dyn FnOnce() -> Result<()> + Send>),
}

impl<S: Stepper> Stepped<S> {
    /// A device that has no queue yet.
    pub fn new(stepper: S) -> Arc<Stepped<S>> {
        Arc::new(Stepped { stepper, lines: Lines::default(), driver: Mutex::default() })
    }

    /// A new queue of the device.
    pub fn queue(self: &Arc<Self>, blocking: bool) -> SteppedQueue<S> {
        SteppedQueue { device: self.clone(), number: self.lines.open(), blocking }
    }

    /// Does all that is enqueued, as far as it can be done.
    pub fn finish(&self) {
        while !self.lines.are_idle() && self.round(&Goal::Everything) {}
    }

    /// Moves the device on until the goal is reached, or waits while another thread does.
    fn drive(&self, goal: &Goal<'_>, reached: impl Fn() -> bool) {
        self.stepper.used();
        while !reached() {
            if !self.round(goal) {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Does one round towards a goal, unless another thread moves the device on right now; returns whether anything
    /// moved.
    fn round(&self, goal: &Goal<'_>) -> bool {
        let driver = match self.driver.try_lock() {
            Ok(driver) => driver,
            Err(TryLockError::Poisoned(driver)) => driver.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let mut moved = false;
        for number in 0..self.lines.len() {
            moved |= self.collect(number);
            loop {
                match self.begin(number) {
                    Begun::Nothing => break,
                    Begun::Done => moved = true,
                    Begun::Task(task) => {
                        // It runs without any lock: it may use other queues of this device.
                        drop(driver);
                        self.end_task(number, run_task(task));
                        return true;
                    }
                }
            }
        }
        self.stepper.step(moved, &self.lines, goal) || moved
    }

    /// Ends what the queue has begun, if it is done; returns whether it has.
    fn collect(&self, number: usize) -> bool {
        if self.lines.with(number, |line| line.running.is_empty()) {
            return false;
        }
        let Some(ended) = self.stepper.end(number) else { return false };
        let ran = self.lines.with(number, |line| {
            keep(line, ended);
            std::mem::take(&mut line.running)
        });
        // Dropped here, without a lock: it may own buffers.
        let dropped = guarded(move || {
            drop(ran);
            Ok(())
        });
        self.lines.with(number, |line| keep(line, dropped));
        true
    }

    /// Begins the queue's next task, if there is one that can begin.
    fn begin(&self, number: usize) -> Begun {
        let awaited = self.lines.with(number, |line| match line.tasks.front() {
            // Also after an error: the clocks count on it.
            Some(Task::Other(Operation::WaitFor(event))) if !event.is_reached() => Some(event.clone()),
            _ => None,
        });
        if let Some(event) = awaited {
            // The event may be another device's, which moves only when it is asked to.
            event.nudge();
            return Begun::Nothing;
        }
        let next = self.lines.with(number, |line| {
            let gathers = S::GATHERS && matches!(line.tasks.front(), Some(Task::Launch(_)));
            if line.busy || (!line.running.is_empty() && !gathers) {
                return None;
            }
            let task = line.tasks.pop_front()?;
            line.busy = true;
            Some((task, line.error.is_some()))
        });
        let done = match next {
            None => return Begun::Nothing,
            Some((Task::Other(Operation::Task(task)), false)) => return Begun::Task(task),
            Some((task, stopped)) => guarded(|| self.begin_task(number, task, stopped)),
        };
        self.end_task(number, done);
        Begun::Done
    }

    fn begin_task(&self, number: usize, task: Task, stopped: bool) -> Result<()> {
        match task {
            // After an error launches, copies and tasks are discarded until a wait takes it; points are still reached.
            Task::Launch(_) | Task::Other(Operation::Copy(_) | Operation::Task(_)) if stopped => Ok(()),
            Task::Other(Operation::Record(event)) => {
                event.reach();
                Ok(())
            }
            Task::Other(Operation::WaitFor(_)) => Ok(()),
            Task::Other(Operation::Copy(transfer)) => transfer.run(),
            Task::Other(Operation::Task(task)) => task(),
            Task::Launch(launch) => {
                let begun = self.stepper.begin(number, &launch);
                self.lines.with(number, |line| line.running.push(launch));
                begun
            }
        }
    }

    fn end_task(&self, number: usize, done: Result<()>) {
        self.lines.with(number, |line| {
            line.busy = false;
            keep(line, done);
        });
    }
}

/// What an operation owns may panic when it is dropped. The thread that moves the device on may wait for something
/// else, and goes on.
fn guarded(work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked("a queued operation", panic)))
}

fn keep(line: &mut Line, outcome: Result<()>) {
    if let Err(error) = outcome {
        line.error.get_or_insert(error);
    }
}

impl<S: Stepper> Mover for Stepped<S> {
    fn progress(&self, event: &EventState) {
        self.drive(&Goal::Event(event), || event.is_reached());
    }

    fn nudge(&self) {
        self.round(&Goal::Everything);
    }

    fn decided(&self, what: Decided) {
        self.stepper.decided(what);
    }
}

/// A queue of a device on which nothing runs by itself.
pub struct SteppedQueue<S: Stepper> {
    device: Arc<Stepped<S>>,
    number: usize,
    blocking: bool,
}

impl<S: Stepper> SteppedQueue<S> {
    /// The number that the [`Stepper`] is given for the queue. When the queue is gone and done, another has it.
    pub fn number(&self) -> usize {
        self.number
    }

    fn push(&self, task: Task) -> Result<()> {
        self.device.stepper.used();
        self.device.lines.with(self.number, |line| line.tasks.push_back(task));
        if self.blocking { self.wait() } else { Ok(()) }
    }
}

impl<S: Stepper> Drop for SteppedQueue<S> {
    fn drop(&mut self) {
        self.device.lines.with(self.number, |line| line.closed = true);
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl<S: Stepper> BackendQueue for SteppedQueue<S> {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let point = request.stamp.map(|stamp| stamp.point());
        let launch = QueuedLaunch { point, ..QueuedLaunch::of(request) };
        self.device.stepper.enqueued(&launch);
        self.push(Task::Launch(launch))
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.push(Task::Other(operation))
    }

    fn wait(&self) -> Result<()> {
        self.device.drive(&Goal::Queue(self.number), || self.device.lines.with(self.number, |line| line.is_idle()));
        self.device.lines.with(self.number, |line| line.error.take()).map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        self.device.lines.with(self.number, |line| line.error.clone())
    }

    fn mover(&self) -> Option<Arc<dyn Mover>> {
        Some(self.device.clone())
    }
}
