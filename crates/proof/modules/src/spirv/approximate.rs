//! The extended instructions of which the specifications give an error bound and no result (Vulkan 1.3, "Precision and
//! Operation of SPIR-V Instructions"; OpenCL C 3.0, 7.4 "Relative Error as ULPs"), or whose definition leaves the
//! rounding open. They have the value that the machine computes on which the checker runs, and nothing fixes it: what
//! it decides is not known.

use rspirv::spirv::{GlslStd450Op as Glsl, OpenclStd100Op as OpenCl};

use super::arithmetic::{F16, F32, F64, Meaning, floats};
use super::types::{Kind, Scalar};

/// The function of an extended instruction on floats of a type; `None` where it is none of these.
pub fn meaning(set: &str, number: u32, ty: Scalar) -> Option<Meaning> {
    let names = match set {
        "GLSL.std.450" => GLSL,
        "OpenCL.std" => OPENCL,
        _ => return None,
    };
    let &(_, name) = names.iter().find(|(known, _)| *known == number).filter(|_| ty.kind == Kind::Float)?;
    of_name(name, ty.bits)
}

fn of_name(name: Name, bits: u32) -> Option<Meaning> {
    macro_rules! one {
        ($function:ident) => {
            floats!(bits, One, |F| |a| F::bits(F::of(a).$function()))
        };
    }
    macro_rules! two {
        ($function:ident) => {
            floats!(bits, Two, |F| |a, b| F::bits(F::of(a).$function(F::of(b))))
        };
    }
    Some(match name {
        Name::Sin => one!(sin),
        Name::Cos => one!(cos),
        Name::Tan => one!(tan),
        Name::Asin => one!(asin),
        Name::Acos => one!(acos),
        Name::Atan => one!(atan),
        Name::Sinh => one!(sinh),
        Name::Cosh => one!(cosh),
        Name::Tanh => one!(tanh),
        Name::Asinh => one!(asinh),
        Name::Acosh => one!(acosh),
        Name::Atanh => one!(atanh),
        Name::Exp => one!(exp),
        Name::Exp2 => one!(exp2),
        Name::Exp10 => floats!(bits, One, |F| |a| F::bits((F::of(a) * F::of(F::bits(10.0)).ln()).exp())),
        Name::ExpMinus1 => one!(exp_m1),
        Name::Log => one!(ln),
        Name::Log2 => one!(log2),
        Name::Log10 => one!(log10),
        Name::Log1Plus => one!(ln_1p),
        Name::Sqrt => one!(sqrt),
        Name::InverseSqrt => floats!(bits, One, |F| |a| F::bits(F::of(a).sqrt().recip())),
        Name::Cbrt => one!(cbrt),
        Name::Reciprocal => one!(recip),
        Name::Radians => one!(to_radians),
        Name::Degrees => one!(to_degrees),
        Name::Atan2 => two!(atan2),
        Name::Pow => two!(powf),
        Name::PowInteger => floats!(bits, Two, |F| |a, b| F::bits(F::of(a).powi(b as i32))),
        Name::Hypot => two!(hypot),
        Name::Divide => floats!(bits, Two, |F| |a, b| F::bits(F::of(a) / F::of(b))),
        // "x * (1.0 - a) + y * a"
        Name::Mix => floats!(bits, Three, |F| |x, y, a| {
            let (x, y, a) = (F::of(x), F::of(y), F::of(a));
            F::bits(x * (1.0 - a) + y * a)
        }),
        // "t = clamp((x - edge0) / (edge1 - edge0), 0, 1); return t * t * (3 - 2 * t);"
        Name::SmoothStep => floats!(bits, Three, |F| |least, most, x| {
            let (least, most, x) = (F::of(least), F::of(most), F::of(x));
            let t = ((x - least) / (most - least)).clamp(0.0, 1.0);
            F::bits(t * t * (3.0 - 2.0 * t))
        }),
    })
}

/// What an extended instruction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Exp2,
    Exp10,
    ExpMinus1,
    Log,
    Log2,
    Log10,
    Log1Plus,
    Sqrt,
    InverseSqrt,
    Cbrt,
    Reciprocal,
    Radians,
    Degrees,
    Atan2,
    Pow,
    PowInteger,
    Hypot,
    Divide,
    Mix,
    SmoothStep,
}

/// The instructions of `GLSL.std.450`.
const GLSL: &[(u32, Name)] = &[
    (Glsl::Radians as u32, Name::Radians),
    (Glsl::Degrees as u32, Name::Degrees),
    (Glsl::Sin as u32, Name::Sin),
    (Glsl::Cos as u32, Name::Cos),
    (Glsl::Tan as u32, Name::Tan),
    (Glsl::Asin as u32, Name::Asin),
    (Glsl::Acos as u32, Name::Acos),
    (Glsl::Atan as u32, Name::Atan),
    (Glsl::Sinh as u32, Name::Sinh),
    (Glsl::Cosh as u32, Name::Cosh),
    (Glsl::Tanh as u32, Name::Tanh),
    (Glsl::Asinh as u32, Name::Asinh),
    (Glsl::Acosh as u32, Name::Acosh),
    (Glsl::Atanh as u32, Name::Atanh),
    (Glsl::Atan2 as u32, Name::Atan2),
    (Glsl::Pow as u32, Name::Pow),
    (Glsl::Exp as u32, Name::Exp),
    (Glsl::Log as u32, Name::Log),
    (Glsl::Exp2 as u32, Name::Exp2),
    (Glsl::Log2 as u32, Name::Log2),
    (Glsl::InverseSqrt as u32, Name::InverseSqrt),
    (Glsl::FMix as u32, Name::Mix),
    (Glsl::SmoothStep as u32, Name::SmoothStep),
];

/// The instructions of `OpenCL.std`.
const OPENCL: &[(u32, Name)] = &[
    (OpenCl::sin as u32, Name::Sin),
    (OpenCl::half_sin as u32, Name::Sin),
    (OpenCl::native_sin as u32, Name::Sin),
    (OpenCl::cos as u32, Name::Cos),
    (OpenCl::half_cos as u32, Name::Cos),
    (OpenCl::native_cos as u32, Name::Cos),
    (OpenCl::tan as u32, Name::Tan),
    (OpenCl::half_tan as u32, Name::Tan),
    (OpenCl::native_tan as u32, Name::Tan),
    (OpenCl::asin as u32, Name::Asin),
    (OpenCl::acos as u32, Name::Acos),
    (OpenCl::atan as u32, Name::Atan),
    (OpenCl::sinh as u32, Name::Sinh),
    (OpenCl::cosh as u32, Name::Cosh),
    (OpenCl::tanh as u32, Name::Tanh),
    (OpenCl::asinh as u32, Name::Asinh),
    (OpenCl::acosh as u32, Name::Acosh),
    (OpenCl::atanh as u32, Name::Atanh),
    (OpenCl::exp as u32, Name::Exp),
    (OpenCl::half_exp as u32, Name::Exp),
    (OpenCl::native_exp as u32, Name::Exp),
    (OpenCl::exp2 as u32, Name::Exp2),
    (OpenCl::half_exp2 as u32, Name::Exp2),
    (OpenCl::native_exp2 as u32, Name::Exp2),
    (OpenCl::exp10 as u32, Name::Exp10),
    (OpenCl::half_exp10 as u32, Name::Exp10),
    (OpenCl::native_exp10 as u32, Name::Exp10),
    (OpenCl::expm1 as u32, Name::ExpMinus1),
    (OpenCl::log as u32, Name::Log),
    (OpenCl::half_log as u32, Name::Log),
    (OpenCl::native_log as u32, Name::Log),
    (OpenCl::log2 as u32, Name::Log2),
    (OpenCl::half_log2 as u32, Name::Log2),
    (OpenCl::native_log2 as u32, Name::Log2),
    (OpenCl::log10 as u32, Name::Log10),
    (OpenCl::half_log10 as u32, Name::Log10),
    (OpenCl::native_log10 as u32, Name::Log10),
    (OpenCl::log1p as u32, Name::Log1Plus),
    (OpenCl::half_sqrt as u32, Name::Sqrt),
    (OpenCl::native_sqrt as u32, Name::Sqrt),
    (OpenCl::rsqrt as u32, Name::InverseSqrt),
    (OpenCl::half_rsqrt as u32, Name::InverseSqrt),
    (OpenCl::native_rsqrt as u32, Name::InverseSqrt),
    (OpenCl::cbrt as u32, Name::Cbrt),
    (OpenCl::half_recip as u32, Name::Reciprocal),
    (OpenCl::native_recip as u32, Name::Reciprocal),
    (OpenCl::radians as u32, Name::Radians),
    (OpenCl::degrees as u32, Name::Degrees),
    (OpenCl::atan2 as u32, Name::Atan2),
    (OpenCl::pow as u32, Name::Pow),
    (OpenCl::powr as u32, Name::Pow),
    (OpenCl::half_powr as u32, Name::Pow),
    (OpenCl::native_powr as u32, Name::Pow),
    (OpenCl::pown as u32, Name::PowInteger),
    (OpenCl::hypot as u32, Name::Hypot),
    (OpenCl::half_divide as u32, Name::Divide),
    (OpenCl::native_divide as u32, Name::Divide),
    (OpenCl::mix as u32, Name::Mix),
    (OpenCl::smoothstep as u32, Name::SmoothStep),
];
