//! Roundings to whole numbers, also on drivers that round `f64` wrongly ([`crate::Workarounds::rough_rounding`]).

use rspirv::spirv::{GlslStd450Op, Op, Word};
use wattle_ir::{Scalar, Type};

use crate::emit::Emitter;

/// The bits of a `f64` but for its sign.
const SIZE: u64 = !0 >> 1;

/// How a float is rounded to a whole number.
#[derive(Clone, Copy)]
pub(crate) enum Rounding {
    Down,
    Up,
    /// Ties go to the even one.
    ToNearest,
    TowardsZero,
}

impl Emitter<'_> {
    /// The float, rounded to a whole number.
    pub(crate) fn rounded(&mut self, rounding: Rounding, ty: Type, x: Word) -> Word {
        if ty == Type::F64 && self.features.workarounds.rough_rounding {
            return self.rounded_by_sums(rounding, x);
        }
        let of = self.asm.ty(ty);
        let function = match rounding {
            Rounding::Down => GlslStd450Op::Floor,
            Rounding::Up => GlslStd450Op::Ceil,
            Rounding::ToNearest => GlslStd450Op::RoundEven,
            Rounding::TowardsZero => GlslStd450Op::Trunc,
        };
        self.asm.extended(function, of, &[x])
    }

    /// One of the roundings of a `f64`, by sums: 2^52 added to a smaller size and taken away leaves the nearest whole
    /// number, ties to even (Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., 4.2.3). Of the others,
    /// which are at most 1 away, it decides whether that is greater or less. The sign, also a zero's, is the operand's.
    fn rounded_by_sums(&mut self, rounding: Rounding, x: Word) -> Word {
        let (ty, bits) = (Type::F64, Type::U64);
        let number = |value: f64| value.to_raw();
        let of_bits = self.asm.ty(bits);
        let (raw, size) = (self.bits(ty, bits, x), self.asm.constant(bits, SIZE));
        let size = self.asm.of(Op::BitwiseAnd, of_bits, &[raw, size]);
        let size = self.bits(bits, ty, size);
        let least_whole = self.asm.constant(ty, number((1u64 << 52) as f64));
        let hidden = self.hidden(ty, least_whole);
        let sum = self.exact(Op::FAdd, ty, [size, hidden]);
        let near = self.exact(Op::FSub, ty, [sum, hidden]);
        let one = self.asm.constant(ty, number(1.0));
        let (is_greater, is_less) = (Op::FOrdGreaterThan, Op::FOrdLessThan);
        let mut away = |over: Op, by: Op| {
            let (is_over, other) = (self.compare(over, near, size), self.exact(by, ty, [near, one]));
            self.select(ty, is_over, other, near)
        };
        let (down, up) = (away(is_greater, Op::FSub), away(is_less, Op::FAdd));
        let zero = self.asm.constant(ty, 0);
        let is_negative = self.compare(is_less, x, zero);
        let whole = match rounding {
            Rounding::Down => self.select(ty, is_negative, up, down),
            Rounding::Up => self.select(ty, is_negative, down, up),
            Rounding::ToNearest => near,
            Rounding::TowardsZero => down,
        };
        let (sign, whole) = (self.asm.constant(bits, !SIZE), self.bits(ty, bits, whole));
        let sign = self.asm.of(Op::BitwiseAnd, of_bits, &[raw, sign]);
        let signed = self.asm.of(Op::BitwiseOr, of_bits, &[whole, sign]);
        let signed = self.bits(bits, ty, signed);
        // All others are whole, infinite, or no number.
        let has_parts = self.compare(is_less, size, least_whole);
        self.select(ty, has_parts, signed, x)
    }
}
