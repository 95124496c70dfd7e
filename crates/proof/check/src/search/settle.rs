//! Runs all threads as far as they go without a choice.

use wattle_memory::{ThreadId, stop};

use super::boundaries::system_before;
use super::contents::write_half;
use super::exchange::share_results;
use super::process::Members;
use super::rounds::close;
use super::run::{Runs, run};
use super::state::{EarlyUpdate, SearchState, Status};
use super::{Problem, Setup};

/// Runs all threads until each has ended or waits for a choice. The result is meaningless where
/// [`stop::requested`](wattle_memory::stop::requested) has ended it early.
pub(super) fn settle(setup: &Setup<'_>, state: &mut SearchState<'_>) -> Result<(), Problem> {
    let mut runs = Runs::default();
    let renumbered = std::mem::take(&mut state.renumbered);
    let settled = settle_from(setup, state, &mut runs);
    state.renumbered |= renumbered;
    settled
}

fn settle_from<'w>(setup: &Setup<'_>, state: &mut SearchState<'w>, runs: &mut Runs<'w>) -> Result<(), Problem> {
    loop {
        let mut moved = false;
        for thread in 0..state.runners.len() {
            if state.runners[thread].status == Status::Ready {
                run(setup, state, thread, runs)?;
                moved = true;
            }
        }
        if stop::requested_before() {
            return Ok(());
        }
        finish_early_updates(state);
        moved |= open_full_gates(state);
        for thread in share_results(state) {
            // A run that stopped at a barrier behind went on without the result.
            runs.at_barrier.retain(|&(of, _)| of != thread);
            moved = true;
        }
        moved |= start_threads(setup, state);
        if !moved && !close(state) {
            return Ok(());
        }
    }
}

/// Gives the writes of early read-modify-writes the values that follow from what these have read.
fn finish_early_updates(state: &mut SearchState<'_>) {
    for number in 0..state.early.len() {
        let EarlyUpdate { read, write, change, .. } = state.early[number];
        let (graph, open) = (&state.graph, state.graph.event(write).value.is_none());
        if let (Some(_), Some(location), true) =
            (graph.event(read).value, graph.event(read).location, open && graph.other_half(read).is_some())
        {
            write_half(state, read, write, change, location);
        }
    }
}

/// Opens the barriers at which all members have arrived. This takes no choice, and no order of arrivals matters.
fn open_full_gates(state: &mut SearchState<'_>) -> bool {
    let mut opened = false;
    for number in state.closed.clone() {
        let gate = &state.gates[number];
        let full = match &gate.members {
            Members::Threads(members) | Members::Remaining(members) => {
                let is_left = |member: ThreadId| match gate.members {
                    Members::Remaining(_) => state.runners[member].status != Status::Done,
                    Members::Threads(_) | Members::Quorum(_) | Members::Groups { .. } => true,
                };
                let came = |member: ThreadId| gate.arrivals.iter().any(|arrival| arrival.thread == member);
                members.iter().all(|&member| came(member) || !is_left(member))
                    && gate.converges(&(0..gate.arrivals.len()).collect::<Vec<_>>())
            }
            // Which threads pass a barrier with a quorum first is a choice; see `choose`.
            Members::Quorum(_) | Members::Groups { .. } => false,
        };
        if full {
            let everyone: Vec<usize> = (0..gate.arrivals.len()).collect();
            if gate.brought.is_empty() {
                state.open(number, &everyone);
            } else {
                state.let_pass(number);
                state.meetings.push(number);
            }
            opened = true;
        }
    }
    opened
}

/// Starts the threads whose predecessors have all ended.
fn start_threads(setup: &Setup<'_>, state: &mut SearchState<'_>) -> bool {
    let mut begin: Vec<(&[ThreadId], Vec<ThreadId>)> = Vec::new();
    for (thread, spawn) in setup.threads.iter().enumerate() {
        if state.runners[thread].status == Status::NotStarted
            && spawn.after.iter().all(|&earlier| state.runners[earlier].status == Status::Done)
        {
            match begin.iter_mut().find(|(after, _)| *after == &*spawn.after) {
                Some((_, together)) => together.push(thread),
                None => begin.push((&spawn.after, vec![thread])),
            }
        }
    }
    begin.iter().for_each(|(ended, begins)| state.begin_after(system_before(setup, begins[0]), ended, begins));
    !begin.is_empty()
}
