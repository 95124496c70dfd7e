//! Floats in two parts: `modf`, `frexp` and `fract`, which give the second part in a structure or through a pointer.

#![expect(clippy::useless_conversion, reason = "the functions are written once for all widths, and one of them is 64")]

use rspirv::spirv::{GlslStd450Op as Glsl, OpenclStd100Op as OpenCl};

use super::Lowering;
use crate::code::{Bin, Op, Src};
use crate::refused::Refused;
use crate::spirv::arithmetic::{F16, F32, F64, Meaning, floats};
use crate::spirv::instruction::Instruction;
use crate::spirv::labels::Operands;
use crate::spirv::types::{Kind, Scalar};

/// The parts that a function gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    /// The fraction, and the whole number towards zero: `modf`.
    Whole,
    /// The significand from a half to one, and the exponent: `frexp`.
    Exponent,
    /// The fraction, and the whole number below: OpenCL's `fract`.
    Floor,
}

/// The functions, and whether the second part is in a structure; else it is stored through a pointer.
fn function(set: &str, number: u32) -> Option<(Split, bool)> {
    let glsl = [
        (Glsl::Modf, Split::Whole, false),
        (Glsl::ModfStruct, Split::Whole, true),
        (Glsl::Frexp, Split::Exponent, false),
        (Glsl::FrexpStruct, Split::Exponent, true),
    ];
    let opencl = [(OpenCl::modf, Split::Whole), (OpenCl::frexp, Split::Exponent), (OpenCl::fract, Split::Floor)];
    match set {
        "GLSL.std.450" => glsl.iter().find(|(of, ..)| *of as u32 == number).map(|&(_, split, whole)| (split, whole)),
        "OpenCL.std" => opencl.iter().find(|(of, _)| *of as u32 == number).map(|&(_, split)| (split, false)),
        _ => None,
    }
}

/// A float as a number from a half to one and a power of two.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (x, behind) = if x.is_normal() { (x, 0) } else { (x * 2f64.powi(64), -64) };
    let exponent = (x.to_bits() >> 52 & 0x7FF) as i32 - 1022;
    (f64::from_bits(x.to_bits() & !(0x7FF << 52) | 1022 << 52), exponent + behind)
}

/// The two parts of a float of that many bits, and whether they are left open.
fn parts(split: Split, bits: u32) -> Option<[Meaning; 3]> {
    let open = floats!(bits, Two, |F| |a, _| (!F::of(a).is_finite()).into());
    let (first, second) = match split {
        // The sign is that of the number.
        Split::Whole => (
            floats!(bits, Two, |F| |a, _| F::bits((F::of(a) - F::of(a).trunc()).copysign(F::of(a)))),
            floats!(bits, Two, |F| |a, _| F::bits(F::of(a).trunc())),
        ),
        Split::Exponent => (
            floats!(bits, Two, |F| |a, _| F::bits(frexp(F::of(a).into()).0 as _)),
            floats!(bits, Two, |F| |a, _| u64::from(frexp(F::of(a).into()).1 as u32)),
        ),
        // "fmin(x - floor(x), 0x1.fffffep-1f)"
        Split::Floor => (
            floats!(bits, Two, |F| |a, _| F::bits((F::of(a) - F::of(a).floor()).min(F::below_one()))),
            floats!(bits, Two, |F| |a, _| F::bits(F::of(a).floor())),
        ),
    };
    Some([first, second, open])
}

fn of_two(meaning: Meaning) -> Option<Bin> {
    match meaning {
        Meaning::Two(f) => Some(f),
        Meaning::One(_) | Meaning::Three(_) => None,
    }
}

impl Lowering<'_> {
    /// Lowers a function that gives two parts; `false` where it is none.
    pub(super) fn split(&mut self, instruction: &Instruction, set: &str, number: u32) -> Result<bool, Refused> {
        let Some((split, in_structure)) = function(set, number) else { return Ok(false) };
        let of = instruction.operand(2)?;
        let Scalar { kind, bits } = self.scalar_type(of, instruction)?;
        let Some(functions) = parts(split, bits).filter(|_| kind == Kind::Float) else { return Ok(false) };
        let [Some(first), Some(second), Some(open)] = functions.map(of_two) else { return Ok(false) };
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for part in self.parts(of, instruction)? {
            let is_open = self.two(open, part, part)?;
            firsts.push(self.left_open_if(first, part, is_open)?);
            seconds.push(self.left_open_if(second, part, is_open)?);
        }
        if in_structure {
            firsts.append(&mut seconds);
            return self.set_parts(instruction, firsts).map(|()| true);
        }
        let pointer = self.pointer(instruction.operand(3)?, instruction)?;
        self.store_parts(instruction, pointer, pointer.to, &seconds, Operands::default())?;
        self.set_parts(instruction, firsts)?;
        Ok(true)
    }

    /// A function of a value, which may be anything where a condition holds.
    fn left_open_if(&mut self, f: Bin, a: Src, is_open: Src) -> Result<Src, Refused> {
        let (value, d) = (self.two(f, a, a)?, self.register(""));
        let is_open_of: fn(u64, u64) -> bool = |_, is_open| is_open != 0;
        self.emit(Op::Partial { f: |value, _| value, d, a: value, b: is_open, is_open: is_open_of })?;
        Ok(Src::reg(d))
    }
}
