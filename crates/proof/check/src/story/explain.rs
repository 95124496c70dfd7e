//! Explanations of violations.

use std::collections::BTreeSet;

use wattle_core::Error;
use wattle_memory::{EventId, Kind, Level, Model, Term};

use super::cycle::{self, Link, cycle};
use super::diagnose::{Reasons, capital, fences, hop, narrow, unfenced};
use super::draft::Draft;
use super::names::Names;
use super::path::{By, Hop, path};
use super::steps::Cast;
use super::{Story, draw, stuck};
use crate::report::{Progress, Violation, Witness};

/// The story of a violation: what went wrong, and why the model permits it.
pub(super) fn violation(violation: &Violation, model: Model, progress: Progress) -> Story {
    if let Violation::Module { story, .. } = violation {
        return (**story).clone();
    }
    let headline = || match violation {
        Violation::Assertion { error, .. } => format!("assertion: {error}"),
        Violation::Seen { seed, error } => format!("seen in a run with `--device simulated:{seed}`: {error}"),
        other => other.kind().to_owned(),
    };
    let Some(witness) = violation.witness() else { return Story { headline: headline(), ..Story::default() } };
    let names = Names::new(witness, model);
    let draft = match violation {
        Violation::Race { accesses, .. } => race(&names, *accesses),
        Violation::Assertion { error, .. } => assertion(&names, error),
        Violation::Unwritten { read, .. } => unwritten(&names, *read),
        Violation::Fault { what, .. } => fault(&names, what),
        Violation::Module { .. } | Violation::Seen { .. } => Draft::default(),
        Violation::Stuck { stuck, halted, .. } => stuck::stuck(&names, stuck, halted, progress),
    };
    draw::story(&names, draft)
}

/// The story of everything that happens in an execution.
pub(super) fn holding(witness: &Witness, model: Model) -> Story {
    let names = Names::new(witness, model);
    let mut draft = Draft::default();
    everything(&names, &mut draft.cast);
    for (from, all) in cycle::links(witness).iter().enumerate() {
        for &(_, to) in all.iter().filter(|(link, _)| *link == Link::ReadsFrom) {
            draft.cast.hops.push((from, to));
            for hops in
                path(&witness.graph, from, to).into_iter().flatten().filter(|hop| hop.from == from && hop.to == to)
            {
                // Whether a reader has acquired depends on what follows its read, up to the thread's end.
                let after = after(&names, to).last().unwrap_or(to);
                let before = first_of(&names, from);
                let long = Hop { before, after, ..hops };
                draft.cast.synchronized.extend(hop(&names, &long, &mut Reasons::default()));
            }
        }
    }
    draw::story(&names, draft)
}

fn first_of(names: &Names<'_>, event: EventId) -> EventId {
    (0..event).find(|&other| names.witness.graph.same_thread(other, event)).unwrap_or(event)
}

/// The maximum number of threads shown where all could be.
const MOST_COLUMNS: usize = 8;

/// Shows all threads that do something, in full.
pub(super) fn everything(names: &Names<'_>, cast: &mut Cast) {
    cast.whole = true;
    let mut threads: Vec<_> = names.witness.graph.events().iter().filter_map(|event| event.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    threads.into_iter().take(MOST_COLUMNS).for_each(|thread| cast.show(Some(thread)));
}

/// Shows the threads of a path, its hops, and the reasons why they fail.
fn along(names: &Names<'_>, hops: &[Hop], draft: &mut Draft) {
    let graph = &names.witness.graph;
    for one in hops {
        let cast = &mut draft.cast;
        cast.show(graph.event(one.from).thread);
        cast.show(graph.event(one.to).thread);
        cast.keep.extend([one.from, one.to]);
        if matches!(one.by, By::Value(_)) {
            cast.hops.push((one.from, one.to));
        }
        if let Some(first) = via_text(names, one) {
            draft.reasons.say(first, None);
        }
        let met = hop(names, one, &mut draft.reasons);
        if let (Some((release, acquire)), By::Value(_)) = (met, &one.by) {
            draft.cast.synchronized.push((release, acquire));
            draft.cast.keep.extend([release, acquire]);
        }
    }
}

/// Says that a value passes through other threads' read-modify-writes.
fn via_text(names: &Names<'_>, hop: &Hop) -> Option<String> {
    let By::Value(via) = &hop.by else { return None };
    let graph = &names.witness.graph;
    let mut threads: Vec<_> = via.iter().filter_map(|&write| graph.event(write).thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let threads: Vec<String> = threads.into_iter().map(|thread| names.thread(thread)).collect();
    (!threads.is_empty()).then(|| {
        let who = draw::listed(&threads);
        format!(
            "{} goes on through the read-modify-writes of {who}, which pass on what was released.",
            names.witness.place(hop.from)
        )
    })
}

fn race(names: &Names<'_>, (a, b): (EventId, EventId)) -> Draft {
    let graph = &names.witness.graph;
    let paths = [(a, b, path(graph, a, b)), (b, a, path(graph, b, a))];
    let best = paths.into_iter().filter_map(|(a, b, hops)| Some((a, b, hops?))).min_by_key(|(_, _, hops)| hops.len());
    let write = |event: EventId| graph.event(event).label.kind == Kind::Write;
    let (first, last, hops) = best.unwrap_or_else(|| if write(a) { (a, b, Vec::new()) } else { (b, a, Vec::new()) });
    let mut draft = Draft { headline: race_text(names, first, last), ..Draft::default() };
    draft.cast.show(graph.event(first).thread);
    along(names, &hops, &mut draft);
    draft.cast.show(graph.event(last).thread);
    if hops.is_empty() {
        unconnected(names, first, last, &mut draft);
    }
    draft.cast.wrong = vec![first, last];
    draft.cast.missing = Some((first, last));
    draft.cast.keep.extend([first, last]);
    draft.clauses.extend(names.model.race_clause());
    draft
}

fn race_text(names: &Names<'_>, first: EventId, last: EventId) -> String {
    let graph = &names.witness.graph;
    let does = |event: EventId| {
        let label = graph.event(event).label;
        let verb = match label.kind {
            _ if graph.other_half(event).is_some() => "updates",
            Kind::Write => "writes",
            _ => "reads",
        };
        if label.atomic { format!("atomically {verb}") } else { verb.to_owned() }
    };
    let thread =
        |event: EventId| graph.event(event).thread.map_or_else(|| "a thread".into(), |thread| names.thread(thread));
    let (one, other, place) = (does(first), does(last), names.witness.place(first));
    if names.at(first) == names.at(last) {
        let (at, a, b) = (names.at(first), thread(first), thread(last));
        return format!("data race: {at} {one} {place} in {a} and {other} it in {b}, and nothing orders the two.");
    }
    format!("data race: {} {one} {place}, {} {other} it, and nothing orders them.", names.at(first), names.at(last))
}

/// Explains two accesses between which no path leads at all.
fn unconnected(names: &Names<'_>, first: EventId, last: EventId, draft: &mut Draft) {
    let graph = &names.witness.graph;
    let reasons = &mut draft.reasons;
    let atomic = |event: EventId| graph.event(event).label.atomic;
    if atomic(first) && atomic(last) {
        return narrow(names, first, last, reasons);
    }
    let between = |first, last| after(names, first).chain(before(names, last));
    let between = || between(first, last).chain(between(last, first));
    let is_fence = |event: &EventId| graph.event(*event).label.kind == Kind::Fence;
    let orders = |event: &EventId| is_fence(event) && graph.event(*event).label.level > Level::Thread;
    // Lanes that exchange values do so at an event that orders nothing. One that was cancelled has no statement.
    let exchanges = |event: &EventId| is_fence(event) && !orders(event) && graph.event(*event).source != u32::MAX;
    let (fence, exchange) = (between().find(orders), between().find(exchanges));
    let waits = [first, last].into_iter().find(|&event| looks_again(names, event));
    match (fence, waits) {
        _ if atomic(first) || atomic(last) => {
            let (atomic, plain) = if atomic(first) { (first, last) } else { (last, first) };
            let sentence = format!(
                "The access at {} is atomic, the one at {} is not; only accesses that are both atomic may meet unordered.",
                names.at(atomic),
                names.at(plain)
            );
            reasons.culprits.push(plain);
            reasons.say(sentence, Some(Term::Atomic));
        }
        (_, Some(wait)) => {
            let sentence = format!(
                "{} waits for {} by plain reads. Plain accesses synchronize nothing, whatever fences stand around them: \
                 a flag must be atomic.",
                capital(&names.at(wait)),
                names.witness.place(wait)
            );
            reasons.culprits.push(wait);
            reasons.say(sentence, Some(Term::Acquire));
        }
        (Some(fence), None) if graph.share(first, last, Level::Block) => {
            let sentence = format!(
                "The threads are in one block, and what stands between is the fence at {}. A fence orders what its own \
                 thread does; it does not wait for the other thread. A barrier does (`sync_block`); accesses that may \
                 meet without one have to be atomic.",
                names.at(fence)
            );
            draft.cast.keep.insert(fence);
            reasons.culprits.push(fence);
            reasons.say(sentence, Some(Term::Barrier));
        }
        (None, None) if let Some(exchange) = exchange.filter(|_| graph.share(first, last, Level::Block)) => {
            let sentence = format!(
                "What stands between is the operation of the warp at {}. It hands values from lane to lane, and orders no \
                 memory. A barrier does: of the warp among its lanes (`sync`), of the block among all (`sync_block`).",
                names.at(exchange)
            );
            draft.cast.keep.insert(exchange);
            reasons.culprits.push(exchange);
            reasons.say(sentence, Some(Term::Barrier));
        }
        _ => {
            let sentence = "Neither access is atomic, no value passes from one thread to the other between them, and no \
                            barrier stands there: neither thread can know how far the other is.";
            reasons.say(sentence.into(), None);
        }
    }
}

fn after<'n>(names: &'n Names<'_>, event: EventId) -> impl Iterator<Item = EventId> + 'n {
    let graph = &names.witness.graph;
    (event + 1..graph.len()).filter(move |&other| graph.same_thread(event, other))
}

fn before<'n>(names: &'n Names<'_>, event: EventId) -> impl Iterator<Item = EventId> + 'n {
    let graph = &names.witness.graph;
    (0..event).rev().filter(move |&other| graph.same_thread(event, other))
}

/// Whether a read is one of several of its source line.
fn looks_again(names: &Names<'_>, event: EventId) -> bool {
    let graph = &names.witness.graph;
    let of = |id: EventId| (graph.event(id).location, graph.event(id).source);
    graph.event(event).label.kind == Kind::Read
        && before(names, event).chain(after(names, event)).any(|other| of(other) == of(event))
}

/// What is said of an execution that some interleaving gives.
const ORDINARY: &str = "This is an ordinary interleaving; no weak memory is needed for it.";

/// What is said of an execution that no interleaving gives, although the orders that the model knows have no cycle.
const IN_NO_ORDER: &str = "No interleaving of the steps gives this: accesses that nothing orders and that are not atomic with regard \
                           to each other need not be seen in one order.";

/// The maximum number of events of an execution for which an interleaving is looked for.
const MOST_INTERLEAVED: usize = 1000;

/// What is said of an execution without a cycle; `None` where it is too long to be looked at.
fn without_cycle(witness: &Witness) -> Option<&'static str> {
    let short = witness.graph.len() <= MOST_INTERLEAVED;
    short.then(|| if Model::Sc.analyse(&witness.graph).is_ok() { ORDINARY } else { IN_NO_ORDER })
}

fn assertion(names: &Names<'_>, error: &Error) -> Draft {
    let mut draft = Draft { headline: format!("assertion: {error}"), ..Draft::default() };
    let Some(cycle) = cycle(names.witness) else {
        let rows = "One order in which the steps can come is that of the rows.";
        match without_cycle(names.witness) {
            Some(ORDINARY) => draft.reasons.say(format!("{ORDINARY} {rows}"), None),
            Some(said) => draft.reasons.say(said.into(), None),
            None => {}
        }
        everything(names, &mut draft.cast);
        return draft;
    };
    let graph = &names.witness.graph;
    let missed: Vec<_> = cycle.iter().filter(|step| step.link == Link::FromReads).collect();
    let other = cycle.iter().any(|step| step.link == Link::Coherence);
    let places: BTreeSet<EventId> = cycle.iter().flat_map(|step| [step.from, step.to]).collect();
    for step in &missed {
        draft.reasons.say(stale_text(names, step.from, step.to), None);
        draft.cast.from_reads.push((step.from, step.to));
        draft.cast.wrong.push(step.from);
    }
    if let ([stale], false) = (&missed[..], other) {
        let (read, newer) = (stale.from, stale.to);
        if let Some(hops) = path(graph, newer, read) {
            let sentence = format!("Nothing orders {} before {}:", names.at(newer), names.at(read));
            draft.reasons.say(sentence, None);
            draft.cast.show(graph.event(newer).thread);
            along(names, &hops, &mut draft);
            draft.cast.missing = Some((newer, read));
        }
    } else if missed.is_empty() && !other {
        buffered(names, &cycle, &mut draft);
    } else {
        let segments: Vec<_> = cycle.iter().filter(|step| step.link == Link::Po).collect();
        let fence = |at: usize| {
            let step = segments[at % segments.len()];
            fences(graph, step.from, step.to, |graph, event| graph.event(event).label.sc).first().copied()
        };
        for (at, step) in segments.iter().enumerate() {
            unfenced(names, step.from, step.to, fence(at + 1), &mut draft.reasons);
        }
    }
    for step in &cycle {
        match step.link {
            Link::ReadsFrom => draft.cast.hops.push((step.from, step.to)),
            Link::Coherence => draft.cast.coherence.push((step.from, step.to)),
            Link::Po | Link::FromReads => {}
        }
    }
    let mut threads: Vec<_> = places.iter().filter_map(|&event| graph.event(event).thread).collect();
    threads.sort_unstable();
    threads.into_iter().for_each(|thread| draft.cast.show(Some(thread)));
    draft.cast.keep.extend(places);
    draft
}

/// Explains loads that see stores which come after other loads.
fn buffered(names: &Names<'_>, cycle: &[cycle::CycleStep], draft: &mut Draft) {
    let sentence = "Each thread reads what another writes only later: a store may go before an earlier load where nothing \
                    orders the two.";
    draft.reasons.say(sentence.into(), None);
    let segments: Vec<_> = cycle.iter().filter(|step| step.link == Link::Po).collect();
    for step in cycle.iter().filter(|step| step.link == Link::ReadsFrom) {
        let segment = |holds: &dyn Fn(&cycle::CycleStep) -> bool| segments.iter().find(|step| holds(step));
        let before = segment(&|segment| segment.to == step.from).map_or(step.from, |segment| segment.from);
        let after = segment(&|segment| segment.from == step.to).map_or(step.to, |segment| segment.to);
        let one = Hop { before, from: step.from, to: step.to, after, by: By::Value(Vec::new()) };
        hop(names, &one, &mut draft.reasons);
    }
}

/// Says which value a read saw, and which one it missed. An update misses nothing: it comes right behind the write that
/// it reads.
fn stale_text(names: &Names<'_>, read: EventId, newer: EventId) -> String {
    let graph = &names.witness.graph;
    if let Some(own) = graph.other_half(read) {
        return format!(
            "{} updates {} from {} to {} before {} writes {}.",
            capital(&names.at(read)),
            names.witness.place(read),
            names.value(read),
            names.value(own),
            names.at(newer),
            names.value(newer)
        );
    }
    let from = match graph.source(read) {
        Some(source) if graph.event(source).thread.is_some() => format!("from {}", names.at(source)),
        _ => "written before the launch".into(),
    };
    format!(
        "{} reads {} = {}, {from}, and misses {}, which writes {}.",
        capital(&names.at(read)),
        names.witness.place(read),
        names.value(read),
        names.at(newer),
        names.value(newer)
    )
}

fn unwritten(names: &Names<'_>, read: EventId) -> Draft {
    let graph = &names.witness.graph;
    let place = names.witness.place(read);
    let mut draft = Draft {
        headline: format!("unwritten memory: {} reads {place}, which nobody has written.", names.at(read)),
        ..Draft::default()
    };
    // What its thread writes later, and what an update writes because of what it reads, comes after it in any case.
    let is_later = |event: EventId| event > read && graph.same_thread(read, event);
    let writes = (0..graph.len()).filter(|&event| {
        let other = graph.event(event);
        let is_there = other.thread.is_some() && other.location == graph.event(read).location;
        is_there && other.label.kind == Kind::Write && !is_later(event)
    });
    let writes: Vec<EventId> = writes.collect();
    let place_is = if place.contains('[') { place.as_str() } else { "it" };
    let sentence = match writes.first() {
        Some(&write) => {
            format!("{} writes {place_is}, but nothing orders that before the read.", capital(&names.at(write)))
        }
        None => format!("{place_is} was allocated without a value, and no thread writes it in this execution."),
    };
    draft.reasons.say(sentence, None);
    draft.cast.show(graph.event(read).thread);
    for &write in writes.iter().take(1) {
        draft.cast.show(graph.event(write).thread);
        draft.cast.keep.insert(write);
    }
    draft.cast.keep.insert(read);
    draft.cast.wrong.push(read);
    draft
}

fn fault(names: &Names<'_>, what: &str) -> Draft {
    let witness = names.witness;
    let mut draft = Draft { headline: format!("fault: {what}"), ..Draft::default() };
    for fault in witness.faults.iter().take(1) {
        let of = |event: &EventId| witness.graph.event(*event).thread == Some(fault.thread);
        let last = (0..witness.graph.len()).rev().find(of);
        draft.cast.show(last.map(|_| fault.thread));
        draft.cast.keep.extend(last);
        if last.is_none() {
            let thread = names.thread(fault.thread);
            let text = match witness.excerpt {
                true => format!("What {thread} did before is not shown."),
                false => format!("{} has done nothing before.", capital(&thread)),
            };
            draft.reasons.say(text, None);
        }
    }
    // A kernel's assertion fails because of the values read: if no interleaving gives them, the cycle is the story.
    if let Some(cycle) = cycle(witness) {
        for step in cycle.iter().filter(|step| step.link == Link::FromReads) {
            draft.reasons.say(stale_text(names, step.from, step.to), None);
            draft.cast.from_reads.push((step.from, step.to));
            draft.cast.wrong.push(step.from);
            if let Some(hops) = path(&witness.graph, step.to, step.from) {
                along(names, &hops, &mut draft);
            }
        }
        for step in &cycle {
            draft.cast.show(witness.graph.event(step.from).thread);
            draft.cast.keep.extend([step.from, step.to]);
        }
    } else {
        origins(names, &mut draft.cast);
        if draft.cast.threads.len() > 1 {
            without_cycle(witness).into_iter().for_each(|said| draft.reasons.say(said.into(), None));
        }
    }
    draft
}

/// Shows where the values come from that the threads have read until the events that are kept: the writes of other
/// threads, and what led to them.
fn origins(names: &Names<'_>, cast: &mut Cast) {
    let graph = &names.witness.graph;
    let mut ends: Vec<EventId> = cast.keep.iter().copied().collect();
    while let Some(end) = ends.pop() {
        for read in before(names, end).chain([end]) {
            let Some(write) = graph.source(read).filter(|&write| !graph.same_thread(write, read)) else { continue };
            let Some(writer) = graph.event(write).thread else { continue };
            if !cast.threads.contains(&writer) && cast.threads.len() == MOST_COLUMNS {
                cast.incomplete = true;
                continue;
            }
            cast.show(Some(writer));
            cast.hops.push((write, read));
            cast.keep.insert(read);
            if cast.keep.insert(write) {
                ends.push(write);
            }
        }
    }
    cast.hops.sort_unstable();
    cast.hops.dedup();
}
