//! The meaning of the instructions of a warp: PTX ISA 8.8, 9.7.9.6 "shfl.sync", 9.7.13.9 "vote.sync", 9.7.13.10
//! "match.sync", 9.7.13.12 "redux.sync", 9.7.13.14 "elect.sync".

use super::combine;
use crate::exchange::{Exchange, Match, Vote};

/// The number of lanes of a warp (`WARP_SZ`).
pub const LANES: u32 = 32;

/// The mask of these lanes.
fn bits(lanes: impl Iterator<Item = usize>) -> u64 {
    lanes.fold(0, |all, lane| all | 1 << lane)
}

/// A lane's operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The value that the lane gives.
    pub a: u64,
    /// The lane or the distance of a shuffle.
    pub b: u64,
    /// The clamp and the segments of a shuffle.
    pub c: u64,
}

/// The result of a lane, and its predicate: of a shuffle, whether its source was in range; of a match, whether all
/// matched. `parts` are those of the lanes in the member mask; a shuffle from another lane is undefined, for which
/// there is `None`.
pub fn result(how: Exchange, lane: u32, parts: &[Option<Part>; LANES as usize]) -> Option<(u64, bool)> {
    let own = parts[lane as usize].unwrap_or_default();
    let mut values = parts.iter().flatten().map(|part| part.a);
    let holds = |value: u64| value != 0;
    match how {
        Exchange::Barrier => Some((0, false)),
        // Any lane that is there, always the same: the lowest.
        Exchange::Elect => {
            let leader = (0..LANES).find(|&at| parts[at as usize].is_some()).unwrap_or(lane);
            Some((leader.into(), leader == lane))
        }
        Exchange::Vote(Vote::Any) => Some((u64::from(values.any(holds)), false)),
        Exchange::Vote(Vote::All) => Some((u64::from(values.all(holds)), false)),
        Exchange::Vote(Vote::Same) => Some((u64::from(values.all(|value| value == own.a)), false)),
        Exchange::Vote(Vote::Ballot) => {
            let voted = |at: &usize| parts[*at].is_some_and(|part| holds(part.a));
            Some((bits((0..LANES as usize).filter(voted)), false))
        }
        Exchange::Combine(how) => {
            let values: Vec<Option<u64>> = parts.iter().map(|part| part.map(|part| part.a)).collect();
            combine::result(how, lane as usize, &values).map(|value| (value, false))
        }
        Exchange::Match(how) => {
            let there = |at: &usize| parts[*at].is_some();
            let equal = |at: &usize| parts[*at].is_some_and(|part| part.a == own.a);
            let (there, equal) = (bits((0..LANES as usize).filter(there)), bits((0..LANES as usize).filter(equal)));
            Some(matched(how, there, equal))
        }
        Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => {
            let (source, within) = source(how, lane, own.b, own.c);
            parts[source as usize].map(|part| (part.a, within))
        }
    }
}

/// The result and the predicate of a match, of lanes of which some have the own lane's value.
pub fn matched(how: Match, lanes: u64, equal: u64) -> (u64, bool) {
    match how {
        Match::Any => (equal, false),
        Match::All => (if equal == lanes { lanes } else { 0 }, equal == lanes),
    }
}

/// The lane from which a shuffle takes its value, and whether it is in range; else it is the lane itself.
pub fn source(how: Exchange, lane: u32, b: u64, c: u64) -> (u32, bool) {
    let (b, clamp, segments) = (b as u32 & 31, c as u32 & 31, c as u32 >> 8 & 31);
    let most = (lane & segments) | (clamp & !segments);
    let indexed = (lane & segments) | (b & !segments);
    let (source, within) = match how {
        Exchange::Up => (lane.wrapping_sub(b), lane as i32 - b as i32 >= most as i32),
        Exchange::Down => (lane + b, lane + b <= most),
        Exchange::Butterfly => (lane ^ b, lane ^ b <= most),
        Exchange::Index => (indexed, indexed <= most),
        Exchange::Barrier | Exchange::Elect | Exchange::Vote(_) | Exchange::Match(_) | Exchange::Combine(_) => {
            (lane, false)
        }
    };
    (if within { source } else { lane }, within)
}
