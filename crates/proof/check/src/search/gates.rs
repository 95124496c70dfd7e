//! Barriers of a quorum: the threads or groups that arrive first pass, and the search branches over which those are.

use wattle_memory::ThreadId;

use super::process::Members;
use super::searcher::Open;
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

/// Branches over which threads pass a barrier first.
pub(super) fn open_gates<'w>(state: &State<'w>, gate: usize, quorum: usize, stack: &mut Vec<Open<'w>>) {
    let all = match &state.gates[gate].members {
        Members::Groups { of, size, .. } => {
            let groups = arrived_groups(state, &state.gates[gate], of, *size);
            let lengths: Vec<usize> = groups.iter().map(Vec::len).collect();
            let pass = |counts: Vec<usize>| {
                let firsts = groups.iter().zip(counts).flat_map(|(arrivals, count)| arrivals[..count].concat());
                firsts.collect()
            };
            shares(&lengths, quorum).into_iter().map(pass).collect()
        }
        Members::Quorum(_) | Members::Threads(_) | Members::Remaining(_) => {
            subsets(state.gates[gate].arrivals.len(), quorum)
        }
    };
    for first in all {
        let mut next = state.clone();
        next.open(gate, &first);
        stack.push(Open { state: next, known: None });
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

/// All subsets of `size` of the numbers below `of`.
fn subsets(of: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for number in 0..of {
        let with = all.iter().filter(|set: &&Vec<usize>| set.len() < size).map(|set| {
            let mut set = set.clone();
            set.push(number);
            set
        });
        let with: Vec<Vec<usize>> = with.collect();
        all.extend(with);
        // Those that too few numbers are left for go at once: all arrivals of a warp alone have one subset, not 2^32.
        all.retain(|set| set.len() + (of - number - 1) >= size);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{shares, subsets};

    #[test]
    fn all_subsets_of_a_size_and_no_others() {
        assert_eq!(subsets(3, 2).len(), 3);
        assert!(subsets(3, 2).contains(&vec![0, 2]));
        assert_eq!(subsets(4, 0), [Vec::<usize>::new()]);
        // Nothing else is built on the way there.
        assert_eq!(subsets(64, 64), [(0..64).collect::<Vec<_>>()]);
    }

    #[test]
    fn shares_of_what_there_is() {
        assert_eq!(shares(&[1, 1, 1], 2), [vec![0, 1, 1], vec![1, 0, 1], vec![1, 1, 0]]);
        assert_eq!(shares(&[2, 0, 1], 2), [vec![1, 0, 1], vec![2, 0, 0]]);
        assert_eq!(shares(&[1, 1], 2), [vec![1, 1]]);
        assert!(shares(&[1], 2).is_empty());
    }
}
