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
//!
//! That an idle update can go needs that it comes right behind the write that it read, and that whoever reads it would
//! synchronize with that write no more than with it. Both hold where every write of the cell, and every atomic read, is
//! ordered with the update by atomicity (PTX ISA 8.10.3 binds morally strong operations alone). A cell of which some
//! execution shows another access is *mixed*, and the search begins again with the idle updates of mixed cells among what
//! has an effect: such iterations count, up to the loop bound.

mod grown;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::PoisonError;

use rustc_hash::FxHashMap;
use wattle_memory::{Analysis, Event, EventId, Graph, Kind, Label, LocationId, Model, ThreadId};

use grown::{Grown, with};

use super::execution::{execution, ordered};
use super::process::{Action, Address, Change, Target, Written};
use super::rounds;
use super::searcher::Search;
use super::state::{Fault, State};
use super::{Setup, Thread};

/// The maximum number of ways of failing that are searched, for each time that a loop begins anew.
const MOST: usize = 4096;

/// The most turns of loops that a thread makes without an event.
const MOST_TURNS: u32 = 1 << 20;

/// A location, and the name that an access goes through.
type Place = (LocationId, u32);

/// An event of an iteration, before it is put into a graph.
#[derive(Clone)]
struct Step {
    label: Label,
    source: u32,
    /// The cell of an access, and the name that it goes through.
    cell: Option<(Address, u32)>,
    /// The location of the cell, where the execution has it.
    location: Option<LocationId>,
    value: Option<u64>,
    from: Option<From>,
    /// Whether it finds unwritten memory, and that is an error.
    misses: bool,
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
    let mut found = Vec::new();
    for thread in (0..state.runners.len()).filter(|&thread| state.runners[thread].loops) {
        if let Err(jump) = of_thread(search.setup, state, (graph, analysis), thread, &mut found) {
            search.statistics.cut += 1;
            jump.into_iter().for_each(|jump| search.visitor().at_bound(jump));
        }
    }
    let reads = found.iter().flat_map(|iteration| &iteration.steps).filter(|step| step.label.kind == Kind::Read);
    let mut reads: Vec<u32> = reads.map(|step| step.source).collect();
    reads.extend(rounds::looks(state, graph));
    reads.sort_unstable();
    reads.dedup();
    reads.retain(|&source| search.waits.insert(source));
    if !reads.is_empty() {
        let mut visitor = search.visitor();
        reads.into_iter().for_each(|source| visitor.may_wait_at(source));
    }
    let mut beside = Beside::new(search.setup.model, graph);
    let mixed: Vec<Address> = found.iter().flat_map(|iteration| beside.mixed(iteration, analysis)).collect();
    let mixed: Vec<Address> =
        mixed.into_iter().chain(rounds::mixed(search.setup.model, state, graph, analysis)).collect();
    if !mixed.is_empty() {
        search.shared.found_mixed.lock().unwrap_or_else(PoisonError::into_inner).extend(mixed);
    }
    if !search.setup.failed_iterations {
        return ControlFlow::Continue(());
    }
    for (number, first) in found.iter().enumerate() {
        if search.is_stopped() {
            return ControlFlow::Break(());
        }
        if !first.faults.is_empty() || beside.may_race(first) || first.steps.iter().any(|step| step.misses) {
            let one = with(graph, analysis, search.setup.model, &[first]);
            visit(search, state, one, &first.faults, has_happened)?;
        }
        for second in &found[number + 1..] {
            if second.thread != first.thread && beside.may_race_between(first, second) {
                for both in [[first, second], [second, first]] {
                    let both = with(graph, analysis, search.setup.model, &both);
                    let either = !both.chained;
                    visit(search, state, both, &[], has_happened)?;
                    if either {
                        break;
                    }
                }
            }
        }
    }
    ControlFlow::Continue(())
}

/// An execution with more accesses behind it, which shows what may race with iterations before they are put into it:
/// that depends on the accesses and their threads, and not on where they stand.
struct Beside {
    model: Model,
    graph: Graph,
    len: usize,
    /// The events that were added, and whether each may race with one of the execution.
    added: HashMap<(ThreadId, Label, Place), (EventId, bool), rustc_hash::FxBuildHasher>,
    /// The locations of cells that the execution does not have.
    untouched: FxHashMap<Address, LocationId>,
}

impl Beside {
    fn new(model: Model, graph: &Graph) -> Beside {
        let (added, untouched) = (HashMap::default(), HashMap::default());
        Beside { model, graph: graph.clone(), len: graph.len(), added, untouched }
    }

    /// The event that stands for an access of a thread's iterations, and whether it may race with one of the execution.
    fn event(&mut self, thread: ThreadId, step: &Step) -> Option<(EventId, bool)> {
        let Beside { model, graph, len, added, untouched } = self;
        let (address, reference) = step.cell?;
        let unknown = || *untouched.entry(address).or_insert_with(|| graph.add_location(0, false));
        let location = step.location.unwrap_or_else(unknown);
        Some(*added.entry((thread, step.label, (location, reference))).or_insert_with(|| {
            let event = graph.add(thread, step.label, step.source);
            graph.set_location(event, location, reference);
            (event, (0..*len).any(|other| model.may_race(graph, event, other)))
        }))
    }

    /// The events that stand for an iteration's accesses.
    fn events(&mut self, iteration: &Iteration) -> Vec<(EventId, bool)> {
        iteration.steps.iter().filter_map(|step| self.event(iteration.thread, step)).collect()
    }

    /// The cells of an iteration's updates that another thread writes, or reads atomically, without being ordered with the
    /// update by what happens before, nor by atomicity.
    fn mixed(&mut self, iteration: &Iteration, analysis: &Analysis) -> Vec<Address> {
        let mut cells = Vec::new();
        let own = |&event: &EventId| self.graph.event(event).thread == Some(iteration.thread);
        let earlier: Vec<EventId> = (0..iteration.before.min(self.len)).filter(own).collect();
        let is_ordered = |other: EventId| {
            earlier.iter().any(|&event| analysis.happens_before.has(other, event))
                || iteration.followed && analysis.happens_before.has(iteration.before, other)
        };
        for step in iteration.steps.iter().filter(|step| step.label.kind == Kind::Write) {
            let Some(((event, _), location)) = self.event(iteration.thread, step).zip(step.location) else { continue };
            let mixes = |other: EventId| {
                let Event { label, thread, location: at, .. } = self.graph.event(other);
                let counts = label.kind == Kind::Write || label.kind == Kind::Read && label.atomic;
                let others = thread.is_some_and(|thread| thread != iteration.thread) && *at == Some(location);
                counts && others && !is_ordered(other) && !self.model.orders_writes(&self.graph, event, other)
            };
            if (0..self.len).any(mixes) {
                cells.extend(step.cell.map(|(address, _)| address));
            }
        }
        cells
    }

    /// Whether an access of an iteration may race with one of the execution.
    fn may_race(&mut self, iteration: &Iteration) -> bool {
        self.events(iteration).into_iter().any(|(_, races)| races)
    }

    /// Whether accesses of two iterations may race.
    fn may_race_between(&mut self, first: &Iteration, second: &Iteration) -> bool {
        let writes = |iteration: &Iteration| iteration.steps.iter().any(|step| step.label.kind == Kind::Write);
        if !writes(first) && !writes(second) {
            return false;
        }
        let (first, second) = (self.events(first), self.events(second));
        let races = |&(a, _): &(EventId, bool)| second.iter().any(|&(b, _)| self.model.may_race(&self.graph, a, b));
        first.iter().any(races)
    }
}

impl From {
    /// Whether it is memory that has never been written.
    fn is_unwritten(self, graph: &Graph) -> bool {
        match self {
            From::Event(write) => graph.event(write).unwritten,
            From::Untouched { unwritten } => unwritten,
            From::Own(_) => false,
        }
    }
}

/// The failing iterations of one thread.
///
/// # Errors
/// Not all were found: the statement of the jump back of a loop that fails in too many ways.
fn of_thread(
    setup: &Setup<'_>,
    state: &State<'_>,
    (graph, analysis): (&Graph, &Analysis),
    thread: ThreadId,
    found: &mut Vec<Iteration>,
) -> Result<(), Option<u32>> {
    let own = |&event: &EventId| {
        let event = graph.event(event);
        // The system's mark at a thread's beginning is not one of its actions.
        event.thread == Some(thread) && event.source != u32::MAX
    };
    let events: Vec<EventId> = (0..graph.len()).filter(own).collect();
    let mut process = setup.threads[thread].process.clone();
    let (mut at, mut all) = (0, Ok(()));
    // Where the thread last stood at a loop, and how many turns without an event it has made since.
    let (mut stood, mut turns) = (None, 0);
    loop {
        let action = process.advance();
        match action {
            Action::LoopHead { label } | Action::BackEdge { label, .. } => {
                let here = (at, label, process.clone());
                // It goes round for ever.
                if stood.as_ref() == Some(&here) {
                    return all;
                }
                turns = if stood.is_some_and(|(before, ..)| before == at) { turns + 1 } else { 0 };
                stood = Some(here);
                if let Action::BackEdge { source, .. } = action
                    && turns > MOST_TURNS
                {
                    return Err(Some(source));
                }
                let next = events.get(at).copied();
                let (before, followed) = (next.unwrap_or(graph.len()), next.is_some());
                let start = Way::new(&process);
                let behind = at.checked_sub(1).and_then(|last| events.get(last).copied());
                let (head, ends) = (&process, Vec::new());
                let (tried, jump) = (0, None);
                let mut ways = Ways { setup, state, graph, analysis, thread, behind, head, label, ends, tried, jump };
                if !ways.explore(start) {
                    all = all.and(Err(ways.jump));
                }
                found.extend(ways.ends.into_iter().map(|way| Iteration {
                    thread,
                    before,
                    followed,
                    steps: way.steps,
                    faults: way.faults,
                }));
            }
            Action::Read { .. } => {
                let Some((&read, value)) = events.get(at).zip(events.get(at).and_then(|&read| graph.event(read).value))
                else {
                    return all;
                };
                process.answer_read(Some(value), graph.finds_unwritten(read));
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
    analysis: &'a Analysis,
    thread: ThreadId,
    /// The thread's last event before the iteration.
    behind: Option<EventId>,
    head: &'a Thread<'w>,
    label: u32,
    ends: Vec<Way<'w>>,
    tried: usize,
    /// The statement of its jump back, once it is known.
    jump: Option<u32>,
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
                        let unwritten = from.is_unwritten(self.graph);
                        let step = self.step(label, source, target, value, Some(from));
                        next.steps.push(Step { misses: unwritten && !next.process.carries_unwritten(), ..step });
                        next.process.answer_read(Some(value), unwritten);
                        open.push(next);
                    }
                    return;
                }
                Action::Update { target: Some(target), change, read, write, source } => {
                    for (from, value) in self.sources(way, target) {
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
                    let nowhere =
                        Step { label, source, cell: None, location: None, value: None, from: None, misses: false };
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

    fn step(&self, label: Label, source: u32, target: Target, value: u64, from: Option<From>) -> Step {
        let location = self.state.cells.get(&target.address).map(|cell| cell.location);
        let misses = from.is_some_and(|from| from.is_unwritten(self.graph));
        let cell = Some((target.address, target.reference));
        Step { label, source, cell, location, value: Some(value), from, misses }
    }

    /// The sources of a read of the iteration, each with its value.
    fn sources(&self, way: &Way<'w>, target: Target) -> Vec<(From, u64)> {
        let here = |step: &Step| {
            step.label.kind == Kind::Write && step.cell.is_some_and(|(address, _)| address == target.address)
        };
        let own = way.steps.iter().rposition(here);
        let own = own.and_then(|number| Some((From::Own(number), way.steps[number].value?)));
        let Some(cell) = self.state.cells.get(&target.address) else {
            let initial = self.setup.memory.initial(target.address);
            let first = (From::Untouched { unwritten: initial.unwritten }, initial.value);
            return own.into_iter().chain([first]).collect();
        };
        let writes = &self.state.writes[cell.location];
        let there = |&write: &EventId| Some((From::Event(write), self.graph.event(write).value?));
        own.into_iter()
            .chain(writes.iter().filter(|&&write| !self.is_hidden(write, writes)).filter_map(there))
            .collect()
    }

    /// Whether a write has been overwritten by one that has come to the thread before the iteration. What has come to a thread
    /// of Vulkan's model, availability and visibility decide.
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

/// Passes the combined graph to the visitor, if it is an execution.
fn visit(
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
