//! Barriers of a quorum: the threads that arrive first pass, and the search branches over which those are.

use super::process::Members;
use super::searcher::{Halt, Open, Search};
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

impl<'w> Search<'_, 'w> {
    /// Branches over which threads pass a barrier first.
    pub(super) fn open_gates(
        &mut self,
        state: &State<'w>,
        gate: usize,
        quorum: usize,
        stack: &mut Vec<Open<'w>>,
    ) -> Result<(), Halt> {
        for first in subsets(state.gates[gate].arrivals.len(), quorum) {
            self.is_within_limits()?;
            let mut next = state.clone();
            next.open(gate, &first);
            stack.push(Open { state: next, known: None });
        }
        Ok(())
    }
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
    use super::subsets;

    #[test]
    fn all_subsets_of_a_size_and_no_others() {
        let all = |of, size| subsets(of, size).collect::<Vec<_>>();
        assert_eq!(all(3, 2), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(all(4, 0), [[0usize; 0]]);
        assert_eq!(all(2, 3), [[0usize; 0]; 0]);
        assert_eq!(all(64, 64), [(0..64).collect::<Vec<_>>()]);
        assert_eq!(subsets(12, 5).count(), 792);
    }
}
