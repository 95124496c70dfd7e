//! The power function `pow`, by the logarithm and the exponential.

use super::double_word::two_product;
use super::exp::exp_of_sum;
use super::ln::ln_double_word;
use super::term::{Real, Term};

/// x^y = e^(y ln |x|), with the sign that an odd y gives; within 1 ulp and a half.
///
/// The exponent is at most 2^7 (`f32`) or 2^10 (`f64`) where the result is finite, and its absolute error is the
/// result's relative one; so the logarithm is a double word, good to 2^-(p + 11), the product with y is exact but for
/// the low word, and the result has an error of less than half an ulp beside that of `exp`.
///
/// The special cases are those of C (ISO C 2011, F.10.4.4).
pub(super) fn pow<'b, T: Real>(x: Term<'b, T>, y: Term<'b, T>, fused: bool) -> Term<'b, T> {
    let size = x.abs();
    let log = ln_double_word(size, fused);
    // |ln x| is at least 2^-p but for x = 1, so that from here on the result is 0, 1 or infinite. Greater exponents,
    // infinity among them, would overflow on the way.
    let limit = 2f64.powi(T::PRECISION as i32 + 11);
    let exponent = y.gt(limit).select(limit, y.lt(-limit).select(-limit, y));
    let product = two_product(exponent, log.hi, fused);
    let regular = exp_of_sum(product.hi, Some(product.lo + exponent * log.lo));

    let zero = size.eq(0.0);
    let extreme = zero | size.eq(f64::INFINITY);
    let grows = zero.same(y.lt(0.0));
    let value = extreme.select(grows.select(f64::INFINITY, 0.0), regular);

    // Infinity is a whole number here, and even.
    let half = y * 0.5;
    let whole = y.floor().eq(y);
    let odd = whole & half.floor().ne(half);
    let value = odd.select(value.turned(x.sign()), value);
    let undefined = (x.lt(0.0) & !whole & !extreme) | x.is_nan() | y.is_nan();
    let value = undefined.select(f64::NAN, value);
    (y.eq(0.0) | x.eq(1.0)).select(1.0, value)
}
