//! Executions as visitors receive them: with their fences ordered, and with their final memory.

use std::collections::HashSet;

use wattle_memory::{Analysis, EventId, Graph, Kind};

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
    let fences: Vec<EventId> = (0..graph.len())
        .filter(|&event| graph.event(event).label.sc && graph.event(event).label.kind == Kind::Fence)
        .collect();
    let open = fences.iter().enumerate().find_map(|(at, &first)| {
        fences[at + 1..].iter().find_map(|&second| {
            let ordered = analysis.causality.has(first, second) || analysis.causality.has(second, first);
            (!ordered && model.fences_meet(&graph, first, second)).then_some((first, second))
        })
    });
    let Some((a, b)) = open else { return Some((graph, analysis)) };
    let both = [(a, b), (b, a)].into_iter().filter_map(|(first, second)| {
        let mut graph = graph.clone();
        graph.order_fences(first, second);
        let analysis = model.analyse(&graph).ok()?;
        order_fences(search, graph, analysis)
    });
    both.max_by_key(|(graph, analysis)| !model.races(graph, analysis).is_empty())
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
    stuck: Vec<Stuck>,
) -> Execution<'a> {
    let faults = state.runners.iter().flat_map(|runner| runner.certain_faults.iter().chain(&runner.faults).copied());
    let mut cells: Vec<_> = state.cells.iter().map(|(&address, cell)| (address, cell.location)).collect();
    cells.sort_unstable();
    Execution {
        graph,
        analysis,
        threads: state.runners.iter().map(|runner| &runner.process).collect(),
        faults: faults.collect::<HashSet<_>>().into_iter().collect(),
        stuck,
        ignored: state.ignored.clone(),
        cells,
    }
}

/// The values that a location can be left with: those of its last writes. More than one where nothing orders them.
pub fn last_values(execution_graph: &Graph, analysis: &Analysis, location: usize) -> Vec<u64> {
    let writes: Vec<EventId> = (0..execution_graph.len())
        .filter(|&event| {
            let event = execution_graph.event(event);
            event.label.kind == Kind::Write && event.location == Some(location)
        })
        .collect();
    let last = |write: &&EventId| !writes.iter().any(|&other| analysis.coherence.has(**write, other));
    let mut values: Vec<u64> =
        writes.iter().filter(last).filter_map(|&write| execution_graph.event(write).value).collect();
    values.sort_unstable();
    values.dedup();
    values
}
