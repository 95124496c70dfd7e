//! The columns of a story: events as steps, one for each line that a thread passes.

use std::collections::BTreeSet;

use wattle_memory::{EventId, Kind, Level, ThreadId};

use super::names::Names;
use super::{Access, Column, Part, Step};

/// The selection of threads and events to show.
#[derive(Clone, Debug, Default)]
pub(super) struct Cast {
    /// The threads, left to right.
    pub threads: Vec<ThreadId>,
    /// The events that the story is about; each thread is shown up to its last such event.
    pub keep: BTreeSet<EventId>,
    /// Whether threads are shown in full.
    pub whole: bool,
    /// Whether threads that have a part in the story are left out, since they are too many.
    pub incomplete: bool,
    pub wrong: Vec<EventId>,
    pub causes: Vec<EventId>,
    /// Writes and their readers that should stand beside each other.
    pub hops: Vec<(EventId, EventId)>,
    pub synchronized: Vec<(EventId, EventId)>,
    pub coherence: Vec<(EventId, EventId)>,
    pub from_reads: Vec<(EventId, EventId)>,
    pub missing: Option<(EventId, EventId)>,
}

impl Cast {
    /// Adds a thread to the right of those already shown.
    pub fn show(&mut self, thread: Option<ThreadId>) {
        self.threads.extend(thread.filter(|thread| !self.threads.contains(thread)));
    }
}

/// The maximum number of steps of a thread that is shown completely.
const MOST_STEPS: usize = 8;
/// The maximum number of steps that are shown of a thread in an execution that is shown whole.
const WHOLE_STEPS: usize = 40;

/// Builds the columns; the rows are not assigned yet.
pub(super) fn columns(names: &Names<'_>, cast: &Cast) -> Vec<Column> {
    let column = |&thread: &ThreadId| Column {
        thread,
        name: names.thread(thread),
        kernel: names.kernel(thread),
        steps: steps(names, cast, thread),
    };
    cast.threads.iter().map(column).collect()
}

fn steps(names: &Names<'_>, cast: &Cast, thread: ThreadId) -> Vec<Step> {
    let graph = &names.witness.graph;
    let own = |&event: &EventId| graph.event(event).thread == Some(thread) && does_something(names, event);
    let last = cast.keep.iter().rev().copied().find(|event| graph.event(*event).thread == Some(thread));
    let end = if cast.whole { graph.len() } else { last.map_or(0, |last| last + 1) };
    let mut groups: Vec<Vec<EventId>> = Vec::new();
    for event in (0..end).filter(own) {
        let line = |event: EventId| names.site(event).map(|site| (site.file, site.line));
        let barrier = |event: EventId| graph.event(event).label.kind == Kind::Barrier;
        match groups.last_mut() {
            Some(group) if line(group[0]) == line(event) && !barrier(event) && !barrier(group[0]) => group.push(event),
            _ => groups.push(vec![event]),
        }
    }
    let kept = kept(names, cast, &groups);
    let (mut steps, mut skipped) = (Vec::new(), 0);
    for (group, kept) in groups.into_iter().zip(kept) {
        if kept {
            steps.push(step(names, cast, group, std::mem::take(&mut skipped)));
        } else {
            skipped += 1;
        }
    }
    steps
}

/// Whether an event is shown: not the write of a failed compare-exchange, where that writes nothing, nor a fence's
/// access of a hidden word.
fn does_something(names: &Names<'_>, event: EventId) -> bool {
    let graph = &names.witness.graph;
    let label = graph.event(event).label;
    let cancelled = label.kind == Kind::Fence && label.level == Level::Thread && !label.acquire && !label.release;
    let hidden = names.witness.address(event).is_some_and(|address| address.memory == u32::MAX);
    !cancelled && !hidden
}

/// Selects the steps to show: all if they are few; otherwise those that the story is about, others that touch the same
/// places, and the fences and barriers since the first of them.
fn kept(names: &Names<'_>, cast: &Cast, groups: &[Vec<EventId>]) -> Vec<bool> {
    if groups.len() <= MOST_STEPS || cast.whole {
        return (0..groups.len()).map(|at| at < WHOLE_STEPS).collect();
    }
    let graph = &names.witness.graph;
    let about = |group: &Vec<EventId>| group.iter().any(|event| cast.keep.contains(event));
    let first = groups.iter().position(about).unwrap_or(0);
    let orders = |&event: &EventId| matches!(graph.event(event).label.kind, Kind::Fence | Kind::Barrier);
    let near = |at: usize| at > first && groups[at].iter().any(orders);
    (0..groups.len()).map(|at| about(&groups[at]) || near(at)).collect()
}

fn step(names: &Names<'_>, cast: &Cast, events: Vec<EventId>, skipped: usize) -> Step {
    let is = |some: &[EventId]| events.iter().any(|event| some.contains(event));
    let part = match (is(&cast.wrong), is(&cast.causes)) {
        (true, _) => Part::Wrong,
        (_, true) => Part::Cause,
        _ => Part::Other,
    };
    Step {
        row: 0,
        line: names.site(events[0]).map(|site| site.line),
        text: names.text(&events),
        accesses: accesses(names, cast, &events),
        notes: Vec::new(),
        part,
        skipped,
        events,
    }
}

/// The final reads and writes of a step: of a waiting loop, those of the last iteration.
fn accesses(names: &Names<'_>, cast: &Cast, events: &[EventId]) -> Vec<Access> {
    let graph = &names.witness.graph;
    let mut accesses: Vec<(Access, EventId)> = Vec::new();
    for &event in events {
        let (kind, half) = (graph.event(event).label.kind, graph.other_half(event));
        let place = names.witness.place(event);
        let access = match (kind, half) {
            (Kind::Read, half) => {
                let source = graph.source(event);
                let unwritten = source.is_some_and(|source| graph.event(source).label.unwritten);
                let value = || if unwritten { "what nobody has written".into() } else { names.value(event) };
                // Where an excerpt begins, what a cell has need not be from before the launch.
                let is_known = |&source: &EventId| !names.witness.excerpt || graph.event(source).thread.is_some();
                let from = source.filter(|_| !unwritten && cast.keep.contains(&event)).filter(is_known);
                Access {
                    reads: graph.event(event).value.map(|_| value()),
                    // What an update of a loop that fails for ever writes is not known where it changes nothing.
                    writes: half.filter(|&write| graph.event(write).value.is_some()).map(|write| names.value(write)),
                    from: from.map(|source| origin(names, source, event)),
                    place,
                }
            }
            (Kind::Write, None) => Access { place, reads: None, writes: Some(names.value(event)), from: None },
            _ => continue,
        };
        // A later read of the same place replaces an earlier one.
        let again = |(known, at): &(Access, EventId)| {
            kind == Kind::Read && graph.event(*at).label.kind == Kind::Read && known.place == access.place
        };
        accesses.retain(|known| !again(known));
        accesses.push((access, event));
    }
    accesses.into_iter().map(|(access, _)| access).collect()
}

/// The origin of a value, in words.
fn origin(names: &Names<'_>, source: EventId, reader: EventId) -> String {
    let graph = &names.witness.graph;
    match graph.event(source).thread {
        None => "written before the launch".into(),
        Some(_) if graph.same_thread(source, reader) => format!("its own, from {}", names.at(source)),
        Some(thread) => format!("from {} of {}", names.at(source), names.thread(thread)),
    }
}
