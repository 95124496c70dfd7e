//! Why nothing orders two accesses, although a value passes between their threads or these meet at a barrier.

use wattle_check::story::{acquires, releases};
use wattle_memory::{Classes, EventId, Graph, Kind, Model, Term};

/// The reason in words, and the term of the model's specification on which it rests, if on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The reason as a sentence.
    pub sentence: String,
    /// The term of the specification on which it rests, if on one.
    pub term: Option<Term>,
}

/// Why two accesses that race are not ordered, where the later one's thread has read what the earlier one's has written
/// in between, or where both are atomic; `at` gives an event's place in the source.
pub(crate) fn reason(
    model: Model,
    graph: &Graph,
    (a, b): (EventId, EventId),
    at: impl Fn(EventId) -> String,
) -> Option<Reason> {
    let of_vulkan = |(from, to)| private(graph, from, to, &at).or_else(|| around_barrier(graph, from, to, &at));
    let ways = [(a, b), (b, a)];
    if let Some(reason) = ways.into_iter().filter(|_| model.has_classes()).find_map(of_vulkan) {
        return Some(reason);
    }
    // The passing of a value between them explains more than their own scopes.
    let apart = || {
        let are_atomic = [a, b].into_iter().all(|event| graph.event(event).label.atomic);
        let sentence = "both are atomic, and their scopes do not include each other's thread".to_owned();
        (are_atomic && !graph.in_scope(a, b)).then_some(Reason { sentence, term: Some(Term::InScope) })
    };
    ways.into_iter().find_map(|(from, to)| passed(graph, from, to, &at)).or_else(apart)
}

fn passed(graph: &Graph, from: EventId, to: EventId, at: &impl Fn(EventId) -> String) -> Option<Reason> {
    let (write, read) = link(graph, from, to)?;
    let (releases, acquires) = (releases(graph, from, write), acquires(graph, read, to));
    let say = |sentence: String, term: Term| Some(Reason { sentence, term: Some(term) });
    if releases.is_empty() {
        let sentence = format!(
            "nothing releases: the write at {} is relaxed, and no fence that releases stands between {} and it",
            at(write),
            at(from)
        );
        return say(sentence, Term::Release);
    }
    if graph.event(read).label.reduces {
        let sentence = format!(
            "nothing acquires: the reduction at {} gives its thread no value, so no fence behind it acquires",
            at(read)
        );
        return say(sentence, Term::Acquire);
    }
    if acquires.is_empty() {
        let sentence = format!(
            "nothing acquires: the read at {} is relaxed, and no fence that acquires stands between it and {}",
            at(read),
            at(to)
        );
        return say(sentence, Term::Acquire);
    }
    let pairs = || releases.iter().flat_map(|&release| acquires.iter().map(move |&acquire| (release, acquire)));
    let met = pairs().any(|(release, acquire)| graph.in_scope(release, acquire));
    let (one, other) = if met { Some((write, read)).filter(|_| !graph.in_scope(write, read)) } else { pairs().last() }?;
    say(format!("the scopes of {} and {} do not include each other's thread", at(one), at(other)), Term::InScope)
}

/// Why what lies between two accesses does not order them: one is private.
fn private(graph: &Graph, from: EventId, to: EventId, at: &impl Fn(EventId) -> String) -> Option<Reason> {
    let private = [from, to].into_iter().find(|&event| graph.event(event).label.private)?;
    barrier_between(graph, from, to).or_else(|| link(graph, from, to))?;
    let what = if graph.event(private).label.kind == Kind::Write { "write" } else { "read" };
    let sentence = format!(
        "the {what} at {} is a private one (in GLSL: of memory that is not declared `coherent`), which no barrier and no fence orders \
         between threads",
        at(private)
    );
    Some(Reason { sentence, term: None })
}

/// The arrival at a barrier behind an access, and the passage before another one of another thread.
fn barrier_between(graph: &Graph, from: EventId, to: EventId) -> Option<(EventId, EventId)> {
    let is_between = |&(arrival, passage): &(EventId, EventId)| {
        arrival > from && graph.same_thread(arrival, from) && passage < to && graph.same_thread(passage, to)
    };
    graph.barrier_order().pairs().find(is_between)
}

/// Why a barrier between two accesses does not order them: neither it nor a fence beside it is about their class of
/// memory.
fn around_barrier(graph: &Graph, from: EventId, to: EventId, at: &impl Fn(EventId) -> String) -> Option<Reason> {
    let (arrival, passage) = barrier_between(graph, from, to)?;
    let class = graph.event(from).label.storage;
    let is_about = |event: EventId| graph.event(event).label.semantics.includes(class);
    let orders = |thread: EventId, mut events: std::ops::RangeInclusive<EventId>, releases: bool| {
        events.any(|event| {
            let label = &graph.event(event).label;
            graph.same_thread(event, thread) && is_about(event) && if releases { label.release } else { label.acquire }
        })
    };
    let (released, acquired) = (orders(from, from..=arrival, true), orders(to, passage..=to, false));
    let missing = match (released, acquired) {
        (true, true) => return None,
        (false, false) => "before it and behind it",
        (false, true) => "before it",
        (true, false) => "behind it",
    };
    let name = |class: Classes| if class == Classes::BLOCK { "the memory of the workgroup" } else { "buffers" };
    let semantics = graph.event(passage).label.semantics;
    let about = match semantics {
        Classes::NONE => "orders no memory".to_owned(),
        Classes::BUFFER | Classes::BLOCK => format!("orders {} alone", name(semantics)),
        _ => return None,
    };
    let sentence = format!("the barrier at {} {about}, and {missing} no fence orders {}", at(passage), name(class));
    Some(Reason { sentence, term: Some(Term::Barrier) })
}

/// An atomic read before `to` and the write behind `from` whose value it has read.
fn link(graph: &Graph, from: EventId, to: EventId) -> Option<(EventId, EventId)> {
    let mut reads = (0..to).rev().filter(|&read| graph.same_thread(read, to) && graph.event(read).label.atomic);
    reads.find_map(|read| Some((written(graph, from, read)?, read)))
}

/// The write of the thread of `from`, behind it, whose value a read has read, itself or by way of read-modify-writes of
/// others.
fn written(graph: &Graph, from: EventId, read: EventId) -> Option<EventId> {
    let mut source = graph.source(read)?;
    for _ in 0..graph.len() {
        if graph.same_thread(source, from) {
            return (source > from).then_some(source);
        }
        source = graph.source(graph.other_half(source)?)?;
    }
    None
}
