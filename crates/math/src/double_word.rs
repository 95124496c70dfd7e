//! Numbers as unevaluated sums of two floats: about twice the precision.
//!
//! The exact sums and products are those of Knuth, Dekker and Veltkamp. They hold for round-to-nearest without
//! contraction or reassociation, which is what [`Real`]'s arithmetic is. This file and `real.rs` name each other: a
//! [`Real`] has a product that is a [`DoubleWord`].

use crate::real::{Real, power};

/// `hi + lo`, where `lo` is at most half an ulp of `hi`.
#[derive(Clone, Copy)]
pub struct DoubleWord<T> {
    /// The sum, rounded.
    pub hi: T,
    /// The sum's rounding error.
    pub lo: T,
}

/// `x + y`, exactly (Knuth).
#[inline(always)]
pub fn two_sum<T: Real>(x: T, y: T) -> DoubleWord<T> {
    let hi = x + y;
    let y_part = hi - x;
    let x_part = hi - y_part;
    DoubleWord { hi, lo: (x - x_part) + (y - y_part) }
}

/// `x + y`, exactly, where `x` is zero or its exponent is not below that of `y` (Dekker).
#[inline(always)]
pub fn fast_two_sum<T: Real>(x: T, y: T) -> DoubleWord<T> {
    let hi = x + y;
    DoubleWord { hi, lo: y - (hi - x) }
}

/// Two halves of at most half the precision each, whose sum is `x` (Veltkamp). The lower one may be negative, which
/// saves the bit by which an odd precision is too long.
#[inline(always)]
fn halves<T: Real>(x: T) -> DoubleWord<T> {
    let scaled = x * x.real(power(T::PRECISION.div_ceil(2) as i32) + 1.0);
    let hi = scaled - (scaled - x);
    DoubleWord { hi, lo: x - hi }
}

/// `x * y`, exactly, by the four products of the halves (Dekker).
#[inline(always)]
pub fn dekker_product<T: Real>(x: T, y: T) -> DoubleWord<T> {
    let hi = x * y;
    let (x, y) = (halves(x), halves(y));
    DoubleWord { hi, lo: (((x.hi * y.hi - hi) + x.hi * y.lo) + x.lo * y.hi) + x.lo * y.lo }
}

impl<T: Real> DoubleWord<T> {
    /// The product, with a relative error of a few 2^-2p: the product of the low parts is left out, and the others are
    /// rounded at their own size.
    #[inline(always)]
    pub(crate) fn times(self, other: DoubleWord<T>) -> DoubleWord<T> {
        let product = self.hi.product(other.hi);
        fast_two_sum(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}
