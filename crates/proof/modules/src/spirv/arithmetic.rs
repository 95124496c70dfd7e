//! The functions that instructions are, on bits (SPIR-V specification, 3.49.13 "Arithmetic Instructions" and its
//! neighbours). What the specification leaves undefined is [`undefined`](super::undefined)'s; here it has some value.

#![expect(clippy::useless_conversion, reason = "the functions are written once for all widths, and one of them is 64")]

use rspirv::spirv::Op;

use super::types::{Kind, Scalar};
use crate::code::{Bin, Tern, Un};
use crate::meaning::float;
use crate::meaning::half;
use crate::types::{Sort, Type};

/// A function on values, by its number of operands.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// A function with one operand.
    One(Un),
    /// A function with two operands.
    Two(Bin),
    /// A function with three operands.
    Three(Tern),
}

/// A function for each width of integers: `$u` and `$s` name the types of that width.
macro_rules! ints {
    ($bits:expr, $of:ident, |$u:ident, $s:ident| $f:expr) => {
        match $bits {
            8 => ints!(@ u8, i8, $of, $u, $s, $f),
            16 => ints!(@ u16, i16, $of, $u, $s, $f),
            32 => ints!(@ u32, i32, $of, $u, $s, $f),
            64 => ints!(@ u64, i64, $of, $u, $s, $f),
            _ => return None,
        }
    };
    (@ $unsigned:ty, $signed:ty, $of:ident, $u:ident, $s:ident, $f:expr) => {{
        #[allow(dead_code, reason = "some functions use one of them")]
        type $u = $unsigned;
        #[allow(dead_code, reason = "some functions use one of them")]
        type $s = $signed;
        Meaning::$of($f)
    }};
}

/// A function for each width of floats.
macro_rules! floats {
    ($bits:expr, $of:ident, |$f:ident| $body:expr) => {
        match $bits {
            16 => {
                type $f = F16;
                Meaning::$of($body)
            }
            32 => {
                type $f = F32;
                Meaning::$of($body)
            }
            64 => {
                type $f = F64;
                Meaning::$of($body)
            }
            _ => return None,
        }
    };
}

pub(super) use {floats, ints};

/// Floats of 16 bits, which are computed with as those of 32: what is exact there, or a root, is rounded once all the
/// same.
pub(super) struct F16;
/// Floats of 32 bits.
pub(super) struct F32;
/// Floats of 64 bits.
pub(super) struct F64;

impl F16 {
    fn format() -> half::Format {
        half::Format::of(Type { sort: Sort::Float, bits: 16 })
    }
    pub fn of(bits: u64) -> f32 {
        // Every float of 16 bits is one of 32.
        Self::format().number(bits) as f32
    }
    pub fn bits(value: f32) -> u64 {
        Self::format().nearest(value.into())
    }
    /// The greatest number below 1.
    pub fn below_one() -> f32 {
        1.0 - f32::EPSILON * 4096.0
    }
}

impl F32 {
    pub fn of(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
    pub fn bits(value: f32) -> u64 {
        value.to_bits().into()
    }
    /// The greatest number below 1.
    pub fn below_one() -> f32 {
        1.0f32.next_down()
    }
}

impl F64 {
    pub fn of(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    pub fn bits(value: f64) -> u64 {
        value.to_bits()
    }
    /// The greatest number below 1.
    pub fn below_one() -> f64 {
        1.0f64.next_down()
    }
}

/// The function of an instruction on operands of a type; `None` where it is none.
pub fn meaning(op: Op, ty: Scalar) -> Option<Meaning> {
    let bits = ty.bits;
    if ty.kind == Kind::Bool {
        return logical(op);
    }
    Some(match op {
        Op::IAdd => ints!(bits, Two, |U, S| |a, b| (a as U).wrapping_add(b as U).into()),
        Op::ISub => ints!(bits, Two, |U, S| |a, b| (a as U).wrapping_sub(b as U).into()),
        Op::IMul => ints!(bits, Two, |U, S| |a, b| (a as U).wrapping_mul(b as U).into()),
        Op::UDiv => ints!(bits, Two, |U, S| |a, b| (a as U).checked_div(b as U).unwrap_or(0).into()),
        Op::UMod => ints!(bits, Two, |U, S| |a, b| (a as U).checked_rem(b as U).unwrap_or(0).into()),
        Op::SDiv => ints!(bits, Two, |U, S| |a, b| {
            let quotient = if b as S == 0 { 0 } else { (a as S).wrapping_div(b as S) };
            (quotient as U).into()
        }),
        Op::SRem => ints!(bits, Two, |U, S| |a, b| {
            let rest = if b as S == 0 { 0 } else { (a as S).wrapping_rem(b as S) };
            (rest as U).into()
        }),
        Op::SMod => ints!(bits, Two, |U, S| |a, b| {
            let rest = if b as S == 0 { 0 } else { (a as S).wrapping_rem(b as S) };
            let rest = if rest != 0 && (rest < 0) != ((b as S) < 0) { rest.wrapping_add(b as S) } else { rest };
            (rest as U).into()
        }),
        Op::ShiftLeftLogical => ints!(bits, Two, |U, S| |a, b| {
            u32::try_from(b).ok().and_then(|b| (a as U).checked_shl(b)).unwrap_or(0).into()
        }),
        Op::ShiftRightLogical => ints!(bits, Two, |U, S| |a, b| {
            u32::try_from(b).ok().and_then(|b| (a as U).checked_shr(b)).unwrap_or(0).into()
        }),
        Op::ShiftRightArithmetic => {
            ints!(bits, Two, |U, S| |a, b| { ((a as S >> b.min(u64::from(U::BITS - 1))) as U).into() })
        }
        Op::BitwiseAnd => Meaning::Two(|a, b| a & b),
        Op::BitwiseOr => Meaning::Two(|a, b| a | b),
        Op::BitwiseXor => Meaning::Two(|a, b| a ^ b),
        Op::Not => ints!(bits, One, |U, S| |a| (!(a as U)).into()),
        Op::SNegate => ints!(bits, One, |U, S| |a| (a as U).wrapping_neg().into()),
        Op::BitCount => Meaning::One(|a| a.count_ones().into()),
        Op::BitReverse => ints!(bits, One, |U, S| |a| (a as U).reverse_bits().into()),
        Op::IEqual | Op::PtrEqual => Meaning::Two(|a, b| (a == b).into()),
        Op::INotEqual | Op::PtrNotEqual => Meaning::Two(|a, b| (a != b).into()),
        Op::UGreaterThan => Meaning::Two(|a, b| (a > b).into()),
        Op::UGreaterThanEqual => Meaning::Two(|a, b| (a >= b).into()),
        Op::ULessThan => Meaning::Two(|a, b| (a < b).into()),
        Op::ULessThanEqual => Meaning::Two(|a, b| (a <= b).into()),
        Op::SGreaterThan => ints!(bits, Two, |U, S| |a, b| (a as S > b as S).into()),
        Op::SGreaterThanEqual => ints!(bits, Two, |U, S| |a, b| (a as S >= b as S).into()),
        Op::SLessThan => ints!(bits, Two, |U, S| |a, b| ((a as S) < b as S).into()),
        Op::SLessThanEqual => ints!(bits, Two, |U, S| |a, b| (a as S <= b as S).into()),
        Op::BitFieldUExtract => extract(false, bits)?,
        Op::BitFieldSExtract => extract(true, bits)?,
        _ => return floating(op, ty),
    })
}

fn extract(signed: bool, bits: u32) -> Option<Meaning> {
    let sort = if signed { Sort::Signed } else { Sort::Unsigned };
    matches!(bits, 32 | 64).then(|| Meaning::Three(crate::meaning::int::bfe(Type { sort, bits })))
}

fn logical(op: Op) -> Option<Meaning> {
    Some(match op {
        Op::LogicalAnd | Op::BitwiseAnd => Meaning::Two(|a, b| a & b),
        Op::LogicalOr | Op::BitwiseOr => Meaning::Two(|a, b| a | b),
        Op::LogicalEqual | Op::IEqual => Meaning::Two(|a, b| (a == b).into()),
        Op::LogicalNotEqual | Op::INotEqual | Op::BitwiseXor => Meaning::Two(|a, b| (a != b).into()),
        Op::LogicalNot | Op::Not => Meaning::One(|a| a ^ 1),
        _ => return None,
    })
}

/// Floating-point instructions. Those of 16 bits are the ones whose result is rounded once.
fn floating(op: Op, ty: Scalar) -> Option<Meaning> {
    let bits = ty.bits;
    if ty.kind != Kind::Float {
        return None;
    }
    let two = match op {
        Op::FAdd => Some(float::Two::Add),
        Op::FSub => Some(float::Two::Sub),
        Op::FMul => Some(float::Two::Mul),
        Op::FDiv => Some(float::Two::Div),
        _ => None,
    };
    if let (Some(two), 16) = (two, bits) {
        return half::two(two, Type { sort: Sort::Float, bits }, half::Finish::None).map(Meaning::Two);
    }
    Some(match op {
        Op::FAdd => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) + F::of(b))),
        Op::FSub => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) - F::of(b))),
        Op::FMul => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) * F::of(b))),
        Op::FDiv => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) / F::of(b))),
        Op::FRem => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) % F::of(b))),
        Op::FMod => floats!(bits, Two, |F| |a, b| {
            let (a, b) = (F::of(a), F::of(b));
            F::bits(a - b * (a / b).floor())
        }),
        Op::FNegate => floats!(bits, One, |F| |a| F::bits(-F::of(a))),
        Op::IsNan => floats!(bits, One, |F| |a| F::of(a).is_nan().into()),
        Op::IsInf => floats!(bits, One, |F| |a| F::of(a).is_infinite().into()),
        Op::IsFinite => floats!(bits, One, |F| |a| F::of(a).is_finite().into()),
        Op::IsNormal if bits == 16 => Meaning::One(|a| (!matches!((a >> 10) & 0x1F, 0 | 0x1F)).into()),
        Op::IsNormal => floats!(bits, One, |F| |a| F::of(a).is_normal().into()),
        Op::SignBitSet => floats!(bits, One, |F| |a| F::of(a).is_sign_negative().into()),
        Op::Ordered => floats!(bits, Two, |F| |a, b| (!F::of(a).is_nan() && !F::of(b).is_nan()).into()),
        Op::Unordered => floats!(bits, Two, |F| |a, b| (F::of(a).is_nan() || F::of(b).is_nan()).into()),
        Op::FOrdEqual => floats!(bits, Two, |F| |a, b| (F::of(a) == F::of(b)).into()),
        Op::FUnordNotEqual => floats!(bits, Two, |F| |a, b| (F::of(a) != F::of(b)).into()),
        Op::FOrdLessThan => floats!(bits, Two, |F| |a, b| (F::of(a) < F::of(b)).into()),
        Op::FOrdLessThanEqual => floats!(bits, Two, |F| |a, b| (F::of(a) <= F::of(b)).into()),
        Op::FOrdGreaterThan => floats!(bits, Two, |F| |a, b| (F::of(a) > F::of(b)).into()),
        Op::FOrdGreaterThanEqual => floats!(bits, Two, |F| |a, b| (F::of(a) >= F::of(b)).into()),
        Op::FOrdNotEqual => floats!(bits, Two, |F| |a, b| (F::of(a) < F::of(b) || F::of(a) > F::of(b)).into()),
        Op::FUnordEqual => {
            floats!(bits, Two, |F| |a, b| u64::from(!(F::of(a) < F::of(b) || F::of(a) > F::of(b))))
        }
        Op::FUnordLessThan => floats!(bits, Two, |F| |a, b| u64::from(!matches!(
            F::of(a).partial_cmp(&F::of(b)),
            Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
        ))),
        Op::FUnordLessThanEqual => {
            floats!(bits, Two, |F| |a, b| (F::of(a).partial_cmp(&F::of(b)) != Some(std::cmp::Ordering::Greater)).into())
        }
        Op::FUnordGreaterThan => floats!(bits, Two, |F| |a, b| u64::from(!matches!(
            F::of(a).partial_cmp(&F::of(b)),
            Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
        ))),
        Op::FUnordGreaterThanEqual => {
            floats!(bits, Two, |F| |a, b| (F::of(a).partial_cmp(&F::of(b)) != Some(std::cmp::Ordering::Less)).into())
        }
        _ => return None,
    })
}

/// The lowest bits of a product's upper half, and of the carry or borrow: the second member of what `OpIAddCarry` and
/// its kind give. The first one is the function of the plain instruction, which comes first here.
pub fn extended(op: Op, bits: u32) -> Option<(Op, Meaning)> {
    Some(match op {
        Op::IAddCarry => (Op::IAdd, ints!(bits, Two, |U, S| |a, b| (a as U).overflowing_add(b as U).1.into())),
        Op::ISubBorrow => (Op::ISub, ints!(bits, Two, |U, S| |a, b| (a as U).overflowing_sub(b as U).1.into())),
        Op::UMulExtended => {
            (Op::IMul, ints!(bits, Two, |U, S| |a, b| ((u128::from(a as U) * u128::from(b as U)) >> U::BITS) as u64))
        }
        Op::SMulExtended => (
            Op::IMul,
            ints!(bits, Two, |U, S| |a, b| (((i128::from(a as S) * i128::from(b as S)) >> U::BITS) as U).into()),
        ),
        _ => return None,
    })
}
