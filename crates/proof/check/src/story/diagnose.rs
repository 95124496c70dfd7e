//! Why a hop from one thread to another synchronizes nothing.

use wattle_memory::{EventId, Graph, Kind, Level, Term, ThreadId};

use super::names::{Names, order_text, scope_text};
use super::path::{By, Hop};

/// The reasons found, in words, and the terms whose definitions support them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reasons {
    pub sentences: Vec<String>,
    pub terms: Vec<Term>,
    /// The operations that are too weak.
    pub culprits: Vec<EventId>,
}

impl Reasons {
    pub fn say(&mut self, sentence: String, term: Option<Term>) {
        if !self.sentences.contains(&sentence) {
            self.sentences.push(sentence);
        }
        if let Some(term) = term.filter(|term| !self.terms.contains(term)) {
            self.terms.push(term);
        }
    }
}

/// The two ends of a hop that synchronizes.
pub(super) type Ends = (EventId, EventId);

/// The reason why a hop fails; its ends if it synchronizes.
pub(super) fn hop(names: &Names<'_>, hop: &Hop, reasons: &mut Reasons) -> Option<Ends> {
    let By::Value(via) = &hop.by else { return Some((hop.from, hop.to)) };
    let graph = &names.witness.graph;
    let place = names.witness.place(hop.from);
    let before = reasons.sentences.len();
    let mut links = vec![hop.from];
    links.extend(via.iter().rev());
    let mut reader = hop.to;
    for &write in links.iter().rev() {
        weak_link(names, write, reader, &place, reasons);
        reader = graph.other_half(write).unwrap_or(write);
    }
    if reasons.sentences.len() > before {
        return None;
    }
    let releases = releases(graph, hop.before, hop.from);
    let acquires = acquires(graph, hop.to, hop.after);
    if releases.is_empty() {
        no_release(names, hop, &place, reasons);
    }
    if acquires.is_empty() {
        no_acquire(names, hop, &place, reasons);
    }
    let pairs = || releases.iter().flat_map(|&release| acquires.iter().map(move |&acquire| (release, acquire)));
    let met = pairs().find(|&(release, acquire)| graph.in_scope(release, acquire));
    if met.is_none()
        && let Some((release, acquire)) = pairs().last()
    {
        narrow(names, release, acquire, reasons);
    }
    met
}

/// The operations with which a release pattern of a thread can begin that brings along what it did before, and that
/// ends in a write: the write itself, and the fences between.
pub fn releases(graph: &Graph, before: EventId, write: EventId) -> Vec<EventId> {
    let own = graph.event(write).label.release.then_some(write);
    own.into_iter().chain(fences(graph, before, write, |graph, event| graph.event(event).label.release)).collect()
}

/// The operations with which an acquire pattern of a thread can end that begins in a read, before what it does after:
/// the read itself, and the fences between. With that of a reduction none begins.
pub fn acquires(graph: &Graph, read: EventId, after: EventId) -> Vec<EventId> {
    if graph.event(read).label.reduces {
        return Vec::new();
    }
    let own = graph.event(read).label.acquire.then_some(read);
    own.into_iter().chain(fences(graph, read, after, |graph, event| graph.event(event).label.acquire)).collect()
}

/// The fences of a thread between two of its events.
pub(super) fn fences(graph: &Graph, first: EventId, last: EventId, holds: fn(&Graph, EventId) -> bool) -> Vec<EventId> {
    let fence = |&event: &EventId| {
        let label = &graph.event(event).label;
        graph.same_thread(event, first)
            && label.kind == Kind::Fence
            && (label.acquire || label.release)
            && holds(graph, event)
    };
    (first + 1..last).filter(fence).collect()
}

/// Explains that a write and its reader are not both atomic within each other's scope.
fn weak_link(names: &Names<'_>, write: EventId, read: EventId, place: &str, reasons: &mut Reasons) {
    let graph = &names.witness.graph;
    for (event, does) in [(write, "writes"), (read, "reads")] {
        if !graph.event(event).label.atomic {
            let sentence = format!(
                "{} {does} {place} by a plain access, and plain accesses synchronize nothing.",
                capital(&names.at(event))
            );
            reasons.culprits.push(event);
            reasons.say(sentence, Some(Term::Synchronizes));
        }
    }
    let atomic = graph.event(write).label.atomic && graph.event(read).label.atomic;
    if atomic && !graph.in_scope(write, read) {
        narrow(names, write, read, reasons);
    }
}

/// Explains that the scopes of two operations do not include each other's thread.
pub(super) fn narrow(names: &Names<'_>, a: EventId, b: EventId, reasons: &mut Reasons) {
    let graph = &names.witness.graph;
    let (Some(first), Some(second)) = (graph.event(a).thread, graph.event(b).thread) else { return };
    let level = |event: EventId| graph.event(event).label.level;
    let narrow: Vec<EventId> = [a, b].into_iter().filter(|&event| !graph.share(a, b, level(event))).collect();
    let what = |event: EventId| match graph.event(event).label.kind {
        Kind::Fence => "fence",
        Kind::Barrier => "barrier",
        _ => "atomic",
    };
    let apart = names.apart(first, second);
    let sentence = match narrow[..] {
        [one] => {
            let other = if one == a { b } else { a };
            format!(
                "The {} at {} has {} scope, and the thread of {} is outside of it ({apart}), so they do not synchronize.",
                what(one),
                names.at(one),
                scope_text(level(one)),
                names.at(other)
            )
        }
        _ if level(a) == level(b) && what(a) == what(b) => format!(
            "The {}s at {} and {} have {} scope; {}, so they do not synchronize.",
            what(a),
            names.at(a),
            names.at(b),
            scope_text(level(a)),
            threads(apart)
        ),
        _ => format!(
            "The {} at {} has {} scope and the {} at {} {} scope; {}, so they do not synchronize.",
            what(a),
            names.at(a),
            scope_text(level(a)),
            what(b),
            names.at(b),
            scope_text(level(b)),
            threads(apart)
        ),
    };
    reasons.culprits.extend(narrow);
    reasons.say(sentence, Some(Term::InScope));
}

fn threads(apart: &str) -> String {
    apart.replacen("they", "their threads", 1).replacen("one of them", "one of their threads", 1)
}

fn no_release(names: &Names<'_>, hop: &Hop, place: &str, reasons: &mut Reasons) {
    let graph = &names.witness.graph;
    let (before, write) = (names.at(hop.before), names.at(hop.from));
    let does = if graph.other_half(hop.from).is_some() { "updates" } else { "writes" };
    let between = fences(graph, hop.before, hop.from, |_, _| true);
    let late = later(graph, hop.from, |graph, event| graph.event(event).label.release);
    reasons.culprits.push(hop.from);
    let sentence = match (between.first(), late) {
        (Some(&fence), _) => format!(
            "The fence at {} does not release ({}), so {write}, which {does} {place}, does not bring along what came before it.",
            names.at(fence),
            order(graph, fence)
        ),
        (None, Some(fence)) => format!(
            "The release fence at {} comes after {write}, which {does} {place}: it brings along nothing of what {before} did.",
            names.at(fence)
        ),
        (None, None) => format!(
            "Nothing releases: {write} {does} {place} relaxed, and no release fence stands between {before} and it."
        ),
    };
    reasons.say(sentence, Some(Term::Release));
}

fn no_acquire(names: &Names<'_>, hop: &Hop, place: &str, reasons: &mut Reasons) {
    let graph = &names.witness.graph;
    let (read, after) = (names.at(hop.to), names.at(hop.after));
    let does = if graph.other_half(hop.to).is_some() { "updates" } else { "reads" };
    let between = fences(graph, hop.to, hop.after, |_, _| true);
    let early = earlier(graph, hop.to, |graph, event| graph.event(event).label.acquire);
    reasons.culprits.push(hop.to);
    let reduces = graph.event(hop.to).label.reduces;
    let sentence = match (between.first(), early) {
        _ if reduces => format!(
            "Nothing acquires: {read} is a reduction of {place}, whose thread is given no value, so no fence behind it acquires."
        ),
        (Some(&fence), _) => format!(
            "The fence at {} does not acquire ({}), so {after} need not see what {read} learned of by {place}.",
            names.at(fence),
            order(graph, fence)
        ),
        (None, Some(fence)) => format!(
            "The acquire fence at {} comes before {read}, which {does} {place}: it does not hold back {after}.",
            names.at(fence)
        ),
        (None, None) => format!(
            "Nothing acquires: {read} {does} {place} relaxed, and no acquire fence stands between it and {after}."
        ),
    };
    reasons.say(sentence, Some(Term::Acquire));
}

fn order(graph: &Graph, event: EventId) -> &'static str {
    let label = &graph.event(event).label;
    order_text(label.acquire, label.release, label.sc)
}

fn later(graph: &Graph, event: EventId, holds: fn(&Graph, EventId) -> bool) -> Option<EventId> {
    fences(graph, event, graph.len(), holds).first().copied()
}

fn earlier(graph: &Graph, event: EventId, holds: fn(&Graph, EventId) -> bool) -> Option<EventId> {
    let thread: Option<ThreadId> = graph.event(event).thread;
    (0..event).rev().find(|&fence| {
        let other = graph.event(fence);
        other.thread == thread
            && other.label.kind == Kind::Fence
            && other.label.level > Level::Thread
            && holds(graph, fence)
    })
}

/// Why a store and a later load of one thread are not ordered for others: `other` is the next thread's fence, if any.
pub(super) fn unfenced(
    names: &Names<'_>,
    first: EventId,
    last: EventId,
    other: Option<EventId>,
    reasons: &mut Reasons,
) {
    let graph = &names.witness.graph;
    let between = fences(graph, first, last, |_, _| true);
    let sequential = between.iter().copied().find(|&fence| graph.event(fence).label.sc);
    match (sequential, between.first()) {
        (Some(fence), _) => match other {
            Some(other) if !graph.in_scope(fence, other) => {
                narrow(names, fence.min(other), fence.max(other), reasons);
            }
            _ => {}
        },
        (None, Some(&fence)) => {
            let sentence = format!(
                "The fence at {} is {}: it does not order {} before {}. Only a SeqCst fence orders a store before a later load.",
                names.at(fence),
                order(graph, fence),
                names.at(first),
                names.at(last)
            );
            reasons.culprits.push(fence);
            reasons.say(sentence, Some(Term::FenceOrder));
        }
        (None, None) => {
            let sentence = format!("No fence stands between {} and {}.", names.at(first), names.at(last));
            reasons.say(sentence, Some(Term::FenceOrder));
        }
    }
}

/// The text with a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
