//! OpenCL's floats of 16 bits that are so in memory alone: `vload_half`, `vstore_half` and their kind for vectors
//! (OpenCL C 3.0, 6.15.8 "Vector Data Load and Store Functions").

use rspirv::spirv::{FPRoundingMode, OpenclStd100Op as OpenCl};

use super::{Lowering, Pointer};
use crate::code::Un;
use crate::meaning::half::Format;
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::types::{Kind, Scalar};
use crate::types::{Sort, Type};

/// What one of the functions does.
#[derive(Clone, Copy)]
struct Function {
    stores: bool,
    /// Whether a vector of three has the distance of one of four.
    aligned: bool,
    /// Whether its last operand is a rounding mode.
    rounds: bool,
}

fn function(number: u32) -> Option<Function> {
    let is = |all: &[OpenCl]| all.iter().any(|&known| known as u32 == number);
    let stores = is(&[
        OpenCl::vstore_half,
        OpenCl::vstore_half_r,
        OpenCl::vstore_halfn,
        OpenCl::vstore_halfn_r,
        OpenCl::vstorea_halfn,
        OpenCl::vstorea_halfn_r,
    ]);
    let aligned = is(&[OpenCl::vloada_halfn, OpenCl::vstorea_halfn, OpenCl::vstorea_halfn_r]);
    let rounds = is(&[OpenCl::vstore_half_r, OpenCl::vstore_halfn_r, OpenCl::vstorea_halfn_r]);
    let loads = is(&[OpenCl::vload_half, OpenCl::vload_halfn, OpenCl::vloada_halfn]);
    (stores || loads).then_some(Function { stores, aligned, rounds })
}

fn format() -> Format {
    Format::of(Type { sort: Sort::Float, bits: 16 })
}

/// From 16 bits to those of a float in registers, and back.
fn conversions(bits: u32) -> Option<[Un; 2]> {
    match bits {
        32 => Some([
            |half| (format().number(half) as f32).to_bits().into(),
            |wide| format().nearest(f32::from_bits(wide as u32).into()),
        ]),
        64 => Some([|half| format().number(half).to_bits(), |wide| format().nearest(f64::from_bits(wide))]),
        _ => None,
    }
}

impl Lowering<'_> {
    /// Lowers a load or a store of floats of 16 bits; `false` where it is none.
    pub(super) fn halves(&mut self, instruction: &Instruction, number: u32) -> Result<bool, Refused> {
        let Some(function) = function(number) else { return Ok(false) };
        let behind = if function.stores { 3 } else { 2 };
        let (index, pointer) = (instruction.operand(behind)?, instruction.operand(behind + 1)?);
        let to_nearest = instruction.operands.get(behind + 2) == Some(&(FPRoundingMode::RTE as u32));
        let base = self.pointer(pointer, instruction)?;
        if function.rounds && !to_nearest || self.types.scalar(base.to) != Some(Scalar { kind: Kind::Float, bits: 16 })
        {
            return Ok(false);
        }
        let wide =
            if function.stores { self.type_of(instruction.operand(2)?, instruction)? } else { instruction.ty()? };
        let leaves = self.leaves(wide, instruction)?;
        let Some([from_half, to_half]) = leaves.first().and_then(|leaf| conversions(leaf.ty.bits)) else {
            return Ok(false);
        };
        let items = leaves.len() as u64;
        let stride = 2 * if function.aligned && items == 3 { 4 } else { items };
        let first = self.half_at(base, index, stride, instruction)?;
        let (operands, _) = self.operands(&[], base, instruction)?;
        let mut loaded = Vec::new();
        let stored = if function.stores { self.parts(instruction.operand(2)?, instruction)? } else { Vec::new() };
        for item in 0..items {
            let pointer = Pointer { address: self.moved(first, 2 * item)?, ..base };
            match stored.get(item as usize) {
                Some(&value) => {
                    let half = self.one(to_half, value)?;
                    self.store_parts(instruction, pointer, base.to, &[half], operands)?;
                }
                None => {
                    for half in self.load_parts(instruction, pointer, base.to, operands)? {
                        loaded.push(self.one(from_half, half)?);
                    }
                }
            }
        }
        if !function.stores {
            self.set_parts(instruction, loaded)?;
        }
        Ok(true)
    }

    /// The address of the first number of the vector of that number behind a pointer.
    fn half_at(
        &mut self,
        base: Pointer,
        index: Id,
        stride: u64,
        by: &Instruction,
    ) -> Result<crate::code::Src, Refused> {
        let (number, ty) = (self.scalar(index, by)?, self.scalar_type(index, by)?);
        self.indexed(base.address, number, ty, stride)
    }
}
