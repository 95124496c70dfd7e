//! Why an execution is no interleaving: a cycle of program order and communication.
//!
//! An execution is sequentially consistent if and only if (po ∪ rf ∪ co ∪ fr) has no cycle (Shasha, Snir, "Efficient
//! and correct execution of parallel programs that share memory", TOPLAS 1988). The shortest cycle is what a story of
//! weak memory has to show.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wattle_memory::{EventId, Kind};

use crate::report::Witness;

/// The kind of edge from one event of a cycle to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Link {
    Po,
    ReadsFrom,
    Coherence,
    FromReads,
}

impl Link {
    fn cost(self) -> u32 {
        match self {
            Link::Po => 1,
            Link::ReadsFrom => 3,
            Link::Coherence => 5,
            Link::FromReads => 6,
        }
    }
}

/// A link of a cycle, with the events that it connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CycleStep {
    pub from: EventId,
    pub link: Link,
    pub to: EventId,
}

/// The maximum number of events of an execution that is searched for cycles.
const MOST_EVENTS: usize = 4000;

/// The links between threads, and from each event to the next of its thread.
pub(super) fn links(witness: &Witness) -> Vec<Vec<(Link, EventId)>> {
    let (graph, co) = (&witness.graph, &witness.analysis.coherence);
    let mut links = vec![Vec::new(); graph.len()];
    let mut last = vec![None; graph.threads().len()];
    for (id, event) in graph.events().iter().enumerate() {
        let Some(thread) = event.thread else { continue };
        if let Some(last) = last[thread].replace(id) {
            let last: EventId = last;
            links[last].push((Link::Po, id));
        }
        if let (Kind::Write, true) = (event.label.kind, id < co.events()) {
            let others = co.after(id).filter(|&other| !graph.same_thread(id, other));
            links[id].extend(others.map(|other| (Link::Coherence, other)));
        }
        let Some(source) = graph.source(id) else { continue };
        if graph.event(source).thread.is_some() && !graph.same_thread(source, id) {
            links[source].push((Link::ReadsFrom, id));
        }
        if source < co.events() {
            let own = graph.other_half(id);
            let newer = co.after(source).filter(|&newer| Some(newer) != own && !graph.same_thread(newer, id));
            links[id].extend(newer.map(|newer| (Link::FromReads, newer)));
        }
    }
    links
}

/// The shortest cycle, if there is one. It begins with a from-reads link where it has any.
pub(super) fn cycle(witness: &Witness) -> Option<Vec<CycleStep>> {
    if witness.graph.len() > MOST_EVENTS {
        return None;
    }
    let links = links(witness);
    let mut best: Option<(u32, Vec<CycleStep>)> = None;
    for (from, all) in links.iter().enumerate() {
        for &(link, to) in all.iter().filter(|(link, _)| *link != Link::Po) {
            let limit = best.as_ref().map_or(u32::MAX, |&(cost, _)| cost);
            let Some((cost, mut steps)) = shortest(&links, to, from, limit.saturating_sub(link.cost())) else {
                continue;
            };
            if cost + link.cost() < limit {
                steps.insert(0, CycleStep { from, link, to });
                best = Some((cost + link.cost(), steps));
            }
        }
    }
    let mut steps = joined(best?.1);
    if let Some(first) = steps.iter().position(|step| step.link == Link::FromReads) {
        steps.rotate_left(first);
    }
    Some(steps)
}

fn shortest(links: &[Vec<(Link, EventId)>], from: EventId, to: EventId, limit: u32) -> Option<(u32, Vec<CycleStep>)> {
    let mut best: Vec<Option<(u32, Option<CycleStep>)>> = vec![None; links.len()];
    let mut open = BinaryHeap::from([Reverse((0, from))]);
    best[from] = Some((0, None));
    while let Some(Reverse((cost, event))) = open.pop() {
        if event == to || cost >= limit {
            break;
        }
        if best[event].as_ref().is_some_and(|&(known, _)| known < cost) {
            continue;
        }
        for &(link, next) in &links[event] {
            let cost = cost + link.cost();
            if best[next].as_ref().is_none_or(|&(known, _)| cost < known) {
                best[next] = Some((cost, Some(CycleStep { from: event, link, to: next })));
                open.push(Reverse((cost, next)));
            }
        }
    }
    let (cost, _) = best[to]?;
    let (mut steps, mut at) = (Vec::new(), to);
    while let Some((_, Some(step))) = best[at] {
        steps.push(step);
        at = step.from;
    }
    steps.reverse();
    Some((cost, steps))
}

/// Joins neighbouring links of program order.
fn joined(steps: Vec<CycleStep>) -> Vec<CycleStep> {
    let mut joined: Vec<CycleStep> = Vec::new();
    for step in steps {
        match joined.last_mut() {
            Some(last) if last.link == Link::Po && step.link == Link::Po => last.to = step.to,
            _ => joined.push(step),
        }
    }
    joined
}
