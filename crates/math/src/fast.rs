//! Short forms of functions of `f32`, which are less exact than the others, and whose bits a target's own instruction
//! may stand for. Of `f64` they are the functions themselves.
//!
//! The series are those of Taylor, as far as single precision has use for them.

use core::f64::consts::{FRAC_1_PI, LN_2, LOG2_E, LOG10_2, PI};

use crate::real::{Coefficients, Real, Word};

/// Whether the format is one that has short forms.
#[inline(always)]
const fn is_single<T: Real>() -> bool {
    T::PRECISION < 32
}

/// 1 / x by the target's own quotient.
#[inline(always)]
pub fn recip_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { x.real(1.0).rough_quotient(x) } else { x.real(1.0) / x }
}

/// x / y by the target's own quotient.
#[inline(always)]
pub fn div_fast<T: Real>(x: T, y: T) -> T {
    if is_single::<T>() { x * recip_fast(y) } else { x / y }
}

/// √x, the target's own.
#[inline(always)]
pub fn sqrt_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { x.rough_root() } else { x.sqrt() }
}

/// 1 / √x by the target's own quotient and root.
#[inline(always)]
pub fn rsqrt_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { recip_fast(sqrt_fast(x)) } else { crate::rsqrt(x) }
}

/// e^y for |y| up to 0.35; the next term is 2^-23.
const POWERS: Coefficients =
    Coefficients { single: &[1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0], double: &[] };

/// 2^x, within 2^-21 of itself.
#[inline(always)]
pub fn exp2_fast<T: Real>(x: T) -> T {
    if !is_single::<T>() {
        return crate::exp2(x);
    }
    let x = x.within(-151.0, 129.0);
    let (n, integer) = x.nearest_whole();
    ((x - n) * x.real(LN_2)).polynomial(&POWERS).scaled(integer)
}

/// e^x, within 2^-21 + |x| 2^-23 of itself: the product with the exponent is rounded.
#[inline(always)]
pub fn exp_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { exp2_fast(x * x.real(LOG2_E)) } else { crate::exp(x) }
}

/// The logarithm to base 2 of (1 + s) / (1 - s), by s and for |s| up to 0.2; the next term is 2^-26.
const LOGARITHM: Coefficients = Coefficients {
    single: &[2.0 / LN_2, 2.0 / 3.0 / LN_2, 2.0 / 5.0 / LN_2, 2.0 / 7.0 / LN_2, 2.0 / 9.0 / LN_2],
    double: &[],
};

/// log2(x), within 2^-21 from 0.5 to 2, and within 2^-21 of itself elsewhere.
#[inline(always)]
pub fn log2_fast<T: Real>(x: T) -> T {
    if !is_single::<T>() {
        return crate::log2(x);
    }
    let one = x.real(1.0);
    // x = m 2^e with m from 0.75 to 1.5.
    let biased = (x.bits() + x.word(1 << (T::FRACTION - 1))).shr(T::FRACTION);
    let exponent = biased - x.word(T::BIAS.into());
    let m = T::from_bits(x.bits() - exponent.shl(T::FRACTION));
    let s = (m - one).rough_quotient(m + one);
    let value = x.whole(exponent) + s * (s * s).polynomial(&LOGARITHM);
    let is_number = x.bits().lt(x.word(T::INFINITY));
    let is_zero = x.abs().bits().lt(x.word(1 << T::FRACTION));
    let is_infinity = x.bits().eq(x.word(T::INFINITY));
    let special = T::select(is_infinity, x, x.real(f64::NAN));
    T::select(is_zero, x.real(f64::NEG_INFINITY), T::select(is_number, value, special))
}

/// ln(x), within 2^-21 from 0.5 to 2, and within 2^-20 of itself elsewhere.
#[inline(always)]
pub fn ln_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { log2_fast(x) * x.real(LN_2) } else { crate::ln(x) }
}

/// log10(x), within 2^-21 from 0.5 to 2, and within 2^-20 of itself elsewhere.
#[inline(always)]
pub fn log10_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { log2_fast(x) * x.real(LOG10_2) } else { crate::log10(x) }
}

/// x^y for positive x, by the logarithm.
#[inline(always)]
pub fn pow_fast<T: Real>(x: T, y: T) -> T {
    if is_single::<T>() { exp2_fast(y * log2_fast(x)) } else { crate::pow(x, y) }
}

/// π as a sum of numbers of at most 11 bits and a rest: products of the first two with small whole numbers are exact.
const PI_PARTS: [f64; 3] = [3.140625, 0.0009670257568359375, PI - 3.140625 - 0.0009670257568359375];

/// (sin r - r) / r³ by r², for |r| up to π / 2; the next term is 2^-24.
const SINE: Coefficients =
    Coefficients { single: &[-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0], double: &[] };

/// sin(x - n π).
#[inline(always)]
fn sine_beyond<T: Real>(x: T, n: T) -> T {
    let r = PI_PARTS.iter().fold(x, |r, part| r - n * x.real(*part));
    let square = r * r;
    r + r * square * square.polynomial(&SINE)
}

/// sin(x), within 2^-20 for |x| up to π.
#[inline(always)]
pub fn sin_fast<T: Real>(x: T) -> T {
    if !is_single::<T>() {
        return crate::sin(x);
    }
    let (n, integer) = (x * x.real(FRAC_1_PI)).nearest_whole();
    sine_beyond(x, n).turned((integer & x.word(1)).shl(T::WIDTH - 1))
}

/// cos(x), within 2^-20 for |x| up to π.
#[inline(always)]
pub fn cos_fast<T: Real>(x: T) -> T {
    if !is_single::<T>() {
        return crate::cos(x);
    }
    let half = x.real(0.5);
    let (n, integer) = (x * x.real(FRAC_1_PI) - half).nearest_whole();
    sine_beyond(x, n + half).turned(((integer + x.word(1)) & x.word(1)).shl(T::WIDTH - 1))
}

/// tan(x), a quotient of both.
#[inline(always)]
pub fn tan_fast<T: Real>(x: T) -> T {
    if is_single::<T>() { div_fast(sin_fast(x), cos_fast(x)) } else { crate::tan(x) }
}

/// (tanh a) / a by a², for a up to 0.25; the next term is 2^-21.
const SMALL_TANH: Coefficients = Coefficients { single: &[1.0, -1.0 / 3.0, 2.0 / 15.0, -17.0 / 315.0], double: &[] };

/// tanh(x), within 2^-10 of itself.
#[inline(always)]
pub fn tanh_fast<T: Real>(x: T) -> T {
    if !is_single::<T>() {
        return crate::tanh(x);
    }
    let size = x.abs().within(0.0, 10.0);
    let power = exp2_fast(size * x.real(2.0 * LOG2_E));
    let large = x.real(1.0) - x.real(2.0).rough_quotient(power + x.real(1.0));
    let small = size * (size * size).polynomial(&SMALL_TANH);
    T::select(size.lt(x.real(0.25)), small, large).with_sign_of(x)
}
