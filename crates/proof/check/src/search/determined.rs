//! Adds to a graph the actions that threads perform whatever values their open reads return.

use std::sync::OnceLock;

use wattle_memory::{EventId, Kind, Set, ThreadId};

use super::agreement::{Act, Agreement};
use super::completions::{Given, compare, orders};
use super::contents::{locate, provide, write_half};
use super::state::{EarlyUpdate, SearchState, Status};
use super::values::Values;
use super::{Dependencies, Problem, Setup};

/// An action that a thread may be sure to do: it is certain where a compiler merges two reads, or it could not be
/// decided.
pub(super) struct Guess {
    pub thread: ThreadId,
    /// The alternatives of what it may do.
    pub ways: Vec<Agreement>,
}

impl Guess {
    /// Lets the guess be found again.
    pub fn forget(&self, state: &mut SearchState<'_>) {
        state.runners[self.thread].compared = false;
    }
}

/// The threads for which completions are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// The threads that do not wait for a plain read which may soon have its one source ([`Setup::assume_race_free`]).
    Early,
    /// All threads.
    Late,
}

/// Adds what is certain; returns the first uncertain action, if any.
pub(super) fn determine(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    values: &OnceLock<Values>,
    when: When,
) -> Result<Option<Guess>, Problem> {
    if setup.dependencies == Dependencies::AsWritten {
        return Ok(None);
    }
    for thread in 0..state.runners.len() {
        let runner = &mut state.runners[thread];
        let Some(read) = runner.waiting.filter(|_| !runner.compared) else { continue };
        if when == When::Early && setup.assume_race_free && !state.graph.event(read).label.atomic {
            continue;
        }
        runner.compared = true;
        let any = compare(setup, state, thread, Given::Anything);
        state.runners[thread].depends = any.as_ref().is_none_or(|agreed| agreed.depends || agreed.cut || agreed.met);
        state.runners[thread].cut = any.as_ref().is_some_and(|agreed| agreed.met);
        // A read that all completions make is made early too, where a store depends on some value; in a loop not, since
        // the iteration in which a thread waits for ever may never come to it.
        let depends = state.runners[thread].depends && state.runners[thread].heads.is_empty();
        let made = |agreed: Agreement| if depends { agreed } else { agreed.without_unseen() };
        let any = any.filter(|agreed| !agreed.undecided).map(made);
        let least = any.as_ref().map_or(0, Agreement::len);
        // The present values are possible ones: if completions differ in all else for these, they do for all.
        let present = compare(setup, state, thread, Given::Present).map(made);
        let cut = present.as_ref().is_some_and(|present| present.cut);
        // No other thread's read can take its value from a store that is made early.
        let alone = (0..state.runners.len()).all(|other| other == thread || state.pending(other).next().is_none());
        let is_settled = present.as_ref().is_none_or(|present| present.len() <= least && (!cut || alone));
        let reordered = [&any, &present].into_iter().flatten().any(|agreed| agreed.reordered);
        if is_settled {
            any.as_ref().map_or(Ok(()), |any| add(setup, state, thread, any))?;
            if !reordered {
                continue;
            }
        }
        let values = values.get_or_init(|| Values::find(setup));
        let possible = compare(setup, state, thread, Given::Possible(values)).map(made);
        state.runners[thread].cut = possible.as_ref().is_some_and(|possible| possible.cut || possible.met);
        let certain = possible.as_ref().filter(|agreed| !agreed.undecided).or(any.as_ref());
        let (least, ahead) = (certain.map_or(0, Agreement::seen), certain.map_or(0, Agreement::known_ahead));
        let merged = compare(setup, state, thread, Given::Merged(values));
        let guess = [possible.clone(), merged].into_iter().flatten().max_by_key(Agreement::seen);
        certain.map_or(Ok(()), |certain| add(setup, state, thread, certain))?;
        let mut ways: Vec<Agreement> = guess.into_iter().filter(|_| !is_settled).collect();
        if reordered || possible.is_some_and(|possible| possible.reordered) {
            ways.extend(orders(setup, state, thread, values).into_iter().map(made));
        }
        // Earlier guesses are in the graph.
        let promised = &state.runners[thread].promised;
        let is_there = |act: &Act| promised.iter().any(|&event| act.is(setup.model, state, event));
        ways.retain(|way| way.seen() > least && (way.known_ahead() > ahead || !way.seen_beyond().iter().all(is_there)));
        if !ways.is_empty() {
            return Ok(Some(Guess { thread, ways }));
        }
    }
    Ok(None)
}

/// Keeps the read for which a thread waits from the writes that are there. The branch without the guess builds every
/// execution in which it reads from one of them: there the thread runs on with the value, and what the guess lets it do
/// early is done, or is certain, or is a guess anew of the next open read; with that value fewer completions are left,
/// so they agree on no less. A guess is of use only where an open read takes its value from something still to come.
fn exclude_present(state: &mut SearchState<'_>, thread: ThreadId) {
    let read = state.runners[thread].waiting;
    let location = read.and_then(|read| state.graph.event(read).location);
    if let Some((read, location)) = read.zip(location) {
        let mut present = Set::new(state.graph.len());
        state.writes[location].iter().for_each(|&write| present.insert(write));
        state.exclude(read, &present);
    }
}

/// Adds the actions of a guess, which the thread is assumed to perform. The read for which it waits can no longer take
/// its value from the writes that are there.
pub(super) fn assume(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    way: &Agreement,
) -> Result<(), Problem> {
    exclude_present(state, thread);
    // Where a read's place depends on another read, it gets the value of one store or another.
    let stores = |tie: &(EventId, EventId)| state.graph.event(tie.0).label.kind == Kind::Write;
    let otherwise = |tie: &&(EventId, EventId)| way.ties.iter().any(|other| other.1 == tie.1 && other.0 != tie.0);
    let ties: Vec<_> = way.ties.iter().filter(|tie| !(stores(tie) && otherwise(tie))).copied().collect();
    state.ties.extend(ties);
    state.guessed = true;
    // A value that a lane brings could not be taken back.
    let certain = |act: &Act| if matches!(act, Act::Exchange { .. }) { Act::Other { events: 1 } } else { act.clone() };
    let way = Agreement { ahead: way.ahead.iter().map(certain).collect(), ..way.clone() };
    add(setup, state, thread, &way)
}

/// Adds the actions on which the completions agree, in the thread's order.
fn add(setup: &Setup<'_>, state: &mut SearchState<'_>, thread: ThreadId, agreed: &Agreement) -> Result<(), Problem> {
    let mut at = 0;
    for act in &agreed.ahead {
        let event = |number: usize| state.runners[thread].trail.get(at + number).copied();
        match (act, event(0), event(1)) {
            (Act::Read { target, .. }, Some(read), _) => locate(setup, state, read, *target, 0)?,
            (Act::Update { target, change, .. }, Some(read), Some(write)) => {
                locate(setup, state, read, *target, 0)?;
                let certain = state.runners[thread].heads.is_empty() || state.graph.event(read).value.is_some();
                if let (Some(location), true) = (state.graph.event(read).location, certain) {
                    write_half(state, read, write, *change, location);
                }
            }
            (Act::Store { target, value, .. }, Some(write), _) => {
                locate(setup, state, write, *target, 0)?;
                provide(state, write, *value);
            }
            (Act::Exchange { exchange }, Some(event), _) if act.is_known() => {
                if let Some(gate) = state.gate_of(event) {
                    state.gates[gate].bring(thread, *exchange);
                    state.runners[thread].status = Status::Ready;
                }
            }
            (
                Act::Read { .. }
                | Act::Update { .. }
                | Act::Store { .. }
                | Act::Fence { .. }
                | Act::Exchange { .. }
                | Act::Other { .. },
                ..,
            ) => {}
        }
        at += act.events();
    }
    // Guessed actions are not among the certain ones; then the place of the rest is not known.
    let mut left = agreed.beyond.iter();
    let promised = state.runners[thread].promised.iter();
    if !promised.into_iter().all(|&event| left.any(|act| act.is(setup.model, state, event))) {
        return Ok(());
    }
    let mut place = 0;
    for act in &agreed.beyond {
        place = promise(setup, state, thread, act, place)?;
    }
    Ok(())
}

/// Adds one action behind what the thread has run ahead to, unless it is there; returns the place of the next one.
fn promise(
    setup: &Setup<'_>,
    state: &mut SearchState<'_>,
    thread: ThreadId,
    act: &Act,
    place: usize,
) -> Result<usize, Problem> {
    let (label, source, what) = match act {
        Act::Fence { label, source } => (*label, *source, None),
        Act::Read { target: Some(target), label, source } => (*label, *source, Some((*target, None))),
        Act::Store { target: Some(target), value: Some(value), label, source } => {
            (*label, *source, Some((*target, Some(*value))))
        }
        Act::Update { target: Some(target), read, source, .. } => (*read, *source, Some((*target, None))),
        Act::Store { .. } | Act::Read { .. } | Act::Update { .. } | Act::Exchange { .. } | Act::Other { .. } => {
            return Ok(place);
        }
    };
    let next = state.runners[thread].promised.get(place).copied();
    if next.is_some_and(|event| act.is(setup.model, state, event)) {
        return Ok(place + 1);
    }
    let add = |state: &mut SearchState<'_>, label, next: Option<EventId>| match next {
        Some(next) => {
            state.insert(next, thread, label, source);
            next
        }
        None => state.graph.add(thread, label, source),
    };
    let event = add(state, label, next);
    if let Act::Update { change, read, write: label, .. } = act {
        let write = add(state, *label, next.map(|next| next + 1));
        state.graph.join_halves(event, write);
        state.early.push(EarlyUpdate { read: event, write, change: *change, labels: [*read, *label] });
    }
    state.runners[thread].promised.insert(place, event);
    if let Some((target, value)) = what {
        locate(setup, state, event, Some(target), source)?;
        provide(state, event, value);
        if let (Some(early), Some(location)) = (state.early_update(event).cloned(), state.graph.event(event).location) {
            write_half(state, event, early.write, early.change, location);
        }
    }
    Ok(place + 1)
}
