//! The angles that are nearest to multiples of a quarter turn.

use astro_float_num::{BigFloat, Consts, RoundingMode};

/// The floats of `precision` bits that are nearest to multiples of π/2: for each exponent from `low` to `high` the last
/// convergent of the continued fraction that fits, by Lagrange's theorem.
pub fn nearest_to_multiples(precision: u32, low: i32, high: i32) -> Vec<f64> {
    let mut constants = Consts::new().unwrap();
    let mode = RoundingMode::ToEven;
    let working = 2600;
    let half_pi = constants.pi(working, mode).div(&BigFloat::from_u8(2, working), working, mode);
    let mut found = Vec::new();
    for exponent in low..high {
        // m 2^e is near n π/2 where m / n is near π/2 2^-e.
        let e = exponent - precision as i32 + 1;
        let mut ratio = half_pi.clone();
        ratio.set_exponent(ratio.exponent().unwrap() - e);
        let (mut before, mut last) = (0u128, 1u128);
        let limit = 1u128 << precision;
        // The numerators of the convergents: h = a h₁ + h₂.
        for _ in 0..200 {
            let whole = ratio.floor();
            // Behind the first numerator, which is 0 for a ratio below 1, the next is 1, whatever its part.
            let next = if last == 0 {
                Some(before)
            } else {
                small(&whole).and_then(|part| last.checked_mul(part)?.checked_add(before))
            };
            let Some(next) = next.filter(|&next| next < limit) else { break };
            (before, last) = (last, next);
            let rest = ratio.sub(&whole, working, mode);
            if rest.is_zero() {
                break;
            }
            ratio = rest.reciprocal(working, mode);
        }
        found.push(last as f64 * 2f64.powi(e));
    }
    found
}

/// A whole number below 2^120.
fn small(x: &BigFloat) -> Option<u128> {
    if x.is_zero() {
        return Some(0);
    }
    let (words, _, _, exponent, _) = x.as_raw_parts()?;
    if !(1..=120).contains(&exponent) {
        return None;
    }
    let high = u128::from(*words.last()?) << 64 | u128::from(*words.get(words.len().wrapping_sub(2)).unwrap_or(&0));
    Some(high >> (128 - exponent))
}
