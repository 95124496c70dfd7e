//! Executions as visitors receive them: with their fences ordered, and with their final memory.

use std::collections::{BTreeSet, HashSet};

use wattle_memory::{Analysis, EventId, Graph, Kind, LocationId, Model};

use super::searcher::Search;
use super::state::State;
use super::{Execution, Stuck};

/// An order of the sequentially consistent fences under which everything holds, if there is one: one with a data race
/// if some order has it, since whether accesses race depends on the order.
pub(super) fn order_fences(search: &mut Search<'_, '_>, graph: Graph, analysis: Analysis) -> Option<(Graph, Analysis)> {
    if search.is_stopped() {
        return None;
    }
    let model = search.setup.model;
    if !model.orders_fences() {
        return Some((graph, analysis));
    }
    let Some((a, b)) = unordered_fences(model, &graph, &analysis) else { return Some((graph, analysis)) };
    // More order only takes races away, so that without one at first any order will do.
    let may_race = !model.races(&graph, &analysis).is_empty();
    let mut found = None;
    for (first, second) in [(a, b), (b, a)] {
        let mut graph = graph.clone();
        graph.order_fences(first, second);
        let Ok(analysis) = model.analyse(&graph) else { continue };
        let Some(one) = order_fences(search, graph, analysis) else { continue };
        if !may_race || !model.races(&one.0, &one.1).is_empty() {
            return Some(one);
        }
        found = Some(one);
    }
    found
}

/// Two sequentially consistent fences that the model wants ordered, and that nothing has ordered yet.
fn unordered_fences(model: Model, graph: &Graph, analysis: &Analysis) -> Option<(EventId, EventId)> {
    let fences: Vec<EventId> = (0..graph.len())
        .filter(|&event| graph.event(event).label.sc && graph.event(event).label.kind == Kind::Fence)
        .collect();
    fences.iter().enumerate().find_map(|(at, &first)| {
        fences[at + 1..].iter().find_map(|&second| {
            let ordered = analysis.causality.has(first, second) || analysis.causality.has(second, first);
            (!ordered && model.fences_meet(graph, first, second)).then_some((first, second))
        })
    })
}

/// The analyses under other orders of the fences than that of `chosen`, of which each leaves other last writes. `analysis`
/// is the one without an order: where each location has one last write in it, no order changes that.
pub(super) fn other_endings(
    search: &mut Search<'_, '_>,
    graph: &Graph,
    analysis: &Analysis,
    chosen: &Analysis,
) -> Vec<Analysis> {
    let mut found = vec![(last_writes(graph, chosen), None)];
    endings(search, graph, analysis, &mut found);
    found.into_iter().filter_map(|(_, analysis)| analysis).collect()
}

/// The last writes of each location, and the analysis that shows them unless it is known already.
type Ending = (Vec<Vec<EventId>>, Option<Analysis>);

fn endings(search: &mut Search<'_, '_>, graph: &Graph, analysis: &Analysis, found: &mut Vec<Ending>) {
    let model = search.setup.model;
    if search.is_stopped() || !model.orders_fences() {
        return;
    }
    let last = last_writes(graph, analysis);
    let is_decided = last.iter().all(|writes| writes.len() == 1);
    match unordered_fences(model, graph, analysis).filter(|_| !is_decided) {
        Some((a, b)) => {
            for (first, second) in [(a, b), (b, a)] {
                let mut graph = graph.clone();
                graph.order_fences(first, second);
                if let Ok(analysis) = model.analyse(&graph) {
                    endings(search, &graph, &analysis, found);
                }
            }
        }
        None if found.iter().any(|(known, _)| *known == last) => {}
        None => {
            let exists = order_fences(search, graph.clone(), analysis.clone()).is_some();
            if exists {
                found.push((last, Some(analysis.clone())));
            }
        }
    }
}

/// The last writes of each location: several where nothing orders them.
fn last_writes(graph: &Graph, analysis: &Analysis) -> Vec<Vec<EventId>> {
    (0..graph.locations()).map(|location| last_writes_of(graph, analysis, location)).collect()
}

/// A graph with its writes and fences in an order that the model permits: one with a data race if some order has it. More
/// order only takes races away, so that without one at first any order will do.
pub(super) fn ordered(search: &mut Search<'_, '_>, graph: Graph, analysis: Analysis) -> Option<(Graph, Analysis)> {
    let model = search.setup.model;
    let write = |event: &EventId| {
        let event = graph.event(*event);
        event.label.kind == Kind::Write && event.location.is_some()
    };
    let open = (0..graph.len()).filter(write).find_map(|first| {
        (first + 1..graph.len()).filter(write).find_map(|second| {
            let ordered = analysis.coherence.has(first, second) || analysis.coherence.has(second, first);
            let one_place = graph.event(first).location == graph.event(second).location;
            (one_place && !ordered && model.orders_writes(&graph, first, second)).then_some((first, second))
        })
    });
    let Some((a, b)) = open else { return order_fences(search, graph, analysis) };
    let may_race = !model.races(&graph, &analysis).is_empty();
    let mut found = None;
    for (first, second) in [(a, b), (b, a)] {
        let mut graph = graph.clone();
        graph.order_writes(first, second);
        let Ok(analysis) = model.analyse(&graph) else { continue };
        let Some(one) = ordered(search, graph, analysis) else { continue };
        if !may_race || !model.races(&one.0, &one.1).is_empty() {
            return Some(one);
        }
        found = Some(one);
    }
    found
}

/// An execution, of a state whose writes `graph` has ordered.
pub(super) fn execution<'a>(
    state: &'a State<'_>,
    graph: &'a Graph,
    analysis: &'a Analysis,
    other_endings: &'a [Analysis],
    stuck: Vec<Stuck>,
) -> Execution<'a> {
    let faults = state.runners.iter().flat_map(|runner| runner.certain_faults.iter().chain(&runner.faults).copied());
    let mut cells: Vec<_> = state.cells.iter().map(|(&address, cell)| (address, cell.location)).collect();
    cells.sort_unstable();
    Execution {
        graph,
        analysis,
        endings: std::iter::once(analysis).chain(other_endings).collect(),
        threads: state.runners.iter().map(|runner| &runner.process).collect(),
        faults: faults.collect::<HashSet<_>>().into_iter().collect(),
        stuck,
        ignored: state.ignored.clone(),
        cells,
    }
}

impl Execution<'_> {
    /// The values with which it can leave these locations, each time in their order; `None` where there are more than
    /// `most`. Several where nothing orders the last writes of a location, or the order of the fences decides them.
    pub fn ends(&self, locations: &[LocationId], most: usize) -> Option<BTreeSet<Vec<u64>>> {
        let mut all = BTreeSet::new();
        for analysis in &self.endings {
            let mut ends = vec![Vec::with_capacity(locations.len())];
            for &location in locations {
                let values = last_values(self.graph, analysis, location);
                if ends.len().saturating_mul(values.len()) > most {
                    return None;
                }
                let with = |end: Vec<u64>| values.iter().map(move |&value| [&end[..], &[value]].concat());
                ends = ends.into_iter().flat_map(|end| with(end).collect::<Vec<_>>()).collect();
            }
            all.extend(ends);
        }
        (all.len() <= most).then_some(all)
    }
}

/// The values that a location can be left with: those of its last writes. More than one where nothing orders them.
pub fn last_values(graph: &Graph, analysis: &Analysis, location: usize) -> Vec<u64> {
    let last = last_writes_of(graph, analysis, location);
    let mut values: Vec<u64> = last.into_iter().filter_map(|write| graph.event(write).value).collect();
    values.sort_unstable();
    values.dedup();
    values
}

fn last_writes_of(graph: &Graph, analysis: &Analysis, location: usize) -> Vec<EventId> {
    let is_write = |event: &EventId| {
        let event = graph.event(*event);
        event.label.kind == Kind::Write && event.location == Some(location)
    };
    let writes: Vec<EventId> = (0..graph.len()).filter(is_write).collect();
    let is_last = |&write: &EventId| !writes.iter().any(|&other| analysis.coherence.has(write, other));
    writes.iter().copied().filter(is_last).collect()
}
