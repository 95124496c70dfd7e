//! Turns an explanation into columns and edges.

use std::collections::BTreeMap;

use wattle_memory::{Clause, EventId, Kind, ThreadId};

use super::draft::Draft;
use super::names::Names;
use super::rows::{At, arrange};
use super::steps::{Cast, columns};
use super::{Column, Edge, EdgeKind, End, Initial, Story};

/// Lays a draft out: the columns of the threads that are shown, their rows, and the edges between their steps.
pub(super) fn story(names: &Names<'_>, mut draft: Draft) -> Story {
    let graph = &names.witness.graph;
    draft.cast.causes.extend(draft.reasons.culprits.iter().copied());
    draft.cast.keep.extend(draft.reasons.culprits.iter().copied().filter(|&event| event < graph.len()));
    let cast = &draft.cast;
    let mut columns = columns(names, cast);
    let at = steps_of_events(&columns);
    let place = |(a, b): (EventId, EventId)| Some((*at.get(&a)?, *at.get(&b)?));
    let barriers: Vec<_> = graph.barrier_order().pairs().filter_map(place).filter(|(a, b)| a != b).collect();
    let reads: Vec<_> = (0..graph.len()).filter_map(|read| place((graph.source(read)?, read))).collect();
    let mut beside = barriers.clone();
    beside.extend(cast.hops.iter().copied().filter_map(place));
    arrange(&mut columns, &beside, &reads);

    // Of the repeated reads of a waiting loop the last one is drawn.
    let last: BTreeMap<(At, Option<usize>), EventId> = (0..graph.len())
        .filter(|&event| graph.event(event).label.kind == Kind::Read && (cast.whole || cast.keep.contains(&event)))
        .filter_map(|read| Some(((*at.get(&read)?, graph.event(read).location), read)))
        .collect();
    let shown: Vec<EventId> = last.into_values().collect();
    let mut edges = between_steps(names, cast, &at, barriers, &shown);
    let initials = initial_values(names, &at, &shown, &mut edges);
    let files = names.files().into_iter().map(str::to_owned).collect();
    Story {
        files,
        left_out: left_out(names, &cast.threads, cast.whole || cast.incomplete),
        columns,
        edges,
        initials,
        clauses: clauses(names, &draft),
        headline: draft.headline,
        reasons: draft.reasons.sentences,
    }
}

/// The step in which each event is shown.
type StepsOfEvents = BTreeMap<EventId, At>;

fn steps_of_events(columns: &[Column]) -> StepsOfEvents {
    let mut at = StepsOfEvents::new();
    for (column, of) in columns.iter().enumerate() {
        for (step, of) in of.steps.iter().enumerate() {
            at.extend(of.events.iter().map(|&event| (event, (column, step))));
        }
    }
    at
}

/// The edges between steps, each once.
fn between_steps(
    names: &Names<'_>,
    cast: &Cast,
    at: &StepsOfEvents,
    barriers: Vec<(At, At)>,
    shown: &[EventId],
) -> Vec<Edge> {
    let graph = &names.witness.graph;
    let place = |(a, b): (EventId, EventId)| Some((*at.get(&a)?, *at.get(&b)?));
    let places = |pairs: &[(EventId, EventId)]| pairs.iter().copied().filter_map(place).collect::<Vec<_>>();
    let mut edges = Vec::new();
    let mut add = |kind: EdgeKind, (a, b): (At, At)| {
        let edge = Edge { kind, from: End::Step(a.0, a.1), to: End::Step(b.0, b.1) };
        if a != b && !edges.contains(&edge) {
            edges.push(edge);
        }
    };
    let other = |&(a, b): &(At, At)| a.0 != b.0;
    let from: Vec<_> = shown.iter().filter_map(|&read| place((graph.source(read)?, read))).collect();
    from.into_iter().filter(other).for_each(|pair| add(EdgeKind::ReadsFrom, pair));
    let through = |&&(write, read): &&(EventId, EventId)| graph.source(read) != Some(write);
    let through: Vec<_> = cast.hops.iter().filter(through).copied().collect();
    places(&through).into_iter().filter(other).for_each(|pair| add(EdgeKind::Observes, pair));
    places(&cast.synchronized).into_iter().filter(other).for_each(|pair| add(EdgeKind::Synchronizes, pair));
    barriers.into_iter().filter(|(a, b)| a.0 < b.0).for_each(|pair| add(EdgeKind::Barrier, pair));
    places(&cast.coherence).into_iter().for_each(|pair| add(EdgeKind::Coherence, pair));
    places(&cast.from_reads).into_iter().for_each(|pair| add(EdgeKind::FromReads, pair));
    cast.missing.and_then(place).into_iter().for_each(|pair| add(EdgeKind::Missing, pair));
    edges
}

/// The initial values that reads return, and adds an edge from each to the steps that read it.
fn initial_values(names: &Names<'_>, at: &StepsOfEvents, shown: &[EventId], edges: &mut Vec<Edge>) -> Vec<Initial> {
    let graph = &names.witness.graph;
    let mut initials: Vec<Initial> = Vec::new();
    // What a cell has where an excerpt begins, it need not have had before the launch.
    for &read in shown.iter().filter(|_| !names.witness.excerpt) {
        let Some(source) = graph.source(read).filter(|&source| graph.event(source).thread.is_none()) else { continue };
        let value = (!graph.event(source).label.unwritten).then(|| names.value_as(source, read));
        let initial = Initial { place: names.witness.place(read), value };
        let number = initials.iter().position(|known| *known == initial).unwrap_or(initials.len());
        if number == initials.len() {
            initials.push(initial);
        }
        if let Some(&(column, step)) = at.get(&read) {
            let edge = Edge { kind: EdgeKind::ReadsFrom, from: End::Initial(number), to: End::Step(column, step) };
            if !edges.contains(&edge) {
                edges.push(edge);
            }
        }
    }
    initials
}

/// The clauses to quote: the definitions of the terms in the reasons, then the additional ones.
fn clauses(names: &Names<'_>, draft: &Draft) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    let defined = draft.reasons.terms.iter().filter_map(|&term| names.model.definition(term));
    for clause in defined.chain(draft.clauses.iter().copied()) {
        // Two terms may have one definition.
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }
    clauses
}

/// Summarizes the threads that are not shown.
fn left_out(names: &Names<'_>, shown: &[ThreadId], have_parts: bool) -> String {
    if names.witness.excerpt {
        return "Of the launch only these accesses are shown.".into();
    }
    let graph = &names.witness.graph;
    let others = names.threads().filter(|thread| !shown.contains(thread));
    let active = |thread: &ThreadId| graph.events().iter().any(|event| event.thread == Some(*thread));
    let (busy, idle): (Vec<ThreadId>, Vec<ThreadId>) = others.partition(active);
    let named = |threads: &[ThreadId]| threads.iter().map(|&thread| names.thread(thread)).collect::<Vec<_>>();
    let mut sentences = Vec::new();
    let busy_words =
        if have_parts { ["is not shown.", "are not shown."] } else { ["has no part in it.", "have no part in it."] };
    for (threads, [one, several]) in [(busy, busy_words), (idle, ["does nothing here.", "do nothing here."])] {
        if !threads.is_empty() {
            sentences.push(format!("{} {}", listed(&named(&threads)), if threads.len() == 1 { one } else { several }));
        }
    }
    sentences.iter().map(|sentence| super::diagnose::capital(sentence)).collect::<Vec<_>>().join(" ")
}

/// Lists names as `a`, `a and b`, `a, b and c`; of many only the first ones.
pub(super) fn listed(names: &[String]) -> String {
    const MOST: usize = 4;
    if names.len() > MOST {
        return format!("{} and {} more", names[..MOST - 1].join(", "), names.len() - MOST + 1);
    }
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
