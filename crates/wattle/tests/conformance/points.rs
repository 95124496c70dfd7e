//! Operands of mathematical functions.

use crate::harness::is_small;
use crate::random::Random;

/// A float format.
pub trait Format: wattle::prelude::Float + Into<f64> + std::ops::Neg<Output = Self> {
    /// Bits of the significand, with the hidden one.
    const DIGITS: i32;
    /// The least normal number.
    const LEAST: f64;
    /// The greatest finite number.
    const MOST: f64;
    /// The nearest number of this format.
    fn of(x: f64) -> Self;
    /// The next lesser number.
    fn below(self) -> Self;
    /// A number with random bits.
    fn any(bits: u64) -> Self;
}

macro_rules! float_format {
    ($t:ident) => {
        impl Format for $t {
            const DIGITS: i32 = $t::MANTISSA_DIGITS as i32;
            const LEAST: f64 = $t::MIN_POSITIVE as f64;
            const MOST: f64 = $t::MAX as f64;
            fn of(x: f64) -> $t {
                x as $t
            }
            fn below(self) -> $t {
                self.next_down()
            }
            fn any(bits: u64) -> $t {
                $t::from_bits(bits as _)
            }
        }
    };
}
float_format!(f32);
float_format!(f64);

/// How many random operands a function gets.
fn count() -> usize {
    if is_small() { 50 } else { 1000 }
}

/// Operands of functions that are exact: halves, whole numbers, and any bits but subnormal ones.
pub fn exact<T: Format>() -> Vec<[T; 3]> {
    let mut random = Random(4);
    let mut points: Vec<T> = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 1e30, f64::INFINITY].map(T::of).to_vec();
    points.push(T::of(0.5).below());
    points.extend((0..count()).map(|_| T::any(random.next())));
    points.extend((0..count()).map(|_| T::of((random.sized(0.0, f64::from(T::DIGITS)) * 2.0).round() / 2.0)));
    let size = |x: &T| Into::<f64>::into(*x).abs();
    points.retain(|x| size(x) == 0.0 || size(x) >= T::LEAST);
    points.push(T::of(f64::NAN));
    points.into_iter().flat_map(|x| [[x, T::ONE, T::ZERO], [-x, T::ONE, T::ZERO]]).collect()
}
