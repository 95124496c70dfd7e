//! Vectors of floats in one integer of 32 bits, the first part in the low bits (GLSL.std.450, `PackHalf2x16` and its
//! like).

use rspirv::spirv::GlslStd450Op as Glsl;

use super::Lowering;
use crate::code::{Bin, Op, Src};
use crate::meaning::half;
use crate::refused::Refused;
use crate::spirv::instruction::Instruction;
use crate::types::{Sort, Type};

/// What a part is in the integer.
#[derive(Clone, Copy)]
struct Format {
    bits: u64,
    /// The bits of a float as those of the part.
    pack: Bin,
    /// An integer, shifted so that the part is in its low bits, as the bits of a float.
    unpack: Bin,
    /// Whether packing rounds a float in a way that is left open.
    is_open: fn(u64, u64) -> bool,
}

fn float(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn halves() -> half::Format {
    half::Format::of(Type { sort: Sort::Float, bits: 16 })
}

fn bits(x: f32) -> u64 {
    x.to_bits().into()
}

/// Whether `round` may go either way (GLSL.std.450, `Round`): half of the last place. What a NaN becomes is not said.
fn is_tie(x: u64, least: f32, scale: f32) -> bool {
    float(x).is_nan() || (float(x).clamp(least, 1.0) * scale).fract().abs() == 0.5
}

const UNORM_8: Format = Format {
    bits: 8,
    pack: |x, _| (float(x).clamp(0.0, 1.0) * 255.0).round_ties_even() as u64,
    unpack: |word, shift| bits(f32::from((word >> shift) as u8) / 255.0),
    is_open: |x, _| is_tie(x, 0.0, 255.0),
};
const SNORM_8: Format = Format {
    bits: 8,
    pack: |x, _| ((float(x).clamp(-1.0, 1.0) * 127.0).round_ties_even() as i8 as u8).into(),
    unpack: |word, shift| bits((f32::from((word >> shift) as i8) / 127.0).max(-1.0)),
    is_open: |x, _| is_tie(x, -1.0, 127.0),
};
const UNORM_16: Format = Format {
    bits: 16,
    pack: |x, _| (float(x).clamp(0.0, 1.0) * 65535.0).round_ties_even() as u64,
    unpack: |word, shift| bits(f32::from((word >> shift) as u16) / 65535.0),
    is_open: |x, _| is_tie(x, 0.0, 65535.0),
};
const SNORM_16: Format = Format {
    bits: 16,
    pack: |x, _| ((float(x).clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16).into(),
    unpack: |word, shift| bits((f32::from((word >> shift) as i16) / 32767.0).max(-1.0)),
    is_open: |x, _| is_tie(x, -1.0, 32767.0),
};
/// Devices round to the nearest number or to zero (Vulkan 1.3, "Precision and Operation of SPIR-V Instructions").
const HALF: Format = Format {
    bits: 16,
    pack: |x, _| halves().nearest(float(x).into()),
    unpack: |word, shift| bits(halves().number((word >> shift) & 0xFFFF) as f32),
    is_open: |x, _| {
        let x = f64::from(float(x));
        !x.is_nan() && halves().number(halves().nearest(x)) != x
    },
};

/// The functions, by whether they pack, the number of the parts, and how these are written.
const FUNCTIONS: [(Glsl, bool, u64, Format); 10] = [
    (Glsl::PackUnorm4x8, true, 4, UNORM_8),
    (Glsl::PackSnorm4x8, true, 4, SNORM_8),
    (Glsl::PackUnorm2x16, true, 2, UNORM_16),
    (Glsl::PackSnorm2x16, true, 2, SNORM_16),
    (Glsl::PackHalf2x16, true, 2, HALF),
    (Glsl::UnpackUnorm4x8, false, 4, UNORM_8),
    (Glsl::UnpackSnorm4x8, false, 4, SNORM_8),
    (Glsl::UnpackUnorm2x16, false, 2, UNORM_16),
    (Glsl::UnpackSnorm2x16, false, 2, SNORM_16),
    (Glsl::UnpackHalf2x16, false, 2, HALF),
];

impl Lowering<'_> {
    /// A function of `GLSL.std.450` that packs a vector or unpacks one; `false` where it is none.
    pub(super) fn pack(&mut self, instruction: &Instruction, number: u32) -> Result<bool, Refused> {
        let Some(&(_, packs, count, format)) = FUNCTIONS.iter().find(|(function, ..)| *function as u32 == number)
        else {
            return Ok(false);
        };
        let given = self.parts(instruction.operand(2)?, instruction)?;
        if given.len() as u64 != if packs { count } else { 1 } {
            return Err(instruction.refused("its operand does not fit"));
        }
        let mut parts = Vec::new();
        for number in 0..count {
            let shift = self.constant(number * format.bits);
            if packs {
                let (d, a, zero) = (self.register(""), given[number as usize], self.constant(0));
                self.emit(Op::Partial { f: format.pack, d, a, b: zero, is_open: format.is_open })?;
                let before = parts.pop().unwrap_or(zero);
                parts.push(self.three(|all, part, shift| all | part << shift, before, Src::reg(d), shift)?);
            } else {
                parts.push(self.two(format.unpack, given[0], shift)?);
            }
        }
        self.set_parts(instruction, parts)?;
        Ok(true)
    }
}
