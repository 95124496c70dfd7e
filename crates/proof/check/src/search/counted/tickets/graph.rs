//! The states in which units stand at additions, and how they come from one to the next.

use super::super::chain::Addition;
use super::segment::Member;

/// A state of a unit in which one of its threads is at an addition.
pub struct Stand<'w> {
    pub members: Vec<Member<'w>>,
    pub adder: usize,
    pub counter: usize,
    pub addition: Addition,
    /// What comes behind the tickets so far: the next stand, or none, with the first and last place of those.
    pub next: Vec<(Option<usize>, [usize; 2])>,
    /// The number of places that it has been given.
    pub given: usize,
}

/// The states of a unit.
pub struct Graph<'w> {
    pub stands: Vec<Stand<'w>>,
    /// The states in which its threads rest.
    pub ends: Vec<Vec<Member<'w>>>,
    /// Whether states that are not equal were taken for one, since they do the same but for the rounds that they have
    /// gone.
    pub merges_rounds: bool,
}

impl Graph<'_> {
    pub fn adds_to(&self, counter: usize) -> bool {
        self.stands.iter().any(|stand| stand.counter == counter)
    }

    /// The least and the greatest number of additions to a counter on a way from the first stand to an end; `None`
    /// where the unit comes back to a stand.
    pub fn additions(&self, counter: usize) -> Option<[usize; 2]> {
        let mut known = vec![None; self.stands.len()];
        self.additions_from(0, counter, &mut known, self.stands.len())
    }

    fn additions_from(
        &self,
        stand: usize,
        counter: usize,
        known: &mut Vec<Option<[usize; 2]>>,
        depth: usize,
    ) -> Option<[usize; 2]> {
        if let Some(known) = known[stand] {
            return Some(known);
        }
        let depth = depth.checked_sub(1)?;
        let Stand { counter: own, next, .. } = &self.stands[stand];
        let mut behind: Option<[usize; 2]> = None;
        for &(next, _) in next {
            let [least, most] = match next {
                Some(next) => self.additions_from(next, counter, known, depth)?,
                None => [0; 2],
            };
            let so_far = behind.get_or_insert([least, most]);
            *so_far = [so_far[0].min(least), so_far[1].max(most)];
        }
        let here = usize::from(*own == counter);
        let all = behind.unwrap_or_default().map(|behind| behind + here);
        known[stand] = Some(all);
        Some(all)
    }

    /// The last place of a counter with which the unit comes to another addition there.
    pub fn last_before_another(&self, counter: usize) -> Option<usize> {
        let comes_to = |from: usize| {
            let mut open = vec![from];
            let mut seen = vec![false; self.stands.len()];
            while let Some(stand) = open.pop() {
                if self.stands[stand].counter == counter {
                    return true;
                }
                if !std::mem::replace(&mut seen[stand], true) {
                    open.extend(self.stands[stand].next.iter().filter_map(|(next, _)| *next));
                }
            }
            false
        };
        let here = self.stands.iter().filter(|stand| stand.counter == counter);
        let coming = here.flat_map(|stand| &stand.next).filter(|(next, _)| next.is_some_and(comes_to));
        coming.map(|&(_, [_, last])| last).max()
    }

    /// Whether the unit, which adds to one counter alone, adds again with each place before this one, and ends with the
    /// others.
    pub fn goes_on_until(&self, place: usize) -> bool {
        let ends = self.stands.iter().flat_map(|stand| &stand.next).filter(|(next, _)| next.is_none());
        ends.into_iter().all(|&(_, [first, _])| first >= place)
    }
}
