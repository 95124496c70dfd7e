//! Executions with failing iterations put into them.

use wattle_memory::{Analysis, EventId, Graph, Kind, LocationId, Model};

use super::super::process::Address;
use super::{Iteration, ReadFrom};

/// An execution with iterations in it, and which of its events are theirs.
pub(super) struct Grown {
    pub graph: Graph,
    parts: Vec<Vec<EventId>>,
    /// The cells that the execution does not have.
    pub cells: Vec<(Address, LocationId)>,
    /// Whether an update of the second iteration reads what one of the first writes back.
    pub chained: bool,
}

/// Puts iterations into an execution. Where atomicity orders updates of two of them that find the same write, those of
/// the first come first.
pub(super) fn with(graph: &Graph, analysis: &Analysis, model: Model, iterations: &[&Iteration]) -> Grown {
    let mut grown = Grown { graph: graph.clone(), parts: Vec::new(), cells: Vec::new(), chained: false };
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
        grown.fill(iteration, first, &moved);
    }
    for (number, iteration) in order.iter().enumerate() {
        grown.read_again(number, iteration, (graph, analysis, model), &moved);
    }
    if let [first, second] = iterations {
        let part = |of: &Iteration| order.iter().position(|iteration| std::ptr::eq(*iteration, of));
        let parts = part(first).zip(part(second)).map(|(a, b)| (grown.parts[a].clone(), grown.parts[b].clone()));
        let (before, behind) = parts.unwrap_or_default();
        grown.chained = chain(&mut grown.graph, model, &before, &behind);
    }
    grown
}

impl Grown {
    /// Gives the events from `first` on, which have been inserted for an iteration, what its steps do.
    fn fill(&mut self, iteration: &Iteration, first: EventId, moved: &impl Fn(EventId) -> EventId) {
        let graph = &mut self.graph;
        for (at, step) in iteration.steps.iter().enumerate() {
            let event = first + at;
            graph.replace(event, step.label, step.source);
            if let Some((address, reference)) = step.cell {
                let known =
                    |cells: &[(Address, LocationId)]| cells.iter().find(|cell| cell.0 == address).map(|cell| cell.1);
                let location = step.location.or_else(|| known(&self.cells)).unwrap_or_else(|| {
                    let unwritten = matches!(step.from, Some(ReadFrom::Untouched { unwritten: true }));
                    let location = graph.add_location(step.value.unwrap_or(0), unwritten);
                    self.cells.push((address, location));
                    location
                });
                graph.set_location(event, location, reference);
                if let Some(ReadFrom::Untouched { .. }) = step.from {
                    graph.set_source(event, graph.initial(location));
                }
            }
            if let Some(value) = step.value {
                graph.set_value(event, value);
            }
            match step.from {
                Some(ReadFrom::Event(write)) => graph.set_source(event, moved(write)),
                Some(ReadFrom::Own(write)) => graph.set_source(event, first + write),
                Some(ReadFrom::Untouched { .. }) | None => {}
            }
            if step.label.kind == Kind::Write {
                graph.join_halves(event - 1, event);
            }
        }
        self.parts.push((first..first + iteration.steps.len()).collect());
    }

    /// Lets whatever read what an idle update of the iteration found read what the update writes back, where it must: a
    /// later update, and everything after it. `graph` is the execution without the iterations.
    fn read_again(
        &mut self,
        number: usize,
        iteration: &Iteration,
        (graph, analysis, model): (&Graph, &Analysis, Model),
        moved: &impl Fn(EventId) -> EventId,
    ) {
        let part = &self.parts[number];
        for (step, &event) in iteration.steps.iter().zip(part) {
            let Some(write) = self.graph.other_half(event).filter(|_| step.label.kind == Kind::Read) else { continue };
            let Some(ReadFrom::Event(found)) = step.from else { continue };
            // Another update of the iteration may have come right behind it.
            let writes = |&other: &EventId| {
                let other = self.graph.event(other);
                other.label.kind == Kind::Write && other.location == self.graph.event(write).location
            };
            let write = part.iter().copied().rfind(writes).unwrap_or(write);
            for read in (0..graph.len()).filter(|&read| graph.source(read) == Some(found)) {
                let next = iteration.before;
                let own = || read >= next && graph.same_thread(next, read);
                let after = iteration.followed && (own() || analysis.causality.has(next, read));
                let behind = || {
                    let half = graph.other_half(read).filter(|&half| graph.event(half).location.is_some());
                    half.is_some_and(|half| model.orders_writes(&self.graph, write, moved(half)))
                };
                if after || behind() {
                    self.graph.set_source(moved(read), write);
                }
            }
        }
    }
}

/// Lets the updates of a part read what those of an earlier part write back, where both found the same write and
/// atomicity orders them; returns whether there are such.
fn chain(graph: &mut Graph, model: Model, before: &[EventId], behind: &[EventId]) -> bool {
    let mut chained = false;
    for &read in behind {
        let Some(write) = graph.other_half(read).filter(|_| graph.event(read).label.kind == Kind::Read) else {
            continue;
        };
        let found = graph.source(read);
        let same = |other: &EventId| {
            let half = graph.other_half(*other).filter(|_| graph.event(*other).label.kind == Kind::Read);
            graph.source(*other) == found && half.is_some_and(|half| model.orders_writes(graph, half, write))
        };
        if !before.iter().any(same) {
            continue;
        }
        let place = graph.event(read).location;
        let last =
            |&&event: &&EventId| graph.event(event).label.kind == Kind::Write && graph.event(event).location == place;
        if let Some(&last) = before.iter().rev().find(last) {
            graph.set_source(read, last);
            chained = true;
        }
    }
    chained
}
