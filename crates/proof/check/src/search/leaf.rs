//! The leaves of the search: finished executions, and those whose threads cannot continue.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use wattle_core::lock;
use wattle_memory::{Analysis, EventId, Graph, Kind, Label, Level, ThreadId};

use super::execution::{execution, order_fences, ordered, other_endings, unordered};
use super::failed::failed_iterations;
use super::gate::Gate;
use super::searcher::Search;
use super::state::{Runner, SearchState, Status};
use super::{Setup, Stuck, Why};

/// Judges a state in which no thread can continue.
pub(super) fn leaf(search: &mut Search<'_, '_>, state: &SearchState<'_>, analysis: &Analysis) -> ControlFlow<()> {
    // A thread has ended without an access that was added as certain.
    if breaks_promises(state) || reads_what_never_was(state) {
        search.statistics.abandoned += 1;
        return ControlFlow::Continue(());
    }
    let ended = state.runners.iter().all(|runner| runner.status == Status::Done);
    let pending = (0..state.runners.len()).any(|thread| state.pending(thread).next().is_some());
    if ended && !pending {
        let before = search.statistics.complete;
        order_writes(search, state, analysis)?;
        search.statistics.abandoned += u64::from(search.statistics.complete == before);
        return ControlFlow::Continue(());
    }
    match stuck_under_some_order(search, state.clone(), analysis.clone()) {
        Some((state, analysis, stuck)) => {
            search.statistics.stuck += 1;
            let execution = execution(&state, &state.graph, &analysis, &[], stuck);
            search.visitor().stuck(&execution)?;
            failed_iterations(search, &state, &state.graph, &analysis, true)
        }
        None => {
            search.statistics.abandoned += 1;
            if !search.setup.assume_race_free {
                return ControlFlow::Continue(());
            }
            let round = gone_round(search, state);
            let (state, analysis) = round.as_ref().map_or((state, analysis), |(state, analysis)| (state, analysis));
            if state.runners.iter().any(|runner| runner.status == Status::Spins) {
                // A candidate that no order of its writes and fences suits is no part of an execution, and shows
                // nothing.
                let found = ordered(search, state.graph.clone(), analysis.clone());
                let Some((graph, analysis)) = found else { return ControlFlow::Continue(()) };
                let found = execution(state, &graph, &analysis, &[], Vec::new());
                let has_happened = has_happened(state);
                search.visitor().waits_in_vain(&found, has_happened)?;
                return failed_iterations(search, state, &graph, &analysis, has_happened);
            }
            ControlFlow::Continue(())
        }
    }
}

/// Visits what there is of an execution in which threads are at the bounds of their loops, if it is the beginning of an
/// execution: whatever races or faults there does so in one in which they go on, or wait.
pub(super) fn cut_off(search: &mut Search<'_, '_>, state: &SearchState<'_>, analysis: &Analysis) -> ControlFlow<()> {
    let is_at_bound = |runner: &Runner<'_>| matches!(runner.status, Status::Bounded | Status::Endless);
    // What a thread does early it may do only because of what it would come to.
    let promises = state.runners.iter().any(|runner| !runner.promised.is_empty());
    if promises || !state.runners.iter().any(is_at_bound) || reads_what_never_was(state) || !has_happened(state) {
        return ControlFlow::Continue(());
    }
    let found = ordered(search, state.graph.clone(), analysis.clone());
    let Some((graph, analysis)) = found else { return ControlFlow::Continue(()) };
    search.visitor().cut_off(&execution(state, &graph, &analysis, &[], Vec::new()))?;
    // What threads do that only compute has no end.
    if state.runners.iter().any(|runner| runner.status == Status::Endless) {
        return ControlFlow::Continue(());
    }
    failed_iterations(search, state, &graph, &analysis, true)
}

/// Whether a thread was to do something that it has not done, and will not do either in the iteration in which it
/// waits.
fn breaks_promises(state: &SearchState<'_>) -> bool {
    state
        .runners
        .iter()
        .any(|runner| !runner.promised.is_empty() && (runner.heads.is_empty() || runner.waiting.is_none()))
}

/// Whether a read has for its source a write of a thread that had run ahead, and then did not come to it.
fn reads_what_never_was(state: &SearchState<'_>) -> bool {
    let graph = &state.graph;
    // An access that a thread did not come to has become a fence, and what it had for its source says nothing.
    let is_read = |event: &EventId| graph.event(*event).label.kind == Kind::Read;
    let mut sources = (0..graph.len()).filter(is_read).filter_map(|read| graph.source(read));
    sources.any(|source| graph.event(source).label.kind != Kind::Write)
}

/// Whether a state in which no thread can continue is neither an execution nor one whose threads are stuck.
pub(super) fn has_no_leaf(search: &mut Search<'_, '_>, state: &SearchState<'_>, analysis: &Analysis) -> bool {
    let promises = breaks_promises(state);
    let ended = (0..state.runners.len())
        .all(|thread| state.runners[thread].status == Status::Done && state.pending(thread).next().is_none());
    promises || reads_what_never_was(state) || (!ended && stuck(search, state, analysis).is_none())
}

/// Visits the executions that a state is with each order of the writes that the model wants ordered and that nothing
/// has ordered yet.
fn order_writes(search: &mut Search<'_, '_>, state: &SearchState<'_>, analysis: &Analysis) -> ControlFlow<()> {
    let model = search.setup.model;
    let mut left = vec![(state.graph.clone(), Some(analysis.clone()))];
    while let Some((graph, analysis)) = left.pop() {
        if search.is_stopped() {
            return ControlFlow::Break(());
        }
        let Some(analysis) = analysis.or_else(|| model.analyse(&graph).ok()) else { continue };
        match unordered_writes(search, state, &graph, &analysis) {
            Some(open) => {
                left.extend(either_way(open).map(|order| (with_order(&graph, order), None)).into_iter().rev())
            }
            None => complete(search, state, &graph, &analysis)?,
        }
    }
    ControlFlow::Continue(())
}

/// Visits an execution whose writes are ordered, if its fences can be.
fn complete(
    search: &mut Search<'_, '_>,
    state: &SearchState<'_>,
    graph: &Graph,
    analysis: &Analysis,
) -> ControlFlow<()> {
    let Some((ordered, found)) = order_fences(search, graph.clone(), analysis.clone()) else {
        return ControlFlow::Continue(());
    };
    let guessed = &search.shared.guessed;
    if state.guessed && !lock(guessed).insert(identity(state, graph, analysis)) {
        return ControlFlow::Continue(());
    }
    search.statistics.complete += 1;
    search.statistics.apart += u64::from(state.gates.iter().any(Gate::was_passed_apart));
    let others = other_endings(search, graph, analysis, &found);
    search.visitor().complete(&execution(state, &ordered, &found, &others, Vec::new()))?;
    failed_iterations(search, state, graph, analysis, true)
}

fn either_way((a, b): (EventId, EventId)) -> [(EventId, EventId); 2] {
    [(a, b), (b, a)]
}

fn with_order(graph: &Graph, (first, second): (EventId, EventId)) -> Graph {
    let mut graph = graph.clone();
    graph.order_writes(first, second);
    graph
}

/// Whether each thread has come to its reads without a source in order: nothing of it is in the graph behind the first
/// of them but such reads. Then every execution of the model can begin so; else what is behind may depend on a source
/// that does not exist.
fn has_happened(state: &SearchState<'_>) -> bool {
    (0..state.runners.len()).all(|thread| {
        let mut pending = state.pending(thread);
        let Some(first) = pending.next() else { return true };
        let behind = |&event: &EventId| state.graph.event(event).thread == Some(thread) && event > first;
        (first..state.graph.len()).filter(behind).count() == pending.count()
    })
}

/// The first read of a thread for which there is no source that lets it leave its loop, if there is one that sends it
/// back, and no more of the thread is in the graph behind it than the write that belongs to it.
fn only_goes_round(state: &SearchState<'_>, thread: ThreadId) -> Option<EventId> {
    let read = state.pending(thread).next().filter(|&read| state.spinning(read).is_some())?;
    let own = |&event: &EventId| state.graph.event(event).thread == Some(thread);
    let half = state.graph.other_half(read);
    (read + 1..state.graph.len()).filter(own).all(|event| Some(event) == half).then_some(read)
}

/// Whether a thread would only go round and repeats a plain read, which may be what keeps it in its loop: it reads
/// nothing that it races with.
fn repeats_plain_read(state: &SearchState<'_>, thread: ThreadId) -> bool {
    let is_plain = |event: EventId| {
        let known = state.graph.event(event);
        known.label.kind == Kind::Read && !known.label.atomic && known.thread == Some(thread)
    };
    let first = state.runners[thread].heads.iter().filter_map(|head| head.first).min();
    let read = only_goes_round(state, thread);
    first.zip(read).is_some_and(|(first, read)| (first..read).any(is_plain))
}

/// The state in which each thread that would only go round has done so; `None` where none of them repeats a plain read,
/// or where one has no source with which it does.
fn gone_round<'w>(search: &mut Search<'_, '_>, state: &SearchState<'w>) -> Option<(SearchState<'w>, Analysis)> {
    let threads = 0..state.runners.len();
    if !threads.clone().any(|thread| repeats_plain_read(state, thread)) {
        return None;
    }
    let mut whole = state.clone();
    for thread in threads {
        let Some(read) = only_goes_round(&whole, thread) else { continue };
        let sources: Vec<EventId> = whole.spinning(read).into_iter().flat_map(|writes| writes.iter()).collect();
        whole = sources.into_iter().rev().find_map(|write| {
            let mut next = whole.clone();
            next.choose(read, write);
            next.runners[thread].status = Status::Ready;
            let goes = search.settle(&mut next).is_ok() && !next.is_broken();
            let goes = goes && next.runners[thread].status == Status::Spins;
            (goes && search.setup.model.analyse(&next.graph).is_ok()).then_some(next)
        })?;
    }
    let analysis = search.setup.model.analyse(&whole.graph).ok()?;
    Some((whole, analysis))
}

/// Two writes that coherence orders under the model, and whose order has not been chosen yet.
fn unordered_writes(
    search: &Search<'_, '_>,
    state: &SearchState<'_>,
    graph: &Graph,
    analysis: &Analysis,
) -> Option<(EventId, EventId)> {
    state.writes.iter().find_map(|writes| unordered(search.setup.model, graph, analysis, writes))
}

/// An order of all writes and fences under which some threads wait for ever: the last write that one thread sees, all
/// see.
fn stuck_under_some_order<'w>(
    search: &mut Search<'_, '_>,
    state: SearchState<'w>,
    analysis: Analysis,
) -> Option<(SearchState<'w>, Analysis, Vec<Stuck>)> {
    let mut left = vec![(state, Some(analysis))];
    while let Some((mut state, analysis)) = left.pop() {
        let Some(analysis) = analysis.or_else(|| search.setup.model.analyse(&state.graph).ok()) else { continue };
        // Fewer orders leave more last writes; what is not stuck now will not be with more orders.
        let Some(stuck) = stuck(search, &state, &analysis) else { continue };
        if let Some(open) = unordered_writes(search, &state, &state.graph, &analysis) {
            let with = |order| (SearchState { graph: with_order(&state.graph, order), ..state.clone() }, None);
            left.extend(either_way(open).map(with).into_iter().rev());
        } else if let Some((graph, analysis)) = order_fences(search, state.graph.clone(), analysis) {
            state.graph = graph;
            return Some((state, analysis, stuck));
        }
    }
    None
}

/// A hash that identifies an execution, whatever the order in which its events were added.
fn identity(state: &SearchState<'_>, graph: &Graph, analysis: &Analysis) -> u128 {
    let mut at = vec![0; graph.threads().len()];
    let name = |event: EventId| {
        let place = graph.event(event).location.and_then(|location| state.addresses.get(location)).copied();
        (graph.event(event).thread, place)
    };
    // What a thread turned out not to do has left an event that does nothing.
    let nothing = Label::fence(Level::Thread);
    // An event is known by its thread and how many of it come before.
    let numbers: Vec<u32> = graph
        .events()
        .iter()
        .map(|event| {
            event.thread.map_or(0, |thread| {
                at[thread] += u32::from(event.label != nothing);
                at[thread]
            })
        })
        .collect();
    let known = |event: EventId| (name(event), numbers[event]);
    let mut events: Vec<_> = (0..graph.len())
        .filter(|&event| graph.event(event).label != nothing)
        .map(|event| {
            (
                known(event),
                graph.event(event).label.kind as u8,
                graph.event(event).value,
                graph.source(event).map(known),
            )
        })
        .collect();
    events.sort_unstable();
    // All of the order, since what is chosen in one search follows in another.
    let ordered = |writes: &Vec<EventId>| {
        let pairs = writes.iter().flat_map(|&first| writes.iter().map(move |&second| (first, second)));
        pairs.filter(|&(first, second)| analysis.coherence.has(first, second)).collect::<Vec<_>>()
    };
    let mut co: Vec<_> =
        state.writes.iter().flat_map(ordered).map(|(first, second)| (known(first), known(second))).collect();
    co.sort_unstable();
    let mut barriers: Vec<_> =
        graph.barrier_order().pairs().map(|(first, second)| (known(first), known(second))).collect();
    barriers.sort_unstable();
    let (mut first, mut second) = (rustc_hash::FxHasher::default(), std::hash::DefaultHasher::new());
    (&events, &co, &barriers).hash(&mut first);
    (&events, &co, &barriers).hash(&mut second);
    u128::from(first.finish()) << 64 | u128::from(second.finish())
}

/// The threads that wait for ever, if all that have not ended do; `None` where some thread only shows that the
/// execution does not exist, because its read has no source.
fn stuck(search: &mut Search<'_, '_>, state: &SearchState<'_>, analysis: &Analysis) -> Option<Vec<Stuck>> {
    let mut stuck = Vec::new();
    for (thread, runner) in state.runners.iter().enumerate() {
        let why = match runner.status {
            Status::Done if state.pending(thread).next().is_none() => continue,
            Status::NotStarted | Status::Halted => continue,
            Status::AtBarrier(gate) if state.pending(thread).next().is_none() => {
                let arrival = state.gates[gate].arrivals.iter().find(|arrival| arrival.thread == thread)?;
                Why::Barrier(arrival.event)
            }
            // Whoever it waits for waits too, or else the state is not stuck.
            Status::GoesRound => Why::Barrier(runner.round.as_ref()?.arrival?),
            _ => Why::Spins(spins(search, state, analysis, thread)?),
        };
        stuck.push(Stuck { thread, why });
    }
    (!stuck.is_empty() && begins_outside(search.setup, state, analysis, &stuck)).then_some(stuck)
}

/// Whether the value with which updates go round comes from elsewhere: updates that read what one another wrote, and
/// none of them anything else, are a cycle of reads-from, which no execution has.
fn begins_outside(setup: &Setup<'_>, state: &SearchState<'_>, analysis: &Analysis, stuck: &[Stuck]) -> bool {
    let graph = &state.graph;
    let looks: Vec<(EventId, EventId)> = stuck.iter().flat_map(|stuck| stuck.why.looks()).copied().collect();
    let goes_round = |write: EventId| {
        let half = (write < graph.len()).then(|| graph.other_half(write)).flatten();
        half.is_some_and(|half| looks.iter().any(|&(read, _)| read == half))
    };
    // What has been added to a copy of the state alone is no part of such a cycle.
    let of_cycle = |&&(read, write): &&(EventId, EventId)| read < graph.len() && goes_round(write);
    looks.iter().filter(of_cycle).all(|&(read, write)| {
        let is_alike = |other: EventId| {
            graph.event(other).value == graph.event(write).value
                && !goes_round(other)
                && is_last(setup, state, analysis, read, other)
        };
        let mut here = graph.event(write).location.into_iter().flat_map(|location| &state.writes[location]);
        here.any(|&other| is_alike(other))
    })
}

/// The sources that keep a thread in its loop for ever, since no thread will overwrite them: a thread that reads again
/// and again sees the last write in the end, of those that it has to see.
fn spins(
    search: &mut Search<'_, '_>,
    state: &SearchState<'_>,
    analysis: &Analysis,
    thread: ThreadId,
) -> Option<Vec<(EventId, EventId)>> {
    let mut open = vec![(state.clone(), Vec::new())];
    while let Some((mut state, chosen)) = open.pop() {
        if search.is_stopped() {
            return None;
        }
        if search.settle(&mut state).is_err() || state.is_broken() {
            continue;
        }
        if state.runners[thread].status == Status::Spins {
            // Only the repeated reads may be left open: everything before them has happened and has a source.
            let repeats =
                |(of, read): (ThreadId, EventId)| state.runners[of].spins_since.is_some_and(|first| read >= first);
            let again =
                chosen.iter().copied().all(repeats) && state.pending(thread).all(|read| repeats((thread, read)));
            let looks = looks(&state, thread);
            let again = again && state.runners[thread].promised.is_empty() && !reads_what_never_was(&state);
            if again && looks.iter().all(|&(read, write)| is_last(search.setup, &state, analysis, read, write)) {
                return Some(looks);
            }
            // It may have run ahead of a read that sends it back, to iterations that never begin.
            let first = state.pending(thread).next();
            if first.is_none_or(|read| repeats((thread, read)) || state.spinning(read).is_none()) {
                continue;
            }
        }
        if chosen.first().is_some_and(|&(of, read)| !may_repeat(&state, of, read)) {
            continue;
        }
        // A lane may wait for what other lanes of its warp read.
        let told = |of: &ThreadId| state.meet(thread, *of);
        let reads = |of: ThreadId| state.pending(of).next().map(|read| (of, read));
        let threads = std::iter::once(thread).chain(0..state.runners.len());
        let Some((of, read)) = threads.filter(told).find_map(reads) else { continue };
        let Some(location) = state.graph.event(read).location else { continue };
        // A loop that reads more than 64 places is not treated as waiting.
        if chosen.len() > 64 {
            continue;
        }
        let own = |write: EventId| write > read && state.graph.same_thread(read, write);
        let last = |&&write: &&EventId| !own(write) && is_last(search.setup, &state, analysis, read, write);
        for &write in state.writes[location].iter().filter(last) {
            let mut next = state.clone();
            next.choose(read, write);
            next.runners[of].status = Status::Ready;
            let chosen = chosen.iter().copied().chain([(of, read)]).collect();
            open.push((next, chosen));
        }
    }
    None
}

/// Whether a read that has been given a source may be one of an iteration that the thread repeats for ever: one that
/// has not ended yet, and has done nothing that others see but those who may repeat it with the thread.
fn may_repeat(state: &SearchState<'_>, thread: ThreadId, read: EventId) -> bool {
    let heads = state.runners[thread].heads.iter();
    let mut open = heads.filter(|head| !head.effect || head.round.is_some());
    open.any(|head| head.first.is_some_and(|first| first <= read))
}

/// The reads that a spinning thread repeats, and the writes from which it reads.
fn looks(state: &SearchState<'_>, thread: ThreadId) -> Vec<(EventId, EventId)> {
    let Some(first) = state.runners[thread].spins_since else { return Vec::new() };
    let is_own_read = |&event: &EventId| {
        let event = state.graph.event(event);
        event.thread == Some(thread) && event.label.kind == Kind::Read
    };
    (first..state.graph.len()).filter(is_own_read).filter_map(|read| Some((read, state.graph.source(read)?))).collect()
}

/// Whether no write of another value that a read comes to see is after this one. A loop whose update writes back what
/// it read adds a write in each iteration, and every read of one of those finds the same value.
fn is_last(setup: &Setup<'_>, state: &SearchState<'_>, analysis: &Analysis, read: EventId, write: EventId) -> bool {
    let known = |event: EventId| event < analysis.coherence.events();
    let event = state.graph.event(write);
    let Some(location) = event.location else { return false };
    let after = |other: EventId| {
        let comes_after = known(write) && known(other) && analysis.coherence.has(write, other);
        comes_after && (setup.assume_race_free || setup.model.comes_to_see(&state.graph, read, other))
    };
    !state.writes[location].iter().any(|&other| after(other) && state.graph.event(other).value != event.value)
}
