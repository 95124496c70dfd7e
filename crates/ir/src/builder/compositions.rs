//! The methods of numbers that are built of operations, by the table of `wattle-operations`.

use super::Val;
use crate::{Float, FloatOps, Int, Scalar, Word};

impl<'b, T: Scalar> Val<'b, T> {
    fn lit<U: Scalar>(self, value: U) -> Val<'b, U> {
        self.builder.lit(value)
    }
}

impl<'b, T: Float> Val<'b, T> {
    fn raw(self, raw: u64) -> Val<'b, T::Bits> {
        self.lit(T::Bits::from_raw(raw))
    }

    /// The bits of a constant.
    fn bits_of(self, value: f64) -> Val<'b, T::Bits> {
        self.lit(FloatOps::to_bits(T::cast_from(value)))
    }

    /// The bits without the sign.
    fn size(self) -> Val<'b, T::Bits> {
        self.builder.bit_and(self.to_bits(), self.raw(!(1 << (T::TYPE.bits() - 1))))
    }

    /// See [`FloatOps::recip`].
    pub fn recip(self) -> Self {
        self.builder.div(self.lit(T::ONE), self)
    }

    /// See [`FloatOps::fract`].
    pub fn fract(self) -> Self {
        self.builder.sub(self, self.trunc())
    }

    /// See [`FloatOps::copysign`].
    pub fn copysign(self, sign: Self) -> Self {
        let builder = self.builder;
        let sign = builder.bit_and(sign.to_bits(), self.raw(1 << (T::TYPE.bits() - 1)));
        builder.from_bits(builder.bit_or(self.size(), sign))
    }

    /// See [`FloatOps::signum`].
    pub fn signum(self) -> Self {
        Val::select(self.is_nan(), self, self.lit(T::ONE).copysign(self))
    }

    /// See [`FloatOps::to_degrees`].
    pub fn to_degrees(self) -> Self {
        self.builder.mul(self, self.lit(T::cast_from(57.29577951308232)))
    }

    /// See [`FloatOps::to_radians`].
    pub fn to_radians(self) -> Self {
        self.builder.mul(self, self.lit(T::cast_from(0.017453292519943295)))
    }

    /// See [`FloatOps::is_finite`]. By the bits: targets may assume in comparisons of floats that they are finite.
    pub fn is_finite(self) -> Val<'b, bool> {
        self.builder.lt(self.size(), self.bits_of(f64::INFINITY))
    }

    /// See [`FloatOps::is_infinite`].
    pub fn is_infinite(self) -> Val<'b, bool> {
        self.builder.eq(self.size(), self.bits_of(f64::INFINITY))
    }

    /// See [`FloatOps::is_sign_negative`].
    pub fn is_sign_negative(self) -> Val<'b, bool> {
        self.builder.ne(self.to_bits(), self.size())
    }

    /// See [`FloatOps::sin_cos`].
    pub fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
}

impl<'b, T: Int> Val<'b, T> {
    fn int(self, raw: u64) -> Self {
        self.lit(T::from_raw(raw))
    }

    /// The greatest number of the type.
    fn greatest(self) -> Self {
        self.int(u64::MAX >> (64 - T::TYPE.bits() + u32::from(T::TYPE.is_signed())))
    }

    /// See [`IntOps::rotate_left`](crate::IntOps::rotate_left).
    pub fn rotate_left(self, count: Val<'b, u32>) -> Self {
        let builder = self.builder;
        let low = builder.shr(self, builder.sub(self.lit(0u32), count));
        // The sign comes in with a signed number.
        let mask = builder.sub(builder.shl(self.int(1), count), self.int(1));
        builder.bit_or(builder.shl(self, count), builder.bit_and(low, mask))
    }

    /// See [`IntOps::rotate_right`](crate::IntOps::rotate_right).
    pub fn rotate_right(self, count: Val<'b, u32>) -> Self {
        self.rotate_left(self.builder.sub(self.lit(0u32), count))
    }

    /// See [`IntOps::swap_bytes`](crate::IntOps::swap_bytes): neighbours change places, bytes and then ever longer parts.
    pub fn swap_bytes(self) -> Self {
        let builder = self.builder;
        let masks = [(8u32, 0x00ff_00ff_00ff_00ff), (16, 0x0000_ffff_0000_ffff), (32, 0xffff_ffff)];
        masks.into_iter().filter(|(by, _)| *by < T::TYPE.bits()).fold(self, |x, (by, mask)| {
            let (by, mask) = (self.lit(by), self.int(mask));
            let up = builder.shl(builder.bit_and(x, mask), by);
            builder.bit_or(up, builder.bit_and(builder.shr(x, by), mask))
        })
    }

    /// See [`IntOps::ilog2`](crate::IntOps::ilog2).
    pub fn ilog2(self) -> Val<'b, u32> {
        let builder = self.builder;
        builder.sub(self.lit(T::TYPE.bits() - 1), builder.bit_or(self, self.int(1)).leading_zeros())
    }

    /// The signed result where no sign says that it has overflown; the bound on the side of `self` else.
    fn saturated(self, result: Self, overflown: Self) -> Self {
        let builder = self.builder;
        let sign = builder.shr(self, self.lit(T::TYPE.bits() - 1));
        let is_beyond = builder.lt(overflown, self.int(0));
        Val::select(is_beyond, builder.bit_xor(sign, self.greatest()), result)
    }

    /// See [`IntOps::saturating_add`](crate::IntOps::saturating_add).
    pub fn saturating_add(self, other: Self) -> Self {
        let builder = self.builder;
        let sum = builder.add(self, other);
        if T::TYPE.is_signed() {
            let (x, y) = (builder.bit_xor(self, sum), builder.bit_xor(other, sum));
            return self.saturated(sum, builder.bit_and(x, y));
        }
        Val::select(builder.lt(sum, self), self.greatest(), sum)
    }

    /// See [`IntOps::saturating_sub`](crate::IntOps::saturating_sub).
    pub fn saturating_sub(self, other: Self) -> Self {
        let builder = self.builder;
        let difference = builder.sub(self, other);
        if T::TYPE.is_signed() {
            let (x, y) = (builder.bit_xor(self, other), builder.bit_xor(self, difference));
            return self.saturated(difference, builder.bit_and(x, y));
        }
        Val::select(builder.lt(self, other), self.int(0), difference)
    }
}

impl<'b, T: Word> Val<'b, T> {
    /// See [`WordOps::saturating_mul`](crate::WordOps::saturating_mul).
    pub fn saturating_mul(self, other: Self) -> Self {
        let builder = self.builder;
        let fits = builder.eq(self.mul_hi(other), self.int(0));
        Val::select(fits, builder.mul(self, other), self.greatest())
    }

    /// See [`WordOps::abs_diff`](crate::WordOps::abs_diff).
    pub fn abs_diff(self, other: Self) -> Self {
        self.builder.sub(self.max(other), self.min(other))
    }

    /// See [`WordOps::isqrt`](crate::WordOps::isqrt).
    ///
    /// A root in single precision is wrong by its last place, which is 2^8 at most. A step of Newton's leads to the root or
    /// a little above it. The step is rounded down from below, and up from above, so that it ends within 1 of the root.
    pub fn isqrt(self) -> Self {
        let builder = self.builder;
        let most = self.int(u64::MAX >> (64 - T::TYPE.bits() / 2));
        let single = |x: Val<'b, T>| x.cast::<f32>();
        let start = single(self).sqrt().cast::<T>().min(most);
        let square = builder.mul(start, start);
        let is_above = builder.lt(self, square);
        let distance = Val::select(is_above, builder.sub(square, self), builder.sub(self, square));
        let step = builder.div(single(distance), single(builder.add(start, start))).cast::<T>();
        let near = Val::select(is_above, builder.sub(start, builder.add(step, self.int(1))), builder.add(start, step))
            .min(most);
        // One less where the square is above, and one more where the next square is not.
        let lower = Val::select(builder.lt(self, builder.mul(near, near)), builder.sub(near, self.int(1)), near);
        let next = builder.add(lower, self.int(1));
        let fits = builder.bit_and(builder.le(builder.mul(next, next), self), builder.lt(lower, most));
        Val::select(fits, next, lower)
    }
}
