//! Queues of devices on which nothing runs by itself.
//!
//! What is enqueued is kept until a thread waits: for a queue, for an event, for a copy to the host. Then all queues of
//! the device move on together, on the thread that waits. So a program that enqueues and waits in one thread gives the
//! same run every time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use super::event::EventState;
use super::executor::run_task;
use super::operation::Operation;
use super::task::{QueuedLaunch, Task};
use crate::device::{BackendQueue, Decided, LaunchRequest, Mover};
use crate::error::{Error, Result};
use crate::panics::panicked;
use crate::sync::lock;

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

    /// Moves on what has begun; `moved` says whether anything else of the device has moved since the last time, and `goal`
    /// what the host waits for. Returns whether anything moves now.
    fn step(&self, moved: bool, lines: &Lines, goal: &Goal<'_>) -> bool;
}

/// What is enqueued on one queue.
#[derive(Default)]
struct Line {
    tasks: VecDeque<Task>,
    /// The launches that have begun.
    running: Vec<QueuedLaunch>,
    /// Whether a thread is doing a task of this queue right now.
    busy: bool,
    error: Option<Error>,
    /// Whether the queue was dropped. What was enqueued is done all the same, when a thread waits.
    closed: bool,
}

impl Line {
    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.running.is_empty() && !self.busy
    }
}

/// What the host waits for, while a device moves on.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'e> {
    /// All that is enqueued on the queue with this number.
    Queue(usize),
    /// An event.
    Event(&'e EventState),
    /// All that is enqueued.
    Everything,
}

/// What is enqueued on all queues of a device.
#[derive(Default)]
pub struct Lines(Mutex<Vec<Line>>);

impl Lines {
    /// Whether a queue can still begin something while the launches that have begun go on: a task is under way, or waits for
    /// what is of no queue here.
    pub fn can_begin_more(&self) -> bool {
        let lines = lock(&self.0);
        let is_recorded_here = |state: &Arc<EventState>| {
            let records = |task: &Task| matches!(task, Task::Other(Operation::Record(of)) if Arc::ptr_eq(of, state));
            lines.iter().any(|line| line.tasks.iter().any(records))
        };
        let can_begin = |task: &Task| match task {
            // Its queue can begin more, or it waits for a launch.
            Task::Other(Operation::WaitFor(event)) => event.is_reached() || !is_recorded_here(&event.state),
            Task::Launch(_) | Task::Other(Operation::Record(_) | Operation::Copy(_) | Operation::Task(_)) => true,
        };
        lines.iter().any(|line| line.busy || (line.running.is_empty() && line.tasks.front().is_some_and(can_begin)))
    }

    /// The launches that are enqueued and have not begun.
    pub fn later_launches(&self) -> Vec<QueuedLaunch> {
        let lines = lock(&self.0);
        let launch = |task: &Task| match task {
            Task::Launch(launch) => Some(launch.clone()),
            Task::Other(_) => None,
        };
        lines.iter().flat_map(|line| line.tasks.iter().filter_map(launch)).collect()
    }

    /// The queues whose running launches must end before the host has what it waits for.
    pub fn needed(&self, goal: &Goal<'_>) -> BTreeSet<usize> {
        let lines = lock(&self.0);
        let whole = |number: usize| (number, lines.get(number).map_or(0, |line| line.tasks.len()));
        // What is behind an event on its queue is not needed for it.
        let mut open: Vec<(usize, usize)> = match goal {
            Goal::Queue(number) => vec![whole(*number)],
            Goal::Event(state) => recorded(&lines, state).into_iter().collect(),
            Goal::Everything => (0..lines.len()).map(whole).collect(),
        };
        let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
        while let Some((number, tasks)) = open.pop() {
            if reached.get(&number).is_some_and(|&known| known >= tasks) {
                continue;
            }
            reached.insert(number, tasks);
            open.extend(lines[number].tasks.iter().take(tasks).filter_map(|task| recorded(&lines, awaited(task)?)));
        }
        reached.into_keys().collect()
    }

    /// Whether something that is enqueued can still begin while what runs on these queues never ends, and what runs on the
    /// others does.
    pub fn can_begin_beside(&self, stuck: &BTreeSet<usize>) -> bool {
        let lines = lock(&self.0);
        let all = |(number, line): (usize, &Line)| if stuck.contains(&number) { 0 } else { line.tasks.len() };
        // How many of each queue's tasks can begin: those up to the first that waits for what is never recorded.
        let mut can_begin: Vec<usize> = lines.iter().enumerate().map(all).collect();
        loop {
            let never = |task: &Task, can_begin: &[usize]| {
                let recorded = awaited(task).and_then(|state| recorded(&lines, state));
                recorded.is_some_and(|(number, at)| at >= can_begin[number])
            };
            let less = (0..lines.len()).find_map(|number| {
                let mut tasks = lines[number].tasks.iter().take(can_begin[number]);
                Some((number, tasks.position(|task| never(task, &can_begin))?))
            });
            let Some((number, at)) = less else { break };
            can_begin[number] = at;
        }
        let acts = |task: &Task| match task {
            Task::Launch(_) | Task::Other(Operation::Copy(_) | Operation::Task(_)) => true,
            Task::Other(Operation::Record(_) | Operation::WaitFor(_)) => false,
        };
        lines.iter().zip(can_begin).any(|(line, tasks)| line.tasks.iter().take(tasks).any(acts))
    }

    /// The number of a line for a new queue: one whose queue is gone and has nothing left to do, or another one.
    fn open(&self) -> usize {
        let mut lines = lock(&self.0);
        let number = lines.iter().position(|line| line.closed && line.is_idle()).unwrap_or(lines.len());
        if number == lines.len() {
            lines.push(Line::default());
        } else {
            lines[number] = Line::default();
        }
        number
    }

    /// Does something with a line. The lock is held for moments only, and never while anything of the user's runs.
    fn with<R>(&self, number: usize, work: impl FnOnce(&mut Line) -> R) -> R {
        work(&mut lock(&self.0)[number])
    }

    fn len(&self) -> usize {
        lock(&self.0).len()
    }
}

/// The event for which a task waits.
fn awaited(task: &Task) -> Option<&EventState> {
    match task {
        Task::Other(Operation::WaitFor(event)) => Some(&event.state),
        Task::Launch(_) | Task::Other(Operation::Record(_) | Operation::Copy(_) | Operation::Task(_)) => None,
    }
}

/// The queue on which an event is still to be recorded, and the number of tasks there before that.
fn recorded(lines: &[Line], state: &EventState) -> Option<(usize, usize)> {
    let records = |task: &Task| matches!(task, Task::Other(Operation::Record(of)) if std::ptr::eq(&**of, state));
    let of_line = |(number, line): (usize, &Line)| Some((number, line.tasks.iter().position(records)?));
    lines.iter().enumerate().find_map(of_line)
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
    /// There is no task, or it must wait.
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
        while lock(&self.lines.0).iter().any(|line| !line.is_idle()) && self.round(&Goal::Everything) {}
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

    /// Does one round towards a goal, unless another thread moves the device on right now; returns whether anything moved.
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

/// What an operation owns may panic when it is dropped. The thread that moves the device on may wait for something else,
/// and goes on.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_used_again_when_its_queue_is_gone_and_its_work_done() {
        let lines = Lines::default();
        assert_eq!([lines.open(), lines.open()], [0, 1]);
        lines.with(0, |line| {
            line.closed = true;
            line.tasks.push_back(Task::Other(Operation::Record(Arc::default())));
        });
        assert_eq!(lines.open(), 2);
        lines.with(0, |line| line.tasks.clear());
        assert_eq!(lines.open(), 0);
        assert!(!lines.with(0, |line| line.closed));
    }
}
