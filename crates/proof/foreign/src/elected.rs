//! Which lane an `elect.sync` chooses.
//!
//! It is one of the lanes of the mask, "the same leader thread for the same membermask every time" (PTX ISA 8.8,
//! 9.7.13.14 "elect.sync"), and which one is left to the device. So a choice is a lane for each mask that lanes elect
//! with, and a launch is searched once for each of them. Which masks there are shows in a search: a mask begins with
//! its lowest lane.

use std::sync::{Mutex, PoisonError};

use wattle_core::lock;

/// The most choices that are searched.
const MOST_WAYS: usize = 256;

/// A mask, and the number of the lane among its own that is elected.
#[derive(Debug)]
struct Election {
    mask: u64,
    place: u32,
}

impl Election {
    fn leader(&self) -> u32 {
        let lanes = (0..u64::BITS).filter(|lane| self.mask >> lane & 1 == 1);
        lanes.clone().nth(self.place as usize).or_else(|| lanes.min()).unwrap_or(0)
    }
}

/// The choice of a search, or of a run.
#[derive(Debug, Default)]
pub(crate) struct Elected {
    /// Chooses the lanes of a run.
    seed: Option<u64>,
    /// In the order in which they have shown.
    elections: Mutex<Vec<Election>>,
    tried: usize,
    /// Whether some choices were left out.
    is_cut: bool,
}

impl Elected {
    /// The choice of a run.
    pub fn seeded(seed: u64) -> Elected {
        Elected { seed: Some(seed), ..Elected::default() }
    }

    /// The lane that the lanes of a mask elect.
    pub fn leader(&self, mask: u64) -> u32 {
        let mut elections = lock(&self.elections);
        if let Some(known) = elections.iter().find(|election| election.mask == mask) {
            return known.leader();
        }
        let place = self.seed.map_or(0, |seed| chosen(seed, mask) % mask.count_ones().max(1));
        let election = Election { mask, place };
        let leader = election.leader();
        elections.push(election);
        leader
    }

    /// Goes back to the first choice.
    pub fn restart(&mut self) {
        *self = Elected::default();
    }

    /// Goes on to the next choice: the last mask elects its next lane, and masks that show only then begin anew.
    /// Returns `false` behind the last choice, and where enough have been made; then the first one comes again.
    pub fn next(&mut self) -> bool {
        let elections = self.elections.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.tried += 1;
        while let Some(last) = elections.last_mut() {
            if last.place + 1 < last.mask.count_ones() {
                last.place += 1;
                if self.tried < MOST_WAYS {
                    return true;
                }
                self.is_cut = true;
                break;
            }
            elections.pop();
        }
        elections.clear();
        self.tried = 0;
        false
    }

    /// Why not all is known, where choices were left out.
    pub fn left_open(&self) -> Option<String> {
        self.is_cut.then(|| {
            format!(
                "which lanes `elect` chooses is left to the device, and there are more than {MOST_WAYS} ways: launch the kernel with \
                 fewer lanes in a warp"
            )
        })
    }
}

/// A number that depends on the seed and on the mask (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
fn chosen(seed: u64, mask: u64) -> u32 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mask;
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::Elected;

    #[test]
    fn each_lane_is_elected_by_some_seed_and_always_by_that() {
        let mask = 0b1011;
        let of = |seed| Elected::seeded(seed).leader(mask);
        let leaders: std::collections::BTreeSet<u32> = (0..32).map(of).collect();
        assert_eq!(leaders, [0, 1, 3].into());
        let elected = Elected::seeded(7);
        assert_eq!(elected.leader(mask), elected.leader(mask));
    }

    #[test]
    fn each_mask_elects_each_of_its_lanes() {
        let mut elected = Elected::default();
        let mut seen = Vec::new();
        loop {
            let first = elected.leader(0b110);
            // The second mask shows only with one choice of the first.
            let second = if first == 2 { elected.leader(0b1001) } else { 0 };
            assert_eq!(elected.leader(0b110), first);
            seen.push((first, second));
            if !elected.next() {
                break;
            }
        }
        assert_eq!(seen, [(1, 0), (2, 0), (2, 3)]);
        assert!(elected.left_open().is_none());
        assert_eq!(elected.leader(0b110), 1, "the first choice again");
    }

    #[test]
    fn too_many_choices_are_cut() {
        let mut elected = Elected::default();
        let mut count = 0;
        loop {
            count += 1;
            assert!(elected.leader(u64::from(u32::MAX)) < 32 && elected.leader(u64::from(u32::MAX) << 1) < 33);
            if !elected.next() {
                break;
            }
        }
        assert_eq!(count, super::MOST_WAYS);
        assert!(elected.left_open().is_some());
    }
}
