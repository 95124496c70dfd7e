//! `fma` of a device that has none, or one that rounds twice.

use crate::double_word::{dekker_product, two_sum};
use crate::real::{Real, Word, power};

/// A number as 2^exponent m, with |m| from 1 to 2. The exponent is in two's complement.
struct Normal<T: Real> {
    m: T,
    exponent: T::Bits,
}

/// Splits a finite number that is not zero; for others the result is arbitrary.
#[inline(always)]
fn normal<T: Real>(x: T) -> Normal<T> {
    let is_subnormal = (x.bits() & x.word(T::INFINITY)).eq(x.word(0));
    let bits = T::select(is_subnormal, x * x.real(power(T::PRECISION as i32)), x).bits();
    let m = T::from_bits((bits & x.word(!T::INFINITY)) | x.word(T::ONE));
    let field = (bits & x.word(T::INFINITY)).shr(T::FRACTION);
    let bias = u64::from(T::BIAS);
    Normal { m, exponent: field - T::Bits::select(is_subnormal, x.word(bias + u64::from(T::PRECISION)), x.word(bias)) }
}

/// The integer in two's complement within these bounds; all are below half of the range.
#[inline(always)]
fn within<W: Word>(x: W, low: i32, high: i32) -> W {
    // Above all of them, so that they are compared without a sign.
    let lift = 1 << 20;
    let at = |bound: i32| x.word((bound + lift) as u64);
    let lifted = x + x.word(lift as u64);
    let lifted = W::select(lifted.lt(at(low)), at(low), lifted);
    W::select(at(high).lt(lifted), at(high), lifted) - x.word(lift as u64)
}

/// `x + y` rounded to odd: where it is not exact, the one of the two floats around it whose last bit is 1.
///
/// The rounded sum is one of the two. If it is even, the other one is its neighbour on the side of the error: away
/// from zero, by one in the bits, where the error has the sum's sign.
#[inline(always)]
pub(crate) fn odd_sum<T: Real>(x: T, y: T) -> T {
    let (sum, zero) = (two_sum(x, y), x.real(0.0));
    let (bits, one) = (sum.hi.bits(), x.word(1));
    let is_inwards = zero.lt(sum.lo) ^ zero.lt(sum.hi);
    let neighbour = T::Bits::select(is_inwards, bits - one, bits + one);
    let is_even = (bits & one).eq(x.word(0));
    T::from_bits(T::Bits::select(!sum.lo.eq(zero) & is_even, neighbour, bits))
}

/// `a * b + c` for |a| and |b| from 1 to 2 and |c| from 2^-(2p + 4) to 2^(p + 9), rounded once: the product and the
/// sums are exact, and only the low word is rounded, to odd, so that the last sum cannot round twice (Boldo and
/// Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
/// Transactions on Computers 57, 2008). Nothing here comes near to over- or underflow.
#[inline(always)]
fn fma_of_moderate<T: Real>(a: T, b: T, c: T) -> T {
    let product = dekker_product(a, b);
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
#[inline(always)]
pub fn fma<T: Real>(a: T, b: T, c: T) -> T {
    fma_by(a, b, c, fma_of_moderate)
}

/// [`fma`] of any numbers, given a function that computes it of numbers whose exponents are moderate: the operands are
/// scaled to such and the result is scaled back.
#[inline(always)]
pub(crate) fn fma_by<T: Real>(a: T, b: T, c: T, of_moderate: impl FnOnce(T, T, T) -> T) -> T {
    let (x, y, z) = (normal(a), normal(b), normal(c));
    let (lowest, highest) = (-(2 * T::PRECISION as i32 + 4), T::PRECISION as i32 + 8);
    let product = x.exponent + y.exponent;
    let gap = z.exponent - product;
    let limited = within(gap, lowest, highest);
    let sum = of_moderate(x.m, y.m, T::from_bits(z.m.bits() + limited.shl(T::FRACTION)));
    // Where c's exponent is limited from above, it is c's that counts.
    let is_above = !within(gap, i32::from(i16::MIN), highest).eq(gap);
    let exponent = T::Bits::select(is_above, z.exponent - a.word(highest as u64), product);
    // Below this the result is zero, whatever the sum.
    let least = -2 * (T::BIAS as i32 - 1);
    let regular = sum.scaled(within(exponent, least, 2 * T::BIAS as i32));

    // Zeros, infinities and NaN. The product of finite numbers may overflow, but not into a sum that has no limit.
    let plain = a * b + c;
    let nonzero = |x: T| !(x.bits() & x.word(!T::SIGN)).eq(x.word(0));
    let value = T::select(nonzero(c), regular, a * b);
    let value = T::select(c.is_finite(), value, c);
    T::select(a.is_finite() & b.is_finite() & nonzero(a) & nonzero(b), value, plain)
}
