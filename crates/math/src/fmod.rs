//! `fmod`, the remainder of a division.

use crate::real::{Real, Reduced, Word};

/// Bits of the quotient that one step finds: its product with a significand is exact as a [`DoubleWord`], and a
/// quotient that is wrong by 4 ulp is wrong by less than a quarter.
///
/// [`DoubleWord`]: crate::DoubleWord
#[inline(always)]
const fn step<T: Real>() -> u32 {
    T::PRECISION - 6
}

/// r 2^k modulo b, where both are multiples of the last bit of 1, r is from 0 to b, and b from 1 to 2.
///
/// The nearest whole quotient, perhaps the next one, leaves a rest of at most three quarters of b in size; it is a
/// multiple of that bit too, and so it is exact, as is what it becomes by another b.
#[inline(always)]
fn shifted<T: Real>(r: T, b: T, k: T::Bits) -> T {
    let scaled = r * T::power_of_two(k);
    let (quotient, _) = scaled.rough_quotient(b).nearest_whole();
    let product = quotient.product(b);
    let rest = (scaled - product.hi) - product.lo;
    T::select(rest.lt(r.real(0.0)), rest + b, rest)
}

/// The remainder of the division of x by y, whose quotient is truncated; exact, with the sign of x. It is NaN where x
/// is not finite and where y is zero or subnormal; x itself where y is infinite.
///
/// x = a 2^d 2^e and y = b 2^e with a and b from 1 to 2: a 2^d is taken modulo b, some of the factor at a time.
#[inline(always)]
pub fn fmod<T: Real>(x: T, y: T) -> T {
    let (size, divisor) = (x.abs(), y.abs());
    let word = |value: u64| x.word(value);
    let exponent = |x: T| x.bits().shr(T::FRACTION);
    let significand = |x: T| T::from_bits((x.bits() & word((1 << T::FRACTION) - 1)) | word(T::ONE));
    let is_less = size.bits().lt(divisor.bits());
    let distance = T::Bits::select(is_less, word(0), exponent(size) - exponent(divisor));
    let b = significand(divisor);
    let first = shifted(significand(size), b, word(0));
    let most = word(step::<T>().into());
    let Reduced { r, .. } = T::rarely(
        most.lt(distance),
        || {
            let (mut r, mut left) = (first, distance);
            let mut steps = (2 * T::BIAS).div_ceil(step::<T>());
            while steps > 0 {
                let now = T::Bits::select(left.lt(most), left, most);
                (r, left) = (shifted(r, b, now), left - now);
                steps -= 1;
            }
            Reduced { n: word(0), r, c: x.real(0.0) }
        },
        || Reduced { n: word(0), r: shifted(first, b, distance), c: x.real(0.0) },
    );
    let scale = T::from_bits(divisor.bits() & word(T::INFINITY));
    let value = T::select(is_less, x, (r * scale).with_sign_of(x));
    let is_zero = exponent(divisor).eq(word(0));
    let is_defined = x.is_finite() & !y.is_nan() & !is_zero;
    T::select(is_defined, value, x.real(f64::NAN))
}
