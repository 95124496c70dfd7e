//! Iterations of waiting loops that fail.
//!
//! The search leaves an iteration out that brings its thread back to the same state and writes nothing new: whatever
//! follows could have followed without it. What it did itself is lost by that: its reads and idle updates may race, its
//! assertions may fail and its indices be out of bounds. So each execution that was built is visited again with such
//! iterations put back.
//!
//! One for each side of a race is enough, and one for a fault. Take an execution with any number of them, in which two
//! accesses race or one thread faults. All other such iterations can go: nothing depends on their reads, and what reads
//! what an idle update writes back can read the same value from where the update had it. With fewer events there is
//! less synchronization, so the two accesses are as unordered as before, and each read of the iterations that stay reads
//! what it read. What is left is an execution of the search with one iteration more in at most two threads. Within such an
//! iteration the same holds of the loops inside it: each need fail but once.

use std::ops::ControlFlow;

use wattle_memory::{Analysis, EventId, Graph, Kind, Label, LocationId, Model, ThreadId};

use super::execution::{execution, ordered};
use super::process::{Action, Address, Change, Target, Written};
use super::searcher::Search;
use super::state::{Fault, State};
use super::{Setup, Thread};

/// The maximum number of ways of failing that are searched, for each time that a loop begins anew.
const MOST: usize = 4096;

/// An event of an iteration, before it is put into a graph.
#[derive(Clone)]
struct Step {
    label: Label,
    source: u32,
    /// The cell of an access, by location where an execution has the cell.
    address: Option<Address>,
    place: Option<(LocationId, u32)>,
    value: Option<u64>,
    from: Option<From>,
}

/// The source of a read in an iteration.
#[derive(Clone, Copy)]
enum From {
    /// A write of the execution.
    Event(EventId),
    /// The write of an idle update of the same iteration, by its number there.
    Own(usize),
    /// The value of a cell that no thread of the execution touches.
    Untouched { unwritten: bool },
}

/// An iteration that fails.
struct Iteration {
    thread: ThreadId,
    /// The execution's event before which it stands.
    before: EventId,
    /// Whether that event is the thread's own.
    followed: bool,
    steps: Vec<Step>,
    faults: Vec<Fault>,
}

/// Visits an execution again with failing iterations put back; or, where not all of it has happened, a graph that shows
/// something only if a search that assumes nothing finds it too.
pub(super) fn failed_iterations(
    search: &mut Search<'_, '_>,
    state: &State<'_>,
    graph: &Graph,
    analysis: &Analysis,
    has_happened: bool,
) -> ControlFlow<()> {
    if !search.setup.failed_iterations {
        return ControlFlow::Continue(());
    }
    let mut found = Vec::new();
    for thread in 0..state.runners.len() {
        search.statistics.cut += u64::from(!of_thread(search.setup, state, graph, thread, &mut found));
    }
    for (number, first) in found.iter().enumerate() {
        if search.is_stopped() {
            return ControlFlow::Break(());
        }
        let one = with(graph, analysis, search.setup.model, &[first]);
        if !first.faults.is_empty() || may_race(search.setup.model, &one) || reads_unwritten(&one) {
            tell(search, state, one, &first.faults, has_happened)?;
        }
        let writes = |iteration: &Iteration| iteration.steps.iter().any(|step| step.label.kind == Kind::Write);
        for second in &found[number + 1..] {
            if second.thread != first.thread && (writes(first) || writes(second)) {
                let both = with(graph, analysis, search.setup.model, &[first, second]);
                if may_race_between(search.setup.model, &both) {
                    tell(search, state, both, &[], has_happened)?;
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// The failing iterations of one thread; returns whether all were found.
fn of_thread(
    setup: &Setup<'_>,
    state: &State<'_>,
    graph: &Graph,
    thread: ThreadId,
    found: &mut Vec<Iteration>,
) -> bool {
    let own = |&event: &EventId| {
        let event = graph.event(event);
        // The system's mark at a thread's beginning is not one of its actions.
        event.thread == Some(thread) && event.source != u32::MAX
    };
    let events: Vec<EventId> = (0..graph.len()).filter(own).collect();
    let mut process = setup.threads[thread].process.clone();
    let (mut at, mut all) = (0, true);
    loop {
        match process.advance() {
            Action::LoopHead { label } | Action::BackEdge { label, .. } => {
                let next = events.get(at).copied();
                let (before, followed) = (next.unwrap_or(graph.len()), next.is_some());
                let start = Way::new(&process);
                let mut ways = Ways { setup, state, graph, thread, head: &process, label, ends: Vec::new(), tried: 0 };
                all &= ways.explore(start);
                found.extend(ways.ends.into_iter().map(|way| Iteration {
                    thread,
                    before,
                    followed,
                    steps: way.steps,
                    faults: way.faults,
                }));
            }
            Action::Read { .. } => {
                let Some(value) = events.get(at).and_then(|&event| graph.event(event).value) else { return all };
                process.answer(Some(value));
                at += 1;
            }
            Action::Update { .. } => {
                let Some(value) = events.get(at).and_then(|&event| graph.event(event).value) else { return all };
                process.answer(Some(value));
                at += 2;
            }
            Action::Exchange { .. } => {
                let Some(value) = events.get(at).and_then(|&event| graph.event(event).value) else { return all };
                process.answer(Some(value));
                at += 1;
            }
            Action::Write { .. } | Action::Fence { .. } | Action::Barrier { .. } => {
                at += 1;
                if at > events.len() {
                    return all;
                }
            }
            Action::Fault { .. } => {}
            Action::NeedsValue | Action::Halt | Action::Done => return all,
        }
    }
}

/// A part of an iteration.
#[derive(Clone)]
struct Way<'w> {
    process: Thread<'w>,
    steps: Vec<Step>,
    faults: Vec<Fault>,
    /// The loops inside that are open: the process at their heads, and whether an iteration of theirs has failed.
    inner: Vec<(u32, Thread<'w>, bool)>,
    turns: u32,
}

impl<'w> Way<'w> {
    fn new(process: &Thread<'w>) -> Self {
        Way { process: process.clone(), steps: Vec::new(), faults: Vec::new(), inner: Vec::new(), turns: 0 }
    }
}

/// All ways in which an iteration of one loop can fail.
struct Ways<'a, 'w> {
    setup: &'a Setup<'w>,
    state: &'a State<'w>,
    graph: &'a Graph,
    thread: ThreadId,
    head: &'a Thread<'w>,
    label: u32,
    ends: Vec<Way<'w>>,
    tried: usize,
}

impl<'w> Ways<'_, 'w> {
    /// Explores every way from a start; returns whether they were within the limit.
    fn explore(&mut self, start: Way<'w>) -> bool {
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
                    for (from, value) in self.sources(way, target) {
                        let mut next = way.clone();
                        next.steps.push(self.step(label, source, target, value, Some(from)));
                        next.process.answer(Some(value));
                        open.push(next);
                    }
                    return;
                }
                Action::Update { target: Some(target), change, read, write, source } => {
                    for (from, value) in self.sources(way, target) {
                        let Some(writes) = idle(change, value, write) else { continue };
                        let mut next = way.clone();
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
                    way.steps.push(Step { label, source, address: None, place: None, value: None, from: None });
                }
                Action::Fault { fault, source } => way.faults.push(Fault { thread: self.thread, fault, source }),
                Action::LoopHead { label } => {
                    way.inner.retain(|(open, ..)| *open != label);
                    way.inner.push((label, way.process.clone(), false));
                }
                Action::BackEdge { label, .. } if label == self.label => {
                    if way.process == *self.head {
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
                    if (*head == way.process && std::mem::replace(failed, true)) || way.turns > self.setup.loop_bound {
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

    fn step(&self, label: Label, source: u32, target: Target, value: u64, from: Option<From>) -> Step {
        let place = self.state.cells.get(&target.address).map(|cell| (cell.location, target.reference));
        Step { label, source, address: Some(target.address), place, value: Some(value), from }
    }

    /// The sources of a read of the iteration, each with its value.
    fn sources(&self, way: &Way<'w>, target: Target) -> Vec<(From, u64)> {
        let Some(cell) = self.state.cells.get(&target.address) else {
            let initial = self.setup.memory.initial(target.address);
            return vec![(From::Untouched { unwritten: initial.unwritten }, initial.value)];
        };
        let here =
            |step: &Step| step.label.kind == Kind::Write && step.place.is_some_and(|(at, _)| at == cell.location);
        let own = way.steps.iter().rposition(here);
        let own = own.and_then(|number| Some((From::Own(number), way.steps[number].value?)));
        let there = |&write: &EventId| Some((From::Event(write), self.graph.event(write).value?));
        own.into_iter().chain(self.state.writes[cell.location].iter().filter_map(there)).collect()
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

/// An execution with iterations in it, and which of its events are theirs.
struct Grown {
    graph: Graph,
    parts: Vec<Vec<EventId>>,
    /// The cells that no other thread touches.
    cells: Vec<(Address, LocationId)>,
}

/// Puts iterations into an execution.
fn with(graph: &Graph, analysis: &Analysis, model: Model, iterations: &[&Iteration]) -> Grown {
    let mut grown = Grown { graph: graph.clone(), parts: Vec::new(), cells: Vec::new() };
    // Insertion goes from the last place to the first, so that the remaining places stay valid.
    let mut order: Vec<&Iteration> = iterations.to_vec();
    order.sort_by_key(|iteration| std::cmp::Reverse(iteration.before));
    let mut inserted: Vec<(EventId, usize)> = Vec::new();
    for iteration in &order {
        let count = iteration.steps.len();
        grown.graph.insert(iteration.before, iteration.thread, count);
        inserted.push((iteration.before, count));
    }
    let moved = |event: EventId| {
        event + inserted.iter().filter(|(before, _)| event >= *before).map(|(_, count)| count).sum::<usize>()
    };
    for (number, iteration) in order.iter().enumerate() {
        // The iterations after it in the list were inserted before its place.
        let first = iteration.before + order[number + 1..].iter().map(|earlier| earlier.steps.len()).sum::<usize>();
        let graph = &mut grown.graph;
        for (at, step) in iteration.steps.iter().enumerate() {
            let event = first + at;
            graph.replace(event, step.label, step.source);
            if let Some((location, reference)) = step.place {
                graph.set_location(event, location, reference);
            }
            if let Some(value) = step.value {
                graph.set_value(event, value);
            }
            match step.from {
                Some(From::Event(write)) => graph.set_source(event, moved(write)),
                Some(From::Own(write)) => graph.set_source(event, first + write),
                Some(From::Untouched { unwritten }) => {
                    let location = graph.add_location(step.value.unwrap_or(0), unwritten);
                    graph.set_location(event, location, location as u32);
                    graph.set_source(event, graph.initial(location));
                    grown.cells.extend(step.address.map(|address| (address, location)));
                }
                None => {}
            }
            if step.label.kind == Kind::Write {
                graph.join_halves(event - 1, event);
            }
        }
        grown.parts.push((first..first + iteration.steps.len()).collect());
    }
    // Whatever read what an idle update found now reads what the update writes back, where it must: a later update, and
    // everything after it.
    for (iteration, part) in order.iter().zip(&grown.parts) {
        for (step, &event) in iteration.steps.iter().zip(part) {
            let Some(write) = grown.graph.other_half(event).filter(|_| step.label.kind == Kind::Read) else { continue };
            let Some(From::Event(found)) = step.from else { continue };
            for read in (0..graph.len()).filter(|&read| graph.source(read) == Some(found)) {
                let next = iteration.before;
                let after = iteration.followed && (read == next || analysis.causality.has(next, read));
                let behind = || {
                    let half = graph.other_half(read).filter(|&half| graph.event(half).location.is_some());
                    half.is_some_and(|half| model.orders_writes(&grown.graph, write, moved(half)))
                };
                if after || behind() {
                    grown.graph.set_source(moved(read), write);
                }
            }
        }
    }
    grown
}

/// Whether an access of an iteration conflicts with another thread's, and neither is atomic enough.
fn may_race(model: Model, grown: &Grown) -> bool {
    let graph = &grown.graph;
    grown.parts.iter().flatten().any(|&own| (0..graph.len()).any(|other| model.may_race(graph, own, other)))
}

/// Whether an iteration reads memory that has never been written.
fn reads_unwritten(grown: &Grown) -> bool {
    let graph = &grown.graph;
    let unwritten = |&event: &EventId| graph.source(event).is_some_and(|source| graph.event(source).unwritten);
    grown.parts.iter().flatten().any(unwritten)
}

/// The same check between two iterations.
fn may_race_between(model: Model, grown: &Grown) -> bool {
    let [first, second] = &grown.parts[..] else { return false };
    first.iter().any(|&own| second.iter().any(|&other| model.may_race(&grown.graph, own, other)))
}

/// Passes the combined graph to the visitor, if it is an execution.
fn tell(
    search: &mut Search<'_, '_>,
    state: &State<'_>,
    grown: Grown,
    faults: &[Fault],
    has_happened: bool,
) -> ControlFlow<()> {
    let Grown { graph, cells, .. } = grown;
    let analysed = search.setup.model.analyse(&graph).ok();
    let found = analysed.and_then(|analysis| ordered(search, graph, analysis));
    let Some((graph, analysis)) = found else { return ControlFlow::Continue(()) };
    let mut execution = execution(state, &graph, &analysis, &[], Vec::new());
    execution.faults.extend(faults);
    execution.cells.extend(&cells);
    match has_happened {
        true => search.visitor().failed_iteration(&execution),
        false => search.visitor().waits_in_vain(&execution, false),
    }
}
