//! The host's sine and cosine of large angles.
//!
//! C libraries reduce large angles with too few digits of π now and then: glibc 2.36 is 8 ulp wrong for the `f64` that is
//! nearest to a multiple of π/2. So that the bound holds, the angle is reduced here (Payne and Hanek), and the library
//! computes of angles up to π/4.

use std::f64::consts::FRAC_PI_2;

use crate::expand::FOUR_BY_PI_WORDS;

/// What π/2 is above its nearest `f64`.
const HALF_PI_REST: f64 = 6.123233995736766e-17;
/// From here on angles are reduced here: libraries do smaller ones in other ways, which are right.
const LARGE: f64 = (1u64 << 26) as f64;

/// A float that can be an angle.
pub(crate) trait Angle {
    fn sin(self) -> Self;
    fn cos(self) -> Self;
}

impl Angle for f32 {
    fn sin(self) -> f32 {
        f32::sin(self)
    }
    fn cos(self) -> f32 {
        f32::cos(self)
    }
}

impl Angle for f64 {
    fn sin(self) -> f64 {
        if is_large(self) { turned(self.abs(), 0) * self.signum() } else { f64::sin(self) }
    }
    fn cos(self) -> f64 {
        if is_large(self) { turned(self.abs(), 1) } else { f64::cos(self) }
    }
}

fn is_large(x: f64) -> bool {
    x.abs() >= LARGE && x.is_finite()
}

/// The sine of a large `x` turned by `quarters` quarter turns.
fn turned(x: f64, quarters: u32) -> f64 {
    let Reduced { n, r, c } = reduce(x);
    let n = n + quarters;
    // The second term is below an ulp.
    let size = if n & 1 == 0 { r.sin() + c * r.cos() } else { r.cos() - c * r.sin() };
    if n & 2 == 0 { size } else { -size }
}

/// x = n π/2 + r + c, but for whole turns.
struct Reduced {
    n: u32,
    r: f64,
    c: f64,
}

/// Reduces a finite x from `LARGE` on: see `expand::payne_hanek`, which does the same in a kernel's words.
fn reduce(x: f64) -> Reduced {
    let fraction = u128::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52);
    // Of the digits of 2/π, with a word of zeros before them, those that are more than whole turns are left out.
    // The first that counts makes two quarters with the fraction, which is a whole number here.
    let position = (x.to_bits() >> 52) as usize + 64 - 1 - (1023 + 52 + 1);
    let word = |at: usize| at.checked_sub(1).and_then(|at| FOUR_BY_PI_WORDS.get(at)).copied().unwrap_or(0);
    let (first, shift) = (position / 64, position % 64);
    let digits = |at: usize| {
        let both = u128::from(word(first + at)) << 64 | u128::from(word(first + at + 1));
        (both << shift >> 64) as u64
    };
    let product = |at: usize| u128::from(digits(at)) * fraction;
    let turns = (product(0) << 64).wrapping_add(product(1)).wrapping_add(product(2) >> 64);
    // Two bits are whole quarters; half a quarter is added and taken off again to round.
    let rounded = turns.wrapping_add(1 << 125);
    let rest = (rounded & ((1 << 126) - 1)) as i128 - (1 << 125);
    let high = rest as f64;
    let low = (rest - high as i128) as f64;
    let unit = 2f64.powi(-126);
    let (high, low) = (high * unit, low * unit);
    let r = high * FRAC_PI_2;
    let c = high.mul_add(FRAC_PI_2, -r) + (high * HALF_PI_REST + low * FRAC_PI_2);
    Reduced { n: (rounded >> 126) as u32, r, c }
}
