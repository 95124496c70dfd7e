//! The ways in which an iteration of a waiting loop can fail.

use wattle_memory::{Analysis, EventId, Graph, Kind, Label, Level, ThreadId};

use super::super::process::{AccessTarget, Action, Change, Written};
use super::super::state::{Fault, SearchState};
use super::super::{Setup, Thread};
use super::{IterationStep, ReadFrom};

/// The maximum number of ways of failing that are searched, for each time that a loop begins anew.
const MOST: usize = 4096;

/// A part of an iteration.
#[derive(Clone)]
pub(super) struct Way<'w> {
    process: Thread<'w>,
    pub steps: Vec<IterationStep>,
    pub faults: Vec<Fault>,
    /// The loops inside that are open: the process at their heads, and whether an iteration of theirs has failed.
    inner: Vec<(u32, Thread<'w>, bool)>,
    turns: u32,
}

impl<'w> Way<'w> {
    pub fn new(process: &Thread<'w>) -> Self {
        Way { process: process.clone(), steps: Vec::new(), faults: Vec::new(), inner: Vec::new(), turns: 0 }
    }
}

/// All ways in which an iteration of one loop can fail.
pub(super) struct Ways<'a, 'w> {
    pub setup: &'a Setup<'w>,
    pub state: &'a SearchState<'w>,
    pub graph: &'a Graph,
    pub analysis: &'a Analysis,
    pub thread: ThreadId,
    /// The thread's last event before the iteration.
    pub behind: Option<EventId>,
    pub head: &'a Thread<'w>,
    pub label: u32,
    pub ends: Vec<Way<'w>>,
    pub tried: usize,
    /// The statement of its jump back, once it is known.
    pub jump: Option<u32>,
}

impl<'w> Ways<'_, 'w> {
    /// Explores every way from a start; returns whether they were within the limit.
    pub fn explore(&mut self, start: Way<'w>) -> bool {
        let mut open = vec![start];
        while let Some(mut way) = open.pop() {
            self.tried += 1;
            if self.tried > MOST {
                return false;
            }
            self.go(&mut way, &mut open);
        }
        true
    }

    /// Follows one way to its end or to a read, and adds a way for each source of the read.
    fn go(&mut self, way: &mut Way<'w>, open: &mut Vec<Way<'w>>) {
        loop {
            match way.process.advance() {
                Action::Read { target: Some(target), label, source } => {
                    for (from, value) in self.sources(way, target, label) {
                        let mut next = way.clone();
                        let unwritten = from.is_unwritten(self.graph);
                        let step = self.step(label, source, target, value, Some(from));
                        next.steps
                            .push(IterationStep { misses: unwritten && !next.process.carries_unwritten(), ..step });
                        next.process.answer_read(Some(value), unwritten);
                        open.push(next);
                    }
                    return;
                }
                Action::Update { target: Some(target), change, read, write, source } => {
                    for (from, value) in self.sources(way, target, read) {
                        let Some(writes) = idle(change, value, write) else { continue };
                        let mut next = way.clone();
                        let read = change.read_label(read, Some(value));
                        next.steps.push(self.step(read, source, target, value, Some(from)));
                        if writes {
                            next.steps.push(self.step(write, source, target, value, None));
                        }
                        next.process.answer(Some(value));
                        open.push(next);
                    }
                    return;
                }
                Action::Fence { label, source } => {
                    let nowhere = IterationStep {
                        label,
                        source,
                        cell: None,
                        location: None,
                        value: None,
                        from: None,
                        misses: false,
                    };
                    way.steps.push(nowhere);
                }
                Action::Fault { fault, source } => way.faults.push(Fault { thread: self.thread, fault, source }),
                Action::LoopHead { label } => {
                    way.inner.retain(|(open, ..)| *open != label);
                    way.inner.push((label, way.process.clone(), false));
                }
                Action::BackEdge { label, source, .. } if label == self.label => {
                    self.jump = Some(source);
                    if way.process.repeats(self.head) {
                        self.ends.push(way.clone());
                    }
                    return;
                }
                Action::BackEdge { label, .. } => {
                    let Some(at) = way.inner.iter().position(|(open, ..)| *open == label) else { return };
                    way.inner.truncate(at + 1);
                    way.turns += 1;
                    let (_, head, failed) = &mut way.inner[at];
                    // Repeating the same adds nothing; and an inner loop may go on for ever.
                    if (way.process.repeats(head) && std::mem::replace(failed, true))
                        || way.turns > self.setup.loop_bound
                    {
                        return;
                    }
                    *head = way.process.clone();
                }
                // The iteration has effects that others see, waits for others, or does not return: the search builds
                // it.
                Action::Read { target: None, .. }
                | Action::Update { target: None, .. }
                | Action::Write { .. }
                | Action::Barrier { .. }
                | Action::Exchange { .. }
                | Action::NeedsValue
                | Action::Halt
                | Action::Done => return,
            }
        }
    }

    fn step(
        &self,
        label: Label,
        source: u32,
        target: AccessTarget,
        value: u64,
        from: Option<ReadFrom>,
    ) -> IterationStep {
        let location = self.state.cells.get(&target.address).map(|cell| cell.location);
        let misses = from.is_some_and(|from| from.is_unwritten(self.graph));
        let cell = Some((target.address, target.reference));
        IterationStep { label, source, cell, location, value: Some(value), from, misses }
    }

    /// The sources of a read of the iteration, each with its value.
    fn sources(&self, way: &Way<'w>, target: AccessTarget, label: Label) -> Vec<(ReadFrom, u64)> {
        let here = |step: &IterationStep| {
            step.label.kind == Kind::Write && step.cell.is_some_and(|(address, _)| address == target.address)
        };
        let own = way.steps.iter().rposition(here);
        let own = own.and_then(|number| Some((ReadFrom::Own(number), way.steps[number].value?)));
        let Some(cell) = self.state.cells.get(&target.address) else {
            let initial = self.setup.memory.initial(target.address);
            let first = (ReadFrom::Untouched { unwritten: initial.unwritten }, initial.value);
            return own.into_iter().chain([first]).collect();
        };
        let writes = &self.state.writes[cell.location];
        let there = |&write: &EventId| Some((ReadFrom::Event(write), self.graph.event(write).value?));
        own.into_iter()
            .chain(
                writes
                    .iter()
                    .filter(|&&write| !self.is_hidden(write, writes) && !self.is_past(write, label, way))
                    .filter_map(there),
            )
            .collect()
    }

    /// Whether an access of the iteration has already found a later write of the cell. Reads of one cell do not go back
    /// where they and the write that the first one found are atomic for all threads (PTX ISA 8.8, 8.10.6
    /// "SC-per-Location"); of others nothing is claimed.
    fn is_past(&self, write: EventId, label: Label, way: &Way<'w>) -> bool {
        let reaches_all = |label: Label| label.atomic && label.level >= Level::Device;
        let found = |step: &IterationStep| match step.from {
            Some(ReadFrom::Event(found)) => {
                reaches_all(step.label)
                    && reaches_all(self.graph.event(found).label)
                    && self.analysis.coherence.has(write, found)
            }
            Some(ReadFrom::Own(_) | ReadFrom::Untouched { .. }) | None => false,
        };
        !self.setup.model.has_classes() && reaches_all(label) && way.steps.iter().any(found)
    }

    /// Whether a write has been overwritten by one that has come to the thread before the iteration. What has come to a
    /// thread of Vulkan's model, availability and visibility decide.
    fn is_hidden(&self, write: EventId, writes: &[EventId]) -> bool {
        let Some(behind) = self.behind.filter(|_| !self.setup.model.has_classes()) else { return false };
        let has_come = |other: EventId| other == behind || self.analysis.happens_before.has(other, behind);
        writes.iter().any(|&other| has_come(other) && self.analysis.coherence.has(write, other))
    }
}

/// Whether an update that finds this value writes it back; `None` where it changes something.
fn idle(change: Change, found: u64, write: Label) -> Option<bool> {
    match change.written(Some(found)) {
        Written::Nothing => Some(false),
        Written::Value(value) if value == found && write.atomic => Some(true),
        Written::Value(_) | Written::Unknown => None,
    }
}
