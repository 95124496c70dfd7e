//! Paths from an access to another thread: through writes that others read, and through barriers.
//!
//! Between two accesses that race there often is such a path, and one of its hops fails: the value arrived, but nothing
//! synchronized. Of several paths the one is taken that lacks the least.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wattle_memory::{EventId, Graph, Kind};

/// The means by which one thread observes another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A read reads what was written, through these read-modify-writes of others.
    Value(Vec<EventId>),
    /// The two threads meet at a barrier.
    Barrier,
    /// The system orders them: the end of a launch and the start of another.
    System,
}

/// A step of a path from one thread to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    /// The event before the hop: the access that the path begins with, or the end of the previous hop.
    pub before: EventId,
    pub from: EventId,
    pub to: EventId,
    /// The event after the hop: the start of the next hop, or the access that the path ends with.
    pub after: EventId,
    pub by: By,
}

/// A node of the search: the event, whether the thread has released since it was reached, and whether it has acquired.
type PathNode = (EventId, bool, bool);

/// The cost of a state and its predecessor; `None` if it was not reached.
type Reached = Option<(u32, Option<(PathNode, By)>)>;

const VALUE: u32 = 10;
const WEAK_VALUE: u32 = 14;
const LACKS: u32 = 3;

/// The best path from one event to another.
pub(super) fn path(graph: &Graph, from: EventId, to: EventId) -> Option<Vec<Hop>> {
    let edges = Edges::of(graph);
    let number = |(event, released, acquired): PathNode| event * 4 + usize::from(released) * 2 + usize::from(acquired);
    let mut best: Vec<Reached> = vec![None; graph.len() * 4];
    let mut open = BinaryHeap::new();
    let start = (from, false, true);
    best[number(start)] = Some((0, None));
    open.push(Reverse((0, start)));
    let mut end = None;
    while let Some(Reverse((cost, state))) = open.pop() {
        let (event, released, acquired) = state;
        if best[number(state)].as_ref().is_some_and(|&(known, _)| known < cost) {
            continue;
        }
        if event == to && (acquired || end.is_some()) {
            end = Some(state);
            break;
        }
        let mut go = |next: PathNode, cost: u32, by: Option<By>| {
            if best[number(next)].as_ref().is_none_or(|&(known, _)| cost < known) {
                best[number(next)] = Some((cost, Some((state, by.unwrap_or(By::Value(Vec::new()))))));
                open.push(Reverse((cost, next)));
            }
        };
        if event == to {
            // Arriving without an acquire is possible at a cost.
            go((event, released, true), cost + LACKS, None);
            continue;
        }
        let lacks = if acquired { 0 } else { LACKS };
        if let Some(next) = edges.next[event] {
            let label = &graph.event(next).label;
            let fence = label.kind == Kind::Fence;
            go((next, released || fence && label.release, acquired || fence && label.acquire), cost, None);
        }
        for (read, via) in &edges.observed[event] {
            let (write, reads) = (&graph.event(event).label, &graph.event(*read).label);
            let strong = write.atomic && reads.atomic && graph.in_scope(event, *read);
            let hop = if strong { VALUE } else { WEAK_VALUE };
            let release = if released || write.release { 0 } else { LACKS };
            let cost = cost + hop + via.len() as u32 + lacks + release;
            go((*read, false, reads.acquire), cost, Some(By::Value(via.clone())));
        }
        for &passage in &edges.barriers[event] {
            go((passage, false, true), cost + 2 + lacks, Some(By::Barrier));
        }
        for &second in &edges.system[event] {
            go((second, false, true), cost + 1 + lacks, Some(By::System));
        }
    }
    let mut state = end?;
    let (mut hops, mut after) = (Vec::new(), to);
    while let Some((_, Some((earlier, by)))) = best[number(state)].clone() {
        if !graph.same_thread(earlier.0, state.0) {
            hops.push(Hop { before: earlier.0, from: earlier.0, to: state.0, after, by });
            after = earlier.0;
        }
        state = earlier;
    }
    hops.reverse();
    for at in 0..hops.len() {
        hops[at].before = if at == 0 { from } else { hops[at - 1].to };
    }
    Some(hops)
}

/// The edges from each event to others.
struct Edges {
    next: Vec<Option<EventId>>,
    observed: Vec<Vec<(EventId, Vec<EventId>)>>,
    barriers: Vec<Vec<EventId>>,
    system: Vec<Vec<EventId>>,
}

impl Edges {
    fn of(graph: &Graph) -> Edges {
        let n = graph.len();
        let mut edges = Edges {
            next: vec![None; n],
            observed: vec![Vec::new(); n],
            barriers: vec![Vec::new(); n],
            system: vec![Vec::new(); n],
        };
        let mut last = vec![None; graph.threads().len()];
        for (id, event) in graph.events().iter().enumerate() {
            let Some(thread) = event.thread else { continue };
            if let Some(last) = last[thread].replace(id) {
                edges.next[last] = Some(id);
            }
            let (mut read, mut via) = (id, Vec::new());
            while let Some(write) = graph.source(read).filter(|_| via.len() <= n) {
                if graph.event(write).thread.is_none() {
                    break;
                }
                if !graph.same_thread(write, id) {
                    edges.observed[write].push((id, via.clone()));
                }
                let Some(half) = graph.other_half(write) else { break };
                via.push(write);
                read = half;
            }
        }
        let own = |a: EventId, b: EventId| graph.same_thread(a, b);
        for (a, b) in graph.barrier_order().pairs().filter(|&(a, b)| !own(a, b)) {
            edges.barriers[a].push(b);
        }
        for (a, b) in graph.system_order().pairs().filter(|&(a, b)| !own(a, b)) {
            edges.system[a].push(b);
        }
        edges
    }
}
