//! Why a value that passes from one thread to another orders nothing between them.

use wattle_check::story::{acquires, releases};
use wattle_memory::{EventId, Graph, Term};

/// The reason in words, and the term of the model's specification on which it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The words.
    pub sentence: String,
    /// The term.
    pub term: Term,
}

/// Why two accesses that race are not ordered, where the later one's thread has read what the earlier one's has written in
/// between, or where both are atomic; `at` gives an event's place in the source.
pub(crate) fn reason(graph: &Graph, (a, b): (EventId, EventId), at: impl Fn(EventId) -> String) -> Option<Reason> {
    // The passing of a value between them explains more than their own scopes.
    let apart = || {
        let are_atomic = [a, b].into_iter().all(|event| graph.event(event).label.atomic);
        let sentence = "both are atomic, and their scopes do not include each other's thread".to_owned();
        (are_atomic && !graph.in_scope(a, b)).then_some(Reason { sentence, term: Term::InScope })
    };
    [(a, b), (b, a)].into_iter().find_map(|(from, to)| passed(graph, from, to, &at)).or_else(apart)
}

fn passed(graph: &Graph, from: EventId, to: EventId, at: &impl Fn(EventId) -> String) -> Option<Reason> {
    let reads = (0..to).rev().filter(|&read| graph.same_thread(read, to) && graph.event(read).label.atomic);
    let (write, read) = reads.into_iter().find_map(|read| Some((written(graph, from, read)?, read)))?;
    let (releases, acquires) = (releases(graph, from, write), acquires(graph, read, to));
    let say = |sentence: String, term: Term| Some(Reason { sentence, term });
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

/// The write of the thread of `from`, behind it, whose value a read has read, itself or by way of read-modify-writes of others.
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
