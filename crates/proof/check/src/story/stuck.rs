//! Explains what stuck threads wait for, and which threads would have to arrive.

use wattle_memory::{EventId, Kind, Term, ThreadId};

use super::clause::{ALIGNED, SAME_INSTANCE};
use super::diagnose::capital;
use super::draft::Draft;
use super::draw::listed;
use super::names::Names;
use crate::report::Progress;
use crate::search::{Stuck, Why};

pub(super) fn stuck(names: &Names<'_>, stuck: &[Stuck], halted: &[(usize, u64)], progress: Progress) -> Draft {
    let who: Vec<String> = stuck.iter().map(|stuck| names.thread(stuck.thread)).collect();
    let verb = if who.len() == 1 { "waits" } else { "wait" };
    let mut draft = Draft { headline: format!("stuck: {} {verb} for ever.", listed(&who)), ..Draft::default() };
    let groups = arrivals(names, stuck);
    for one in stuck {
        match &one.why {
            Why::Spins(looks) => {
                draft.cast.show(Some(one.thread));
                looks.iter().for_each(|&look| spins(names, one.thread, look, stuck, &mut draft));
            }
            Why::Barrier(_) => {
                let group = groups.iter().find(|group| group.threads.first() == Some(&one.thread));
                group.into_iter().for_each(|group| barrier(names, group, &groups, stuck, &mut draft));
            }
        }
    }
    if stuck.iter().any(|one| diverges(names, one.thread, stuck)) {
        let launches = &names.witness.world.launches;
        let warp = launches.iter().find_map(|launch| launch.lowering.target().converging_threads());
        if let Some(threads) = warp {
            draft.reasons.say(format!("These threads are of one warp: a warp has {threads} threads."), None);
        }
        draft.clauses.extend(if warp.is_some() { &[ALIGNED][..] } else { &[SAME_INSTANCE, ALIGNED] });
    }
    left_alone(names, halted, progress, &mut draft);
    draft
}

/// Whether all threads of a thread's block wait at barriers, so that these must be different ones.
fn diverges(names: &Names<'_>, thread: ThreadId, all: &[Stuck]) -> bool {
    let threads = names.witness.graph.threads();
    let waits = |other: ThreadId| all.iter().any(|stuck| stuck.thread == other && matches!(stuck.why, Why::Barrier(_)));
    (0..threads.len()).filter(|&other| threads[other].shares(&threads[thread], wattle_memory::Level::Block)).all(waits)
}

/// Explains a thread that repeats a read of a value which no thread will overwrite.
fn spins(names: &Names<'_>, thread: ThreadId, (read, source): (EventId, EventId), all: &[Stuck], draft: &mut Draft) {
    let graph = &names.witness.graph;
    // The graph may lack the event if the search has run ahead of it.
    if read >= graph.len() || source >= graph.len() {
        return;
    }
    let place = names.witness.place(read);
    let wrote = match graph.event(source).thread {
        None => "its value from before the launch".to_owned(),
        Some(_) => format!("written by {}", names.at(source)),
    };
    let who = capital(&names.thread(thread));
    let value = names.value_as(source, read);
    draft.reasons.say(format!("{who} waits at {}: {place} stays {value}, {wrote}.", names.at(read)), None);
    let writers = (0..graph.len()).filter(|&event| {
        let other = graph.event(event);
        other.location == graph.event(read).location && other.label.kind == Kind::Write && other.thread.is_some()
    });
    for writer in writers.filter(|&writer| writer != source && !graph.same_thread(writer, read)).take(2) {
        let at = graph.event(writer).thread.map(|thread| names.thread(thread)).unwrap_or_default();
        let wrote = format!("{} of {at} wrote {place} = {}", capital(&names.at(writer)), names.value(writer));
        if names.model.comes_to_see(graph, read, writer) {
            draft.reasons.say(format!("{wrote}, and it was overwritten."), None);
        } else {
            let why = "these two are not atomic with regard to each other, so the read need never find it";
            let are_atomic = [read, writer].into_iter().all(|event| graph.event(event).label.atomic);
            draft
                .reasons
                .say(format!("{wrote}, but {why}."), Some(if are_atomic { Term::InScope } else { Term::Atomic }));
        }
        draft.cast.show(graph.event(writer).thread);
        draft.cast.keep.insert(writer);
    }
    let waiting = |thread: &ThreadId| all.iter().any(|stuck| stuck.thread == *thread);
    let ended: Vec<String> = names
        .threads()
        .filter(|thread| !waiting(thread) && graph.events().iter().any(|event| event.thread == Some(*thread)))
        .map(|thread| names.thread(thread))
        .collect();
    if !ended.is_empty() {
        let verb = if ended.len() == 1 { "has" } else { "have" };
        draft.reasons.say(format!("{} {verb} ended and will write nothing more.", capital(&listed(&ended))), None);
    }
    draft.cast.keep.insert(read);
    if let Some(thread) = graph.event(source).thread {
        draft.cast.show(Some(thread));
        draft.cast.keep.insert(source);
        draft.cast.hops.push((source, read));
    }
    draft.cast.wrong.push(read);
}

/// The threads of a block that wait at one barrier.
struct Group {
    threads: Vec<ThreadId>,
    /// The first one's arrival.
    arrival: EventId,
}

/// The threads that wait at barriers, together with those of their blocks that wait at the same one.
fn arrivals(names: &Names<'_>, all: &[Stuck]) -> Vec<Group> {
    let graph = &names.witness.graph;
    let block = |thread: ThreadId| &graph.threads()[thread];
    let mut groups: Vec<Group> = Vec::new();
    for stuck in all {
        let Why::Barrier(arrival) = stuck.why else { continue };
        let is_same = |group: &&mut Group| {
            graph.event(group.arrival).source == graph.event(arrival).source
                && block(group.threads[0]).shares(block(stuck.thread), wattle_memory::Level::Block)
        };
        match groups.iter_mut().find(is_same) {
            Some(group) => group.threads.push(stuck.thread),
            None => groups.push(Group { threads: vec![stuck.thread], arrival }),
        }
    }
    groups
}

/// The number of threads at one barrier that are all shown.
const MOST_SHOWN: usize = 3;

/// Explains threads at a barrier that others of their block never reach.
fn barrier(names: &Names<'_>, group: &Group, groups: &[Group], all: &[Stuck], draft: &mut Draft) {
    let graph = &names.witness.graph;
    let Group { threads, arrival } = group;
    let arrival_of = |thread: ThreadId| {
        all.iter().find_map(|stuck| match stuck.why {
            Why::Barrier(arrival) if stuck.thread == thread => Some(arrival),
            Why::Barrier(_) | Why::Spins(_) => None,
        })
    };
    let shown = if threads.len() > MOST_SHOWN { 1 } else { threads.len() };
    for &thread in &threads[..shown] {
        draft.cast.show(Some(thread));
        draft.cast.keep.extend(arrival_of(thread));
        draft.cast.wrong.extend(arrival_of(thread));
    }
    let what = match graph.event(*arrival).label.kind {
        Kind::Barrier => "barrier",
        // An operation of a warp orders nothing: a fence of the thread alone stands for it.
        Kind::Fence => "operation of its warp",
        Kind::Read | Kind::Write | Kind::MakeAvailable | Kind::MakeVisible => "statement",
    };
    let placement = graph.threads()[threads[0]];
    let together = |thread: ThreadId| placement.shares(&graph.threads()[thread], wattle_memory::Level::Block);
    let before = groups.iter().find(|other| together(other.threads[0])).filter(|other| !std::ptr::eq(*other, group));
    let who = capital(&listed(&threads.iter().map(|&thread| names.thread(thread)).collect::<Vec<_>>()));
    let wait = if threads.len() == 1 { "waits" } else { "wait" };
    // Who never comes to a barrier of the block has been named with its first one.
    if let Some(before) = before {
        let sentence = if names.site(*arrival) == names.site(before.arrival) {
            format!("{who} {wait} there too, by another call of the function around it: that is another barrier.")
        } else {
            let column = names.site(*arrival).filter(|_| names.at(*arrival) == names.at(before.arrival));
            let column = column.map(|site| format!(", column {}", site.column)).unwrap_or_default();
            format!("{who} {wait} at another barrier, at {}{column}.", names.at(*arrival))
        };
        return draft.reasons.say(sentence, None);
    }
    draft.reasons.say(format!("{who} {wait} at the {what} at {}.", names.at(*arrival)), None);
    let elsewhere = groups.iter().filter(|other| together(other.threads[0])).nth(1).is_some();
    if diverges(names, threads[0], all) && !elsewhere {
        draft.reasons.say(
            "All threads of the block wait at that line, in different iterations of the loops around it.".into(),
            None,
        );
    }
    for other in (0..graph.threads().len()).filter(|&other| together(other) && arrival_of(other).is_none()) {
        let last = (0..graph.len()).rev().find(|&event| graph.event(event).thread == Some(other));
        let name = capital(&names.thread(other));
        let spins = all.iter().any(|stuck| stuck.thread == other);
        let sentence = match last {
            Some(last) if spins => format!("{name} never reaches it: it waits at {}.", names.at(last)),
            Some(last) => format!("{name} never reaches it: it has ended after {}.", names.at(last)),
            None => format!("{name} never reaches it: it has ended."),
        };
        draft.reasons.say(sentence, None);
        draft.cast.show(Some(other));
        draft.cast.keep.extend(last);
    }
}

/// Names the blocks that the schedule stops.
fn left_alone(names: &Names<'_>, halted: &[(usize, u64)], progress: Progress, draft: &mut Draft) {
    let (world, graph) = (&names.witness.world, &names.witness.graph);
    for &(number, block) in halted {
        let Some(launch) = world.launches.get(number) else { continue };
        let per_block = launch.environment.shape.threads_per_block();
        let first = launch.first + (block * per_block) as usize;
        let last = (0..graph.len()).rev().find(|&event| {
            graph.event(event).thread.is_some_and(|thread| (first..first + per_block as usize).contains(&thread))
        });
        let several = world.launches.iter().filter(|launch| !launch.host).count() > 1;
        let kernel = if several { format!(" of `{}`", launch.program.kernel().name) } else { String::new() };
        let sentence = match last {
            None => format!(
                "Block {block}{kernel} has not begun, and {progress} progress does not promise that it ever does."
            ),
            Some(last) => {
                draft.cast.show(graph.event(last).thread);
                draft.cast.keep.insert(last);
                let at = names.at(last);
                format!(
                    "Block {block}{kernel} stands after {at}, and {progress} progress does not promise that it goes on."
                )
            }
        };
        draft.reasons.say(sentence, None);
    }
    let alone = |&&(number, _): &&(usize, u64)| world.launches.get(number).is_some_and(|launch| !launch.cooperative);
    if let Some(launch) = halted.iter().find(alone).and_then(|&(number, _)| world.launches.get(number)) {
        let kernel = &launch.program.kernel().name;
        draft.reasons.say(
            format!(
                "Blocks that wait for each other need a launch that runs them all at once: launch `{kernel}` with \
                 `LaunchOptions::new().cooperative()`."
            ),
            None,
        );
    }
}
