//! Which lanes of a warp are together at an `activemask`.
//!
//! The hardware chooses: each thread that executes the instruction does so together with some others of its warp that are
//! there too, or alone, and gets the mask of these (PTX ISA 8.8, 9.7.13.11 "activemask"). So a choice is a partition of each
//! warp at each such instruction, and a launch is searched once for each of them. A thread waits for the lanes of its part;
//! where one of them never comes, the choice is none of this execution, and another one has that lane apart.
//!
//! Where there are too many choices, or a thread can come to the instruction again and be together with lanes in another
//! iteration, some of them are searched: what they show is wrong, and where they show nothing, nothing is known.

use wattle_modules::code::{Op, Special};

use crate::world::{Part, statement};

/// The most choices that are searched.
const MOST_WAYS: usize = 256;

/// A warp at an instruction.
#[derive(Debug)]
struct Place {
    statement: u32,
    /// The first thread of the warp, among all.
    first: usize,
    /// For each lane the number of its part: at most one more than those before it have.
    parts: Vec<u8>,
}

impl Place {
    /// Goes on to the next partition; back to the first one, and `false`, behind the last.
    fn next(&mut self) -> bool {
        for at in (1..self.parts.len()).rev() {
            let most = self.parts[..at].iter().max().map_or(0, |most| most + 1);
            if self.parts[at] < most {
                self.parts[at] += 1;
                self.parts[at + 1..].fill(0);
                return true;
            }
        }
        self.parts.fill(0);
        false
    }
}

/// The choice of a search.
#[derive(Debug, Default)]
pub(crate) struct Active {
    places: Vec<Place>,
    /// An instruction at which not all that is permitted can be chosen.
    repeats: Option<u32>,
    tried: usize,
}

impl Active {
    /// The first choice for these launches: all lanes that can be together are.
    pub fn of(parts: &[Part]) -> Active {
        let mut active = Active::default();
        for (number, part) in (0..).zip(parts) {
            let (warp, per_block) = (part.warp() as usize, part.launch.block_len() as usize);
            let is_asked = |at: &u32| {
                let step = &part.kernel().steps[*at as usize];
                matches!(step.op, Op::Special { which: Special::Active, .. })
            };
            for at in (0..part.kernel().steps.len() as u32).filter(is_asked) {
                let statement = statement(number, at);
                for block in 0..part.launch.blocks() as usize {
                    for from in (0..per_block).step_by(warp.max(1)) {
                        let lanes = warp.min(per_block - from);
                        if lanes > 1 {
                            let first = part.first + block * per_block + from;
                            active.places.push(Place { statement, first, parts: vec![0; lanes] });
                        }
                    }
                }
                if per_block > 1 && part.flow.comes_again(at as usize) {
                    active.repeats.get_or_insert(statement);
                }
            }
        }
        active
    }

    /// The instruction at which some warp has more than one way, if there is one.
    pub fn is_chosen(&self) -> Option<u32> {
        self.places.first().map(|place| place.statement)
    }

    /// The lanes that are together with one at an instruction.
    pub fn together(&self, statement: u32, first: usize, lane: u32) -> u64 {
        let place = self.places.iter().find(|place| place.statement == statement && place.first == first);
        let Some(place) = place else { return 1 << lane };
        let own = place.parts.get(lane as usize);
        let same = (0..place.parts.len()).filter(|&other| place.parts.get(other) == own);
        same.fold(1 << lane, |all, other| all | 1 << other)
    }

    /// Goes back to the first choice.
    pub fn restart(&mut self) {
        self.tried = 0;
        self.places.iter_mut().for_each(|place| place.parts.fill(0));
    }

    /// Goes on to the next choice; `false` behind the last one, and where enough have been made.
    pub fn next(&mut self) -> bool {
        self.tried += 1;
        if self.tried == MOST_WAYS {
            // The last one has all lanes alone, which is the furthest from the first.
            for place in &mut self.places {
                place.parts.iter_mut().zip(0..).for_each(|(part, lane)| *part = lane);
            }
        }
        self.tried <= MOST_WAYS && (self.tried == MOST_WAYS || self.places.iter_mut().any(Place::next))
    }

    /// The instruction at which ways are left that were not chosen, if there is one, and why; of a search through all choices
    /// that were to be made.
    pub fn left_open(&self) -> Option<(u32, &'static str)> {
        if let Some(statement) = self.repeats {
            return Some((
                statement,
                "a loop comes to it again, where a lane may be together with those of other turns",
            ));
        }
        let is_cut = self.tried > MOST_WAYS;
        let why = "more ways than are tried, so launch it with fewer lanes in a warp, or with fewer warps";
        self.is_chosen().filter(|_| is_cut).map(|statement| (statement, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bell's numbers count partitions.
    #[test]
    fn all_partitions_come_once() {
        for (lanes, count) in [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)] {
            let mut place = Place { statement: 0, first: 0, parts: vec![0; lanes] };
            let mut seen = std::collections::HashSet::from([place.parts.clone()]);
            while place.next() {
                assert!(seen.insert(place.parts.clone()));
            }
            assert_eq!(seen.len(), count);
        }
    }

    #[test]
    fn where_there_are_too_many_the_last_one_has_all_lanes_alone() {
        let place = |first| Place { statement: 7, first, parts: vec![0; 32] };
        let mut active = Active { places: vec![place(0), place(32)], ..Active::default() };
        assert_eq!(active.together(7, 32, 3), 0xFFFF_FFFF);
        let mut count = 1;
        while active.next() {
            count += 1;
        }
        assert_eq!((count, active.together(7, 0, 3)), (MOST_WAYS + 1, 8));
        assert!(active.left_open().is_some());
    }
}
