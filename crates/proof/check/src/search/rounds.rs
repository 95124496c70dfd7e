//! Iterations of loops that threads repeat together.
//!
//! Lanes that poll and vote wait, and so does a block whose first thread polls and tells the others in shared memory. But none of
//! them waits alone: each sees what the others do. Such an iteration is a *round*. Threads go round that have met at
//! gates alone whose members all go round, that are each as it was at the head of its loop, and that have only read, written back
//! what they read, and written to cells what these held before, where no thread but they touches the cells.
//!
//! **A round can go**, by the reasons of `failed`: nothing depends on its reads; what reads one of its writes can read
//! the one before it, of the same value and the same thread; the meetings that stay are those of the same threads, in the same
//! order; and with fewer events there is less synchronization, which no read needs that reads what atomicity or
//! races leave it, while one that reads what happens before it has the same value there from the round before. An idle update
//! goes on the same condition as there: its cell is not mixed.
//!
//! **What a round did itself** is not put back, as for threads that wait alone; it is built. A race is between
//! two accesses, in at most two rounds of one loop, and a fault is in one. So the first [`MOST_ROUNDS`] rounds of a loop stay, and
//! behind them the threads spin: that is the end of an execution if no thread will write anything else to what they read, and
//! else of none.

use wattle_memory::{Analysis, EventId, Graph, Kind, Model, ThreadId};

use super::process::Address;
use super::state::{State, Status};

/// How many rounds of a loop are built: one for each side of a race.
pub(super) const MOST_ROUNDS: u32 = 2;

/// What a thread has done in an iteration, if threads may repeat it together.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The gates that it has come to.
    pub gates: Vec<usize>,
    /// Its arrival at the last of them.
    pub arrival: Option<EventId>,
    pub reads: Vec<EventId>,
    /// The writes of updates that have written back what they read.
    pub idle: Vec<EventId>,
    /// Its stores, none of which is atomic.
    pub writes: Vec<EventId>,
}

impl Round {
    /// The numbers of its events.
    pub fn events(&mut self) -> impl Iterator<Item = &mut EventId> {
        self.reads.iter_mut().chain(&mut self.idle).chain(&mut self.writes).chain(&mut self.arrival)
    }

    /// Its reads, and the writes of its idle updates.
    pub fn looks(&self) -> impl Iterator<Item = EventId> + '_ {
        self.reads.iter().chain(&self.idle).copied()
    }

    /// Whether each store has written what the cell held when the iteration began, which is known where its thread alone has
    /// written the cell.
    pub fn leaves_memory(&self, state: &State<'_>, thread: ThreadId) -> bool {
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

/// Decides of the threads that have come round, once no other moves, which of them spin. Those go on of whom others have gone
/// another way, or may only do so later. Returns whether one goes on.
pub(super) fn close(state: &mut State<'_>) -> bool {
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
fn greatest(state: &State<'_>, came: &[ThreadId], may_come: impl Fn(ThreadId) -> bool) -> Vec<ThreadId> {
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
fn meets_only(state: &State<'_>, round: &Round, is_one: impl Fn(ThreadId) -> bool) -> bool {
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
pub(super) fn looks(state: &State<'_>, graph: &Graph) -> Vec<u32> {
    let repeated = state.runners.iter().flat_map(|runner| &runner.repeated).map(|&event| graph.event(event));
    repeated.filter(|event| event.label.kind == Kind::Read).map(|event| event.source).collect()
}

/// The cells of idle updates in rounds that another thread writes, or reads atomically, without being ordered with the update by
/// what happens before, nor by atomicity.
pub(super) fn mixed(model: Model, state: &State<'_>, graph: &Graph, analysis: &Analysis) -> Vec<Address> {
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
