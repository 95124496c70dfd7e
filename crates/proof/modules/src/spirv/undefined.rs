//! The operands for which SPIR-V leaves an instruction's result undefined, or what the module does at all.

use rspirv::spirv::Op;

use super::arithmetic::{F16, F32, F64, Meaning, floats, ints};
use super::types::{Kind, Scalar};
use crate::meaning::half::Format;
use crate::types::{Sort, Type};

/// What the operands leave undefined for which a function is not 0.
#[derive(Clone, Copy)]
pub enum Undefined {
    /// The result, which may be anything.
    Result(Meaning),
    /// The result, within an error that the specification bounds.
    Rounding,
    /// The behaviour of the whole module, which is told in these words.
    Behaviour(&'static str, Meaning),
}

/// What an instruction on operands of a type leaves undefined (SPIR-V 1.6, 3.52.13 "Arithmetic Instructions" and
/// 3.52.14 "Bit Instructions", each by its name).
pub fn of(op: Op, ty: Scalar) -> Vec<Undefined> {
    behaviour(op, ty).into_iter().chain(result(op, ty)).collect()
}

fn behaviour(op: Op, ty: Scalar) -> Option<Undefined> {
    let bits = ty.bits;
    Some(match op {
        // "Behavior is undefined if Operand 2 is 0."
        Op::UDiv | Op::UMod => Undefined::Behaviour("a division by zero", Meaning::Two(|_, b| (b == 0).into())),
        // "Behavior is undefined if Operand 2 is -1 and Operand 1 is the minimum representable value."
        Op::SDiv | Op::SRem | Op::SMod => Undefined::Behaviour(
            "a division by zero, or of the least number by -1",
            ints!(bits, Two, |U, S| |a, b| (b as S == 0 || (a as S == S::MIN && b as S == -1)).into()),
        ),
        _ => return None,
    })
}

fn result(op: Op, ty: Scalar) -> Option<Undefined> {
    let bits = ty.bits;
    Some(Undefined::Result(match op {
        // "For the OpSRem and OpSMod instructions, if either operand is negative the result is undefined" (Vulkan 1.3,
        // "Precision and Operation of SPIR-V Instructions").
        Op::SRem | Op::SMod => ints!(bits, Two, |U, S| |a, b| ((a as S) < 0 || (b as S) < 0).into()),
        // "The resulting value is undefined if Shift is greater than or equal to the bit width of the components of
        // Base."
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            ints!(bits, Two, |U, S| |_, b| (b >= U::BITS.into()).into())
        }
        // "The resulting value is undefined if Count or Offset or their sum is greater than the number of bits."
        Op::BitFieldUExtract | Op::BitFieldSExtract => {
            ints!(bits, Three, |U, S| |_, offset, count| { (offset.saturating_add(count) > U::BITS.into()).into() })
        }
        // "The resulting value is undefined if Operand 2 is 0."
        Op::FRem | Op::FMod if ty.kind == Kind::Float => {
            floats!(bits, Two, |F| |_, b| (F::of(b) == 0.0).into())
        }
        _ => return None,
    }))
}

/// Whether bits that are inserted into a number do not all lie within its width (SPIR-V 1.6, "OpBitFieldInsert").
pub fn beyond(bits: u32) -> fn(u64, u64) -> u64 {
    match bits {
        64 => |offset, count| (offset.saturating_add(count) > 64).into(),
        _ => |offset, count| (offset.saturating_add(count) > 32).into(),
    }
}

/// Whether a float is none that an integer type can hold once it is rounded toward zero: "Behavior is undefined if
/// Result Type is not wide enough to hold the converted value" (SPIR-V 1.6, "OpConvertFToU", "OpConvertFToS").
pub fn too_wide(from: Scalar, to: Scalar, signed: bool) -> Option<fn(u64) -> u64> {
    macro_rules! to {
        ($number:expr) => {
            match (to.bits, signed) {
                (8, false) => |a| outside($number(a), 0, 8),
                (16, false) => |a| outside($number(a), 0, 16),
                (32, false) => |a| outside($number(a), 0, 32),
                (64, false) => |a| outside($number(a), 0, 64),
                (8, true) => |a| outside($number(a), 1, 7),
                (16, true) => |a| outside($number(a), 1, 15),
                (32, true) => |a| outside($number(a), 1, 31),
                (64, true) => |a| outside($number(a), 1, 63),
                _ => return None,
            }
        };
    }
    Some(match from.bits {
        16 => to!(|a| Format::of(Type { sort: Sort::Float, bits: 16 }).number(a)),
        32 => to!(|a| f64::from(F32::of(a))),
        64 => to!(F64::of),
        _ => return None,
    })
}

/// Whether the bits of a float of that many are no number.
pub fn nan(bits: u32) -> fn(u64) -> u64 {
    match bits {
        16 => |a| F16::of(a).is_nan().into(),
        32 => |a| F32::of(a).is_nan().into(),
        _ => |a| F64::of(a).is_nan().into(),
    }
}

/// Whether a number rounded toward zero is below `-sign * 2^bits` or not below `2^bits`.
fn outside(number: f64, sign: u8, bits: i32) -> u64 {
    let (whole, end) = (number.trunc(), 2f64.powi(bits));
    u64::from(!(whole >= -f64::from(sign) * end && whole < end))
}
