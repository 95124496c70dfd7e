//! Why a search was not exhaustive.

use std::collections::BTreeSet;

use wattle_check::checker::Unknown;
use wattle_check::search::{End, FOUND_NOTHING, MOST_TURNS, Statistics};

use crate::world::World;

/// Why a search of a whole program that ended so shows nothing, if it does not: it was not exhaustive, or found no
/// execution.
pub(crate) fn gap_of_whole(
    world: &World,
    end: &End,
    statistics: &Statistics,
    loop_bound: u32,
    loops: &str,
) -> Option<String> {
    let nothing = || (matches!(end, End::Exhausted) && statistics.found_nothing()).then(|| FOUND_NOTHING.into());
    gap(world, end, statistics, loop_bound, loops).or_else(nothing)
}

/// Why a search that ended so was not exhaustive, if it was not.
pub(crate) fn gap(world: &World, end: &End, statistics: &Statistics, loop_bound: u32, loops: &str) -> Option<String> {
    match end {
        End::Stopped(stopped) => Some(match world.turns.many() {
            Some((jump, count)) => {
                let at = world.place_of(jump as usize);
                format!("{stopped} after {count} turns of the loop at {at}, which looks at no memory")
            }
            None => stopped.to_string(),
        }),
        End::Problem(_) => Some("accesses of different sizes meet in one place".into()),
        End::Exhausted | End::BrokenOff if statistics.bounded > 0 => {
            Some(Unknown::LoopsAtBound { loops: loops.to_owned(), bound: loop_bound }.to_string())
        }
        End::Exhausted | End::BrokenOff if statistics.endless > 0 => Some(format!(
            "{loops} does not end, or not within {MOST_TURNS} iterations, and nothing in it depends on other threads"
        )),
        End::Exhausted | End::BrokenOff if !statistics.is_exhaustive() => Some(match statistics.cut {
            0 => "it was not decided whether a thread's stores depend on a read of it".into(),
            _ => format!("an iteration of {loops} can fail in more ways than are tried"),
        }),
        End::Exhausted | End::BrokenOff => None,
    }
}

/// The loops with these jumps back, in words.
pub(crate) fn loops_at(world: &World, jumps: &BTreeSet<u32>) -> String {
    let places: BTreeSet<String> = jumps.iter().map(|&jump| world.place_of(jump as usize)).collect();
    match places.len() {
        0 => "some loop".into(),
        1 => format!("the loop at {}", places.into_iter().collect::<String>()),
        _ => format!("one of the loops at {}", places.into_iter().collect::<Vec<_>>().join(", ")),
    }
}
