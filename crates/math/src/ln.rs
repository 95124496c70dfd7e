//! The logarithms.

use core::f64::consts::FRAC_1_SQRT_2;

use crate::double_word::{DoubleWord, fast_two_sum, two_sum};
use crate::exp::LN_2_PARTS;
use crate::real::{Coefficients, Real, Split, Word, power};

/// ln(1 + f) = f - s (f - z R(z)) with s = f / (2 + f) and z = s²; this is R, 2/3 + 2 z / 5 + …, for z up to 0.0295.
const SERIES: Coefficients = Coefficients {
    single: &[6.666676e-01, 3.9979213e-01, 2.9834506e-01],
    double: &[
        0.6666666666666683,
        0.399999999996884,
        0.2857142869051695,
        0.2222220328116027,
        0.18183342723367843,
        0.15319269715683118,
        0.14747305930030463,
    ],
};

/// R beyond 2/3, by z: 2/5 + 2 z / 7 + …
const TAIL: Coefficients = Coefficients {
    single: &[4.0000153e-01, 2.8547126e-01, 2.3418844e-01],
    double: &[
        0.40000000000000385,
        0.28571428570870366,
        0.22222222398139407,
        0.18181793980171315,
        0.15386352355756971,
        0.13265531387939178,
        0.1312099395560572,
    ],
};

/// What 2/3 is, and what it is above its nearest float.
const TWO_THIRDS: Split = Split {
    single: (0.6666666865348816, -1.9868214925130207e-08),
    double: (0.6666666666666666, 3.700743415417188e-17),
};

/// x = 2^`exponent` m, with m from √½ to √2 but for rounding.
#[derive(Clone, Copy)]
struct Parts<T: Real> {
    exponent: T,
    /// The exponent as an integer, where `x` is not subnormal.
    integer: T::Bits,
    m: T,
}

/// Splits a positive finite number; for others the result is arbitrary.
#[inline(always)]
fn split<T: Real>(x: T) -> Parts<T> {
    // A subnormal number is made normal, and its exponent corrected.
    let is_subnormal = x.lt(x.real(power(1 - T::BIAS as i32)));
    let bits = T::select(is_subnormal, x * x.real(power(T::PRECISION as i32)), x).bits();
    // Among the bits as integers, x - √½ + 1 has an exponent that steps up at √½ 2^k instead of at 2^k.
    let integer =
        (bits + (bits.word(T::ONE) - x.real(FRAC_1_SQRT_2).bits())).shr(T::FRACTION) - bits.word(T::BIAS.into());
    let correction = T::select(is_subnormal, x.real(f64::from(T::PRECISION)), x.real(0.0));
    Parts { exponent: x.whole(integer) - correction, integer, m: T::from_bits(bits - integer.shl(T::FRACTION)) }
}

/// The logarithm, also where there is nothing to compute: `value` is that of positive finite numbers.
#[inline(always)]
fn special<T: Real>(x: T, value: T) -> T {
    let positive = T::select(x.real(0.0).lt(x), value, x.real(f64::NAN));
    let finite = T::select(x.eq(x.real(0.0)), x.real(f64::NEG_INFINITY), positive);
    T::select(x.eq(x.real(f64::INFINITY)), x, finite)
}

/// s (f - z R(z)): what ln(1 + f) is below f.
#[inline(always)]
fn below<T: Real>(f: T) -> T {
    let s = f.near_quotient(f + f.real(2.0));
    let z = s * s;
    s * (f - z * z.polynomial(&SERIES))
}

/// ln x, within 1.5 ulp.
///
/// With m = 1 + f, where f is exact, |s| is at most 0.172, and so the errors of what is taken from f, about 3
/// roundings, count by a fifth: for the exponent 0 the result is good relative to itself. For other exponents k, k ln 2
/// is at least twice the rest, its head is exact, and no more than its last bit is lost.
#[inline(always)]
pub fn ln<T: Real>(x: T) -> T {
    let Parts { exponent, m, .. } = split(x);
    let f = m - x.real(1.0);
    let (head, tail) = LN_2_PARTS.of::<T>();
    special(x, exponent * x.real(head) - ((below(f) - exponent * x.real(tail)) - f))
}

/// ln(1 + x), within 1.5 ulp, also where x is small; of -0 it is -0.
///
/// What 1 + x is rounded by is added to f.
#[inline(always)]
pub fn ln_1p<T: Real>(x: T) -> T {
    let (zero, one) = (x.real(0.0), x.real(1.0));
    let sum = two_sum(one, x);
    let Parts { exponent, integer, m } = split(sum.hi);
    // From 2^(p + 1) on it does not count.
    let is_small = x.lt(x.real(power(T::PRECISION as i32 + 1)));
    let inverse = T::select(is_small, T::power_of_two(integer.word(0) - integer), zero);
    let f = fast_two_sum(m - one, sum.lo * inverse);
    let (head, tail) = LN_2_PARTS.of::<T>();
    let low = below(f.hi) - (exponent * x.real(tail) + f.lo);
    let value = (exponent * x.real(head) - (low - f.hi)).with_sign_of(x);
    let value = T::select(x.real(-1.0).lt(x), value, x.real(f64::NAN));
    let value = T::select(x.eq(x.real(-1.0)), x.real(f64::NEG_INFINITY), value);
    T::select(x.eq(x.real(f64::INFINITY)), x, value)
}

/// 1 / ln(base), of which products with half a float are exact.
struct Base {
    inverse: Split,
    /// The logarithm of 2.
    two: Split,
}

const BASE_2: Base = Base {
    inverse: Split {
        single: (1.4423828125, 0.00031222838896340733),
        double: (1.4426950216293335, 1.9259629911266175e-08),
    },
    two: Split { single: (1.0, 0.0), double: (1.0, 0.0) },
};

const BASE_10: Base = Base {
    inverse: Split {
        single: (0.4342041015625, 9.038034075182765e-05),
        double: (0.4342944771051407, 4.798111141615973e-09),
    },
    two: Split { single: (0.301025390625, 4.605038981195214e-06), double: (0.30102999566383914, 1.42050232272661e-13) },
};

/// The logarithm to a base: that of m is a sum whose head has half a float's bits, so that its product with the head of
/// 1 / ln(base) is exact, and the errors are those of the tails.
#[inline(always)]
fn log<T: Real>(x: T, base: &Base) -> T {
    let Parts { exponent, m, .. } = split(x);
    let f = m - x.real(1.0);
    let head = f.upper_half();
    let tail = (f - head) - below(f);
    let sum = fast_two_sum(head, tail);
    let upper = sum.hi.upper_half();
    let lower = (sum.hi - upper) + sum.lo;
    let (by, rest) = base.inverse.of::<T>();
    let (two, two_rest) = base.two.of::<T>();
    let low = lower * x.real(by) + (lower + upper) * x.real(rest);
    let first = fast_two_sum(exponent * x.real(two), upper * x.real(by));
    special(x, first.hi + (first.lo + (low + exponent * x.real(two_rest))))
}

/// The logarithm to base 2, within 1.5 ulp. That of a power of 2 is exact.
#[inline(always)]
pub fn log2<T: Real>(x: T) -> T {
    log(x, &BASE_2)
}

/// The logarithm to base 10, within 1.5 ulp.
#[inline(always)]
pub fn log10<T: Real>(x: T) -> T {
    log(x, &BASE_10)
}

/// ln x of a positive finite number, with a relative error of about 2^-(p + 11).
///
/// As `ln` does, but s, s³ and their sum are double words. The terms from s⁵ on are in single precision: they are at
/// most s⁴/5 = 2^-12 of the whole, and that is where the error comes from.
#[inline(always)]
pub(crate) fn ln_double_word<T: Real>(x: T) -> DoubleWord<T> {
    let Parts { exponent, m, .. } = split(x);
    let one = x.real(1.0);
    let f = m - one;
    // m + 1, exactly; the quotient, and what it leaves.
    let divisor = two_sum(m, one);
    let quotient = f.near_quotient(divisor.hi);
    let product = quotient.product(divisor.hi);
    let left = ((f - product.hi) - product.lo) - quotient * divisor.lo;
    // The rest is below an ulp of a number that is 1.7 to 2.5, so an approximation of the inverse would do as well.
    let s = fast_two_sum(quotient, left * one.near_quotient(divisor.hi));
    let z = s.times(s);
    let (two_thirds, two_thirds_rest) = TWO_THIRDS.of::<T>();
    let cube = s.times(z).times(DoubleWord { hi: x.real(two_thirds), lo: x.real(two_thirds_rest) });
    let tail = s.hi * (z.hi * z.hi) * z.hi.polynomial(&TAIL);
    let (head, rest) = LN_2_PARTS.of::<T>();
    let first = two_sum(exponent * x.real(head), s.hi + s.hi);
    let second = two_sum(first.hi, cube.hi);
    let low = first.lo + (second.lo + (exponent * x.real(rest) + ((s.lo + s.lo) + (cube.lo + tail))));
    fast_two_sum(second.hi, low)
}
