//! The operations that are enqueued on the queues of a device on which nothing runs by itself, and which of them can
//! begin.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;

use super::event::EventState;
use super::operation::Operation;
use super::task::{QueuedLaunch, Task};
use crate::error::Error;
use crate::sync::lock;

/// What is enqueued on one queue.
#[derive(Default)]
pub(super) struct Line {
    pub(super) tasks: VecDeque<Task>,
    /// The launches that have begun.
    pub(super) running: Vec<QueuedLaunch>,
    /// Whether a thread is doing a task of this queue right now.
    pub(super) busy: bool,
    pub(super) error: Option<Error>,
    /// Whether the queue was dropped. What was enqueued is done all the same, when a thread waits.
    pub(super) closed: bool,
}

impl Line {
    pub(super) fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.running.is_empty() && !self.busy
    }
}

/// What the host waits for, while a device moves on.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'e> {
    /// The host waits for all that is enqueued on the queue with this number.
    Queue(usize),
    /// The host waits for an event.
    Event(&'e EventState),
    /// The host waits for all that is enqueued on any queue.
    Everything,
}

/// What is enqueued on all queues of a device.
#[derive(Default)]
pub struct Lines(Mutex<Vec<Line>>);

impl Lines {
    /// Whether something can still begin while the launches that have begun go on: a task is under way, or what is
    /// enqueued waits for none of them.
    pub fn can_begin_more(&self) -> bool {
        let running = |lines: &[Line]| (0..lines.len()).filter(|&number| !lines[number].running.is_empty()).collect();
        let (is_busy, running) = {
            let lines = lock(&self.0);
            (lines.iter().any(|line| line.busy), running(&lines))
        };
        is_busy || self.can_begin_beside(&running)
    }

    /// Whether no queue has an operation that is enqueued or runs.
    pub(super) fn are_idle(&self) -> bool {
        lock(&self.0).iter().all(Line::is_idle)
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

    /// Whether something that is enqueued can still begin while what runs on these queues never ends, and what runs on
    /// the others does.
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
    pub(super) fn open(&self) -> usize {
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
    pub(super) fn with<R>(&self, number: usize, work: impl FnOnce(&mut Line) -> R) -> R {
        work(&mut lock(&self.0)[number])
    }

    pub(super) fn len(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
