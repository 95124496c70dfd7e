//! Numbers as unevaluated sums of two floats: about twice the precision.
//!
//! The exact sums and products are those of Knuth, Dekker and Veltkamp. They hold for round-to-nearest without
//! contraction or reassociation, which is what the IR's arithmetic is.

use super::term::{Real, Term};

/// `hi + lo`, where `lo` is at most half an ulp of `hi`.
#[derive(Clone, Copy)]
pub(super) struct DoubleWord<'b, T> {
    pub(super) hi: Term<'b, T>,
    pub(super) lo: Term<'b, T>,
}

/// `x + y`, exactly (Knuth).
pub(super) fn two_sum<'b, T: Real>(x: Term<'b, T>, y: Term<'b, T>) -> DoubleWord<'b, T> {
    let hi = x + y;
    let y_part = hi - x;
    let x_part = hi - y_part;
    DoubleWord { hi, lo: (x - x_part) + (y - y_part) }
}

/// `x + y`, exactly, where `x` is zero or its exponent is not below that of `y` (Dekker).
pub(super) fn fast_two_sum<'b, T: Real>(x: Term<'b, T>, y: Term<'b, T>) -> DoubleWord<'b, T> {
    let hi = x + y;
    DoubleWord { hi, lo: y - (hi - x) }
}

/// Two halves of at most half the precision each, whose sum is `x` (Veltkamp). The lower one may be negative, which
/// saves the bit by which an odd precision is too long.
fn halves<'b, T: Real>(x: Term<'b, T>) -> DoubleWord<'b, T> {
    let factor = 2f64.powi(T::PRECISION.div_ceil(2) as i32) + 1.0;
    let scaled = x * factor;
    let hi = scaled - (scaled - x);
    DoubleWord { hi, lo: x - hi }
}

/// `x * y`, exactly, while nothing over- or underflows: by one `fma` where the target has it (`fused`), else by the
/// four products of the halves (Dekker).
pub(super) fn two_product<'b, T: Real>(x: Term<'b, T>, y: Term<'b, T>, fused: bool) -> DoubleWord<'b, T> {
    let hi = x * y;
    if fused {
        return DoubleWord { hi, lo: x.fma(y, -hi) };
    }
    let (x, y) = (halves(x), halves(y));
    DoubleWord { hi, lo: (((x.hi * y.hi - hi) + x.hi * y.lo) + x.lo * y.hi) + x.lo * y.lo }
}

/// `z - x * y`, rounded once, where the product is within a factor of 2 of `z`, while nothing over- or underflows.
pub(super) fn residual<'b, T: Real>(z: Term<'b, T>, x: Term<'b, T>, y: Term<'b, T>, fused: bool) -> Term<'b, T> {
    if fused {
        return x.fma(-y, z);
    }
    let product = two_product(x, y, false);
    (z - product.hi) - product.lo
}

impl<'b, T: Real> DoubleWord<'b, T> {
    /// The product, with a relative error of a few 2^-2p: the product of the low parts is left out, and the others are
    /// rounded at their own size.
    pub(super) fn times(self, other: DoubleWord<'b, T>, fused: bool) -> DoubleWord<'b, T> {
        let product = two_product(self.hi, other.hi, fused);
        fast_two_sum(product.hi, product.lo + (self.hi * other.lo + self.lo * other.hi))
    }
}
