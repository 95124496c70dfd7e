//! Why a value that passes from one thread to another orders nothing between them.

use wattle_memory::{EventId, Graph, Kind, Level, Term};

/// The reason in words, and the term of the model's specification on which it rests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The words.
    pub sentence: String,
    /// The term.
    pub term: Term,
}

/// Why two accesses that race are not ordered, where the later one's thread has read what the earlier one's has written in
/// between; `at` gives an event's place in the source.
pub(crate) fn reason(graph: &Graph, (a, b): (EventId, EventId), at: impl Fn(EventId) -> String) -> Option<Reason> {
    [(a, b), (b, a)].into_iter().find_map(|(from, to)| passed(graph, from, to, &at))
}

fn passed(graph: &Graph, from: EventId, to: EventId, at: &impl Fn(EventId) -> String) -> Option<Reason> {
    let reads = (0..to).rev().filter(|&read| graph.same_thread(read, to) && graph.event(read).label.atomic);
    let (write, read) = reads.into_iter().find_map(|read| Some((written(graph, from, read)?, read)))?;
    let between = |first: EventId, last: EventId, holds: fn(&wattle_memory::Label) -> bool| {
        let fence = move |&event: &EventId| {
            let label = &graph.event(event).label;
            graph.same_thread(event, first) && label.kind == Kind::Fence && label.level > Level::Thread && holds(label)
        };
        (first + 1..last).find(fence)
    };
    let release = graph.event(write).label.release.then_some(write);
    let release = release.or_else(|| between(from, write, |label| label.release));
    let acquire = graph.event(read).label.acquire.then_some(read);
    let acquire = acquire.or_else(|| between(read, to, |label| label.acquire));
    let say = |sentence: String, term: Term| Some(Reason { sentence, term });
    match (release, acquire) {
        (None, _) => {
            let sentence = format!(
                "nothing releases: the write at {} is relaxed, and no fence that releases stands between {} and it",
                at(write),
                at(from)
            );
            say(sentence, Term::Release)
        }
        (_, None) => {
            let sentence = format!(
                "nothing acquires: the read at {} is relaxed, and no fence that acquires stands between it and {}",
                at(read),
                at(to)
            );
            say(sentence, Term::Acquire)
        }
        (Some(release), Some(acquire)) => {
            let pairs = [(release, acquire), (write, read)];
            let &(one, other) = pairs.iter().find(|&&(one, other)| !graph.in_scope(one, other))?;
            let sentence = format!("the scopes of {} and {} do not include each other's thread", at(one), at(other));
            say(sentence, Term::InScope)
        }
    }
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
