//! The operations that functions are made of.

use core::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

use crate::double_word::{DoubleWord, dekker_product};

/// A truth value.
pub trait Flag:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

/// The bits of a float as an unsigned integer, which wraps.
pub trait Word:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// The truth values that comparisons give.
    type Flag: Flag;

    /// A constant, of which the low bits count.
    fn word(self, value: u64) -> Self;
    /// Shift left by a count below the width.
    fn shl(self, count: u32) -> Self;
    /// Shift right by a count below the width, filling with zeros.
    fn shr(self, count: u32) -> Self;
    /// Shift left by a count below the width.
    fn shl_by(self, count: Self) -> Self;
    /// Shift right by a count below the width, filling with zeros.
    fn shr_by(self, count: Self) -> Self;
    /// The high half of the full product.
    fn mul_hi(self, other: Self) -> Self;
    /// Whether `self` is less than `other`.
    fn lt(self, other: Self) -> Self::Flag;
    /// Whether both are the same.
    fn eq(self, other: Self) -> Self::Flag;
    /// `x` where the condition holds, else `y`.
    fn select(condition: Self::Flag, x: Self, y: Self) -> Self;

    /// Four consecutive words of the table from this number on, of which there are at most 16.
    #[inline(always)]
    fn window<const N: usize>(self, table: &'static [u64; N]) -> [Self; 4] {
        // The number's bits halve the choices, the highest first.
        let words: [Self; N] = self.halved(core::array::from_fn(|at| self.word(table[at])), 8);
        let words = self.halved(words, 4);
        let words = self.halved(words, 2);
        let words = self.halved(words, 1);
        [words[0], words[1], words[2], words[3]]
    }

    /// The words, those that are `by` further on in the place of the first `by` + 3 where the number has this bit.
    #[inline(always)]
    fn halved<const N: usize>(self, words: [Self; N], by: usize) -> [Self; N] {
        let is_far = (self & self.word(by as u64)).eq(self.word(by as u64));
        core::array::from_fn(|at| match at < by + 3 && at + by < N {
            true => Self::select(is_far, words[at + by], words[at]),
            false => words[at],
        })
    }
}

/// A float of a format of IEEE 754, or an expression that stands for one.
///
/// The operations are correctly rounded to nearest, ties to even, and nothing is contracted or reordered. Subnormal
/// numbers may be taken for zero.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The bits.
    type Bits: Word<Flag = Self::Flag>;
    /// The truth values that comparisons give.
    type Flag: Flag;
    /// An `i32`.
    type Integer;

    /// Bits of the significand, with the hidden one.
    const PRECISION: u32;
    /// The exponent of the greatest power of two; what is added to exponents in the bits.
    const BIAS: u32;
    /// Bits of the fraction as it is stored.
    const FRACTION: u32 = Self::PRECISION - 1;
    /// Bits of the exponent.
    const EXPONENT: u32 = Self::BIAS.ilog2() + 2;
    /// Bits of the whole format.
    const WIDTH: u32 = 1 + Self::EXPONENT + Self::FRACTION;
    /// The sign bit.
    const SIGN: u64 = 1 << (Self::WIDTH - 1);
    /// The bits of infinity, which are also the mask of the exponent.
    const INFINITY: u64 = (2 * Self::BIAS as u64 + 1) << Self::FRACTION;
    /// The bits of 1.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION;
    /// The float that has whole numbers around it: adding it rounds to them, and leaves them in the low bits.
    const MAGIC: f64 = 1.5 * power(Self::PRECISION as i32 - 1);

    /// The float of this format that is nearest to the value.
    fn real(self, value: f64) -> Self;
    /// The bits of the number.
    fn bits(self) -> Self::Bits;
    /// The float of these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The integer in two's complement, as wide as the bits.
    fn integer(integer: Self::Integer) -> Self::Bits;
    /// The square root, rounded correctly.
    fn sqrt(self) -> Self;
    /// Whether `self` is less than `other`; false if either is NaN.
    fn lt(self, other: Self) -> Self::Flag;
    /// Whether both are equal; false if either is NaN.
    fn eq(self, other: Self) -> Self::Flag;
    /// `x` where the condition holds, else `y`.
    fn select(condition: Self::Flag, x: Self, y: Self) -> Self;

    /// `self * other`, exactly, while nothing over- or underflows. One fused multiply-add gives the same.
    #[inline(always)]
    fn product(self, other: Self) -> DoubleWord<Self> {
        dekker_product(self, other)
    }

    /// The quotient, where both operands are from 2^-58 to 2^9 in size, or the dividend is +0.
    #[inline(always)]
    fn near_quotient(self, divisor: Self) -> Self {
        self / divisor
    }

    /// The quotient, within 4 ulp.
    #[inline(always)]
    fn rough_quotient(self, divisor: Self) -> Self {
        self / divisor
    }

    /// The square root, within 4 ulp.
    #[inline(always)]
    fn rough_root(self) -> Self {
        self.sqrt()
    }

    /// Selects one of two results, of which the first is rarely needed and expensive: by a branch, where that avoids
    /// the cost.
    fn rarely(
        condition: Self::Flag,
        then: impl FnOnce() -> Reduced<Self>,
        otherwise: impl FnOnce() -> Reduced<Self>,
    ) -> Reduced<Self>;

    /// A constant of the bits.
    #[inline(always)]
    fn word(self, value: u64) -> Self::Bits {
        self.bits().word(value)
    }

    /// The number without its sign.
    #[inline(always)]
    fn abs(self) -> Self {
        Self::from_bits(self.bits() & self.word(!Self::SIGN))
    }

    /// The sign bit, in its place.
    #[inline(always)]
    fn sign(self) -> Self::Bits {
        self.bits() & self.word(Self::SIGN)
    }

    /// The number with its sign turned where `sign` has its bit: a negation that a zero keeps too.
    #[inline(always)]
    fn turned(self, sign: Self::Bits) -> Self {
        Self::from_bits(self.bits() ^ sign)
    }

    /// The size with the sign of `other`.
    #[inline(always)]
    fn with_sign_of(self, other: Self) -> Self {
        Self::from_bits((self.bits() & self.word(!Self::SIGN)) | other.sign())
    }

    /// Whether the number is neither infinite nor NaN, from its bits: targets may assume in float comparisons that it is.
    #[inline(always)]
    fn is_finite(self) -> Self::Flag {
        (self.bits() & self.word(Self::INFINITY)).lt(self.word(Self::INFINITY))
    }

    /// Whether the number is a NaN, from its bits.
    #[inline(always)]
    fn is_nan(self) -> Self::Flag {
        self.word(Self::INFINITY).lt(self.bits() & self.word(!Self::SIGN))
    }

    /// Whether the number is an infinity, from its bits.
    #[inline(always)]
    fn is_infinite(self) -> Self::Flag {
        (self.bits() & self.word(!Self::SIGN)).eq(self.word(Self::INFINITY))
    }

    /// The number itself within the bounds, else the bound. A NaN stays.
    #[inline(always)]
    fn within(self, low: f64, high: f64) -> Self {
        let (low, high) = (self.real(low), self.real(high));
        Self::select(self.lt(low), low, Self::select(high.lt(self), high, self))
    }

    /// The nearest whole number, which is below 2^(precision - 2) in size: as a float, and as an integer.
    #[inline(always)]
    fn nearest_whole(self) -> (Self, Self::Bits) {
        let magic = self.real(Self::MAGIC);
        let sum = self + magic;
        (sum - magic, sum.bits() - magic.bits())
    }

    /// The float that is the integer, below 2^(precision - 2) in size.
    #[inline(always)]
    fn whole(self, integer: Self::Bits) -> Self {
        let magic = self.real(Self::MAGIC);
        Self::from_bits(magic.bits() + integer) - magic
    }

    /// 2 to the power of this integer, which is a normal number's exponent.
    #[inline(always)]
    fn power_of_two(exponent: Self::Bits) -> Self {
        Self::from_bits((exponent + exponent.word(Self::BIAS.into())).shl(Self::FRACTION))
    }

    /// The number times 2 to the power of `exponent`, which is at most twice a normal number's exponent. It is scaled
    /// in two steps, so that a normal result comes from a normal intermediate one.
    #[inline(always)]
    fn scaled(self, exponent: Self::Bits) -> Self {
        let biased = exponent + exponent.word((2 * Self::BIAS).into());
        let half = biased.shr(1);
        self * Self::from_bits(half.shl(Self::FRACTION)) * Self::from_bits((biased - half).shl(Self::FRACTION))
    }

    /// The number without the lower half of its significand: products of two such are exact.
    #[inline(always)]
    fn upper_half(self) -> Self {
        Self::from_bits(self.bits() & self.word(!0 << Self::PRECISION.div_ceil(2)))
    }

    /// The polynomial in this number with these coefficients, the constant one first.
    #[inline(always)]
    fn polynomial(self, coefficients: &Coefficients) -> Self {
        let all = if Self::PRECISION < 32 { coefficients.single } else { coefficients.double };
        let (last, rest) = match all.split_last() {
            Some((last, rest)) => (*last, rest),
            None => (0.0, all),
        };
        let mut sum = self.real(last);
        let mut left = rest.len();
        while left > 0 {
            left -= 1;
            sum = sum * self + self.real(rest[left]);
        }
        sum
    }
}

/// A number less a multiple of another one: the multiple's last bits, the rest, and what the rest is rounded by.
#[derive(Clone, Copy)]
pub struct Reduced<T: Real> {
    /// The multiple's last bits.
    pub n: T::Bits,
    /// The remainder: the number minus the multiple, rounded.
    pub r: T,
    /// The correction of the remainder, less than half an ulp of it.
    pub c: T,
}

/// The coefficients of a polynomial that is near a function on an interval, the constant one first: a polynomial for
/// each precision.
pub struct Coefficients {
    pub(crate) single: &'static [f64],
    pub(crate) double: &'static [f64],
}

/// A constant as a sum: a head with few bits, so that its product with a short number is exact, and the rest; for each
/// precision.
pub(crate) struct Split {
    pub(crate) single: (f64, f64),
    pub(crate) double: (f64, f64),
}

impl Split {
    #[inline(always)]
    pub(crate) fn of<T: Real>(&self) -> (f64, f64) {
        if T::PRECISION < 32 { self.single } else { self.double }
    }
}

/// 2 to the power of an exponent of a normal `f64`.
pub(crate) const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}
