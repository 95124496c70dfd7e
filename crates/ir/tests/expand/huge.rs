//! `sin` and `cos` of all finite angles, against a library of arbitrary precision.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};
use wattle_ir::Function::{self, *};
use wattle_ir::{Type, eval};

use crate::accuracy::Measured;
use crate::wide::Wide;
use crate::{Expanded, FUSED, PLAIN, ROUGH, Random};

/// The number to about 100 bits.
fn wide(x: &BigFloat) -> Wide {
    let Some((words, _, sign, exponent, _)) = x.as_raw_parts() else { panic!("{x} is no number") };
    let sign = if sign == Sign::Neg { -1.0 } else { 1.0 };
    // The last word is the highest; halves of words are exact.
    let halves = words.iter().rev().flat_map(|word| [word >> 32, word & 0xffff_ffff]);
    let scale = |at: usize| 2f64.powi(exponent - 32 * (at as i32 + 1));
    halves
        .take(6)
        .enumerate()
        .fold(Wide(0.0, 0.0), |sum, (at, half)| sum.add(Wide(sign * half as f64 * scale(at), 0.0)))
}

/// The greatest error of the function, in ulp; it is asserted to be within the bound.
fn measure<T: Measured + Into<f64>>(function: Function, points: &[T], bound: f64) {
    let mut constants = Consts::new().unwrap();
    let truths: Vec<Wide> = points
        .iter()
        .map(|&x| {
            let x = BigFloat::from_f64(x.into(), 64);
            wide(&match function {
                Sin => x.sin(192, RoundingMode::ToEven, &mut constants),
                _ => x.cos(192, RoundingMode::ToEven, &mut constants),
            })
        })
        .collect();
    for target in [PLAIN, FUSED, ROUGH] {
        let mut expanded = Expanded::new(function, T::TYPE, target);
        let (mut worst, mut at) = (0.0, None);
        for (number, (&x, &truth)) in points.iter().zip(&truths).enumerate() {
            expanded.flushes = number % 4 == 0;
            let error = expanded.apply([x]).error(truth).unwrap_or(0.0);
            if error.is_nan() || error > worst {
                (worst, at) = (error, Some(x));
            }
        }
        println!("{function:?} of {}, {target:?}, huge: {worst:.3} ulp at {at:?}", T::TYPE);
        assert!(worst <= bound, "{function:?} of {}, {target:?}: {worst} ulp at {at:?}", T::TYPE);
    }
}

/// The floats of `precision` bits that are nearest to multiples of π/2: for each exponent from `low` to `high` the last
/// convergent of the continued fraction that fits, by Lagrange's theorem.
fn nearest_to_multiples(precision: u32, low: i32, high: i32) -> Vec<f64> {
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

#[test]
fn huge_angles_in_single_precision() {
    let mut random = Random(21);
    let mut points =
        vec![1e7f32, 1e10, 1e20, 1e30, f32::MAX, f32::MAX / 2.0, 12867.9, 12868.1, 16384.0, 2f32.powi(127)];
    points.extend((0..20_000).map(|_| random.sized(13.0, 127.999) as f32));
    points.extend((13..128).flat_map(|e| [2f32.powi(e), 2f32.powi(e).next_down(), 1.5 * 2f32.powi(e)]));
    let near = nearest_to_multiples(24, 13, 128);
    assert!(near.len() > 100);
    points.extend(near.iter().flat_map(|&x| [x as f32, (x as f32).next_up(), (x as f32).next_down()]));
    // The worst of all: Muller, "Elementary Functions", table 11.1.
    assert!(points.contains(&(16_367_173.0 * 2f32.powi(72))));
    points.retain(|x| x.is_finite());
    measure(Sin, &points, 1.2);
    measure(Cos, &points, 1.2);
}

#[test]
fn huge_angles_in_double_precision() {
    let mut random = Random(22);
    let mut points = vec![1e7, 1e12, 1e22, 1e100, 1e300, f64::MAX, f64::MAX / 2.0, 1_647_098.0, 1_647_100.0];
    points.extend((0..10_000).map(|_| random.sized(20.0, 1023.999)));
    points.extend((20..1024).flat_map(|e| [2f64.powi(e), 2f64.powi(e).next_down(), 1.5 * 2f64.powi(e)]));
    let near = nearest_to_multiples(53, 20, 1024);
    assert!(near.len() > 900);
    points.extend(near.iter().flat_map(|&x| [x, x.next_up(), x.next_down()]));
    assert!(points.contains(&(6_381_956_970_095_103.0 * 2f64.powi(797))));
    points.retain(|x| x.is_finite());
    measure(Sin, &points, 1.2);
    measure(Cos, &points, 1.2);
}

/// The code for large angles is behind a branch: smaller ones pay for a comparison. (Before: 124, 120, 135 and 131.)
#[test]
fn small_angles_cost_as_little_as_before() {
    for (function, ty, most) in
        [(Sin, Type::F32, 128), (Cos, Type::F32, 124), (Sin, Type::F64, 139), (Cos, Type::F64, 135)]
    {
        let mut expanded = Expanded::new(function, ty, FUSED);
        let mut cost = |x: f64| {
            let operand = eval::cast(Type::F64, ty, x.to_bits());
            expanded.evaluated = 0;
            expanded.run(&expanded.steps.clone(), &[operand; 3]);
            expanded.evaluated
        };
        let (small, large) = (cost(1.0), cost(1e10));
        println!("{function:?} of {ty}: {small} expressions, {large} for large angles");
        assert!(small <= most && large > small + 50, "{function:?} of {ty}: {small} and {large}");
    }
}
