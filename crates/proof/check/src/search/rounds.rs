//! Iterations of loops that threads repeat together.
//!
//! A loop may wait although none of its threads waits alone: the lanes of a warp poll and vote, or the first thread of
//! a block polls and stores what it saw in shared memory, where the others read it behind a barrier. Each thread sees
//! what the others do in an iteration, so that each iteration has an effect. And a thread alone may store the same
//! again in each turn.
//!
//! An iteration is a *round* of a set of threads if
//! - each of them is at its end as it was at the head of the loop;
//! - all that have come to a barrier or warp operation of the iteration are in the set;
//! - they have read, written back what they read, or stored what the cell held before, in a cell that no other thread
//!   touches.
//!
//! **A round can be left out**, as an iteration of one thread can (`failed`). Nothing depends on its reads. What reads
//! a store of it can read the store of the round before, which has the same value and thread. The barriers that stay
//! have the same threads in the same order. Fewer events synchronize less, and a race that this shows is one of an
//! execution without the round. For updates that write back what they read, the cell must not be mixed (`failed`).
//!
//! **The accesses and faults of a round count.** A race is between two accesses, in at most two rounds of a loop, and a
//! fault is in one. So the first [`MOST_ROUNDS`] rounds of a loop are built. Then the threads spin ([`Status::Spins`]):
//! they are stuck if no thread writes another value to what they read, and else the candidate is abandoned.

use wattle_memory::{Analysis, EventId, Graph, Kind, Model, ThreadId};

use super::Thread;
use super::head::{Head, Round};
use super::process::{Address, Members};
use super::state::{SearchState, Status};

/// How many rounds of a loop are built: one for each side of a race.
pub(super) const MOST_ROUNDS: u32 = 2;

impl Round {
    /// Whether each store has written what the cell held when the iteration began, which is known where its thread
    /// alone has written the cell.
    pub fn leaves_memory(&self, state: &SearchState<'_>, thread: ThreadId) -> bool {
        self.writes.iter().all(|&store| {
            let Some((location, value)) = state.graph.event(store).location.zip(state.graph.event(store).value) else {
                return false;
            };
            let mut before = None;
            for (id, event) in state.graph.events().iter().enumerate() {
                if event.label.kind != Kind::Write || event.location != Some(location) || event.thread.is_none() {
                    continue;
                }
                if event.thread != Some(thread) {
                    return false;
                }
                if !self.writes.contains(&id) {
                    before = event.value;
                }
            }
            before == Some(value)
        })
    }
}

/// Records what the current iteration of each open loop has done.
pub(super) fn note(heads: &mut [Head<'_>], record: impl Fn(&mut Round)) {
    heads.iter_mut().filter_map(|head| head.round.as_mut()).for_each(record);
}

/// Records the arrival of a thread at a gate. Where not all members meet, the iterations are no rounds.
pub(super) fn meet(heads: &mut [Head<'_>], arrival: EventId, gate: Option<usize>, members: &Members) {
    let gate = match members {
        Members::Threads(_) | Members::Remaining(_) => gate,
        Members::Quorum(_) | Members::Groups { .. } => None,
    };
    match gate {
        Some(gate) => note(heads, |round| {
            round.gates.push(gate);
            round.arrival = Some(arrival);
        }),
        None => heads.iter_mut().for_each(|head| head.round = None),
    }
}

/// Whether the iteration of the loop with this head has left its thread and the memory as they were, so that it is a
/// round if the iterations of the threads that it met are.
pub(super) fn comes_round(state: &SearchState<'_>, thread: ThreadId, head: &Head<'_>, process: &Thread<'_>) -> bool {
    // A thread alone, which nobody else lets go on.
    let is_alone = |round: &Round| {
        !round.writes.is_empty()
            && state.runners[thread].promised.is_empty()
            && meets_only(state, round, |other| other == thread)
    };
    head.round.as_ref().is_some_and(|round| {
        let may_repeat = !round.gates.is_empty() || is_alone(round);
        may_repeat && !process.any_pending() && process.comes_round(&head.process) && round.leaves_memory(state, thread)
    })
}

/// Decides of the threads that have come round, once no other moves, which of them spin. Those go on of whom others
/// have gone another way, or may only do so later. Returns whether one goes on.
pub(super) fn close(state: &mut SearchState<'_>) -> bool {
    let came: Vec<ThreadId> =
        (0..state.runners.len()).filter(|&thread| state.runners[thread].status == Status::GoesRound).collect();
    if came.is_empty() {
        return false;
    }
    let spin = greatest(state, &came, |_| false);
    // One that is about to be given a source that is there may come round too.
    let wait = greatest(state, &came, |thread| {
        let mut pending = state.pending(thread).peekable();
        let asks = state.runners[thread].status == Status::Needs && pending.peek().is_some();
        asks && pending.all(|read| state.excluded(read).is_none())
    });
    let mut moved = false;
    for &thread in &came {
        let runner = &mut state.runners[thread];
        if spin.contains(&thread) {
            runner.status = Status::Spins;
            runner.spins_since = runner.round.take().and_then(|mut round| round.events().map(|event| *event).min());
        } else if !wait.contains(&thread) {
            (runner.status, runner.round) = (Status::Ready, None);
            moved = true;
        }
    }
    moved
}

/// The most of these threads that have met none but each other in their rounds, and those that `may_come`.
fn greatest(state: &SearchState<'_>, came: &[ThreadId], may_come: impl Fn(ThreadId) -> bool) -> Vec<ThreadId> {
    let mut together = came.to_vec();
    loop {
        let is_one = |thread: ThreadId| together.contains(&thread) || may_come(thread);
        let stays = |&thread: &ThreadId| {
            state.runners[thread].round.as_ref().is_some_and(|round| meets_only(state, round, is_one))
        };
        let left: Vec<ThreadId> = together.iter().copied().filter(stays).collect();
        if left.len() == together.len() {
            return left;
        }
        together = left;
    }
}

/// Whether a thread has met none but these threads in a round, and none but these touches what it has written.
fn meets_only(state: &SearchState<'_>, round: &Round, is_one: impl Fn(ThreadId) -> bool) -> bool {
    let arrived = |&gate: &usize| state.gates[gate].arrivals.iter().all(|arrival| is_one(arrival.thread));
    let is_theirs = |&store: &EventId| {
        let Some(location) = state.graph.event(store).location else { return false };
        let touches = |thread: Option<ThreadId>| thread.is_none_or(&is_one);
        let others = |&thread: &ThreadId| !is_one(thread);
        state.graph.events().iter().filter(|event| event.location == Some(location)).all(|event| touches(event.thread))
            && (0..state.runners.len())
                .filter(others)
                .all(|thread| !state.runners[thread].ahead.may_write(state.addresses[location]))
    };
    round.gates.iter().all(arrived) && round.writes.iter().all(is_theirs)
}

/// The statements whose reads threads have repeated together.
pub(super) fn looks(state: &SearchState<'_>, graph: &Graph) -> Vec<u32> {
    let repeated = state.runners.iter().flat_map(|runner| &runner.repeated).map(|&event| graph.event(event));
    repeated.filter(|event| event.label.kind == Kind::Read).map(|event| event.source).collect()
}

/// The cells of idle updates in rounds that another thread writes, or reads atomically, without being ordered with the
/// update by what happens before, nor by atomicity.
pub(super) fn mixed(model: Model, state: &SearchState<'_>, graph: &Graph, analysis: &Analysis) -> Vec<Address> {
    let mut cells = Vec::new();
    for &update in state.runners.iter().flat_map(|runner| &runner.repeated) {
        let own = graph.event(update);
        if own.label.kind != Kind::Write {
            continue;
        }
        let mixes = |other: EventId| {
            let event = graph.event(other);
            let counts = event.label.kind == Kind::Write || event.label.kind == Kind::Read && event.label.atomic;
            let others = event.thread.is_some_and(|thread| Some(thread) != own.thread);
            let before = &analysis.happens_before;
            (counts && others && event.location == own.location)
                && !(before.has(other, update) || before.has(update, other))
                && !model.orders_writes(graph, update, other)
        };
        if (0..graph.len()).any(mixes) {
            cells.extend(own.location.map(|location| state.addresses[location]));
        }
    }
    cells
}
