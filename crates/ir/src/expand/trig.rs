//! `sin` and `cos`, within 1 ulp and a fifth for all finite angles. An infinity gives NaN.

use super::constant::HALF_PI;
use super::double_word::two_sum;
use super::payne_hanek;
use super::term::{Real, Term, Variable, coefficients, inverse_factorial};

/// x = n π/2 + r + c, but for whole turns, |r| at most a bit more than π/4 and c below half an ulp of r.
struct Reduced<'b, T> {
    n: Term<'b, i32>,
    r: Term<'b, T>,
    c: Term<'b, T>,
}

/// How many bits n has where `reduce_moderate` is good.
fn quotient_bits<T: Real>() -> u32 {
    if T::PRECISION < 32 { 13 } else { 20 }
}

/// Reduces `x`, which is not negative. Few kernels have large angles, so what they need is behind a branch.
fn reduce<'b, T: Real>(x: Term<'b, T>, fused: bool) -> Reduced<'b, T> {
    let bits = quotient_bits::<T>();
    let limit = 2f64.powi(bits as i32) * std::f64::consts::FRAC_PI_2;
    let (n, r, c) = (Variable::new(x), Variable::new(x), Variable::new(x));
    let set = |reduced: Reduced<'b, T>| {
        n.set(reduced.n);
        r.set(reduced.r);
        c.set(reduced.c);
    };
    x.gt(limit).branch(
        || {
            let angle = payne_hanek::reduce(x, bits, fused);
            set(Reduced { n: angle.quarters, r: angle.rest.hi, c: angle.rest.lo });
        },
        || set(reduce_moderate(x)),
    );
    Reduced { n: n.get(), r: r.get(), c: c.get() }
}

/// Reduces `x`, which is at most 2^bits π/2, by Cody and Waite: π/2 is a sum of parts that are so short that their
/// products with n are exact, but for the last.
///
/// The first difference is exact, as both are near to each other; after that, what each rounds off is collected in
/// `c`. The floats near a multiple of π/2 come as near to it as 2^-(p + 6) (2^bits multiples, each between floats
/// 2^(bits - p) apart, and six bits for bad luck), so for a relative error of 2^-p parts with 2 p + bits + 6 bits
/// together will do.
fn reduce_moderate<'b, T: Real>(x: Term<'b, T>) -> Reduced<'b, T> {
    let bits = quotient_bits::<T>();
    let width = T::PRECISION - bits;
    let count = (T::PRECISION + bits + 6).div_ceil(width) + 1;
    let n = (x * std::f64::consts::FRAC_2_PI + 0.5).floor();
    let parts = HALF_PI.parts::<T>(width, count);
    let (mut r, mut c) = (x - n * parts[0], None);
    for &part in &parts[1..] {
        let sum = two_sum(r, -(n * part));
        r = sum.hi;
        c = Some(c.map_or(sum.lo, |c| c + sum.lo));
    }
    let sum = two_sum(r, c.unwrap_or(r.constant(0.0)));
    Reduced { n: n.cast(), r: sum.hi, c: sum.lo }
}

impl<'b, T: Real> Reduced<'b, T> {
    /// sin (r + c) = r + (c + r³ (-1/3! + r²/5! - …)): the second term is at most a sixth of r, so the last sum's
    /// half ulp is most of the error.
    fn sin(&self) -> Term<'b, T> {
        let z = self.r * self.r;
        let series = coefficients::<T>(0.63, |k| alternating(k + 1) * inverse_factorial(2 * k + 3));
        self.r + (self.c + self.r * z * z.polynomial(&series))
    }

    /// cos (r + c) = 1 - (r²/2 - (r⁴ (1/4! - r²/6! + …) - r c)): what is taken from 1 is at most 0.3, and its ulp a
    /// quarter of the result's or less.
    fn cos(&self) -> Term<'b, T> {
        let z = self.r * self.r;
        let series = coefficients::<T>(0.63, |k| alternating(k) * inverse_factorial(2 * k + 4));
        let taken = z * 0.5 - (z * z * z.polynomial(&series) - self.r * self.c);
        z.constant(1.0) - taken
    }

    /// The sine of the angle `quarters` quarter turns further.
    fn turned(&self, quarters: i64) -> Term<'b, T> {
        let n = self.n + quarters;
        let size = (n & 1).eq(0).select(self.sin(), self.cos());
        (n & 2).eq(0).select(size, -size)
    }
}

/// -1 to the power of `k`.
fn alternating(k: u32) -> f64 {
    if k.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The sine of `x`.
pub(super) fn sin<'b, T: Real>(x: Term<'b, T>, fused: bool) -> Term<'b, T> {
    // Odd by construction, and so -0 stays.
    let size = reduce(x.abs(), fused).turned(0).turned(x.sign());
    x.is_finite().select(size, f64::NAN)
}

/// The cosine of `x`.
pub(super) fn cos<'b, T: Real>(x: Term<'b, T>, fused: bool) -> Term<'b, T> {
    x.is_finite().select(reduce(x.abs(), fused).turned(1), f64::NAN)
}
