//! `fma` where the target has none, or one that rounds twice.

use super::double_word::{two_product, two_sum};
use super::term::{Real, Term, fraction_mask, infinity_bits};

/// A number as 2^exponent m, with |m| from 1 to 2.
struct Normal<'b, T> {
    m: Term<'b, T>,
    exponent: Term<'b, i32>,
}

/// Splits a finite number that is not zero; for others the result is arbitrary.
fn normal<'b, T: Real>(x: Term<'b, T>) -> Normal<'b, T> {
    let shift = T::PRECISION as i32;
    let subnormal = (x.bits() & infinity_bits::<T>()).eq(0);
    let bits = subnormal.select(x * 2f64.powi(shift), x).bits();
    let one = i64::from(T::BIAS) << T::FRACTION;
    let m = Term::from_bits((bits & !infinity_bits::<T>()) | one);
    let field = (bits & infinity_bits::<T>()).shr(T::FRACTION).cast::<i32>();
    let bias = i64::from(T::BIAS);
    Normal { m, exponent: field - subnormal.select(bias + i64::from(shift), bias) }
}

/// `x + y` rounded to odd: where it is not exact, the one of the two floats around it whose last bit is 1.
///
/// The rounded sum is one of the two. If it is even, the other one is its neighbour on the side of the error: away
/// from zero, by one in the bits, where the error has the sum's sign.
fn odd_sum<'b, T: Real>(x: Term<'b, T>, y: Term<'b, T>) -> Term<'b, T> {
    let sum = two_sum(x, y);
    let bits = sum.hi.bits();
    let away = sum.lo.gt(0.0).same(sum.hi.gt(0.0));
    let neighbour = away.select(bits + 1, bits - 1);
    let wrong = sum.lo.ne(0.0) & (bits & 1).eq(0);
    Term::from_bits(wrong.select(neighbour, bits))
}

/// `a * b + c` for |a| and |b| from 1 to 2 and |c| from 2^-(2p + 4) to 2^(p + 9), rounded once: the product and the
/// sums are exact, and only the low word is rounded, to odd, so that the last sum cannot round twice (Boldo and
/// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
/// Transactions on Computers 57, 2008). Nothing here comes near to over- or underflow.
fn fma_of_moderate<'b, T: Real>(a: Term<'b, T>, b: Term<'b, T>, c: Term<'b, T>) -> Term<'b, T> {
    let product = two_product(a, b, false);
    let low = two_sum(c, product.lo);
    let high = two_sum(product.hi, low.hi);
    high.hi + odd_sum(low.lo, high.lo)
}

/// `a * b + c`, rounded once where the result is a normal number, zero or infinite. A subnormal result may have been
/// rounded twice.
///
/// All three are taken as mantissas, and c's exponent relative to the product's is limited to where it still matters.
/// Above p + 8, the product is less than an eighth of c's ulp: it only decides to which side of c the result is, and
/// so it does at p + 8. Below -(2p + 4), c is less than a quarter of the last bit of the product, which has 2p, and
/// decides likewise.
pub(super) fn fma<'b, T: Real>(a: Term<'b, T>, b: Term<'b, T>, c: Term<'b, T>) -> Term<'b, T> {
    let (x, y, z) = (normal(a), normal(b), normal(c));
    let (lowest, highest) = (-(2 * T::PRECISION as i32 + 4), T::PRECISION as i32 + 8);
    let product = x.exponent + y.exponent;
    let gap = z.exponent - product;
    let addend = z.m.bits() + gap.clamp(lowest, highest).cast::<T::Bits>().shl(T::FRACTION);
    let sum = fma_of_moderate(x.m, y.m, Term::from_bits(addend));
    let above = gap.gt(i64::from(highest));
    let exponent = above.select(z.exponent - i64::from(highest), product);
    // Below this the result is zero, whatever the sum.
    let least = -2 * (T::BIAS - 1);
    let regular = sum.scale(exponent.clamp(least, 2 * T::BIAS));

    // Zeros, infinities and NaN. The product of finite numbers may overflow, but not into a sum that has no limit.
    let plain = a * b + c;
    let finite = |x: Term<'b, T>| x.is_finite();
    let nonzero = |x: Term<'b, T>| (x.bits() & (infinity_bits::<T>() | fraction_mask::<T>())).ne(0);
    let value = nonzero(c).select(regular, a * b);
    let value = finite(c).select(value, c);
    (finite(a) & finite(b) & nonzero(a) & nonzero(b)).select(value, plain)
}
