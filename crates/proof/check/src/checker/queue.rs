//! The queues of the checker's device, and how a run moves on: other operations one by one, launches by a search.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, TryLockError};
use std::time::Duration;

use wattle_core::{BackendQueue, Error, ErrorKind, EventState, Kernel, LaunchRequest, Operation, Result};

use super::batch::{self, Enqueued};
use super::device::{Run, lock};

/// What is enqueued on one queue.
#[derive(Default)]
pub(super) struct Line {
    tasks: VecDeque<Task>,
    busy: bool,
    error: Option<Error>,
}

enum Task {
    Launch(Enqueued),
    Other(Operation),
}

impl Line {
    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && !self.busy
    }
}

pub(super) struct CheckedQueue {
    pub run: Arc<Run>,
    pub number: usize,
    pub blocking: bool,
}

impl CheckedQueue {
    fn push(&self, task: Task) -> Result<()> {
        lock(&self.run.lines)[self.number].tasks.push_back(task);
        if self.blocking { self.wait() } else { Ok(()) }
    }
}

// SAFETY: operations are done one after another, in the order in which they were given.
unsafe impl BackendQueue for CheckedQueue {
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()> {
        let (kernel, host_part) = (request.kernel.to_arc(), request.host_part.map(Kernel::to_arc));
        self.push(Task::Launch(Enqueued { kernel, host_part, shape: request.shape, options: request.options }))
    }

    fn submit(&self, operation: Operation) -> Result<()> {
        self.push(Task::Other(operation))
    }

    fn wait(&self) -> Result<()> {
        self.run.drive(|lines| lines[self.number].is_idle());
        lock(&self.run.lines)[self.number].error.take().map_or(Ok(()), Err)
    }

    fn pending_error(&self) -> Option<Error> {
        lock(&self.run.lines)[self.number].error.clone()
    }

    fn progress(&self, event: &EventState) {
        self.run.drive(|_| event.is_reached());
    }

    fn nudge(&self) {
        self.run.round();
    }
}

impl Run {
    /// Moves the run on until the goal is reached, or waits while somebody else does.
    fn drive(&self, reached: impl Fn(&[Line]) -> bool) {
        while !reached(&lock(&self.lines)) {
            if !self.round() {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }

    /// Does what is at the heads of the queues: all that is no launch, and if there is nothing of the kind, all
    /// launches that can run at the same time. Whether anything moved.
    fn round(&self) -> bool {
        let driver = match self.driver.try_lock() {
            Ok(driver) => driver,
            Err(TryLockError::Poisoned(driver)) => driver.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let mut moved = false;
        let lines = lock(&self.lines).len();
        for number in 0..lines {
            while let Some(operation) = self.next_operation(number) {
                moved = true;
                let done = match operation {
                    Operation::Record(event) => {
                        event.reach();
                        Ok(())
                    }
                    Operation::Copy(transfer) if !self.failed(number) => transfer.run(),
                    Operation::Task(task) if !self.failed(number) => catch_unwind(AssertUnwindSafe(task))
                        .unwrap_or_else(|panic| Err(panicked("a host task", &*panic))),
                    _ => Ok(()),
                };
                let mut lines = lock(&self.lines);
                lines[number].busy = false;
                if let Err(error) = done {
                    lines[number].error.get_or_insert(error);
                }
            }
        }
        if !moved {
            moved = self.launch_all();
        }
        drop(driver);
        moved
    }

    /// Does all that is still enqueued, as far as it can be done.
    pub fn finish(&self) {
        while lock(&self.lines).iter().any(|line| !line.is_idle()) && self.round() {}
    }

    fn failed(&self, number: usize) -> bool {
        lock(&self.lines)[number].error.is_some()
    }

    /// The operation at the head of a queue, if it is one and need not wait.
    fn next_operation(&self, number: usize) -> Option<Operation> {
        let mut lines = lock(&self.lines);
        let line = &mut lines[number];
        if line.busy {
            return None;
        }
        match line.tasks.front()? {
            Task::Other(Operation::WaitFor(event)) if !event.is_reached() => {
                let event = event.clone();
                drop(lines);
                event.nudge();
                return None;
            }
            Task::Launch(_) => return None,
            Task::Other(_) => {}
        }
        line.busy = true;
        match line.tasks.pop_front() {
            Some(Task::Other(operation)) => Some(operation),
            _ => None,
        }
    }

    /// Searches the launches at the heads of all queues together; of one queue alone, one after another.
    fn launch_all(&self) -> bool {
        let mut groups: Vec<(usize, Vec<Enqueued>)> = Vec::new();
        {
            let mut lines = lock(&self.lines);
            let waiting = lines.iter().filter(|line| matches!(line.tasks.front(), Some(Task::Launch(_)))).count();
            let others = |line: &Line| line.tasks.iter().any(|task| matches!(task, Task::Launch(_)));
            let mut cut = false;
            for (number, line) in lines.iter_mut().enumerate() {
                let mut group = Vec::new();
                while let Some(Task::Launch(_)) = line.tasks.front() {
                    if waiting == 1 && !group.is_empty() {
                        break;
                    }
                    if let Some(Task::Launch(launch)) = line.tasks.pop_front() {
                        group.push(launch);
                    }
                }
                if waiting > 1 {
                    cut |= others(line);
                }
                if !group.is_empty() {
                    line.busy = true;
                    groups.push((number, group));
                }
            }
            lock(&self.path).overlaps |= cut;
        }
        if groups.is_empty() {
            return false;
        }
        let failed: Vec<bool> = groups.iter().map(|(number, _)| self.failed(*number)).collect();
        let (numbers, launches): (Vec<usize>, Vec<Vec<Enqueued>>) =
            groups.into_iter().zip(failed).filter(|(_, failed)| !failed).map(|(group, _)| group).unzip();
        let done = if launches.is_empty() { Ok(()) } else { batch::run(self, &launches) };
        let mut lines = lock(&self.lines);
        lines.iter_mut().for_each(|line| line.busy = false);
        if let Err(error) = done {
            for number in numbers {
                lines[number].error.get_or_insert(error.clone());
            }
        }
        drop(lines);
        // They may own buffers.
        drop(launches);
        true
    }
}

pub(super) fn system(what: &str, message: impl ToString) -> Error {
    ErrorKind::System { what: what.to_owned(), message: message.to_string() }.into()
}

/// A panic in `what`, with its message.
pub(super) fn panicked(what: &str, panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    ErrorKind::Panic { what: what.to_owned(), message }.into()
}
