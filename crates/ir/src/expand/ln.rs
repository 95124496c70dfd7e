//! The natural logarithm: as a float, and as a double word for `pow`.

use super::Exact;
use super::constant::LN_2;
use super::div::moderate_quotient;
use super::double_word::{DoubleWord, fast_two_sum, two_product, two_sum};
use super::term::{Real, Term, coefficients};

/// x = 2^exponent m, with m from √½ to √2 but for rounding.
struct Split<'b, T> {
    exponent: Term<'b, T>,
    m: Term<'b, T>,
}

/// Splits a positive finite number; for others the result is arbitrary.
fn split<'b, T: Real>(x: Term<'b, T>) -> Split<'b, T> {
    // A subnormal number is made normal, and its exponent corrected.
    let shift = T::PRECISION as i32;
    let subnormal = x.lt(2f64.powi(1 - T::BIAS));
    let bits = subnormal.select(x * 2f64.powi(shift), x).bits();
    // Among the bits as integers, x - √½ + 1 has an exponent that steps up at √½ 2^k instead of at 2^k.
    let root = T::cast_from(std::f64::consts::FRAC_1_SQRT_2).to_raw() as i64;
    let one = i64::from(T::BIAS) << T::FRACTION;
    let biased = (bits + (one - root)).shr(T::FRACTION) - i64::from(T::BIAS);
    let m = Term::from_bits(bits - biased.shl(T::FRACTION));
    let correction = subnormal.select(i64::from(shift), 0);
    Split { exponent: (biased.cast::<i32>() - correction).cast(), m }
}

/// The logarithm, also where there is nothing to compute: `value` is that of positive finite numbers.
fn special<'b, T: Real>(x: Term<'b, T>, value: Term<'b, T>) -> Term<'b, T> {
    let positive = x.gt(0.0).select(value, f64::NAN);
    let finite = x.eq(0.0).select(f64::NEG_INFINITY, positive);
    x.eq(f64::INFINITY).select(x, finite)
}

/// ln x, within 1 ulp and a half.
///
/// With f = m - 1, which is exact, and s = f / (2 + f): ln m = 2 atanh s = 2 (s + s³/3 + s⁵/5 + …), and 2 s = f - s
/// f, so ln m = f - s (f - R) with R = 2 s²/3 + 2 s⁴/5 + …. Here |s| is at most 0.172, and so the errors of the
/// second term, about 3 roundings, count by a fifth: for k = 0 the result is good relative to itself. For other k, k
/// ln 2 is at least twice the rest, its head is exact, and no more than its last bit is lost.
pub(super) fn ln<'b, T: Real>(x: Term<'b, T>, exact: Exact) -> Term<'b, T> {
    let Split { exponent, m } = split(x);
    let f = m - 1.0;
    let s = moderate_quotient(f, f + 2.0, exact);
    let z = s * s;
    let series = coefficients::<T>(0.0295, |k| 2.0 / f64::from(2 * k + 3));
    let second = s * (f - z * z.polynomial(&series));
    let (head, tail) = LN_2.head_and_tail::<T>();
    special(x, exponent * head - ((second - exponent * tail) - f))
}

/// ln x of a positive finite number, with a relative error of about 2^-(p + 11).
///
/// As `ln` does, but s, s³ and their sum are double words. The terms from s⁵ on are in single precision: they are at
/// most s⁴/5 = 2^-12 of the whole, and that is where the error comes from.
pub(super) fn ln_double_word<'b, T: Real>(x: Term<'b, T>, fused: bool) -> DoubleWord<'b, T> {
    let Split { exponent, m } = split(x);
    let f = m - 1.0;
    // m + 1, exactly; the quotient, and what it leaves, by which any error of the division is corrected. Where it is 4
    // ulp, that of the second division is 4 ulp of 4 ulp.
    let divisor = two_sum(m, m.constant(1.0));
    let quotient = f / divisor.hi;
    let product = two_product(quotient, divisor.hi, fused);
    let left = ((f - product.hi) - product.lo) - quotient * divisor.lo;
    let s = fast_two_sum(quotient, left / divisor.hi);
    let z = s.times(s, fused);
    let two_thirds = DoubleWord { hi: m.constant(2.0 / 3.0), lo: m.constant(two_thirds_rest::<T>()) };
    let cube = s.times(z, fused).times(two_thirds, fused);
    let series = coefficients::<T>(0.0295, |k| 2.0 / f64::from(2 * k + 5));
    let tail = s.hi * (z.hi * z.hi) * z.hi.polynomial(&series);
    let (ln_2_head, ln_2_tail) = LN_2.head_and_tail::<T>();
    let first = two_sum(exponent * ln_2_head, s.hi * 2.0);
    let second = two_sum(first.hi, cube.hi);
    let low = first.lo + (second.lo + (exponent * ln_2_tail + (s.lo * 2.0 + (cube.lo + tail))));
    fast_two_sum(second.hi, low)
}

/// What 2/3 is above its nearest `T`: their difference is 2/3 - hi = (2 - 3 hi) / 3, whose numerator is exact.
fn two_thirds_rest<T: Real>() -> f64 {
    let hi = T::cast_from(2.0 / 3.0).to_f64();
    (-3.0f64).mul_add(hi, 2.0) / 3.0
}
