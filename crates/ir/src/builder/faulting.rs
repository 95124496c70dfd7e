//! The methods of numbers that can fail, by the table of `wattle-operations`; and powers of integers.

use std::borrow::Cow;

use super::{Val, Variable};
use crate::message::{Piece, Text};
use crate::scalar::least_normal;
use crate::{DivOp, Int, Number, Scalar, Site, Stmt, UnaryOp, Word};

/// What the assertion of a `checked_` method says.
pub fn overflow(method: &'static str) -> Text {
    let pieces = vec![Piece::Literal(Cow::Borrowed(method)), Piece::Literal(Cow::Borrowed(OVERFLOW))];
    Text(Cow::Owned(pieces))
}

const OVERFLOW: &str = ": the result is beyond the range of the type";

impl<'b, T: Number> Val<'b, T> {
    /// Builds [`NumberOps::pow`](crate::NumberOps::pow).
    pub fn pow(self, exponent: Val<'b, T::Exponent>) -> Self {
        let builder = self.builder;
        if T::TYPE.is_float() {
            return self.binary(crate::BinaryOp::Pow, Val::<T>::new(builder, exponent.id));
        }
        self.power(Val::new(builder, exponent.id), |x, y| (builder.mul(x, y), None)).0
    }

    /// The power of an integer, by squares: a constant exponent is a few products, another one a loop. `multiply` gives
    /// the product, and whether it is beyond the type; so does this.
    fn power(
        self,
        exponent: Val<'b, u32>,
        multiply: impl Fn(Self, Self) -> (Self, Option<Val<'b, bool>>),
    ) -> (Self, Option<Val<'b, bool>>) {
        let builder = self.builder;
        let either = |x: Option<Val<'b, bool>>, y: Option<Val<'b, bool>>| match (x, y) {
            (Some(x), Some(y)) => Some(builder.bit_or(x, y)),
            (x, y) => x.or(y),
        };
        if let Some(constant) = builder.constant(exponent.id) {
            let (mut left, mut base, mut beyond) = (constant.raw, builder.hold(self, None), None);
            let mut result = None;
            while left != 0 {
                if left & 1 != 0 {
                    let (product, is_beyond) = result.map_or((base, None), |result| multiply(result, base));
                    (result, beyond) = (Some(builder.hold(product, None)), either(beyond, is_beyond));
                }
                left >>= 1;
                if left != 0 {
                    let (square, is_beyond) = multiply(base, base);
                    (base, beyond) = (builder.hold(square, None), either(beyond, is_beyond));
                }
            }
            return (result.unwrap_or(self.lit(T::ONE)), beyond);
        }
        let (base, left) = (builder.slot(self), builder.slot(exponent));
        let (result, beyond) = (builder.slot(self.lit(T::ONE)), builder.slot(self.lit(false)));
        let (one, zero) = (self.lit(1u32), self.lit(0u32));
        let note = |is_beyond: Option<Val<'b, bool>>| {
            if let Some(is_beyond) = is_beyond {
                beyond.set(builder.bit_or(beyond.get(), is_beyond));
            }
        };
        // At most 32 times.
        let handle = builder.loop_begin(true);
        builder.while_condition(&handle, builder.ne(left.get(), zero));
        builder.if_begin(builder.ne(builder.bit_and(left.get(), one), zero));
        let (product, is_beyond) = multiply(result.get(), base.get());
        note(is_beyond);
        result.set(product);
        builder.if_end();
        left.set(builder.shr(left.get(), one));
        builder.if_begin(builder.ne(left.get(), zero));
        let (square, is_beyond) = multiply(base.get(), base.get());
        note(is_beyond);
        base.set(square);
        builder.if_end();
        builder.loop_end(handle);
        (builder.hold(result.get(), None), Some(builder.hold(beyond.get(), None)))
    }

    /// Whether the value, a signed or floating-point number, is less than zero.
    fn is_below_zero(self) -> Val<'b, bool> {
        self.builder.lt(self, self.lit(T::ZERO))
    }

    /// Whether the value, a float, is less than zero and not subnormal.
    fn is_negative_rest(self) -> Val<'b, bool> {
        let least = self.lit(least_normal::<T>()).unary::<T>(UnaryOp::Neg);
        self.builder.le(self, least)
    }

    /// The size, which wraps; of no unsigned number.
    fn size_of_signed(self) -> Self {
        self.unary(UnaryOp::Abs)
    }

    /// The floats of 16 bits as `f32`, rounded once.
    fn as_single(self, other: Self, f: impl FnOnce(Val<'b, f32>, Val<'b, f32>) -> Val<'b, f32>) -> Self {
        f(self.cast::<f32>(), other.cast::<f32>()).cast::<T>()
    }

    /// Builds [`NumberOps::rem_euclid`](crate::NumberOps::rem_euclid).
    #[track_caller]
    pub fn rem_euclid(self, divisor: Self) -> Self {
        let builder = self.builder;
        if T::TYPE.is_half() {
            return self.as_single(divisor, Val::rem_euclid);
        }
        let rest = builder.rem(self, divisor);
        if !T::TYPE.is_signed() && !T::TYPE.is_float() {
            return rest;
        }
        let other = builder.add(rest, divisor.size_of_signed());
        if T::TYPE.is_float() {
            let not_negative = Val::select(rest.is_below_zero(), self.lit(T::ZERO), rest);
            return Val::select(rest.is_negative_rest(), other, not_negative);
        }
        Val::select(rest.is_below_zero(), other, rest)
    }

    /// Builds [`NumberOps::div_euclid`](crate::NumberOps::div_euclid).
    #[track_caller]
    pub fn div_euclid(self, divisor: Self) -> Self {
        let builder = self.builder;
        if T::TYPE.is_half() {
            return self.as_single(divisor, Val::div_euclid);
        }
        let quotient = builder.div(self, divisor);
        if !T::TYPE.is_signed() && !T::TYPE.is_float() {
            return quotient;
        }
        let (zero, one) = (self.lit(T::ZERO), self.lit(T::ONE));
        let (quotient, rest, is_divisor) = if T::TYPE.is_float() {
            (quotient.unary(UnaryOp::Trunc), builder.rem(self, divisor), self.lit(true))
        } else {
            // By the quotient: a second division would be a second fault.
            (quotient, builder.sub(self, builder.mul(quotient, divisor)), builder.ne(divisor, zero))
        };
        let other = Val::select(builder.lt(zero, divisor), builder.sub(quotient, one), builder.add(quotient, one));
        let is_negative = if T::TYPE.is_float() { rest.is_negative_rest() } else { rest.is_below_zero() };
        Val::select(builder.bit_and(is_negative, is_divisor), other, quotient)
    }
}

impl super::Builder {
    /// A variable that starts with this value and may be assigned to in several places.
    fn slot<'b, T: Scalar>(&'b self, value: Val<'b, T>) -> super::Var<'b, T> {
        let slot = self.declare_slot(T::TYPE, None, true);
        self.push(Stmt::Assign { slot, value: value.id });
        super::Var::new(self, slot)
    }
}

impl<'b, T: Word> Val<'b, T> {
    /// Builds [`WordOps::div_ceil`](crate::WordOps::div_ceil).
    #[track_caller]
    pub fn div_ceil(self, divisor: Self) -> Self {
        let (builder, zero) = (self.builder, self.int(0));
        let quotient = builder.divide(DivOp::Div, self, divisor, Site::caller());
        // Not by another division, which would be another fault.
        let rest = builder.sub(self, builder.mul(quotient, divisor));
        let is_more = builder.bit_and(builder.ne(rest, zero), builder.ne(divisor, zero));
        Val::select(is_more, builder.add(quotient, self.int(1)), quotient)
    }
}

impl<'b, T: Int> Val<'b, T> {
    /// The product, and whether it is beyond the type.
    pub(super) fn multiplied(self, other: Self) -> (Self, Val<'b, bool>) {
        let builder = self.builder;
        let product = builder.mul(self, other);
        let is_beyond = match (T::TYPE.bits(), T::TYPE.is_signed()) {
            (8 | 16, false) => self.product_in::<u32>(other, product),
            (8 | 16, true) => self.product_in::<i32>(other, product),
            (32, _) => self.sizes_exceed::<u32>(other),
            _ => self.sizes_exceed::<u64>(other),
        };
        (product, is_beyond)
    }

    /// Whether the product in a wider type is another one.
    fn product_in<W: Int>(self, other: Self, product: Self) -> Val<'b, bool> {
        let builder = self.builder;
        builder.ne(builder.mul(self.cast::<W>(), other.cast::<W>()), product.cast::<W>())
    }

    /// Whether the product of the sizes, in the unsigned type as wide, is too great.
    fn sizes_exceed<W: Word>(self, other: Self) -> Val<'b, bool> {
        let builder = self.builder;
        if !T::TYPE.is_signed() {
            return builder.ne(self.cast::<W>().mul_hi(other.cast::<W>()), self.lit(W::ZERO));
        }
        let size = |x: Self| {
            let bits = x.cast::<W>();
            Val::select(x.is_below_zero(), builder.sub(self.lit(W::ZERO), bits), bits)
        };
        let (x, y) = (size(self), size(other));
        let is_negative = builder.bit_xor(self, other).is_below_zero();
        // The least number is one further from zero than the greatest.
        let most = builder.add(self.greatest().cast::<W>(), is_negative.cast::<W>());
        builder.bit_or(builder.ne(x.mul_hi(y), self.lit(W::ZERO)), builder.lt(most, builder.mul(x, y)))
    }

    /// The result, or 0 and a fault.
    #[track_caller]
    fn checked(self, is_beyond: Val<'b, bool>, method: &'static str) -> Self {
        let (builder, is_beyond) = (self.builder, self.builder.hold(is_beyond, None));
        builder.assert(builder.not(is_beyond), overflow(method), &[]);
        Val::select(is_beyond, self.int(0), self)
    }

    /// Builds [`IntOps::checked_add`](crate::IntOps::checked_add).
    #[track_caller]
    pub fn checked_add(self, other: Self) -> Self {
        let builder = self.builder;
        let sum = builder.add(self, other);
        let is_beyond = match T::TYPE.is_signed() {
            true => builder.bit_and(builder.bit_xor(self, sum), builder.bit_xor(other, sum)).is_below_zero(),
            false => builder.lt(sum, self),
        };
        sum.checked(is_beyond, "checked_add")
    }

    /// Builds [`IntOps::checked_sub`](crate::IntOps::checked_sub).
    #[track_caller]
    pub fn checked_sub(self, other: Self) -> Self {
        let builder = self.builder;
        let difference = builder.sub(self, other);
        let is_beyond = match T::TYPE.is_signed() {
            true => builder.bit_and(builder.bit_xor(self, other), builder.bit_xor(self, difference)).is_below_zero(),
            false => builder.lt(self, other),
        };
        difference.checked(is_beyond, "checked_sub")
    }

    /// Builds [`IntOps::checked_mul`](crate::IntOps::checked_mul).
    #[track_caller]
    pub fn checked_mul(self, other: Self) -> Self {
        let (product, is_beyond) = self.multiplied(other);
        product.checked(is_beyond, "checked_mul")
    }

    /// Builds [`IntOps::checked_neg`](crate::IntOps::checked_neg).
    #[track_caller]
    pub fn checked_neg(self) -> Self {
        let builder = self.builder;
        let negative = builder.sub(self.int(0), self);
        let is_beyond = match T::TYPE.is_signed() {
            true => builder.bit_and(self, negative).is_below_zero(),
            false => builder.ne(self, self.int(0)),
        };
        negative.checked(is_beyond, "checked_neg")
    }

    /// Builds [`IntOps::checked_pow`](crate::IntOps::checked_pow).
    #[track_caller]
    pub fn checked_pow(self, exponent: Val<'b, u32>) -> Self {
        let (power, is_beyond) = self.power(exponent, |x, y| {
            let (product, is_beyond) = x.multiplied(y);
            (product, Some(is_beyond))
        });
        power.checked(is_beyond.unwrap_or(self.lit(false)), "checked_pow")
    }
}
