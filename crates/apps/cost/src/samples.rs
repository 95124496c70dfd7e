//! What the rounds of a measurement show of one case.
//!
//! What disturbs a machine for a second, or comes with where memory happens to lie, is in all samples of a row that are
//! taken one after another. So a row's samples are taken in rounds: between two of them all other rows are measured, and
//! each round has allocated its memory anew. A report shows where the medians of a row's rounds differ.

use crate::report::Cost;
use crate::statistics::{Figure, Spread};

/// The samples of a case that one round has taken.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The differences of the pairs, in nanoseconds per operation.
    pub nanoseconds: Vec<f64>,
    /// The differences in cycles, where the device's clock counts these.
    pub cycles: Vec<f64>,
    /// The nanoseconds of the whole launches without the operation.
    pub launches: Vec<f64>,
    /// The nanoseconds per operation that one tick of the clock is.
    pub tick: f64,
    /// The turns of the loop, for the rounds that come.
    pub turns: u32,
}

/// The median of one round, in nanoseconds.
fn median(round: &Samples) -> Option<f64> {
    Spread::of(&round.nanoseconds).map(|spread| spread.figure.median)
}

/// How many nanoseconds two loops differ by that do the same: the most that a round of a case shows, of those whose
/// operation is no instruction.
pub fn floor<'s>(idle: impl IntoIterator<Item = &'s Samples>) -> f64 {
    idle.into_iter().filter_map(median).map(f64::abs).fold(0.0, f64::max)
}

/// What the operation of a case costs, where a difference up to `floor` nanoseconds is none.
pub fn cost(rounds: &[Samples], floor: f64) -> Cost {
    let nanoseconds = Spread::of_rounds(rounds.iter().map(|round| &round.nanoseconds[..]));
    let cycles = Spread::of_rounds(rounds.iter().map(|round| &round.cycles[..]));
    let tick = rounds.iter().map(|round| round.tick).fold(0.0, f64::max);
    let samples = rounds.iter().map(|round| round.nanoseconds.len()).sum::<usize>() as u32;
    let cost = Cost::new(nanoseconds, tick.max(floor), cycles, samples);
    let unit = |round: &Samples| {
        let of = if cycles.is_some() { &round.cycles } else { &round.nanoseconds };
        Spread::of(of).map(|spread| spread.figure.median)
    };
    Cost { rounds: rounds.iter().filter_map(unit).collect(), ..cost }
}

/// The time of the whole launch without the operation, in nanoseconds.
pub fn launch(rounds: &[Samples]) -> Option<Figure> {
    Spread::of_rounds(rounds.iter().map(|round| &round.launches[..])).map(|spread| spread.figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(nanoseconds: [f64; 3]) -> Samples {
        Samples { nanoseconds: nanoseconds.to_vec(), tick: 0.1, ..Samples::default() }
    }

    #[test]
    fn a_disturbed_round_does_not_move_the_figure_and_is_seen() {
        let steady = [round([7.0, 7.1, 7.2]), round([7.0, 7.2, 7.4]), round([6.9, 7.0, 7.1])];
        let found = cost(&steady, 0.5);
        assert_eq!((found.rounds.as_slice(), found.samples), ([7.1, 7.2, 7.0].as_slice(), 9));
        assert!(found.is_steady() && found.nanoseconds.is_some_and(|figure| figure.median == 7.1), "{found:?}");
        let disturbed = [steady[0].clone(), round([40.0, 41.0, 42.0]), steady[2].clone()];
        let found = cost(&disturbed, 0.5);
        assert!(!found.is_steady() && found.nanoseconds.is_some_and(|figure| figure.median < 7.3), "{found:?}");
    }

    #[test]
    fn rounds_that_differ_by_what_nothing_does_are_steady() {
        let found = cost(&[round([1.0; 3]), round([1.4; 3]), round([0.7; 3])], 0.5);
        assert!(found.is_steady(), "{found:?}");
    }

    #[test]
    fn a_round_without_samples_shows_nothing() {
        let found = cost(&[round([7.0; 3]), Samples::default()], 0.5);
        assert_eq!(
            (found.nanoseconds.map(|figure| figure.median), found.rounds.as_slice()),
            (Some(7.0), [7.0].as_slice())
        );
        assert_eq!(cost(&[Samples::default()], 0.5).nanoseconds, None);
    }

    #[test]
    fn the_floor_is_the_most_of_all_rounds() {
        assert_eq!(floor(&[round([0.1, -0.2, 0.3]), round([-0.4, -0.5, -0.6])]), 0.5);
        assert_eq!(floor(&[]), 0.0);
    }
}
