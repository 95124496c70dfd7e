//! Medians, quartiles and outliers of samples, and the smallest difference that they can distinguish from none.
//!
//! Outliers are classified and counted as criterion does, by Tukey's fences (J. W. Tukey, "Exploratory Data Analysis",
//! 1977), and kept: the median does not mind them.

use serde::{Deserialize, Serialize};

/// A median with its quartiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Half of the samples are below.
    pub median: f64,
    /// A quarter of the samples are below.
    pub lower: f64,
    /// Three quarters of the samples are below.
    pub upper: f64,
}

/// What repeated samples show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub figure: Figure,
    /// The samples beyond 1.5 interquartile ranges from the quartiles.
    pub outliers: u32,
    /// How far from the median the true one can be, at 95 %: 1.57 interquartile ranges over the root of the number of
    /// samples (R. McGill, J. W. Tukey, W. A. Larsen, "Variations of Box Plots", The American Statistician 32, 1978).
    pub uncertainty: f64,
}

impl Spread {
    /// The spread of the samples; `None` where there are none, or one is no number.
    pub fn of(samples: &[f64]) -> Option<Spread> {
        let mut sorted = samples.to_vec();
        if sorted.is_empty() || sorted.iter().any(|sample| !sample.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|part| percentile(&sorted, part));
        let range = upper - lower;
        let (least, most) = (lower - 1.5 * range, upper + 1.5 * range);
        let outliers = sorted.iter().filter(|&&sample| sample < least || sample > most).count() as u32;
        let uncertainty = 1.57 * range / (sorted.len() as f64).sqrt();
        Some(Spread { figure: Figure { median, lower, upper }, outliers, uncertainty })
    }

    /// What several rounds of samples show: the median of what each shows, so that no one round moves it, and all of
    /// their outliers. A round without samples shows nothing; `None` where none shows anything.
    pub fn of_rounds<'s>(rounds: impl IntoIterator<Item = &'s [f64]>) -> Option<Spread> {
        let all: Vec<Spread> = rounds.into_iter().filter_map(Spread::of).collect();
        let median =
            |of: fn(&Spread) -> f64| Spread::of(&all.iter().map(of).collect::<Vec<_>>()).map(|it| it.figure.median);
        let figure = Figure {
            median: median(|spread| spread.figure.median)?,
            lower: median(|spread| spread.figure.lower)?,
            upper: median(|spread| spread.figure.upper)?,
        };
        let outliers = all.iter().map(|spread| spread.outliers).sum();
        Some(Spread { figure, outliers, uncertainty: median(|spread| spread.uncertainty)? })
    }
}

impl Figure {
    /// The figure in another unit.
    pub fn scaled(self, by: f64) -> Figure {
        Figure { median: self.median * by, lower: self.lower * by, upper: self.upper * by }
    }
}

/// The value below which this part of the sorted samples is, between two of them by linear interpolation (criterion's
/// and R's default, type 7 of R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", 1996).
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_data() {
        // R: quantile(c(2, 4, 4, 5, 7, 9, 11, 100)) gives 2, 4, 6, 9.5, 100; the fences are at -4.25 and 17.75.
        let spread = Spread::of(&[9.0, 100.0, 4.0, 2.0, 7.0, 4.0, 11.0, 5.0]).unwrap();
        assert_eq!(spread.figure, Figure { median: 6.0, lower: 4.0, upper: 9.5 });
        assert_eq!(spread.outliers, 1);
        assert!((spread.uncertainty - 1.57 * 5.5 / 8f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_sample_and_none() {
        let spread = Spread::of(&[3.0]).unwrap();
        assert_eq!((spread.figure.median, spread.outliers, spread.uncertainty), (3.0, 0, 0.0));
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn an_outlier_does_not_move_the_median() {
        let mut samples: Vec<f64> = (0..31).map(f64::from).collect();
        samples.push(1e9);
        let spread = Spread::of(&samples).unwrap();
        assert_eq!((spread.figure.median, spread.outliers), (15.5, 1));
    }
}
