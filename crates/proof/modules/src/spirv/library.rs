//! The extended instructions of `GLSL.std.450` and `OpenCL.std`: here are those whose results the specifications fix;
//! those with an error bound (sines, powers) are [`approximate`](super::approximate)'s.

#![expect(clippy::useless_conversion, reason = "the functions are written once for all widths, and one of them is 64")]

use rspirv::spirv::{GlslStd450Op as Glsl, OpenclStd100Op as OpenCl};

use super::approximate;
use super::arithmetic::{F16, F32, F64, Meaning, floats, ints};
use super::types::{Kind, Scalar};
use super::undefined::Undefined;
use crate::meaning::half;
use crate::types::{Sort, Type};

/// The function of an extended instruction on operands of a type, and what they may leave undefined; `None` where it is
/// not supported.
pub fn meaning(set: &str, number: u32, ty: Scalar) -> Option<(Meaning, Option<Undefined>)> {
    let names = match set {
        "GLSL.std.450" => GLSL,
        "OpenCL.std" => OPENCL,
        _ => return None,
    };
    match names.iter().find(|(known, _)| *known == number) {
        Some(&(_, name)) => Some((of_name(name, ty)?, undefined(name, ty))),
        None => Some((approximate::meaning(set, number, ty)?, Some(Undefined::Rounding))),
    }
}

/// OpenCL's `select` for operands of a type: the second one where the third says so, a vector's part by its highest
/// bit, a scalar by not being 0 (OpenCL C 3.0, 6.15.6 "Relational Functions").
pub fn select(is_vector: bool, ty: Scalar) -> Option<Meaning> {
    Some(if is_vector {
        ints!(ty.bits, Three, |U, S| |a, b, c| if (c as S) < 0 { b } else { a })
    } else {
        Meaning::Three(|a, b, c| if c != 0 { b } else { a })
    })
}

/// The name of an extended instruction, or its number where its set is unknown.
pub fn name(set: &str, number: u32) -> String {
    let known = match set {
        "GLSL.std.450" => Glsl::from_u32(number).map(|known| format!("{known:?}")),
        "OpenCL.std" => OpenCl::from_u32(number).map(|known| format!("{known:?}")),
        _ => None,
    };
    known.unwrap_or_else(|| format!("instruction {number}"))
}

/// What an extended instruction leaves undefined, if anything (GLSL.std.450, by the instructions' names).
fn undefined(name: Name, ty: Scalar) -> Option<Undefined> {
    let bits = ty.bits;
    Some(Undefined::Result(match name {
        // "Result is undefined if minVal > maxVal."
        Name::SClamp => ints!(bits, Three, |U, S| |_, least, most| (least as S > most as S).into()),
        Name::UClamp => Meaning::Three(|_, least, most| (least > most).into()),
        Name::NClamp => floats!(bits, Three, |F| |_, least, most| (F::of(least) > F::of(most)).into()),
        // "Which operand is the result is undefined if one of the operands is a NaN."
        Name::FClamp => floats!(bits, Three, |F| |a, least, most| {
            let (a, least, most) = (F::of(a), F::of(least), F::of(most));
            u64::from(a.is_nan() || least.is_nan() || most.is_nan() || least > most)
        }),
        Name::FMin | Name::FMax => {
            floats!(bits, Two, |F| |a, b| (F::of(a).is_nan() || F::of(b).is_nan()).into())
        }
        // "A fraction equal to 0.5 will round in a direction chosen by the implementation."
        Name::Round => floats!(bits, One, |F| |a| (F::of(a).fract().abs() == 0.5).into()),
        Name::SAbs
        | Name::SSign
        | Name::SMin
        | Name::SMax
        | Name::UMin
        | Name::UMax
        | Name::SAddSat
        | Name::UAddSat
        | Name::SSubSat
        | Name::USubSat
        | Name::FindLsb
        | Name::FindUMsb
        | Name::FindSMsb
        | Name::Clz
        | Name::Ctz
        | Name::Popcount
        | Name::FAbs
        | Name::FSign
        | Name::Floor
        | Name::Ceil
        | Name::Trunc
        | Name::RoundEven
        | Name::Fract
        | Name::NMin
        | Name::NMax
        | Name::Sqrt
        | Name::Fma
        | Name::Mad
        | Name::CopySign
        | Name::SMulHi
        | Name::UMulHi
        | Name::SAbsDiff
        | Name::UAbsDiff
        | Name::Rotate
        | Name::UAbs
        | Name::SHalfAdd
        | Name::UHalfAdd
        | Name::SHalfAddUp
        | Name::UHalfAddUp
        | Name::BitSelect
        | Name::Upsample
        | Name::Step
        | Name::FMod
        | Name::FDim
        | Name::RoundAway
        | Name::Ldexp => return None,
        // "… only … if the values are in the range …; otherwise the result is implementation-defined" (OpenCL C 3.0,
        // 6.15.3 "Integer Functions").
        Name::SMul24 => Meaning::Two(|a, b| (!is_24_signed(a) || !is_24_signed(b)).into()),
        Name::UMul24 => Meaning::Two(|a, b| ((a | b) >> 24 != 0).into()),
        Name::SMad24 => Meaning::Three(|a, b, _| (!is_24_signed(a) || !is_24_signed(b)).into()),
        Name::UMad24 => Meaning::Three(|a, b, _| ((a | b) >> 24 != 0).into()),
    }))
}

fn of_name(name: Name, ty: Scalar) -> Option<Meaning> {
    let bits = ty.bits;
    let is_float = ty.kind == Kind::Float;
    Some(match name {
        Name::SAbs => ints!(bits, One, |U, S| |a| (a as S).unsigned_abs().into()),
        Name::SSign => ints!(bits, One, |U, S| |a| ((a as S).signum() as U).into()),
        Name::SMin => ints!(bits, Two, |U, S| |a, b| ((a as S).min(b as S) as U).into()),
        Name::SMax => ints!(bits, Two, |U, S| |a, b| ((a as S).max(b as S) as U).into()),
        Name::UMin => Meaning::Two(|a, b| a.min(b)),
        Name::UMax => Meaning::Two(|a, b| a.max(b)),
        Name::SClamp => ints!(bits, Three, |U, S| |a, b, c| ((a as S).max(b as S).min(c as S) as U).into()),
        Name::UClamp => Meaning::Three(|a, b, c| a.max(b).min(c)),
        Name::SAddSat => ints!(bits, Two, |U, S| |a, b| ((a as S).saturating_add(b as S) as U).into()),
        Name::UAddSat => ints!(bits, Two, |U, S| |a, b| (a as U).saturating_add(b as U).into()),
        Name::SSubSat => ints!(bits, Two, |U, S| |a, b| ((a as S).saturating_sub(b as S) as U).into()),
        Name::USubSat => ints!(bits, Two, |U, S| |a, b| (a as U).saturating_sub(b as U).into()),
        Name::FindLsb if bits == 32 => {
            Meaning::One(|a| if a == 0 { u64::from(u32::MAX) } else { a.trailing_zeros().into() })
        }
        Name::FindUMsb if bits == 32 => Meaning::One(|a| u64::from(31u32.wrapping_sub((a as u32).leading_zeros()))),
        Name::FindSMsb if bits == 32 => Meaning::One(|a| {
            let differing = (a as i32 ^ (a as i32 >> 31)) as u32;
            31u32.wrapping_sub(differing.leading_zeros()).into()
        }),
        Name::Clz => ints!(bits, One, |U, S| |a| (a as U).leading_zeros().into()),
        Name::Ctz => ints!(bits, One, |U, S| |a| (a as U).trailing_zeros().into()),
        Name::Popcount => Meaning::One(|a| a.count_ones().into()),
        Name::SMulHi => ints!(bits, Two, |U, S| |a, b| {
            let whole = i128::from(a as S) * i128::from(b as S);
            ((whole >> S::BITS) as U).into()
        }),
        Name::UMulHi => ints!(bits, Two, |U, S| |a, b| {
            let whole = u128::from(a as U) * u128::from(b as U);
            ((whole >> U::BITS) as U).into()
        }),
        Name::SAbsDiff => ints!(bits, Two, |U, S| |a, b| (a as S).abs_diff(b as S).into()),
        Name::UAbsDiff => ints!(bits, Two, |U, S| |a, b| (a as U).abs_diff(b as U).into()),
        Name::Rotate => ints!(bits, Two, |U, S| |a, b| (a as U).rotate_left((b % u64::from(U::BITS)) as u32).into()),
        Name::UAbs => Meaning::One(|a| a),
        Name::SHalfAdd => ints!(bits, Two, |U, S| |a, b| {
            let (a, b) = (a as S, b as S);
            ((a & b).wrapping_add((a ^ b) >> 1) as U).into()
        }),
        Name::UHalfAdd => Meaning::Two(|a, b| (a & b) + ((a ^ b) >> 1)),
        Name::SHalfAddUp => ints!(bits, Two, |U, S| |a, b| {
            let (a, b) = (a as S, b as S);
            ((a | b).wrapping_sub((a ^ b) >> 1) as U).into()
        }),
        Name::UHalfAddUp => Meaning::Two(|a, b| (a | b) - ((a ^ b) >> 1)),
        Name::SMul24 | Name::UMul24 if bits == 32 => Meaning::Two(|a, b| (a as u32).wrapping_mul(b as u32).into()),
        Name::SMad24 | Name::UMad24 if bits == 32 => {
            Meaning::Three(|a, b, c| (a as u32).wrapping_mul(b as u32).wrapping_add(c as u32).into())
        }
        Name::BitSelect => Meaning::Three(|a, b, c| a & !c | b & c),
        Name::Upsample => ints!(bits, Two, |U, S| |high, low| high.checked_shl(U::BITS).unwrap_or(0) | low),
        _ if !is_float => return None,
        // "Result is 0.0 if x < edge; otherwise result is 1.0."
        Name::Step => {
            floats!(bits, Two, |F| |edge, x| F::bits(if F::of(x) < F::of(edge) { 0.0 } else { 1.0 }))
        }
        Name::FMod => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) % F::of(b))),
        Name::FDim => floats!(bits, Two, |F| |a, b| {
            let (a, b) = (F::of(a), F::of(b));
            // "x - y if x > y, +0 if x is less than or equal to y"
            F::bits(if a <= b { 0.0 } else { a - b })
        }),
        Name::RoundAway => floats!(bits, One, |F| |a| F::bits(F::of(a).round())),
        Name::Ldexp => floats!(bits, Two, |F| |a, b| F::bits(ldexp(F::of(a).into(), b as u32 as i32) as _)),
        Name::FAbs => floats!(bits, One, |F| |a| F::bits(F::of(a).abs())),
        Name::FSign => {
            floats!(bits, One, |F| |a| F::bits(if F::of(a) == 0.0 { F::of(a) } else { F::of(a).signum() }))
        }
        Name::Floor => floats!(bits, One, |F| |a| F::bits(F::of(a).floor())),
        Name::Ceil => floats!(bits, One, |F| |a| F::bits(F::of(a).ceil())),
        Name::Trunc => floats!(bits, One, |F| |a| F::bits(F::of(a).trunc())),
        Name::RoundEven | Name::Round => floats!(bits, One, |F| |a| F::bits(F::of(a).round_ties_even())),
        Name::Fract => floats!(bits, One, |F| |a| F::bits(F::of(a) - F::of(a).floor())),
        Name::FMin | Name::NMin => floats!(bits, Two, |F| |a, b| F::bits(F::of(a).min(F::of(b)))),
        Name::FMax | Name::NMax => floats!(bits, Two, |F| |a, b| F::bits(F::of(a).max(F::of(b)))),
        Name::FClamp | Name::NClamp => {
            floats!(bits, Three, |F| |a, b, c| F::bits(F::of(a).max(F::of(b)).min(F::of(c))))
        }
        Name::Sqrt => floats!(bits, One, |F| |a| F::bits(F::of(a).sqrt())),
        // The product of two floats of 16 bits and a sum are not exact in 32.
        Name::Fma if bits == 16 => Meaning::Three(half::fma(Type { sort: Sort::Float, bits }, half::Finish::None)),
        Name::Fma => floats!(bits, Three, |F| |a, b, c| F::bits(F::of(a).mul_add(F::of(b), F::of(c)))),
        // How it rounds is the device's affair; one of the results is that of a product and a sum.
        Name::Mad => floats!(bits, Three, |F| |a, b, c| F::bits(F::of(a) * F::of(b) + F::of(c))),
        Name::CopySign => floats!(bits, Two, |F| |a, b| F::bits(F::of(a).copysign(F::of(b)))),
        Name::FindLsb | Name::FindUMsb | Name::FindSMsb | Name::SMul24 | Name::UMul24 | Name::SMad24 | Name::UMad24 => {
            return None;
        }
    })
}

/// A number times a power of two, in two steps so that each power is a number.
fn ldexp(x: f64, exponent: i32) -> f64 {
    let exponent = exponent.clamp(-4000, 4000);
    let half = exponent.clamp(-1000, 1000);
    let rest = (exponent - half).clamp(-1000, 1000);
    x * 2f64.powi(half) * 2f64.powi(rest)
}

/// Whether an integer of 32 bits has a value of 24, with its sign.
fn is_24_signed(a: u64) -> bool {
    let a = a as u32 as i32;
    a << 8 >> 8 == a
}

/// What an extended instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    SAbs,
    SSign,
    SMin,
    SMax,
    UMin,
    UMax,
    SClamp,
    UClamp,
    SAddSat,
    UAddSat,
    SSubSat,
    USubSat,
    FindLsb,
    FindUMsb,
    FindSMsb,
    Clz,
    Ctz,
    Popcount,
    FAbs,
    FSign,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundEven,
    Fract,
    FMin,
    NMin,
    FMax,
    NMax,
    FClamp,
    NClamp,
    Sqrt,
    Fma,
    Mad,
    CopySign,
    SMulHi,
    UMulHi,
    SAbsDiff,
    UAbsDiff,
    Rotate,
    UAbs,
    SHalfAdd,
    UHalfAdd,
    SHalfAddUp,
    UHalfAddUp,
    SMul24,
    UMul24,
    SMad24,
    UMad24,
    BitSelect,
    Upsample,
    Step,
    FMod,
    FDim,
    /// To the nearest whole number, and of two the one farther from zero.
    RoundAway,
    Ldexp,
}

/// The instructions of `GLSL.std.450`.
const GLSL: &[(u32, Name)] = &[
    (Glsl::Sqrt as u32, Name::Sqrt),
    (Glsl::RoundEven as u32, Name::RoundEven),
    (Glsl::Trunc as u32, Name::Trunc),
    (Glsl::FAbs as u32, Name::FAbs),
    (Glsl::SAbs as u32, Name::SAbs),
    (Glsl::FSign as u32, Name::FSign),
    (Glsl::SSign as u32, Name::SSign),
    (Glsl::Floor as u32, Name::Floor),
    (Glsl::Ceil as u32, Name::Ceil),
    (Glsl::Fract as u32, Name::Fract),
    (Glsl::FMin as u32, Name::FMin),
    (Glsl::UMin as u32, Name::UMin),
    (Glsl::SMin as u32, Name::SMin),
    (Glsl::FMax as u32, Name::FMax),
    (Glsl::UMax as u32, Name::UMax),
    (Glsl::SMax as u32, Name::SMax),
    (Glsl::FClamp as u32, Name::FClamp),
    (Glsl::UClamp as u32, Name::UClamp),
    (Glsl::SClamp as u32, Name::SClamp),
    (Glsl::Fma as u32, Name::Fma),
    (Glsl::FindILsb as u32, Name::FindLsb),
    (Glsl::FindSMsb as u32, Name::FindSMsb),
    (Glsl::FindUMsb as u32, Name::FindUMsb),
    (Glsl::NMin as u32, Name::NMin),
    (Glsl::NMax as u32, Name::NMax),
    (Glsl::NClamp as u32, Name::NClamp),
    (Glsl::Round as u32, Name::Round),
    (Glsl::Step as u32, Name::Step),
    (Glsl::Ldexp as u32, Name::Ldexp),
];

/// The instructions of `OpenCL.std`.
const OPENCL: &[(u32, Name)] = &[
    (OpenCl::sqrt as u32, Name::Sqrt),
    (OpenCl::s_abs as u32, Name::SAbs),
    (OpenCl::s_min as u32, Name::SMin),
    (OpenCl::s_max as u32, Name::SMax),
    (OpenCl::u_min as u32, Name::UMin),
    (OpenCl::u_max as u32, Name::UMax),
    (OpenCl::s_clamp as u32, Name::SClamp),
    (OpenCl::u_clamp as u32, Name::UClamp),
    (OpenCl::s_add_sat as u32, Name::SAddSat),
    (OpenCl::u_add_sat as u32, Name::UAddSat),
    (OpenCl::s_sub_sat as u32, Name::SSubSat),
    (OpenCl::u_sub_sat as u32, Name::USubSat),
    (OpenCl::clz as u32, Name::Clz),
    (OpenCl::ctz as u32, Name::Ctz),
    (OpenCl::popcount as u32, Name::Popcount),
    (OpenCl::fabs as u32, Name::FAbs),
    (OpenCl::sign as u32, Name::FSign),
    (OpenCl::floor as u32, Name::Floor),
    (OpenCl::ceil as u32, Name::Ceil),
    (OpenCl::trunc as u32, Name::Trunc),
    (OpenCl::rint as u32, Name::RoundEven),
    (OpenCl::fmin as u32, Name::NMin),
    (OpenCl::fmax as u32, Name::NMax),
    (OpenCl::fclamp as u32, Name::FClamp),
    (OpenCl::fma as u32, Name::Fma),
    (OpenCl::mad as u32, Name::Mad),
    (OpenCl::copysign as u32, Name::CopySign),
    (OpenCl::s_mul_hi as u32, Name::SMulHi),
    (OpenCl::u_mul_hi as u32, Name::UMulHi),
    (OpenCl::s_abs_diff as u32, Name::SAbsDiff),
    (OpenCl::u_abs_diff as u32, Name::UAbsDiff),
    (OpenCl::rotate as u32, Name::Rotate),
    (OpenCl::u_abs as u32, Name::UAbs),
    (OpenCl::s_hadd as u32, Name::SHalfAdd),
    (OpenCl::u_hadd as u32, Name::UHalfAdd),
    (OpenCl::s_rhadd as u32, Name::SHalfAddUp),
    (OpenCl::u_rhadd as u32, Name::UHalfAddUp),
    (OpenCl::s_mul24 as u32, Name::SMul24),
    (OpenCl::u_mul24 as u32, Name::UMul24),
    (OpenCl::s_mad24 as u32, Name::SMad24),
    (OpenCl::u_mad24 as u32, Name::UMad24),
    (OpenCl::bitselect as u32, Name::BitSelect),
    (OpenCl::u_upsample as u32, Name::Upsample),
    (OpenCl::s_upsample as u32, Name::Upsample),
    (OpenCl::step as u32, Name::Step),
    (OpenCl::fmod as u32, Name::FMod),
    (OpenCl::fdim as u32, Name::FDim),
    (OpenCl::fmax_common as u32, Name::FMax),
    (OpenCl::fmin_common as u32, Name::FMin),
    (OpenCl::round as u32, Name::RoundAway),
    (OpenCl::ldexp as u32, Name::Ldexp),
];
