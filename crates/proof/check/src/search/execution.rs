//! Executions as visitors receive them: with their fences ordered, and with their final memory.

use std::collections::{BTreeMap, BTreeSet};

use wattle_memory::{Analysis, EventId, Graph, Kind, LocationId, Model};

use super::searcher::Search;
use super::state::{Fault, SearchState};
use super::{Execution, Stuck};

/// What a model wants ordered, and nothing has ordered yet.
enum Open {
    Writes(EventId, EventId),
    Fences(EventId, EventId),
}

impl Open {
    /// The graph with one order, and with the other one.
    fn both(self, graph: &Graph) -> [Graph; 2] {
        let with = |order: &dyn Fn(&mut Graph)| {
            let mut graph = graph.clone();
            order(&mut graph);
            graph
        };
        match self {
            Open::Writes(a, b) => [with(&|graph| graph.order_writes(a, b)), with(&|graph| graph.order_writes(b, a))],
            Open::Fences(a, b) => [with(&|graph| graph.order_fences(a, b)), with(&|graph| graph.order_fences(b, a))],
        }
    }
}

/// The pairs of a list, those that are nearest to one another first: an order of neighbours orders all.
pub(super) fn near_first<T: Copy>(all: &[T]) -> impl Iterator<Item = (T, T)> {
    (1..all.len()).flat_map(move |distance| all.iter().copied().zip(all[distance..].iter().copied()))
}

/// An order of the sequentially consistent fences under which everything holds, if there is one: one with a data race
/// if some order has it, since whether accesses race depends on the order.
pub(super) fn order_fences(search: &mut Search<'_, '_>, graph: Graph, analysis: Analysis) -> Option<(Graph, Analysis)> {
    if !search.setup.model.orders_fences() {
        return Some((graph, analysis)).filter(|_| !search.is_stopped());
    }
    in_some_order(search, graph, analysis, unordered_fences)
}

/// A graph in which everything is ordered that `open` finds, if the model permits one: one with a data race if some
/// order has it. More order only takes races away, so that without one at first any order will do.
fn in_some_order(
    search: &mut Search<'_, '_>,
    graph: Graph,
    analysis: Analysis,
    open: impl Fn(Model, &Graph, &Analysis) -> Option<Open>,
) -> Option<(Graph, Analysis)> {
    let model = search.setup.model;
    let may_race = open(model, &graph, &analysis).is_some() && search.setup.has_races(&graph, &analysis);
    // Those whose analysis is not there yet have one order more than an earlier one.
    let (mut left, mut found) = (vec![(graph, Some(analysis))], None);
    while let Some((graph, analysis)) = left.pop() {
        if search.is_stopped() {
            return None;
        }
        let Some(analysis) = analysis.or_else(|| model.analyse(&graph).ok()) else { continue };
        let races = may_race && search.setup.has_races(&graph, &analysis);
        if !races && found.is_some() {
            continue;
        }
        match open(model, &graph, &analysis) {
            Some(open) => left.extend(open.both(&graph).map(|graph| (graph, None)).into_iter().rev()),
            None if races || !may_race => return Some((graph, analysis)),
            None => found = Some((graph, analysis)),
        }
    }
    found
}

/// Two sequentially consistent fences that the model wants ordered, and that nothing has ordered yet.
fn unordered_fences(model: Model, graph: &Graph, analysis: &Analysis) -> Option<Open> {
    let fences: Vec<EventId> = (0..graph.len())
        .filter(|&event| graph.event(event).label.sc && graph.event(event).label.kind == Kind::Fence)
        .collect();
    let is_open = |&(first, second): &(EventId, EventId)| {
        let ordered = analysis.causality.has(first, second) || analysis.causality.has(second, first);
        !ordered && model.fences_meet(graph, first, second)
    };
    near_first(&fences).find(is_open).map(|(first, second)| Open::Fences(first, second))
}

/// Two writes that coherence orders under the model, and that nothing has ordered yet.
fn unordered_writes(model: Model, graph: &Graph, analysis: &Analysis) -> Option<Open> {
    let mut of_place: BTreeMap<LocationId, Vec<EventId>> = BTreeMap::new();
    for (id, event) in graph.events().iter().enumerate() {
        if let (Kind::Write, Some(location)) = (event.label.kind, event.location) {
            of_place.entry(location).or_default().push(id);
        }
    }
    of_place.values().find_map(|writes| unordered(model, graph, analysis, writes)).map(|(a, b)| Open::Writes(a, b))
}

/// Two of the writes of a place that coherence orders under the model, and that nothing has ordered yet.
pub(super) fn unordered(
    model: Model,
    graph: &Graph,
    analysis: &Analysis,
    writes: &[EventId],
) -> Option<(EventId, EventId)> {
    near_first(writes).find(|&(first, second)| {
        let ordered = analysis.coherence.has(first, second) || analysis.coherence.has(second, first);
        !ordered && model.orders_writes(graph, first, second)
    })
}

/// The analyses under other orders of the fences than that of `chosen`, of which each leaves other last writes.
/// `analysis` is the one without an order: where each location has one last write in it, no order changes that.
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
    let mut left = vec![(graph.clone(), analysis.clone())];
    while let Some((graph, analysis)) = left.pop() {
        if search.is_stopped() || !model.orders_fences() {
            return;
        }
        let last = last_writes(&graph, &analysis);
        let is_decided = last.iter().all(|writes| writes.len() == 1);
        match unordered_fences(model, &graph, &analysis).filter(|_| !is_decided) {
            Some(open) => {
                let both = open.both(&graph).into_iter().rev();
                left.extend(both.filter_map(|graph| model.analyse(&graph).ok().map(|analysis| (graph, analysis))));
            }
            None if found.iter().any(|(known, _)| *known == last) => {}
            None => {
                let exists = order_fences(search, graph, analysis.clone()).is_some();
                if exists {
                    found.push((last, Some(analysis)));
                }
            }
        }
    }
}

/// The last writes of each location: several where nothing orders them.
fn last_writes(graph: &Graph, analysis: &Analysis) -> Vec<Vec<EventId>> {
    (0..graph.locations()).map(|location| last_writes_of(graph, analysis, location)).collect()
}

/// A graph with its writes and fences in an order that the model permits: one with a data race if some order has it.
pub(super) fn ordered(search: &mut Search<'_, '_>, graph: Graph, analysis: Analysis) -> Option<(Graph, Analysis)> {
    in_some_order(search, graph, analysis, |model, graph, analysis| {
        let fences = || model.orders_fences().then(|| unordered_fences(model, graph, analysis)).flatten();
        unordered_writes(model, graph, analysis).or_else(fences)
    })
}

/// An execution, of a state whose writes `graph` has ordered.
pub(super) fn execution<'a>(
    state: &'a SearchState<'_>,
    graph: &'a Graph,
    analysis: &'a Analysis,
    other_endings: &'a [Analysis],
    stuck: Vec<Stuck>,
) -> Execution<'a> {
    let faults = state.runners.iter().flat_map(|runner| runner.certain_faults.iter().chain(&runner.faults).copied());
    let faults: BTreeSet<Fault> = faults.collect();
    let mut cells: Vec<_> = state.cells.iter().map(|(&address, cell)| (address, cell.location)).collect();
    cells.sort_unstable();
    Execution {
        graph,
        analysis,
        endings: std::iter::once(analysis).chain(other_endings).collect(),
        threads: state.runners.iter().map(|runner| &runner.process).collect(),
        faults: faults.into_iter().collect(),
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
