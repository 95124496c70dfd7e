//! The powers, by the logarithm and the exponential.

use crate::double_word::{DoubleWord, fast_two_sum};
use crate::exp::exp_of_sum;
use crate::ln::ln_double_word;
use crate::real::{Real, Word, power};

/// Whether a number that is not negative is whole; infinity is.
#[inline(always)]
fn is_whole<T: Real>(x: T) -> T::Flag {
    let magic = x.real(power(T::PRECISION as i32 - 1));
    ((x + magic) - magic).eq(x) | magic.lt(x)
}

/// |x|^y = e^(y ln |x|) for a double word y; |y| is at most 2^(p + 11), and x is finite and not zero.
///
/// The exponent is at most 2^7 (`f32`) or 2^10 (`f64`) where the result is finite, and its absolute error is the
/// result's relative one; so the logarithm is a double word, good to 2^-(p + 11), the product with y is exact but for
/// the low word, and the result has an error of less than half an ulp beside that of `exp`.
#[inline(always)]
fn regular<T: Real>(x: T, y: DoubleWord<T>) -> T {
    let log = ln_double_word(x.abs());
    let product = y.hi.product(log.hi);
    exp_of_sum(product.hi, product.lo + (y.hi * log.lo + y.lo * log.hi))
}

/// x^y, for what `regular` is of numbers that are neither zero nor infinite, with the sign that an odd y gives; `zero`
/// and `infinity` are what zero and infinity give.
#[inline(always)]
fn powers<T: Real>(x: T, regular: T, is_negative: T::Flag, is_odd: T::Flag) -> T {
    let (zero, infinity) = (x.real(0.0), x.real(f64::INFINITY));
    let is_zero = x.eq(zero);
    let grows = is_zero ^ !is_negative;
    let value = T::select(is_zero | x.is_infinite(), T::select(grows, infinity, zero), regular);
    T::select(is_odd, value.turned(x.sign()), value)
}

/// x^y, within 1.5 ulp. Below zero it is NaN unless y is a whole number; for the exponent 0 and the base 1 it is 1,
/// also where the other is NaN.
#[inline(always)]
pub fn pow<T: Real>(x: T, y: T) -> T {
    let (zero, one) = (x.real(0.0), x.real(1.0));
    // |ln x| is at least 2^-p but for x = 1, so that from here on the result is 0, 1 or infinite. Greater exponents,
    // infinity among them, would overflow on the way.
    let limit = power(T::PRECISION as i32 + 11);
    let regular = regular(x, DoubleWord { hi: y.within(-limit, limit), lo: zero });
    // Infinity is a whole number here, and even.
    let size = y.abs();
    let whole = is_whole(size);
    let is_odd = whole & !is_whole(size * y.real(0.5));
    let value = powers(x, regular, y.lt(zero), is_odd);
    let is_extreme = x.eq(zero) | x.is_infinite();
    let is_undefined = (x.lt(zero) & !whole & !is_extreme) | x.is_nan() | y.is_nan();
    let value = T::select(is_undefined, x.real(f64::NAN), value);
    T::select(y.eq(zero) | x.eq(one), one, value)
}

/// x^n for an integer n, within 1.5 ulp. For the exponent 0 it is 1, also of a NaN. Also odd n
/// beyond a float's digits are odd.
#[inline(always)]
pub fn powi<T: Real>(x: T, n: T::Integer) -> T {
    let n = T::integer(n);
    let (zero, one) = (n.word(0), x.real(1.0));
    let sign = n & n.word(T::SIGN);
    let is_negative = sign.eq(n.word(T::SIGN));
    let size = T::Bits::select(is_negative, zero - n, n);
    let upper = x.whole(size.shr(12)) * x.real(4096.0);
    let y = fast_two_sum(upper, x.whole(size & n.word(4095)));
    let y = DoubleWord { hi: y.hi.turned(sign), lo: y.lo.turned(sign) };
    let value = powers(x, regular(x, y), is_negative, (n & n.word(1)).eq(n.word(1)));
    let value = T::select(x.is_nan(), x, value);
    T::select(n.eq(zero), one, value)
}
