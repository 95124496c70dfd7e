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
//! less synchronization, so the two accesses are as unordered as before, and each read of the iterations that stay
//! reads what it read. What is left is an execution of the search with one iteration more in at most two threads.
//! Within such an iteration the same holds of the loops inside it: each need fail but once.
//!
//! That an idle update can go needs that it comes right behind the write that it read, and that whoever reads it would
//! synchronize with that write no more than with it. Both hold where every write of the cell, and every atomic read, is
//! ordered with the update by atomicity (PTX ISA 8.10.3 binds morally strong operations alone). A cell of which some
//! execution shows another access is *mixed*, and the search begins again with the idle updates of mixed cells among
//! what has an effect: such iterations count, up to the loop bound.

mod grown;
mod ways;

use std::collections::HashMap;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use wattle_core::lock;
use wattle_memory::{Analysis, Event, EventId, Graph, Kind, Label, LocationId, Model, ThreadId};

use grown::{Grown, with};
use ways::{Way, Ways};

use super::Setup;
use super::execution::{execution, ordered};
use super::process::{Action, Address};
use super::rounds;
use super::searcher::Search;
use super::state::{Fault, SearchState};

/// The most turns of loops that a thread makes without an event.
const MOST_TURNS: u32 = 1 << 20;

/// A location, and the name that an access goes through.
type NamedLocation = (LocationId, u32);

/// An event of an iteration, before it is put into a graph.
#[derive(Clone)]
struct IterationStep {
    label: Label,
    source: u32,
    /// The cell of an access, and the name that it goes through.
    cell: Option<(Address, u32)>,
    /// The location of the cell, where the execution has it.
    location: Option<LocationId>,
    value: Option<u64>,
    from: Option<ReadFrom>,
    /// Whether the step finds unwritten memory, and that is an error.
    misses: bool,
}

/// The source of a read in an iteration.
#[derive(Clone, Copy)]
enum ReadFrom {
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
    steps: Vec<IterationStep>,
    faults: Vec<Fault>,
}

/// Visits an execution again with failing iterations put back; or, where not all of it has happened, a graph that shows
/// something only if a search that assumes nothing finds it too.
pub(super) fn failed_iterations(
    search: &mut Search<'_, '_>,
    state: &SearchState<'_>,
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
        lock(&search.shared.found_mixed).extend(mixed);
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
    added: HashMap<(ThreadId, Label, NamedLocation), (EventId, bool), rustc_hash::FxBuildHasher>,
    /// The locations of cells that the execution does not have.
    untouched: FxHashMap<Address, LocationId>,
}

impl Beside {
    fn new(model: Model, graph: &Graph) -> Beside {
        let (added, untouched) = (HashMap::default(), HashMap::default());
        Beside { model, graph: graph.clone(), len: graph.len(), added, untouched }
    }

    /// The event that stands for an access of a thread's iterations, and whether it may race with one of the execution.
    fn event(&mut self, thread: ThreadId, step: &IterationStep) -> Option<(EventId, bool)> {
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

    /// The cells of an iteration's updates that another thread writes, or reads atomically, without being ordered with
    /// the update by what happens before, nor by atomicity.
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

impl ReadFrom {
    /// Whether the read finds memory that has never been written.
    fn is_unwritten(self, graph: &Graph) -> bool {
        match self {
            ReadFrom::Event(write) => graph.event(write).label.unwritten,
            ReadFrom::Untouched { unwritten } => unwritten,
            ReadFrom::Own(_) => false,
        }
    }
}

/// The failing iterations of one thread.
///
/// # Errors
/// Not all were found: the statement of the jump back of a loop that fails in too many ways.
fn of_thread(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
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

/// Passes the combined graph to the visitor, if it is an execution.
fn visit(
    search: &mut Search<'_, '_>,
    state: &SearchState<'_>,
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
