//! How far the results are from the true ones.

use wattle_ir::Function::*;
use wattle_ir::{Function, Scalar};

use crate::wide::{HALF_PI, Reference, Wide};
use crate::{Expanded, FUSED, PLAIN, ROUGH, ROUGH_FUSED, Random, Target, flushed};

/// A format whose errors can be measured.
pub trait Measured: Scalar {
    /// The error of `self`, in ulp of the true value; `None` where that is not a normal number.
    fn error(self, truth: Wide) -> Option<f64>;
}

impl Measured for f32 {
    fn error(self, truth: Wide) -> Option<f64> {
        let size = truth.0.abs();
        if size < f64::from(f32::MIN_POSITIVE) || size >= 2f64.powi(128) - 2f64.powi(103) {
            return None;
        }
        let ulp = f64::from_bits(size.to_bits() & !((1 << 52) - 1)) * 2f64.powi(-23);
        Some(((f64::from(self) - truth.0) - truth.1).abs() / ulp)
    }
}

impl Measured for f64 {
    fn error(self, truth: Wide) -> Option<f64> {
        let size = truth.0.abs();
        // Where the reference's own low word is subnormal it is no reference.
        if size < f64::MIN_POSITIVE * 2f64.powi(60) || size > f64::MAX / 4.0 {
            return None;
        }
        let ulp = f64::from_bits(size.to_bits() & !((1 << 52) - 1)) * 2f64.powi(-52);
        Some(((self - truth.0) - truth.1).abs() / ulp)
    }
}

/// The greatest error of a function over some operands; printed, and asserted to be below `bound`.
fn measure<T: Measured, const N: usize>(
    (function, target, range): (Function, Target, &str),
    bound: f64,
    points: impl Iterator<Item = [T; N]>,
    truth: impl Fn([T; N]) -> Wide,
) {
    let mut expanded = Expanded::new(function, T::TYPE, target);
    let (mut worst, mut at, mut count) = (0.0, None, 0u32);
    for (number, operands) in points.enumerate() {
        // Subnormals are not promised: some targets have none.
        let normal = operands.iter().all(|x| flushed(T::TYPE, x.to_raw()) == x.to_raw());
        expanded.flushes = normal && number % 4 == 0;
        if let Some(error) = expanded.apply(operands).error(truth(operands)) {
            count += 1;
            // A NaN is an error without end.
            if error.is_nan() || error > worst {
                (worst, at) = (error, Some(operands));
            }
        }
    }
    println!("{function:?} of {}, {target:?}, {range}: {worst:.3} ulp at {at:?}, {count} points", T::TYPE);
    assert!(count > 1000 && worst <= bound, "{function:?} of {}, {range}: {worst} ulp at {at:?}", T::TYPE);
}

/// Every `step`th float of one sign from `low` to `high`.
fn floats(low: f32, high: f32, step: usize) -> impl Iterator<Item = f32> {
    (low.to_bits()..=high.to_bits()).step_by(step).map(f32::from_bits)
}

/// The numbers, and the same with their signs turned.
fn both_signs<T: Scalar + std::ops::Neg<Output = T>>(points: impl Iterator<Item = T>) -> impl Iterator<Item = [T; 1]> {
    points.flat_map(|x| [[x], [-x]])
}

/// The floats nearest to n π/2 and `around` neighbours on each side.
fn near_multiples(first: u32, last: u32, around: i32) -> impl Iterator<Item = f32> {
    (first..=last).flat_map(move |n| {
        let nearest = (f64::from(n) * HALF_PI[0]) as f32;
        (-around..=around).map(move |by| f32::from_bits(nearest.to_bits().wrapping_add_signed(by)))
    })
}

const STEP: usize = 1009;

#[test]
fn single_precision_is_within_its_bounds() {
    let by = |function: fn(f64) -> f64| move |[x]: [f32; 1]| Wide(function(f64::from(x)), 0.0);
    let wide = |function, range| (function, PLAIN, range);
    let all = || floats(f32::MIN_POSITIVE, f32::MAX, STEP);
    measure(wide(Rsqrt, "all"), 1.5, all().map(|x| [x]), by(|x| 1.0 / x.sqrt()));
    measure(wide(Exp, "all"), 1.2, both_signs(floats(1e-12, 104.0, STEP / 4)), by(f64::exp));
    measure(wide(Ln, "all"), 1.2, all().map(|x| [x]), by(f64::ln));
    measure(wide(Ln, "near 1"), 1.2, floats(0.7, 1.42, 37).map(|x| [x]), by(f64::ln));
    measure(wide(Ln, "subnormal"), 1.2, floats(1e-44, f32::MIN_POSITIVE, STEP).map(|x| [x]), by(f64::ln));
    measure(wide(Tanh, "all"), 2.5, both_signs(floats(f32::MIN_POSITIVE, 12.0, STEP)), by(f64::tanh));
    for (function, truth) in [(Sin, f64::sin as fn(f64) -> f64), (Cos, f64::cos)] {
        measure(wide(function, "to 12867"), 1.2, both_signs(floats(1e-30, 12867.0, STEP)), by(truth));
        measure(wide(function, "near n pi/2"), 0.6, both_signs(near_multiples(1, 8191, 3)), by(truth));
    }
}

/// Operands for `pow` in which every second result is normal: any x, and y so that y ln x is spread over the range.
fn powers(random: &mut Random, exponents: f64, greatest: f64) -> [f64; 2] {
    let x = match random.next() % 4 {
        0 => 1.0 + random.sized(-20.0, -1.0) * [1.0, -1.0][(random.next() & 1) as usize],
        1 => random.within(0.5, 2.0),
        _ => random.sized(-exponents, exponents),
    };
    [x, random.within(-greatest, greatest) / x.ln()]
}

#[test]
fn single_precision_powers_are_within_their_bound() {
    for target in [PLAIN, FUSED, ROUGH, ROUGH_FUSED] {
        let mut random = Random(1);
        let points = (0..200_000).map(move |_| powers(&mut random, 126.0, 88.7).map(|x| x as f32));
        measure((Pow, target, "all"), 1.5, points, |[x, y]| Wide(f64::from(x).powf(f64::from(y)), 0.0));
    }
}

#[test]
fn double_precision_is_within_its_bounds() {
    let reference = &Reference::new();
    let plain = |function, range| (function, PLAIN, range);
    let points = |seed, low, high| {
        let mut random = Random(seed);
        (0..60_000).map(move |_| random.sized(low, high))
    };
    let positive = |seed, low, high| points(seed, low, high).map(|x| [x]);
    measure(plain(Rsqrt, "all"), 1.5, positive(1, -1000.0, 1000.0), |[x]| {
        let root = x.sqrt();
        // Newton's step on the root makes it wide.
        let rest = Wide::product(-root, root).add(Wide(x, 0.0));
        Wide(1.0, 0.0).div(Wide::sum(root, rest.0 / (2.0 * root)))
    });
    let exp = |[x]: [f64; 1]| reference.exp(Wide(x, 0.0));
    measure(plain(Exp, "all"), 1.2, both_signs(points(2, -60.0, 9.45)), exp);
    measure(plain(Exp, "-708 to 708"), 1.2, both_signs(points(2, 5.0, 9.47)), exp);
    let ln = |[x]: [f64; 1]| reference.ln(x);
    measure(plain(Ln, "all"), 1.2, positive(3, -1022.0, 1024.0), ln);
    measure(plain(Ln, "near 1"), 1.2, positive(4, -0.5, 0.5), ln);
    measure(plain(Ln, "nearer 1"), 1.2, both_signs(points(4, -50.0, -2.0)).map(|[x]| [1.0 + x]), ln);
    measure(plain(Tanh, "all"), 2.5, both_signs(points(5, -60.0, 4.4)), |[x]| reference.tanh(x));
    for (function, quarters) in [(Sin, 0), (Cos, 1)] {
        let truth = |[x]: [f64; 1]| reference.sin(x, quarters);
        measure(plain(function, "to 1647099"), 1.2, both_signs(points(6, -60.0, 20.651)), truth);
        measure(plain(function, "to 10"), 1.2, both_signs(points(7, -3.0, 3.3)), truth);
        // Of all n where the reduction is good, those whose multiple is nearest to a float, relative to the number of
        // multiples; it loses the most there.
        let multiples = (1..=1 << 20).map(|n| (f64::from(n), f64::from(n) * HALF_PI[0]));
        let distance = |n: f64, x: f64| n.mul_add(HALF_PI[0], -x) + n * HALF_PI[1];
        let near = multiples.filter(|&(n, x)| distance(n, x).abs() < n * 2f64.powi(-62)).map(|(_, x)| x);
        measure(plain(function, "near n pi/2"), 0.6, both_signs(near), truth);
    }
    for target in [PLAIN, FUSED, ROUGH, ROUGH_FUSED] {
        let mut random = Random(8);
        let operands = (0..60_000).map(|_| powers(&mut random, 1022.0, 709.0));
        measure((Pow, target, "all"), 1.5, operands, |[x, y]| reference.pow(x, y));
    }
}

/// The reference itself: within an ulp of the host's library.
#[test]
fn the_reference_agrees_with_the_host() {
    let (reference, mut random) = (Reference::new(), Random(9));
    for _ in 0..20_000 {
        let (x, y) = (random.sized(-30.0, 9.4), random.sized(-20.0, 20.0));
        let agree =
            |host: f64, truth: Wide| assert!(host.error(truth).is_none_or(|error| error < 1.0), "{host} {x} {y}");
        agree(x.exp(), reference.exp(Wide(x, 0.0)));
        agree(y.ln(), reference.ln(y));
        agree(y.sin(), reference.sin(y, 0));
        agree(y.cos(), reference.sin(y, 1));
        agree(y.powf(x / 20.0), reference.pow(y, x / 20.0));
        // The hyperbolic tangent of the C library is not as good.
        let z = y.min(20.0);
        assert!(z.tanh().error(reference.tanh(z)).is_none_or(|error| error < 3.0), "tanh {z}");
    }
}
