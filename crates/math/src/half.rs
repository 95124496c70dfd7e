//! Floats of 16 bits: their conversions, in integers, and their fused multiply-add.
//!
//! Their other operations are those of `f32` between two conversions. Rounding twice does no harm there: with p bits in
//! the narrow format and at least 2p + 2 in the wide one, sums, differences, products, quotients and square roots are
//! those rounded once (Figueroa, "When is double rounding innocuous?", ACM SIGNUM Newsletter 30(3), 1995). p is 11 for
//! binary16 and 8 for bfloat16, and `f32` has 24. It holds for the subnormal numbers of binary16 too, which `f32` has
//! as normal ones. Of a fused multiply-add it does not hold, so its sum is rounded to odd first.

use crate::fma::{fma_by, odd_sum};
use crate::real::{Real, Word};

/// A format of 16 bits.
pub trait HalfFormat {
    /// Bits of the fraction as it is stored.
    const FRACTION: u32;
    /// The exponent of the greatest power of two; what is added to exponents in the bits.
    const BIAS: u32;
    /// The bits of infinity, which are also the mask of the exponent.
    const INFINITY: u64 = (2 * Self::BIAS as u64 + 1) << Self::FRACTION;
    /// The bits of a quiet NaN.
    const NAN: u64 = Self::INFINITY | 1 << (Self::FRACTION - 1);
    /// The bits of 1.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION;
    /// The sign bit.
    const SIGN: u64 = 1 << 15;
}

/// What the exponent field is less in the narrow format.
const fn rebias<H: HalfFormat, T: Real>() -> u64 {
    (T::BIAS - H::BIAS) as u64
}

/// `x` without its last `count` bits, rounded to nearest, ties to even. The count is from 1 to the width less 2, and
/// the sum does not overflow.
#[inline(always)]
fn without_last<W: Word>(x: W, count: W) -> W {
    let one = x.word(1);
    let below_half = one.shl_by(count - one) - one;
    (x + below_half + (x.shr_by(count) & one)).shr_by(count)
}

/// The bits of the float of the narrow format that is nearest to `x`, ties to even: in one rounding, by integers alone.
#[inline(always)]
pub fn narrow<H: HalfFormat, T: Real>(x: T) -> T::Bits {
    let (size, dropped) = (x.bits() & x.word(!T::SIGN), T::FRACTION - H::FRACTION);
    // What is beyond the greatest number rounds to infinity, or above.
    let regular = without_last(size - x.word(rebias::<H, T>() << T::FRACTION), x.word(dropped.into()));
    let infinity = x.word(H::INFINITY);
    let regular = T::Bits::select(infinity.lt(regular), infinity, regular);
    let finite = if H::BIAS == T::BIAS {
        regular
    } else {
        // Below the least normal number the last place stays where it is: the lower the exponent, the more bits go.
        let least = x.word((rebias::<H, T>() + 1) << T::FRACTION);
        let significand = (size & x.word((1 << T::FRACTION) - 1)) | x.word(1 << T::FRACTION);
        let (count, most) = (
            x.word(rebias::<H, T>() + 1 + u64::from(dropped)) - size.shr(T::FRACTION),
            x.word((T::FRACTION + 2).into()),
        );
        let subnormal = without_last(significand, T::Bits::select(most.lt(count), most, count));
        T::Bits::select(size.lt(least), subnormal, regular)
    };
    let value = T::Bits::select(x.word(T::INFINITY).lt(size), x.word(H::NAN), finite);
    value | x.sign().shr(T::WIDTH - 16)
}

/// The number with these bits in the narrow format; exact.
#[inline(always)]
pub fn widen<H: HalfFormat, T: Real>(bits: T::Bits) -> T {
    let raised = T::FRACTION - H::FRACTION;
    if H::BIAS == T::BIAS {
        return T::from_bits(bits.shl(raised));
    }
    let size = bits & bits.word(!H::SIGN & 0xffff);
    let shifted = size.shl(raised);
    let regular = shifted + bits.word(rebias::<H, T>() << T::FRACTION);
    let special = shifted | bits.word(T::INFINITY);
    // The fraction of a subnormal number, with a hidden bit that is taken off again.
    let hidden = bits.word((rebias::<H, T>() + 1) << T::FRACTION);
    let subnormal = (T::from_bits(shifted + hidden) - T::from_bits(hidden)).bits();
    let value = T::Bits::select(size.lt(bits.word(H::INFINITY)), regular, special);
    let value = T::Bits::select(size.lt(bits.word(1 << H::FRACTION)), subnormal, value);
    T::from_bits(value | (bits & bits.word(H::SIGN)).shl(T::WIDTH - 16))
}

/// `a * b + c` for numbers of the narrow format, as a number that [`narrow`] rounds as the exact sum: the product has
/// at most 22 bits and is exact, and a sum that is rounded to odd with 24 bits may be rounded to 11 or 8 once more
/// (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE
/// Transactions on Computers 57, 2008).
///
/// All of binary16 is far within the range of `f32`. Products of bfloat16 are not: they are taken by their
/// significands, and the sum is rounded before it is scaled. A subnormal result of these may have been rounded twice.
#[inline(always)]
pub fn fused<H: HalfFormat, T: Real>(a: T, b: T, c: T) -> T {
    if H::BIAS == T::BIAS {
        return fma_by(a, b, c, |a, b, c| widen::<H, T>(narrow::<H, T>(odd_sum(a * b, c))));
    }
    let is_finite = a.is_finite() & b.is_finite() & c.is_finite();
    let product = a * b;
    T::select(is_finite, odd_sum(product, c), product + c)
}

/// An unsigned integer that `f32` has exactly, and that rounds to a narrow format as this one does: of a great one the
/// last bits are no more than whether there are any.
#[inline(always)]
pub fn sticky<W: Word>(x: W, bits: u32) -> W {
    // From each bound on, as many last bits. At least 10 are left, so that the mark is behind the one that decides
    // about the rounding of 8, and at most 24.
    [(24, 15), (39, 30), (54, 40)].into_iter().filter(|(bound, _)| *bound < bits).fold(x, |x, (bound, count)| {
        let last = x & x.word((1 << count) - 1);
        let mark = W::select(last.eq(x.word(0)), x.word(0), x.word(1 << count));
        W::select(x.lt(x.word(1 << bound)), x, (x - last) | mark)
    })
}
