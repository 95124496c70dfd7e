//! The meaning of the instructions of a warp: PTX ISA 8.8, 9.7.9.6 "shfl.sync", 9.7.13.9 "vote.sync", 9.7.13.12
//! "redux.sync".

use crate::code::{Exchange, Vote};

/// The number of lanes of a warp (`WARP_SZ`).
pub const LANES: u32 = 32;

/// A lane's operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The value.
    pub a: u64,
    /// The lane or the distance of a shuffle.
    pub b: u64,
    /// The clamp and the segments of a shuffle.
    pub c: u64,
}

/// The result of a lane, and the predicate of a shuffle: whether its source was in range. `parts` are those of the lanes in
/// the member mask; a shuffle from another lane is undefined, for which there is `None`.
pub fn result(how: Exchange, lane: u32, parts: &[Option<Part>; LANES as usize]) -> Option<(u64, bool)> {
    let own = parts[lane as usize].unwrap_or_default();
    let mut values = parts.iter().flatten().map(|part| part.a);
    let holds = |value: u64| value != 0;
    match how {
        Exchange::Barrier => Some((0, false)),
        Exchange::Vote(Vote::Any) => Some((u64::from(values.any(holds)), false)),
        Exchange::Vote(Vote::All) => Some((u64::from(values.all(holds)), false)),
        Exchange::Vote(Vote::Ballot) => {
            let bit = |at: usize| u64::from(parts[at].is_some_and(|part| holds(part.a))) << at;
            Some(((0..LANES as usize).map(bit).sum(), false))
        }
        Exchange::Reduce(combined) => values.reduce(combined).map(|value| (value & 0xffff_ffff, false)),
        Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => {
            let (b, clamp, segments) = (own.b as u32 & 31, own.c as u32 & 31, own.c as u32 >> 8 & 31);
            let most = (lane & segments) | (clamp & !segments);
            let least = lane & segments;
            let (source, within) = match how {
                Exchange::Up => (lane as i32 - b as i32, lane as i32 - b as i32 >= most as i32),
                Exchange::Down => ((lane + b) as i32, lane + b <= most),
                Exchange::Butterfly => ((lane ^ b) as i32, lane ^ b <= most),
                _ => ((least | (b & !segments)) as i32, least | (b & !segments) <= most),
            };
            let source = if within { source as usize } else { lane as usize };
            parts[source].map(|part| (part.a, within))
        }
    }
}
