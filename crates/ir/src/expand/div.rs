//! Division and square root where the target's own are only near to the true ones.
//!
//! The target's `1 / b` and `√x` are still used, but as first approximations, and only of operands from 2^-58 to 2^9
//! (Vulkan, for one, states its bounds for a range of divisors alone). Errors of them of up to 2^-14 in `f32`, and
//! 2^-28 in `f64`, are made good; 4 ulp are far less. What they are elsewhere, of zero or infinity for instance, does
//! not matter.

use wattle_math::{Real, Word};

use super::Format;
use super::term::Term;

/// A number brought near 1: x = value 2^(power - (BIAS - 7)).
struct Scaled<'b, T: Format> {
    /// The operand scaled to a value from 2^-7 to 2^9, or for a subnormal number from 2^-58; zero, infinity and NaN
    /// stay what they are.
    value: Term<'b, T>,
    /// A multiple of 16, not negative, in the exponent's place among the bits.
    power: Term<'b, T::Bits>,
}

/// The bits of the power of 2 whose exponent is so much above that of the least one.
fn field<T: Format>(exponent: u32) -> u64 {
    u64::from(exponent) << Term::<T>::FRACTION
}

/// The exponent's highest bits are the power, so that one factor, itself a normal number, will do for each number.
fn scaled<T: Format>(x: Term<'_, T>) -> Scaled<'_, T> {
    let power = x.bits() & x.word(Term::<T>::INFINITY & field::<T>(16).wrapping_neg());
    let factor = x.word(field::<T>(2 * T::BIAS - 7)) - power;
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
fn nearest<'b, T: Format>(
    start: Term<'b, T>,
    slope: Term<'b, T>,
    residual: impl Fn(Term<'b, T>) -> Term<'b, T>,
) -> Term<'b, T> {
    let one = residual(start).step(slope, start);
    let left = residual(one);
    let other = left.step(slope * slope.real(1.5), one);
    Real::select(residual(other).abs().lt(left.abs()), other, one)
}

/// `a / b`, correctly rounded, where both are so near 1 that no part of a residual underflows, or `a` is +0.
///
/// No quotient is in the middle between two floats: b's product with an odd number that is longer by a bit than a
/// float would be too long for `a`.
pub(super) fn moderate_quotient<'b, T: Format>(a: Term<'b, T>, b: Term<'b, T>) -> Term<'b, T> {
    if a.target.exact.div {
        return a.rough_quotient(b);
    }
    let inverse = b.real(1.0).rough_quotient(b);
    nearest(a * inverse, inverse, |quotient| a.residual(quotient, b))
}

/// `a / b`, correctly rounded where the result is a normal number, zero or infinite, with the target's own quotient of
/// which only numbers near 1 are asked. A subnormal result may have been rounded twice.
pub(super) fn quotient<'b, T: Format>(a: Term<'b, T>, b: Term<'b, T>) -> Term<'b, T> {
    let (x, y) = (scaled(a), scaled(b));
    let regular = moderate_quotient(x.value, y.value);
    // Taken from the bits of infinity, those of zero and infinity become each other, with the sign, and a NaN a NaN.
    // Others become some number near 1, so that this product is zero, infinite or NaN just where the quotient is.
    let inverse = Term::from_bits(a.word(Term::<T>::INFINITY) - y.value.bits());
    let special = x.value * inverse;
    // Neither zero, nor infinite, nor NaN: the sign is shifted out, and zero wraps to above infinity.
    let one = a.word(1);
    let is_regular = (special.bits().shl(1) - one).lt(a.word((Term::<T>::INFINITY << 1) - 1));
    let value = Real::select(is_regular, regular, special);
    // 2 to half of the difference, twice: where the first product is out of range, the second one is even more so.
    let half = (x.power + a.word(field::<T>(2 * T::BIAS)) - y.power).shr(1);
    value * Term::from_bits(half) * Term::from_bits(half)
}

/// √x, correctly rounded, with the target's own root.
///
/// The residuals decide here too: in units of the last bit of the lesser float n, x - n² is a whole number. It is
/// below that of the next float, (n + 1)² - x, just where it is at most n, and so is x below (n + ½)².
pub(super) fn root<T: Format>(x: Term<'_, T>) -> Term<'_, T> {
    let Scaled { value, power } = scaled(x);
    let start = value.rough_root();
    let slope = x.real(0.5).rough_quotient(start);
    let regular = nearest(start, slope, |root| value.residual(root, root));
    let factor = power.shr(1) + x.word(field::<T>(T::BIAS - (T::BIAS - 7) / 2));
    let special = Real::select(value.lt(x.real(0.0)), x.real(f64::NAN), value);
    // Zero wraps to above infinity, and what has a sign is there too.
    let one = x.word(1);
    let is_positive = (value.bits() - one).lt(x.word(Term::<T>::INFINITY - 1));
    Real::select(is_positive, regular * Term::from_bits(factor), special)
}
