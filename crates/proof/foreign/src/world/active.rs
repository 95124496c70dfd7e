//! Which lanes of a warp are together at an `activemask`.
//!
//! The hardware chooses: each thread that executes the instruction does so together with some others of its warp that
//! are there too, or alone, and gets the mask of these (PTX ISA 8.8, 9.7.13.11 "activemask"). So a choice is a
//! partition of each warp at each such instruction, and a launch is searched once for each of them. A thread waits for
//! the lanes of its part; where one of them never comes, the choice is none of this execution, and another one has that
//! lane apart.
//!
//! Which lanes come to an instruction shows in the searches: at first all are apart, and the choices are of those that
//! have come in some execution; where others come in one of these, the choices begin again. A lane that comes in no
//! execution makes no difference: with whom it is together, these wait for it, and their choice is none; and where it
//! would come in one of a choice that is not searched, it comes in that which has it apart, since it gets there by what
//! has happened before it is waited for.
//!
//! Where there are too many choices, or a thread can come to the instruction again and be together with lanes in
//! another iteration, some of them are searched: what they show is wrong, and where they show nothing, nothing is
//! known.

use std::sync::atomic::{AtomicU64, Ordering};

use wattle_modules::code::{Op, Special};

use super::part::{Part, statement};

/// The most choices that are searched: those of eight lanes are 4,140, and before them come some of fewer.
const MOST_WAYS: usize = 4_200;
/// The most choices where their searches have had more executions than this.
const MOST_WAYS_OF_LONG: usize = 256;
const LONG: u64 = 1 << 14;

/// A warp at an `activemask`, and the lanes that are chosen to be together there.
#[derive(Debug)]
struct Warp {
    statement: u32,
    /// The first thread of the warp, among all.
    first: usize,
    /// For each lane that is chosen for the number of its part: at most one more than those before it have.
    parts: Vec<u8>,
    /// The lanes that are chosen for, in ascending order; the others are apart.
    lanes: Vec<u32>,
    /// The lanes that have come in some execution.
    come: AtomicU64,
}

impl Warp {
    fn of(statement: u32, first: usize) -> Warp {
        Warp { statement, first, parts: Vec::new(), lanes: Vec::new(), come: AtomicU64::new(0) }
    }

    /// Begins again with the lanes that have come; returns whether there are more of them than there were.
    fn widen(&mut self) -> bool {
        let come = *self.come.get_mut();
        let before = self.lanes.len();
        self.lanes = (0..u64::BITS).filter(|lane| come >> lane & 1 == 1).collect();
        self.lanes.len() > before
    }

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
    warps: Vec<Warp>,
    /// An instruction at which not all that is permitted can be chosen.
    repeats: Option<u32>,
    tried: usize,
    /// Whether choices are left that were not searched.
    is_cut: bool,
}

impl Active {
    /// The first choice for these launches: each lane is apart.
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
                        if warp.min(per_block - from) > 1 {
                            active.warps.push(Warp::of(statement, part.first + block * per_block + from));
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
        self.warps.first().map(|warp| warp.statement)
    }

    /// The lanes that are together with one that has come to an instruction.
    pub fn together(&self, statement: u32, first: usize, lane: u32) -> u64 {
        let warp = self.warps.iter().find(|warp| warp.statement == statement && warp.first == first);
        let Some(warp) = warp else { return 1 << lane };
        warp.come.fetch_or(1 << lane, Ordering::Relaxed);
        let part = |lane: u32| Some(warp.parts[warp.lanes.binary_search(&lane).ok()?]);
        let Some(own) = part(lane) else { return 1 << lane };
        let same = warp.lanes.iter().zip(&warp.parts).filter(|(_, other)| **other == own);
        same.fold(0, |all, (other, _)| all | 1 << other)
    }

    /// Goes back to the first choice.
    pub fn restart(&mut self) {
        (self.tried, self.is_cut) = (0, false);
        self.warps.iter_mut().for_each(|warp| *warp = Warp::of(warp.statement, warp.first));
    }

    /// Goes on to the next choice; `false` behind the last one, and where enough have been made, whose searches have had
    /// this many executions in all.
    pub fn next(&mut self, executions: u64) -> bool {
        self.tried += 1;
        let most = if executions > LONG { MOST_WAYS_OF_LONG } else { MOST_WAYS };
        if !self.warps.is_empty() && self.tried > most {
            self.is_cut = true;
            return false;
        }
        let widened = self.warps.iter_mut().map(Warp::widen).fold(false, |any, widened| any | widened);
        if widened {
            // All lanes together come first: that all are apart has been searched.
            self.warps.iter_mut().for_each(|warp| warp.parts = vec![0; warp.lanes.len()]);
        }
        widened || self.warps.iter_mut().any(Warp::next)
    }

    /// The instruction at which ways are left that were not chosen, if there is one, and why; of a search through all
    /// choices that were to be made.
    pub fn left_open(&self) -> Option<(u32, &'static str)> {
        if let Some(statement) = self.repeats {
            return Some((
                statement,
                "a loop comes to it again, where a lane may be together with those of other turns",
            ));
        }
        let why = "more ways than are tried, so launch it with fewer lanes in a warp, or with fewer warps";
        self.is_chosen().filter(|_| self.is_cut).map(|statement| (statement, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warp(lanes: u32) -> Warp {
        let (parts, lanes) = (vec![0; lanes as usize], (0..lanes).collect());
        Warp { parts, lanes, ..Warp::of(7, 0) }
    }

    /// As many partitions come as Bell's number of the lanes says.
    #[test]
    fn all_partitions_come_once() {
        for (lanes, count) in [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52)] {
            let mut warp = warp(lanes);
            let mut seen = std::collections::HashSet::from([warp.parts.clone()]);
            while warp.next() {
                assert!(seen.insert(warp.parts.clone()));
            }
            assert_eq!(seen.len(), count);
        }
    }

    #[test]
    fn lanes_are_chosen_for_once_they_have_come() {
        let mut active = Active { warps: vec![Warp::of(7, 0)], ..Active::default() };
        assert_eq!(active.together(7, 0, 3), 8);
        assert_eq!(active.together(7, 0, 5), 32);
        let mut ways = Vec::new();
        while active.next(0) {
            // Another one comes where both are together, in a choice that is not the first.
            let mask = active.together(7, 0, 3);
            if ways.len() == 1 {
                active.together(7, 0, 9);
            }
            ways.push((mask, active.together(7, 0, 5)));
        }
        let of_three = [(0b10_0010_1000, 0b10_0010_1000), (0b10_1000, 0b10_1000), (0b10_0000_1000, 1 << 5)];
        assert_eq!(ways[..2], [(0b10_1000, 0b10_1000), (8, 32)]);
        assert_eq!(ways[2..5], of_three);
        assert_eq!((ways.len(), active.left_open()), (7, None));
    }

    #[test]
    fn where_there_are_too_many_it_is_left_open() {
        let mut active = Active { warps: vec![Warp::of(7, 0)], ..Active::default() };
        (0..32).for_each(|lane| assert_eq!(active.together(7, 0, lane), 1 << lane));
        let mut count = 1;
        while active.next(0) {
            count += 1;
        }
        assert_eq!(count, MOST_WAYS + 1);
        assert!(active.left_open().is_some());
        active.restart();
        assert!(active.left_open().is_none());
        count = 1;
        (0..32).for_each(|lane| assert_eq!(active.together(7, 0, lane), 1 << lane));
        while active.next(LONG + 1) {
            count += 1;
        }
        assert_eq!(count, MOST_WAYS_OF_LONG + 1);
        assert!(active.left_open().is_some());
    }
}
