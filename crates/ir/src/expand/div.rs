//! Division and square root where the target's own are only near to the true ones.
//!
//! The target's `1 / b` and `√x` are still used, but as first approximations, and only of operands from 2^-58 to 2^9
//! (Vulkan, for one, states its bounds for a range of divisors alone). Errors of them of up to 2^-14 in `f32`, and
//! 2^-28 in `f64`, are made good; 4 ulp are far less. What they are elsewhere, of zero or infinity for instance, does
//! not matter.

use super::Exact;
use super::double_word::residual;
use super::term::{Real, Term, infinity_bits};

/// A number brought near 1: x = value 2^(power - (BIAS - 7)).
struct Scaled<'b, T: Real> {
    /// From 2^-7 to 2^9, or for a subnormal number from 2^-58; zero, infinity and NaN stay what they are.
    value: Term<'b, T>,
    /// A multiple of 16, not negative, in the exponent's place among the bits.
    power: Term<'b, T::Bits>,
}

/// The exponent's highest bits are the power, so that one factor, itself a normal number, will do for each number.
fn scaled<'b, T: Real>(x: Term<'b, T>) -> Scaled<'b, T> {
    let power = x.bits() & (infinity_bits::<T>() & -(16 << T::FRACTION));
    let factor = power.constant::<T::Bits>(i64::from(2 * T::BIAS - 7) << T::FRACTION) - power;
    Scaled { value: x * Term::from_bits(factor), power }
}

/// The float nearest to where `residual` is zero, from `start`, which is near it. A residual's product with `slope` is
/// about the distance from there.
///
/// Newton's step leads to within three quarters of an ulp: to the nearest float, or perhaps to the other one if the
/// zero is next to the middle between both. The distance is about half of theirs then, and one and a half times as far
/// the other one is the nearest; if it is not so, that leads to the same float, or to the one beyond the zero. Which
/// of both is nearer, their residuals say: they are exact, or at most one is so great that it loses a bit, and still
/// the greater.
fn nearest<'b, T: Real>(
    start: Term<'b, T>,
    slope: Term<'b, T>,
    residual: impl Fn(Term<'b, T>) -> Term<'b, T>,
    fused: bool,
) -> Term<'b, T> {
    let step = |from: Term<'b, T>, by: Term<'b, T>, slope: Term<'b, T>| {
        if fused { by.fma(slope, from) } else { from + by * slope }
    };
    let one = step(start, residual(start), slope);
    let left = residual(one);
    let other = step(one, left, slope * 1.5);
    residual(other).abs().lt(left.abs()).select(other, one)
}

/// `a / b`, correctly rounded, where both are so near 1 that no part of a residual underflows, or `a` is +0.
///
/// No quotient is in the middle between two floats: b's product with an odd number that is longer by a bit than a
/// float would be too long for `a`.
pub(super) fn moderate_quotient<'b, T: Real>(a: Term<'b, T>, b: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    if exact.div {
        return a / b;
    }
    let inverse = b.constant::<T>(1.0) / b;
    nearest(a * inverse, inverse, |quotient| residual(a, quotient, b, exact.fma), exact.fma)
}

/// `a / b`, correctly rounded where the result is a normal number, zero or infinite. A subnormal result may have been
/// rounded twice.
pub(super) fn quotient<'b, T: Real>(a: Term<'b, T>, b: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    if exact.div {
        return a / b;
    }
    let (x, y) = (scaled(a), scaled(b));
    let regular = moderate_quotient(x.value, y.value, exact);
    // Taken from the bits of infinity, those of zero and infinity become each other, with the sign, and a NaN a NaN.
    // Others become some number near 1, so that this product is zero, infinite or NaN just where the quotient is.
    let inverse = Term::from_bits(y.value.constant::<T::Bits>(infinity_bits::<T>()) - y.value.bits());
    let special = x.value * inverse;
    let value = special.is_regular().select(regular, special);
    // 2 to half of the difference, twice: where the first product is out of range, the second one is even more so.
    let half = (x.power + (i64::from(2 * T::BIAS) << T::FRACTION) - y.power).shr(1);
    value * Term::from_bits(half) * Term::from_bits(half)
}

/// √x, correctly rounded.
///
/// The residuals decide here too: in units of the last bit of the lesser float n, x - n² is a whole number. It is
/// below that of the next float, (n + 1)² - x, just where it is at most n, and so is x below (n + ½)².
pub(super) fn root<'b, T: Real>(x: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    if exact.sqrt {
        return x.sqrt();
    }
    let Scaled { value, power } = scaled(x);
    let start = value.sqrt();
    let slope = value.constant::<T>(0.5) / start;
    let regular = nearest(start, slope, |root| residual(value, root, root, exact.fma), exact.fma);
    let factor = power.shr(1) + (i64::from(T::BIAS - (T::BIAS - 7) / 2) << T::FRACTION);
    let special = value.lt(0.0).select(f64::NAN, value);
    // Zero wraps to above infinity, and what has a sign is there too.
    let positive = (value.bits() - 1).lt(infinity_bits::<T>() - 1);
    positive.select(regular * Term::from_bits(factor), special)
}
