//! The methods of numbers that are built of operations, by the table of `wattle-operations`.

use std::f64::consts::{LN_2, LOG2_E, LOG10_2};

use super::Val;

use crate::{Float, FloatOps, Int, Scalar, Signed, SignedOps, Type, Word, native, types};

impl<'b, T: Scalar> Val<'b, T> {
    pub(super) fn lit<U: Scalar>(self, value: U) -> Val<'b, U> {
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

    /// Builds [`FloatOps::recip`].
    pub fn recip(self) -> Self {
        self.builder.div(self.lit(T::ONE), self)
    }

    /// Builds [`FloatOps::fract`].
    pub fn fract(self) -> Self {
        self.builder.sub(self, self.trunc())
    }

    /// Builds [`FloatOps::copysign`].
    pub fn copysign(self, sign: Self) -> Self {
        let builder = self.builder;
        let sign = builder.bit_and(sign.to_bits(), self.raw(1 << (T::TYPE.bits() - 1)));
        builder.from_bits(builder.bit_or(self.size(), sign))
    }

    /// [`SignedOps::signum`] of a float.
    fn float_signum(self) -> Self {
        Val::select(self.is_nan(), self, self.lit(T::ONE).copysign(self))
    }

    /// Builds [`FloatOps::to_degrees`].
    pub fn to_degrees(self) -> Self {
        self.times(57.29577951308232)
    }

    /// The product with the nearest number to a constant; of floats of 16 bits that of `f32`, rounded once more.
    fn times(self, factor: f64) -> Self {
        let builder = self.builder;
        if T::TYPE.is_half() {
            let wide = self.cast::<f32>();
            return builder.mul(wide, wide.lit(factor as f32)).cast::<T>();
        }
        builder.mul(self, self.lit(T::cast_from(factor)))
    }

    /// Builds [`FloatOps::to_radians`].
    pub fn to_radians(self) -> Self {
        self.times(0.017453292519943295)
    }

    /// Builds [`FloatOps::is_finite`] from the bits: targets may assume in comparisons of floats that they are finite.
    pub fn is_finite(self) -> Val<'b, bool> {
        self.builder.lt(self.size(), self.bits_of(f64::INFINITY))
    }

    /// Builds [`FloatOps::is_infinite`].
    pub fn is_infinite(self) -> Val<'b, bool> {
        self.builder.eq(self.size(), self.bits_of(f64::INFINITY))
    }

    /// Builds [`FloatOps::is_sign_negative`].
    pub fn is_sign_negative(self) -> Val<'b, bool> {
        self.builder.ne(self.to_bits(), self.size())
    }

    /// Builds [`FloatOps::is_sign_positive`].
    pub fn is_sign_positive(self) -> Val<'b, bool> {
        self.builder.eq(self.to_bits(), self.size())
    }

    /// A short form: of `f64` the function itself, of the floats of 16 bits that of `f32`, rounded.
    fn short(self, of_double: impl FnOnce(Self) -> Self, of_single: impl FnOnce(Val<'b, f32>) -> Val<'b, f32>) -> Self {
        if T::TYPE == Type::F64 { of_double(self) } else { of_single(self.cast::<f32>()).cast::<T>() }
    }

    /// The product with a constant.
    fn by(self, factor: f64) -> Self {
        self.builder.mul(self, self.lit(T::cast_from(factor)))
    }

    /// Builds [`FloatOps::exp_fast`].
    pub fn exp_fast(self) -> Self {
        self.short(Val::exp, |x| x.by(LOG2_E).exp2_fast())
    }

    /// Builds [`FloatOps::ln_fast`].
    pub fn ln_fast(self) -> Self {
        self.short(Val::ln, |x| x.log2_fast().by(LN_2))
    }

    /// Builds [`FloatOps::log10_fast`].
    pub fn log10_fast(self) -> Self {
        self.short(Val::log10, |x| x.log2_fast().by(LOG10_2))
    }

    /// Builds [`FloatOps::tan_fast`].
    pub fn tan_fast(self) -> Self {
        self.short(Val::tan, |x| x.sin_fast().div_fast(x.cos_fast()))
    }

    /// Builds [`FloatOps::div_fast`].
    pub fn div_fast(self, divisor: Self) -> Self {
        let builder = self.builder;
        self.short(|x| builder.div(x, divisor), |x| builder.mul(x, divisor.cast::<f32>().recip_fast()))
    }

    /// Builds [`FloatOps::pow_fast`].
    pub fn pow_fast(self, exponent: Self) -> Self {
        let builder = self.builder;
        self.short(|x| x.powf(exponent), |x| builder.mul(exponent.cast::<f32>(), x.log2_fast()).exp2_fast())
    }

    /// Builds [`FloatOps::sin_cos`].
    pub fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
}

/// The sign of a value by the row of its type. A float is cast to the type that it has, which makes nothing.
macro_rules! signum_of {
    ($x:ident $t:ident $($(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident
        $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        match $t::TYPE {
            $(Type::$variant => signum_of!(@$kind $x $t $variant),)+
        }
    };
    (@Float $x:ident $t:ident $variant:ident) => {
        $x.cast::<native::$variant>().float_signum().cast()
    };
    (@$kind:ident $x:ident $t:ident $variant:ident) => {
        $x.max($x.lit(SignedOps::neg($t::ONE))).min($x.lit($t::ONE))
    };
}

impl<'b, T: Signed> Val<'b, T> {
    /// Builds [`SignedOps::signum`].
    pub fn signum(self) -> Self {
        types!(signum_of self T)
    }
}

impl<'b, T: Int> Val<'b, T> {
    /// Builds [`IntOps::wrapping_add`](crate::IntOps::wrapping_add).
    pub fn wrapping_add(self, other: Self) -> Self {
        self.builder.add(self, other)
    }

    /// Builds [`IntOps::wrapping_sub`](crate::IntOps::wrapping_sub).
    pub fn wrapping_sub(self, other: Self) -> Self {
        self.builder.sub(self, other)
    }

    /// Builds [`IntOps::wrapping_mul`](crate::IntOps::wrapping_mul).
    pub fn wrapping_mul(self, other: Self) -> Self {
        self.builder.mul(self, other)
    }

    pub(super) fn int(self, raw: u64) -> Self {
        self.lit(T::from_raw(raw))
    }

    /// The greatest number of the type.
    pub(super) fn greatest(self) -> Self {
        self.int(u64::MAX >> (64 - T::TYPE.bits() + u32::from(T::TYPE.is_signed())))
    }

    /// Builds [`IntOps::rotate_left`](crate::IntOps::rotate_left).
    pub fn rotate_left(self, count: Val<'b, u32>) -> Self {
        let builder = self.builder;
        let low = builder.shr(self, builder.sub(self.lit(0u32), count));
        // The sign comes in with a signed number.
        let mask = builder.sub(builder.shl(self.int(1), count), self.int(1));
        builder.bit_or(builder.shl(self, count), builder.bit_and(low, mask))
    }

    /// Builds [`IntOps::rotate_right`](crate::IntOps::rotate_right).
    pub fn rotate_right(self, count: Val<'b, u32>) -> Self {
        self.rotate_left(self.builder.sub(self.lit(0u32), count))
    }

    /// Builds [`IntOps::swap_bytes`](crate::IntOps::swap_bytes): neighbours change places, bytes and then ever longer
    /// parts.
    pub fn swap_bytes(self) -> Self {
        let builder = self.builder;
        if T::TYPE == Type::I16 {
            // NVIDIA's Vulkan driver (580.159) compiles an arithmetic shift here wrongly, and a logical one rightly.
            return self.cast::<u16>().swap_bytes().cast();
        }
        let masks = [(8u32, 0x00ff_00ff_00ff_00ff), (16, 0x0000_ffff_0000_ffff), (32, 0xffff_ffff)];
        masks.into_iter().filter(|(by, _)| *by < T::TYPE.bits()).fold(self, |x, (by, mask)| {
            let (by, mask) = (self.lit(by), self.int(mask));
            let up = builder.shl(builder.bit_and(x, mask), by);
            builder.bit_or(up, builder.bit_and(builder.shr(x, by), mask))
        })
    }

    /// Builds [`IntOps::count_zeros`](crate::IntOps::count_zeros).
    pub fn count_zeros(self) -> Val<'b, u32> {
        self.builder.not(self).count_ones()
    }

    /// Builds [`IntOps::leading_ones`](crate::IntOps::leading_ones).
    pub fn leading_ones(self) -> Val<'b, u32> {
        self.builder.not(self).leading_zeros()
    }

    /// Builds [`IntOps::trailing_ones`](crate::IntOps::trailing_ones).
    pub fn trailing_ones(self) -> Val<'b, u32> {
        self.builder.not(self).trailing_zeros()
    }

    /// Builds [`IntOps::saturating_mul`](crate::IntOps::saturating_mul).
    pub fn saturating_mul(self, other: Self) -> Self {
        let builder = self.builder;
        let (product, is_beyond) = self.multiplied(other);
        if !T::TYPE.is_signed() {
            return Val::select(is_beyond, self.greatest(), product);
        }
        // All bits of the sign: the greatest number becomes the least one.
        let sign = builder.shr(builder.bit_xor(self, other), self.lit(T::TYPE.bits() - 1));
        Val::select(is_beyond, builder.bit_xor(sign, self.greatest()), product)
    }

    /// Builds [`IntOps::ilog2`](crate::IntOps::ilog2).
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

    /// Builds [`IntOps::saturating_add`](crate::IntOps::saturating_add).
    pub fn saturating_add(self, other: Self) -> Self {
        let builder = self.builder;
        let sum = builder.add(self, other);
        if T::TYPE.is_signed() {
            let (x, y) = (builder.bit_xor(self, sum), builder.bit_xor(other, sum));
            return self.saturated(sum, builder.bit_and(x, y));
        }
        Val::select(builder.lt(sum, self), self.greatest(), sum)
    }

    /// Builds [`IntOps::saturating_sub`](crate::IntOps::saturating_sub).
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
    /// Builds [`WordOps::is_power_of_two`](crate::WordOps::is_power_of_two).
    pub fn is_power_of_two(self) -> Val<'b, bool> {
        self.builder.eq(self.count_ones(), self.lit(1u32))
    }

    /// Builds [`WordOps::abs_diff`](crate::WordOps::abs_diff).
    pub fn abs_diff(self, other: Self) -> Self {
        self.builder.sub(self.max(other), self.min(other))
    }

    /// Builds [`WordOps::isqrt`](crate::WordOps::isqrt).
    ///
    /// A root in single precision is wrong by its last place, which is 2^8 at most. A step of Newton's leads to the
    /// root or a little above it. The step is rounded down from below, and up from above, so that it ends within 1 of
    /// the root.
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
