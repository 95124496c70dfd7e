//! Barriers of a quorum: the threads that arrive first pass, and the search branches over which those are.

use super::process::Members;
use super::searcher::Open;
use super::state::State;

/// The first barrier that some, but not all, of the arrived threads can pass.
pub(super) fn open_gate(state: &State<'_>) -> Option<(usize, usize)> {
    state.closed.iter().find_map(|&number| match state.gates[number].members {
        Members::Quorum(quorum) if state.gates[number].arrivals.len() >= quorum as usize => {
            Some((number, quorum as usize))
        }
        Members::Quorum(_) | Members::Threads(_) | Members::Remaining(_) => None,
    })
}

/// Branches over which threads pass a barrier first.
pub(super) fn open_gates<'w>(state: &State<'w>, gate: usize, quorum: usize, stack: &mut Vec<Open<'w>>) {
    for first in subsets(state.gates[gate].arrivals.len(), quorum) {
        let mut next = state.clone();
        next.open(gate, &first);
        stack.push(Open { state: next, known: None });
    }
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
    use super::subsets;

    #[test]
    fn all_subsets_of_a_size_and_no_others() {
        assert_eq!(subsets(3, 2).len(), 3);
        assert!(subsets(3, 2).contains(&vec![0, 2]));
        assert_eq!(subsets(4, 0), [Vec::<usize>::new()]);
        // Nothing else is built on the way there.
        assert_eq!(subsets(64, 64), [(0..64).collect::<Vec<_>>()]);
    }
}
