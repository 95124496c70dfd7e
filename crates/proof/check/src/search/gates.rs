//! Barriers of a quorum: the threads or groups that arrive first pass, and the search branches over which those are.

use wattle_memory::ThreadId;

use super::process::Members;
use super::searcher::{Halt, Open, Search};
use super::state::{Gate, State, Status};

/// The first barrier that some, but not all, of the arrived threads can pass, and how many threads or groups pass it.
pub(super) fn open_gate(state: &State<'_>) -> Option<(usize, usize)> {
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
        state: &State<'w>,
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

/// For each group its arrivals at a gate, one behind the other, each as the numbers of its threads' arrivals. The threads of an
/// arrival have come to one statement, where that is asked for.
fn arrived_groups(state: &State<'_>, gate: &Gate, of: &[ThreadId], size: u32) -> Vec<Vec<Vec<usize>>> {
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
