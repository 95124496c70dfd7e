//! Barriers: the arrivals at each, and whom they let pass. Of a quorum the threads or groups that arrive first pass,
//! and the search branches over which those are.

use wattle_memory::{EventId, Placement, ThreadId};

use super::gate::{Arrival, Gate};
use super::process::{Barrier, Members};
use super::searcher::{Halt, Open, Search};
use super::state::{SearchState, Status};

impl SearchState<'_> {
    /// Records an arrival; returns the number of its gate.
    pub fn arrive(&mut self, thread: ThreadId, event: EventId, barrier: &Barrier) -> usize {
        let block = Placement { subgroup: 0, thread: 0, ..self.graph.threads()[thread] };
        let key = (block, barrier.instance, barrier.members.clone());
        let known = self.gate_numbers.get(&key).copied();
        let begins_anew =
            |&number: &usize| self.gates[number].open && matches!(barrier.members, Members::Groups { .. });
        let number = known.filter(|number| !begins_anew(number)).unwrap_or_else(|| {
            let number = self.add_gate(barrier.members.clone());
            self.gate_numbers.insert(key, number);
            number
        });
        self.runners[thread].arrivals.push((event, number));
        let Barrier { resource, waits, converges, .. } = *barrier;
        let arrival = Arrival { thread, event, resource, waits, passed: false, converges };
        let gate = &mut self.gates[number];
        // Every earlier arrival happens before one at a gate that is open.
        if gate.open {
            let earlier = gate.arrivals.clone();
            for before in earlier.iter().filter(|before| before.resource == arrival.resource && before.passed) {
                self.graph.synchronize_barrier(before.event, event);
            }
        }
        let gate = &mut self.gates[number];
        gate.arrivals.push(Arrival { passed: gate.open, ..arrival });
        number
    }

    fn add_gate(&mut self, members: Members) -> usize {
        let number = self.gates.len();
        self.gates.push(Gate { members, arrivals: Vec::new(), open: false, brought: Vec::new() });
        self.closed.push(number);
        number
    }

    /// Moves the arrivals that are not among these to the gate's next opening.
    fn keep_out(&mut self, gate: usize, who: &[usize]) {
        let arrivals = std::mem::take(&mut self.gates[gate].arrivals);
        let (pass, others): (Vec<_>, Vec<_>) =
            arrivals.into_iter().enumerate().partition(|(number, _)| who.contains(number));
        let alone = |all: Vec<(usize, Arrival)>| all.into_iter().map(|(_, arrival)| arrival).collect::<Vec<_>>();
        self.gates[gate].arrivals = alone(pass);
        let others = alone(others);
        if others.is_empty() {
            return;
        }
        let next = self.add_gate(self.gates[gate].members.clone());
        self.gate_numbers.values_mut().filter(|number| **number == gate).for_each(|number| *number = next);
        for arrival in &others {
            let runner = &mut self.runners[arrival.thread];
            let is_it = |(event, _): &&mut (EventId, usize)| *event == arrival.event;
            runner.arrivals.iter_mut().filter(is_it).for_each(|(_, number)| *number = next);
            if runner.status == Status::AtBarrier(gate) && arrival.waits {
                runner.status = Status::AtBarrier(next);
            }
        }
        self.gates[next].arrivals = others;
    }

    /// Whether a thread has passed the gate.
    pub fn passed(&self, gate: usize, event: EventId) -> bool {
        self.gates[gate].arrivals.iter().any(|arrival| arrival.event == event && arrival.passed)
    }

    /// The gate at which the event is an arrival.
    pub fn gate_of(&self, event: EventId) -> Option<usize> {
        let arrivals = &self.runners[self.graph.event(event).thread?].arrivals;
        arrivals.binary_search_by_key(&event, |&(arrival, _)| arrival).ok().map(|at| arrivals[at].1)
    }

    /// Lets these arrivals pass, each after all of them.
    pub fn open(&mut self, gate: usize, who: &[usize]) {
        self.closed.retain(|&closed| closed != gate);
        let arrivals = self.gates[gate].arrivals.clone();
        for &before in who {
            for &after in who {
                let (before, after) = (arrivals[before], arrivals[after]);
                if before.event != after.event && before.resource == after.resource && after.waits {
                    self.graph.synchronize_barrier(before.event, after.event);
                }
            }
        }
        if let Members::Groups { .. } = self.gates[gate].members {
            self.keep_out(gate, who);
            self.let_pass(gate);
            return;
        }
        // The others pass too: the gate stays open, and the first arrivals happen before them.
        for (_, late) in arrivals.iter().enumerate().filter(|(number, _)| !who.contains(number)) {
            for &before in who {
                if arrivals[before].resource == late.resource {
                    self.graph.synchronize_barrier(arrivals[before].event, late.event);
                }
            }
        }
        self.let_pass(gate);
    }

    /// Lets all arrivals pass, in no order. A thread that only arrived may wait elsewhere by now, where it stays.
    pub fn let_pass(&mut self, gate: usize) {
        self.closed.retain(|&closed| closed != gate);
        let opened = &mut self.gates[gate];
        opened.open = true;
        for arrival in &mut opened.arrivals {
            arrival.passed = true;
            let status = &mut self.runners[arrival.thread].status;
            if *status == Status::AtBarrier(gate) {
                *status = Status::Ready;
            }
        }
    }
}

/// The first barrier that some, but not all, of the arrived threads can pass, and how many threads or groups pass it.
pub(super) fn open_gate(state: &SearchState<'_>) -> Option<(usize, usize)> {
    state.closed.iter().find_map(|&number| {
        let gate = &state.gates[number];
        let (arrived, wanted) = match &gate.members {
            Members::Quorum(quorum) => (gate.arrivals.len(), *quorum),
            Members::Groups { of, size, count } => {
                (arrived_groups(state, gate, of, *size).iter().map(Vec::len).sum(), *count)
            }
            Members::Threads(_) | Members::Remaining(_) => return None,
        };
        (wanted > 0 && arrived >= wanted as usize).then_some((number, wanted as usize))
    })
}

impl<'w> Search<'_, 'w> {
    /// Branches over which threads pass a barrier first.
    pub(super) fn open_gates(
        &mut self,
        state: &SearchState<'w>,
        gate: usize,
        quorum: usize,
        stack: &mut Vec<Open<'w>>,
    ) -> Result<(), Halt> {
        let mut branch = |first: &[usize]| {
            self.is_within_limits()?;
            let mut next = state.clone();
            next.open(gate, first);
            stack.push(Open { state: next, known: None });
            Ok(())
        };
        match &state.gates[gate].members {
            Members::Groups { of, size, .. } => {
                let groups = arrived_groups(state, &state.gates[gate], of, *size);
                let lengths: Vec<usize> = groups.iter().map(Vec::len).collect();
                let first = |counts: Vec<usize>| {
                    let each = groups.iter().zip(counts).flat_map(|(arrivals, count)| arrivals[..count].concat());
                    each.collect::<Vec<_>>()
                };
                shares(&lengths, quorum).into_iter().try_for_each(|counts| branch(&first(counts)))
            }
            Members::Quorum(_) | Members::Threads(_) | Members::Remaining(_) => {
                subsets(state.gates[gate].arrivals.len(), quorum).try_for_each(|first| branch(&first))
            }
        }
    }
}

/// For each group its arrivals at a gate, one behind the other, each as the numbers of its threads' arrivals. The
/// threads of an arrival have come to one statement, where that is asked for.
fn arrived_groups(state: &SearchState<'_>, gate: &Gate, of: &[ThreadId], size: u32) -> Vec<Vec<Vec<usize>>> {
    let arrivals_of = |&thread: &ThreadId| -> Vec<usize> {
        (0..gate.arrivals.len()).filter(|&number| gate.arrivals[number].thread == thread).collect()
    };
    let group = |threads: &[ThreadId]| {
        let each: Vec<Vec<usize>> = threads.iter().map(arrivals_of).collect();
        let is_left = |thread: &ThreadId| state.runners[*thread].status != Status::Done;
        let left = threads.iter().zip(&each).filter(|(thread, _)| is_left(thread)).map(|(_, own)| own.len()).min();
        let whole = left.unwrap_or_else(|| each.iter().map(Vec::len).max().unwrap_or(0));
        let nth = |number: usize| -> Vec<usize> { each.iter().filter_map(|own| own.get(number).copied()).collect() };
        (0..whole).map(nth).take_while(|arrival| gate.converges(arrival)).collect()
    };
    of.chunks(size.max(1) as usize).map(group).collect()
}

/// All ways to take `size` in all, up to as many of each as there are.
fn shares(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for (number, &most) in of.iter().enumerate() {
        let rest: usize = of[number + 1..].iter().sum();
        let longer = |taken: &Vec<usize>| {
            let missing = size - taken.iter().sum::<usize>();
            let one = |count| [&taken[..], &[count]].concat();
            (missing.saturating_sub(rest)..=most.min(missing)).map(one).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// All subsets of `size` of the numbers below `of`, one at a time: of 32 numbers there may be 600 million.
fn subsets(of: usize, size: usize) -> impl Iterator<Item = Vec<usize>> {
    let first = (size <= of).then(|| (0..size).collect::<Vec<_>>());
    std::iter::successors(first, move |set| {
        // The last number that can be one more moves on, and those behind it follow directly.
        let at = (0..size).rfind(|&at| set[at] + size - at < of)?;
        let moved = set[at] + 1;
        Some(set[..at].iter().copied().chain(moved..moved + size - at).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::{shares, subsets};

    #[test]
    fn all_subsets_of_a_size_and_no_others() {
        let all = |of, size| subsets(of, size).collect::<Vec<_>>();
        assert_eq!(all(3, 2), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(all(4, 0), [[0usize; 0]]);
        assert_eq!(all(2, 3), [[0usize; 0]; 0]);
        assert_eq!(all(64, 64), [(0..64).collect::<Vec<_>>()]);
        assert_eq!(subsets(12, 5).count(), 792);
    }

    #[test]
    fn shares_of_what_there_is() {
        assert_eq!(shares(&[1, 1, 1], 2), [vec![0, 1, 1], vec![1, 0, 1], vec![1, 1, 0]]);
        assert_eq!(shares(&[2, 0, 1], 2), [vec![1, 0, 1], vec![2, 0, 0]]);
        assert_eq!(shares(&[1, 1], 2), [vec![1, 1]]);
        assert!(shares(&[1], 2).is_empty());
    }
}
