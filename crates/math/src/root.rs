//! `rsqrt`, `cbrt` and `hypot`.

use crate::real::{Coefficients, Real, Word, power};

/// 1 / √x, within 1.5 ulp: two roundings of at most 2^-p, of which the first may be a whole ulp of the quotient.
#[inline(always)]
pub fn rsqrt<T: Real>(x: T) -> T {
    x.real(1.0) / x.sqrt()
}

/// The cube root of numbers from 1 to 2, to 2^-13 or 2^-22.
const CUBE_ROOT: Coefficients = Coefficients {
    single: &[5.528224e-01, 5.871163e-01, -1.6297102e-01, 2.3105249e-02],
    double: &[
        0.44714127246872115,
        0.9500996672743903,
        -0.666178711706538,
        0.3853648452332071,
        -0.14447165150893232,
        0.030904413305067095,
        -0.0028596638975008125,
    ],
};

/// The cube root, within 1 ulp; with the sign of x.
///
/// x = m 2^(3 k), with m from 1 to 8: a root t with a third of a float's bits, so that t³ and m - t³ are exact, and
/// with d = (m - t³) / t³ the series t (1 + d/3 - d²/9 + 5 d³/81 - …), of which the next term is below 2^-29 or 2^-66.
#[inline(always)]
pub fn cbrt<T: Real>(x: T) -> T {
    let size = x.abs();
    let word = |value: u64| x.word(value);
    // A subnormal number is multiplied by a third power.
    let shift = 3 * T::PRECISION.div_ceil(3);
    let is_subnormal = size.lt(x.real(power(1 - T::BIAS as i32)));
    let bits = T::select(is_subnormal, size * x.real(power(shift as i32)), size).bits();
    // The exponent, made positive by a multiple of 3, by 3: 43691 / 2^17 is a third and less than 2^-17 more.
    let lift = 3 - T::BIAS % 3;
    let exponent = bits.shr(T::FRACTION) + word(lift.into());
    let third = (exponent * word(43691)).shr(17);
    let rest = exponent - third * word(3);
    let one = T::from_bits((bits & word((1 << T::FRACTION) - 1)) | word(T::ONE));
    let m = one * T::from_bits((rest + word(T::BIAS.into())).shl(T::FRACTION));
    let factor = T::select(rest.eq(word(0)), x.real(1.0), T::select(rest.eq(word(1)), x.real(CBRT_2), x.real(CBRT_4)));
    let dropped = T::PRECISION - T::PRECISION / 3;
    let start = (one.polynomial(&CUBE_ROOT) * factor).bits() + word(1 << (dropped - 1));
    let t = T::from_bits(start & word(!0 << dropped));
    let cube = t * t * t;
    let d = (m - cube).near_quotient(cube);
    let root = t + t * d * d.polynomial(&SERIES);
    let back =
        third - word(((T::BIAS + lift) / 3).into()) - T::Bits::select(is_subnormal, word((shift / 3).into()), word(0));
    let value = (root * T::power_of_two(back)).with_sign_of(x);
    T::select(x.is_finite() & !x.eq(x.real(0.0)), value, x)
}

/// The series of the cube root of 1 + d, less 1 and by d.
const SERIES: Coefficients =
    Coefficients { single: &[1.0 / 3.0, -1.0 / 9.0, 5.0 / 81.0], double: &[1.0 / 3.0, -1.0 / 9.0, 5.0 / 81.0] };

const CBRT_2: f64 = 1.259921049894873;
const CBRT_4: f64 = 1.587401051968199;

/// √(x² + y²) without overflow on the way, within 1.5 ulp. Of an infinity it is infinity, also with a NaN.
#[inline(always)]
pub fn hypot<T: Real>(x: T, y: T) -> T {
    let (a, b) = (x.abs(), y.abs());
    let is_less = a.lt(b);
    let (great, small) = (T::select(is_less, b, a), T::select(is_less, a, b));
    // The power of 2 that brings the greater one to between 2 and 4, and its inverse but for a factor of 2.
    let field = great.bits() & x.word(T::INFINITY);
    let least = x.word(1 << T::FRACTION);
    let field = T::Bits::select(field.lt(least), least, field);
    let factor = T::from_bits(x.word(T::INFINITY) - field);
    let (p, q) = (great * factor, small * factor);
    let value = (p * p + q * q).sqrt() * x.real(0.5) * T::from_bits(field);
    T::select(x.is_infinite() | y.is_infinite(), x.real(f64::INFINITY), value)
}
