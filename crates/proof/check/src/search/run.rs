//! Runs one thread as far as it goes without a choice.

use wattle_memory::{EventId, Kind, Label, Level, LocationId, ThreadId, stop};

use super::process::{AccessTarget, Action, Address, Change, Written};
use super::rounds::{MOST_ROUNDS, comes_round, meet, note};
use super::state::{EarlyUpdate, Fault, Head, SearchState, Status};
use super::{Problem, Setup, Thread};

/// The most turns of loops that end, whatever memory holds, before their turns count as those of others do.
const MOST_ENDING_TURNS: u32 = 256;

/// The maximum number of back edges that a thread may take without a choice: a loop that counts by itself and never
/// reads memory would occupy the search for ever.
pub const MOST_BACK_EDGES: u32 = 1 << 26;

/// The same for a loop whose exit depends on memory, of iterations in a row in which the thread neither looks at it nor does
/// anything that others see: such a loop never ends. A lane that is alone in its warp has one where a vote was to
/// bring it what another lane reads.
const MOST_IDLE_ITERATIONS: u32 = 1 << 16;

/// The part of a run that may still change: everything past the first read whose value is not known.
pub(super) struct Run<'w> {
    process: Thread<'w>,
    heads: Vec<Head<'w>>,
    /// The index of the next event of the trail.
    at: usize,
    back_edges: u32,
    speculative: bool,
    /// The operation of its warp at which the thread stands.
    stands: Option<usize>,
}

/// What [`settle`](super::settle) keeps between its runs of threads.
#[derive(Default)]
pub(super) struct Runs<'w> {
    /// For some threads at a barrier, the run that came there with a read behind it whose value is not known. No read
    /// gets a value while threads settle, so such a run goes on where it stopped: repeating it from the read for each
    /// barrier takes time quadratic in the number of barriers.
    pub at_barrier: Vec<(ThreadId, Run<'w>)>,
    /// The number of actions of all runs.
    actions: u32,
}

/// The number of actions after which a run asks whether it is to end early.
const ACTIONS_PER_LOOK: u32 = 256;

/// Begins to run a thread, from the first read whose value is not known.
fn begin<'w>(state: &mut SearchState<'w>, thread: ThreadId) -> Run<'w> {
    let runner = &mut state.runners[thread];
    let mut run = Run {
        process: runner.process.clone(),
        heads: std::mem::take(&mut runner.heads),
        at: 0,
        back_edges: 0,
        speculative: false,
        stands: None,
    };
    runner.faults.clear();
    runner.returns.borrow_mut().clear();
    if let Some(read) = runner.waiting {
        match state.graph.event(read).value {
            Some(value) => {
                state.runners[thread].waiting = None;
                if let (Some((write, change)), Some(location)) =
                    (state.runners[thread].update.take(), state.graph.event(read).location)
                {
                    write_half(state, read, write, change, location);
                }
                run.process.answer_read(Some(value), state.graph.finds_unwritten(read));
                changed(&mut run, state, read);
            }
            None => {
                state.runners[thread].heads = run.heads.clone();
                run.speculative = true;
                run.stands = state.gate_of(read).filter(|&gate| !state.passed(gate, read));
                run.process.answer(None);
                changed(&mut run, state, read);
            }
        }
    }
    run
}

/// Runs one thread.
pub(super) fn run<'w>(
    setup: &Setup<'_>,
    state: &mut SearchState<'w>,
    thread: ThreadId,
    runs: &mut Runs<'w>,
) -> Result<(), Problem> {
    state.runners[thread].compared = false;
    let stopped = runs.at_barrier.iter().position(|&(of, _)| of == thread).map(|at| runs.at_barrier.swap_remove(at).1);
    // The events of a stopped run have other numbers once some have been inserted.
    let mut run = stopped.filter(|_| !state.renumbered).unwrap_or_else(|| begin(state, thread));
    let status = loop {
        runs.actions += 1;
        if runs.actions.is_multiple_of(ACTIONS_PER_LOOK) && stop::requested() {
            break Status::Bounded;
        }
        if let Some(gate) = run.stands {
            break Status::AtBarrier(gate);
        }
        let before = (!state.runners[thread].promised.is_empty()).then(|| run.process.clone());
        match run.process.advance() {
            Action::Read { target, label, source } => {
                // The promised read is recognized by its target.
                if let (Some(before), None) = (before, target) {
                    run.process = before;
                    break Status::Needs;
                }
                let what = target.map(|target| (target.address, None));
                let (event, _) = event(setup, state, thread, &mut run, label, source, what);
                locate(setup, state, event, target, source)?;
                // The head is updated before the answer: heads are kept in this state if the thread is run from here
                // again.
                run.heads.iter_mut().for_each(|head| head.looked |= label.atomic);
                note(&mut run.heads, |round| round.reads.push(event));
                answer(state, thread, &mut run, event);
            }
            Action::Write { target, value, label, source } => {
                // The promised store is recognized by its target and value.
                if let (Some(before), false) = (before, target.is_some() && value.is_some()) {
                    run.process = before;
                    break Status::Needs;
                }
                let what = target.map(|target| (target.address, value));
                let (event, _) = event(setup, state, thread, &mut run, label, source, what);
                // Whether anybody has written its value may be known by now.
                if state.graph.event(event).label.unwritten != label.unwritten {
                    state.graph.replace(event, label, source);
                }
                locate(setup, state, event, target, source)?;
                provide(state, event, value);
                run.heads.iter_mut().for_each(|head| head.effect = true);
                if label.atomic {
                    run.heads.iter_mut().for_each(|head| head.round = None);
                }
                note(&mut run.heads, |round| round.writes.push(event));
            }
            Action::Update { target, change, read, write, source } => {
                let is_new = run.at >= state.runners[thread].trail.len();
                if let (Some(before), true, false) = (before, is_new, target.is_some() && change.is_known()) {
                    run.process = before;
                    break Status::Needs;
                }
                let promised = target.filter(|_| is_new);
                let promised =
                    promised.and_then(|target| take_early(setup, state, thread, target, change, [read, write]));
                let (first, second) = match promised {
                    Some([first, second]) => {
                        let read = change.read_label(read, state.graph.event(first).value);
                        state.graph.replace(first, read, source);
                        // What it was promised to write may have been cancelled.
                        let promised = state.graph.event(second).label;
                        let label = if promised.kind == write.kind { write } else { promised };
                        state.graph.replace(second, label, source);
                        state.runners[thread].trail.extend([first, second]);
                        run.at += 2;
                        run.heads.iter_mut().for_each(|head| head.first = head.first.or(Some(first)));
                        (first, second)
                    }
                    None => {
                        let (first, _) = event(setup, state, thread, &mut run, read, source, None);
                        let (second, new) = event(setup, state, thread, &mut run, write, source, None);
                        if new {
                            // The halves of an update whose write is cancelled are not joined again.
                            state.graph.join_halves(first, second);
                        }
                        (first, second)
                    }
                };
                locate(setup, state, first, target, source)?;
                state.changes(first, change);
                // In a loop that may only wait, it depends on the value read whether the update happens at all.
                let certain = run.heads.is_empty() || state.graph.event(first).value.is_some();
                if let (Some(location), true) = (state.graph.event(first).location, certain) {
                    write_half(state, first, second, change, location);
                }
                run.heads.iter_mut().for_each(|head| head.looked = true);
                note(&mut run.heads, |round| round.reads.push(first));
                let waits = run.speculative;
                answer(state, thread, &mut run, first);
                if run.speculative && !waits {
                    state.runners[thread].update = Some((second, change));
                }
            }
            Action::Fence { label, source } => {
                let (event, _) = event(setup, state, thread, &mut run, label, source, None);
                // An access that was to have more cells than it has stands for nothing.
                if state.graph.event(event).label != label {
                    state.graph.replace(event, label, source);
                }
            }
            Action::Barrier { barrier, label, source } => {
                let (event, new) = event(setup, state, thread, &mut run, label, source, None);
                run.heads.iter_mut().for_each(|head| head.effect = true);
                let gate = if new { Some(state.arrive(thread, event, &barrier)) } else { state.gate_of(event) };
                meet(&mut run.heads, event, gate.filter(|_| barrier.waits), &barrier.members);
                if let Some(gate) = gate.filter(|&gate| barrier.waits && !state.passed(gate, event)) {
                    // The thread stands at the barrier: the event is done, except for passing.
                    break Status::AtBarrier(gate);
                }
            }
            Action::Exchange { barrier, exchange, source } => {
                let (event, new) = event(setup, state, thread, &mut run, Label::fence(Level::Thread), source, None);
                run.heads.iter_mut().for_each(|head| head.effect = true);
                let gate = if new { Some(state.arrive(thread, event, &barrier)) } else { state.gate_of(event) };
                meet(&mut run.heads, event, gate, &barrier.members);
                if let Some(gate) = gate {
                    state.gates[gate].bring(thread, exchange);
                    run.stands = Some(gate).filter(|&gate| !state.passed(gate, event));
                }
                answer(state, thread, &mut run, event);
            }
            Action::LoopHead { label } => {
                state.runners[thread].loops = true;
                if let Some(at) = run.heads.iter().position(|head| head.label == label) {
                    run.heads.truncate(at);
                }
                run.process.mark_pending();
                run.heads.push(Head::new(label, run.process.clone()));
            }
            Action::BackEdge { label, waits, source, ends } => {
                let Some(at) = run.heads.iter().position(|head| head.label == label) else {
                    // Compilers turn loops round: the first iteration may begin in the middle.
                    state.runners[thread].loops = true;
                    run.process.mark_pending();
                    run.heads.push(Head::new(label, run.process.clone()));
                    continue;
                };
                run.heads.truncate(at + 1);
                let rounds = if !run.speculative && comes_round(state, thread, &run.heads[at], &run.process) {
                    run.heads[at].rounds + 1
                } else {
                    0
                };
                let head = &mut run.heads[at];
                // What is still to be read is the same in both states where it bears the mark that it had.
                let repeats = !head.effect && !run.process.any_unmarked() && run.process.repeats(&head.process);
                if repeats && run.process == head.process {
                    break Status::Spins;
                }
                let is_idle = !head.looked && !head.effect;
                let is_kept = (1..=MOST_ROUNDS).contains(&rounds);
                // A turn that looks at nothing others write, of a loop that ends, is a turn of a loop with a bound.
                let counts = head.looked || !ends || run.back_edges > MOST_ENDING_TURNS;
                head.iterations += u32::from(waits && !is_idle && !is_kept && counts);
                let idle = if is_idle { head.idle + u32::from(waits) } else { 0 };
                run.back_edges += 1;
                state.runners[thread].bounded_at = Some(source);
                if run.back_edges > MOST_BACK_EDGES || idle > MOST_IDLE_ITERATIONS {
                    break Status::Endless;
                }
                if head.iterations > setup.loop_bound {
                    // Only the number of the iteration is another one, by which a barrier in the loop would tell it apart from
                    // that of other threads: what comes of that has shown by now.
                    break if repeats { Status::Spins } else { Status::Bounded };
                }
                run.process.mark_pending();
                let (iterations, round) = (head.iterations, head.round.take());
                *head = Head { iterations, idle, rounds, ..Head::new(label, run.process.clone()) };
                if let Some(round) = round.filter(|_| rounds > 0) {
                    state.runners[thread].repeated.extend(round.looks());
                    if rounds > MOST_ROUNDS {
                        state.runners[thread].round = Some(round);
                        break Status::GoesRound;
                    }
                }
            }
            Action::NeedsValue => break Status::Needs,
            Action::Fault { fault, source } => {
                let fault = Fault { thread, fault, source };
                let runner = &mut state.runners[thread];
                if run.speculative { runner.faults.push(fault) } else { runner.certain_faults.push(fault) }
            }
            Action::Halt => break Status::Halted,
            Action::Done => break Status::Done,
        }
    };
    if matches!(status, Status::Done | Status::Halted | Status::Spins) {
        // These accesses at the end turned out to be out of bounds, or belong to an iteration that never begins.
        let trail = &mut state.runners[thread].trail;
        for skipped in trail.split_off(run.at.min(trail.len())) {
            state.graph.replace(skipped, Label::fence(Level::Thread), u32::MAX);
        }
    }
    if status == Status::Spins {
        take_back_promises(state, thread);
    }
    let runner = &mut state.runners[thread];
    runner.status = status;
    // If the thread spins, this is the beginning of the reads that it repeats.
    runner.spins_since = run.heads.last().filter(|_| status == Status::Spins).and_then(|head| head.first);
    if !run.speculative {
        runner.trail.clear();
        runner.process = run.process.clone();
        runner.heads = run.heads;
        runner.ahead = run.process;
    } else {
        runner.ahead = run.process.clone();
        if matches!(status, Status::AtBarrier(_)) && run.stands.is_none() {
            runs.at_barrier.push((thread, run));
        }
    }
    Ok(())
}

/// Takes back what was promised for a thread that spins, if nobody has seen it: it belongs to an iteration that never
/// begins.
fn take_back_promises(state: &mut SearchState<'_>, thread: ThreadId) {
    let with_half = |&event: &EventId| [Some(event), state.early_update(event).map(|early| early.write)];
    let promised: Vec<EventId> = state.runners[thread].promised.iter().flat_map(with_half).flatten().collect();
    let is_seen = |event: EventId| state.graph.source(event).is_some_and(|source| promised.contains(&source));
    let has_read = promised.iter().any(|&event| state.graph.source(event).is_some());
    if has_read || (0..state.graph.len()).any(is_seen) {
        return;
    }
    for &event in &promised {
        state.graph.replace(event, Label::fence(Level::Thread), u32::MAX);
    }
    state.writes.iter_mut().for_each(|writes| writes.retain(|write| !promised.contains(write)));
    state.early.retain(|early| !promised.contains(&early.read));
    state.runners[thread].promised.clear();
}

/// The next event of the thread: the one added by an earlier run, a promised one, or a new one. `what` is the address
/// of a read or store, and the value that is stored.
fn event(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    run: &mut Run<'_>,
    label: Label,
    source: u32,
    what: Option<(Address, Option<u64>)>,
) -> (EventId, bool) {
    let mut known = state.runners[thread].trail.get(run.at).copied();
    // The thread does not perform an access that it ran ahead to with an unknown index which turned out to be out of
    // bounds.
    while let Some(skipped) = known.filter(|&known| state.graph.event(known).source != source) {
        state.graph.replace(skipped, Label::fence(Level::Thread), u32::MAX);
        state.runners[thread].trail.remove(run.at);
        known = state.runners[thread].trail.get(run.at).copied();
    }
    let event = known.unwrap_or_else(|| {
        let event = match state.runners[thread].promised.front().copied() {
            None => state.graph.add(thread, label, source),
            Some(promised) if is_promise(setup, state, promised, label, what) => {
                state.runners[thread].promised.pop_front();
                state.graph.replace(promised, label, source);
                promised
            }
            Some(promised) => {
                state.insert(promised, thread, label, source);
                promised
            }
        };
        state.runners[thread].trail.push(event);
        event
    });
    run.at += 1;
    run.heads.iter_mut().for_each(|head| head.first = head.first.or(Some(event)));
    (event, known.is_none())
}

/// The two events of a read-modify-write that was added early, if the thread has come to it.
fn take_early(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    target: AccessTarget,
    change: Change,
    labels: [Label; 2],
) -> Option<[EventId; 2]> {
    let promised = *state.runners[thread].promised.front()?;
    let place = state.graph.event(promised).location.and_then(|location| state.addresses.get(location)).copied();
    let is_it = |early: &EarlyUpdate| {
        early.read == promised
            && place == Some(target.address)
            && early.change == change
            && early.has_labels(setup.model, labels)
    };
    let number = state.early.iter().position(is_it)?;
    state.runners[thread].promised.pop_front();
    let early = state.early.swap_remove(number);
    Some([early.read, early.write])
}

/// Whether an action is the one that was promised for the thread.
fn is_promise(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    promised: EventId,
    label: Label,
    what: Option<(Address, Option<u64>)>,
) -> bool {
    let event = state.graph.event(promised);
    let place = event.location.and_then(|location| state.addresses.get(location)).copied();
    setup.model.merged(event.label, label).is_some()
        && state.early_update(promised).is_none()
        && match label.kind {
            Kind::Write => what == place.map(|place| (place, event.value)),
            Kind::Read => what == place.map(|place| (place, None)),
            Kind::Fence => true,
            Kind::Barrier | Kind::MakeAvailable | Kind::MakeVisible => false,
        }
}

pub(super) fn locate(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    event: EventId,
    target: Option<AccessTarget>,
    source: u32,
) -> Result<(), Problem> {
    let Some(target) = target else { return Ok(()) };
    let location = state.locate(setup.memory, target, source)?;
    match state.graph.event(event).location {
        None => state.graph.set_location(event, location, target.reference),
        Some(known) => state.broken |= known != location,
    }
    Ok(())
}

/// The effect of an update on its write half, as far as it is known. A compare-exchange that may yet fail writes
/// nothing: the half has no location until it succeeds.
pub(super) fn write_half(
    state: &mut SearchState<'_>,
    read: EventId,
    write: EventId,
    change: Change,
    location: LocationId,
) {
    let written = change.written(state.graph.event(read).value);
    let fails = matches!(change, Change::CompareExchange { writes_back: false, .. });
    match written {
        Written::Nothing => state.graph.cancel(write),
        Written::Unknown if fails => {}
        written => {
            if state.graph.event(write).location.is_none() {
                state.graph.set_location(write, location, state.graph.event(read).reference);
            }
            provide(state, write, if let Written::Value(value) = written { Some(value) } else { None });
        }
    }
}

/// Gives a write its value; once its location is known too, it can be read from.
pub(super) fn provide(state: &mut SearchState<'_>, event: EventId, value: Option<u64>) {
    let Some(value) = value else { return };
    let known = state.graph.event(event);
    let Some(location) = known.location else {
        return;
    };
    match known.value {
        None => {
            state.graph.set_value(event, value);
            state.writes[location].push(event);
        }
        Some(known) => state.broken |= known != value,
    }
}

/// Answers a read; the thread will be run again from the first read without a value.
fn answer<'w>(state: &mut SearchState<'w>, thread: ThreadId, run: &mut Run<'w>, read: EventId) {
    let value = state.graph.event(read).value;
    if value.is_none() && !run.speculative {
        run.speculative = true;
        let runner = &mut state.runners[thread];
        runner.process = run.process.clone();
        runner.heads = run.heads.clone();
        runner.waiting = Some(read);
        // Everything that was run before is decided. The write of a waiting update is repeated with its read.
        runner.trail.drain(..run.at);
        run.at = 0;
    }
    run.process.answer_read(value, state.graph.finds_unwritten(read));
    changed(run, state, read);
}

/// Records the effect of an update on the open loops: one that leaves the value unchanged has none.
fn changed(run: &mut Run<'_>, state: &SearchState<'_>, read: EventId) {
    let Some(write) = state.graph.other_half(read) else { return };
    let mixed = state.is_mixed(state.graph.event(read).location);
    let idle = match (state.graph.event(read).value, state.graph.event(write).value) {
        (Some(old), Some(new)) => old == new && state.graph.event(write).label.atomic && !mixed,
        _ => false,
    };
    for head in &mut run.heads {
        head.effect |= !idle;
        match &mut head.round {
            Some(round) if idle => round.idle.push(write),
            round => *round = None,
        }
    }
}
