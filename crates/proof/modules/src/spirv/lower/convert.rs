//! Conversions between numbers (SPIR-V 1.6, "Conversion Instructions"), with the decorations that OpenCL C's
//! `convert_…_sat_rte` and its kind become.

use rspirv::spirv::{Decoration, FPRoundingMode, Op as Opcode};

use super::Lowering;
use crate::code::{Convert, Integral, Op, Rounding, Src};
use crate::refused::Refused;
use crate::spirv::instruction::Instruction;
use crate::spirv::types::{Kind, Scalar};
use crate::spirv::undefined;
use crate::types::{Sort, Type as Number};

/// How a conversion rounds, to a whole number or to a float.
fn roundings(mode: FPRoundingMode) -> (Integral, Rounding) {
    match mode {
        FPRoundingMode::RTE => (Integral::Nearest, Rounding::Nearest),
        FPRoundingMode::RTZ => (Integral::Zero, Rounding::Zero),
        FPRoundingMode::RTP => (Integral::Up, Rounding::Up),
        FPRoundingMode::RTN => (Integral::Down, Rounding::Down),
    }
}

/// The number that a scalar type is, with a sign or without.
fn number(ty: Scalar, signed: bool) -> Option<Number> {
    let sort = match (ty.kind, signed) {
        (Kind::Float, _) => Sort::Float,
        (Kind::Int(_) | Kind::Bool, true) => Sort::Signed,
        (Kind::Int(_) | Kind::Bool, false) => Sort::Unsigned,
    };
    matches!(ty.bits, 8 | 16 | 32 | 64).then_some(Number { sort, bits: ty.bits })
}

impl Lowering<'_> {
    pub(super) fn convert(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let of = instruction.operand(0)?;
        let wrong = || instruction.refused("it gives no number");
        let scalars = (self.scalar_type(of, instruction)?, self.types.scalar(instruction.ty()?).ok_or_else(wrong)?);
        let (from, to) = scalars;
        let (from_signed, to_signed) = match instruction.op {
            Opcode::ConvertFToS => (false, true),
            Opcode::SConvert | Opcode::SatConvertSToU => (true, instruction.op == Opcode::SConvert),
            Opcode::ConvertSToF => (true, false),
            Opcode::SatConvertUToS => (false, true),
            _ => (false, false),
        };
        let (Some(from), Some(to)) = (number(from, from_signed), number(to, to_signed)) else {
            return Err(self.not_supported(instruction));
        };
        let decorated = |which| instruction.result.and_then(|id| self.module.declared.decoration(id, which));
        let mode = decorated(Decoration::FPRoundingMode).map(FPRoundingMode::from_u32);
        let saturate = matches!(instruction.op, Opcode::SatConvertSToU | Opcode::SatConvertUToS)
            || decorated(Decoration::SaturatedConversion).is_some();
        let to_whole = from.is_float() && !to.is_float();
        // Without a mode, a conversion to an integer goes toward zero and one to a float to the nearest.
        let (whole, rounding) = match mode {
            None => (Integral::Zero, Rounding::Nearest),
            Some(Some(mode)) => roundings(mode),
            Some(None) => return Err(instruction.refused("its rounding mode is unknown")),
        };
        let round = to_whole.then_some(whole);
        // Floats have no bounds to which they are taken.
        let how = Convert {
            from,
            to,
            round,
            rounding,
            saturate: saturate && !to.is_float(),
            relu: false,
            flush: false,
            register: to.bits,
        };
        let integral = Convert { to: from, saturate: false, register: from.bits, ..how };
        let too_wide = match (round, saturate) {
            (Some(_), false) => undefined::too_wide(scalars.0, scalars.1, to_signed),
            (Some(_), true) | (None, _) => None,
        };
        let mut parts = Vec::new();
        for mut a in self.parts(of, instruction)? {
            if round.is_some_and(|round| round != Integral::Zero) {
                a = self.by_conversion(a, integral)?;
            }
            if let Some(too_wide) = too_wide {
                let too_wide = self.one(too_wide, a)?;
                self.trap_if(too_wide, "a float that its integer type does not hold")?;
            }
            let mut converted = self.by_conversion(a, how)?;
            if to_whole && saturate {
                // "When in saturated mode … a NaN should be converted to 0" (OpenCL C 3.0, 6.4.3.3 "Out-of-Range
                // Behavior and Saturated Conversions").
                let (is_nan, zero) = (self.one(undefined::nan(from.bits), a)?, self.constant(0));
                converted = self.chosen(is_nan, zero, converted)?;
            }
            parts.push(converted);
        }
        self.set_parts(instruction, parts)
    }

    fn by_conversion(&mut self, a: Src, how: Convert) -> Result<Src, Refused> {
        Ok(match self.fixed(a) {
            Some(a) => self.constant(crate::meaning::convert::convert(&how, a)),
            None => {
                let d = self.register("");
                self.emit(Op::Convert { d, a, how: Box::new(how) })?;
                Src::reg(d)
            }
        })
    }
}
