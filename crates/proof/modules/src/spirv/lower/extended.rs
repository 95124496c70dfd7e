//! Extended instructions: functions of each part of their operands, functions of whole vectors, and OpenCL's vectors
//! that lie packed in memory.

use rspirv::spirv::{GlslStd450Op as Glsl, Op as Opcode, OpenclStd100Op as OpenCl};

use super::{Lowering, Pointer};
use crate::code::{Bin, Src};
use crate::refused::Refused;
use crate::spirv::arithmetic::{self, Meaning};
use crate::spirv::instruction::Instruction;
use crate::spirv::library;
use crate::spirv::types::Scalar;

/// A function of whole vectors of floats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Geometric {
    Length,
    Distance,
    Normalize,
    Cross,
}

impl Geometric {
    fn of(set: &str, number: u32) -> Option<Geometric> {
        let is = |glsl: Glsl, opencl: &[OpenCl]| match set {
            "GLSL.std.450" => number == glsl as u32,
            "OpenCL.std" => opencl.iter().any(|&known| number == known as u32),
            _ => false,
        };
        Some(if is(Glsl::Length, &[OpenCl::length, OpenCl::fast_length]) {
            Geometric::Length
        } else if is(Glsl::Distance, &[OpenCl::distance, OpenCl::fast_distance]) {
            Geometric::Distance
        } else if is(Glsl::Normalize, &[OpenCl::normalize, OpenCl::fast_normalize]) {
            Geometric::Normalize
        } else if is(Glsl::Cross, &[OpenCl::cross]) {
            Geometric::Cross
        } else {
            return None;
        })
    }
}

impl Lowering<'_> {
    /// An extended instruction; `false` where it is not supported.
    pub(super) fn extended_instruction(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        let set = self.module.sets.get(&instruction.operand(0)?).map(String::as_str).unwrap_or_default();
        if set.starts_with("NonSemantic.") {
            return Ok(true);
        }
        let number = instruction.operand(1)?;
        if let Some(which) = Geometric::of(set, number) {
            return self.geometric(instruction, which);
        }
        if set == "GLSL.std.450" && self.pack(instruction, number)? {
            return Ok(true);
        }
        if set == "OpenCL.std" && number == OpenCl::vloadn as u32 {
            return self.load_packed(instruction).map(|()| true);
        }
        if set == "OpenCL.std" && number == OpenCl::vstoren as u32 {
            return self.store_packed(instruction).map(|()| true);
        }
        if self.split(instruction, set, number)? || set == "OpenCL.std" && self.halves(instruction, number)? {
            return Ok(true);
        }
        if set == "OpenCL.std" && number == OpenCl::printf as u32 {
            // It changes no memory that threads share; whether it could print is not said.
            let result = self.undefined();
            return self.set_parts(instruction, vec![result]).map(|()| true);
        }
        if set == "OpenCL.std" && number == OpenCl::prefetch as u32 {
            // It changes no memory.
            return Ok(true);
        }
        if set == "OpenCL.std" && [OpenCl::shuffle as u32, OpenCl::shuffle2 as u32].contains(&number) {
            return self.shuffle(instruction);
        }
        let Some(&first) = instruction.operands.get(2) else { return Ok(false) };
        let Ok(ty) = self.scalar_type(first, instruction) else { return Ok(false) };
        if set == "OpenCL.std" && number == OpenCl::select as u32 {
            let is_vector = self.parts(first, instruction)?.len() > 1;
            let Some(meaning) = library::select(is_vector, ty) else { return Ok(false) };
            self.operate(instruction, meaning, &[], instruction.rest(2))?;
            return Ok(true);
        }
        let Some((meaning, undefined)) = library::meaning(set, number, ty) else { return Ok(false) };
        self.operate(instruction, meaning, undefined.as_slice(), instruction.rest(2))?;
        Ok(true)
    }

    /// `shuffle`, `shuffle2`: for each part of the mask, the part of one or two vectors with that number; of the
    /// number, only as many bits count as they have parts (OpenCL C 3.0, 6.15.14 "Miscellaneous Vector Functions").
    fn shuffle(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        let Some((&mask, vectors)) = instruction.rest(2).split_last() else { return Ok(false) };
        let from =
            vectors.iter().map(|&vector| self.parts(vector, instruction)).collect::<Result<Vec<_>, _>>()?.concat();
        if !from.len().is_power_of_two() {
            return Ok(false);
        }
        let last = self.constant(from.len() as u64 - 1);
        let mut parts = Vec::new();
        for number in self.parts(mask, instruction)? {
            let number = self.two(|number, last| number & last, number, last)?;
            let mut part = from[0];
            for (at, &other) in (0u64..).zip(&from).skip(1) {
                let at = self.constant(at);
                let is_it = self.two(|number, at| u64::from(number == at), number, at)?;
                part = self.three(|is_it, other, part| if is_it != 0 { other } else { part }, is_it, other, part)?;
            }
            parts.push(part);
        }
        self.set_parts(instruction, parts)?;
        Ok(true)
    }

    /// A function of whole vectors, whose rounding the specification leaves open.
    fn geometric(&mut self, instruction: &Instruction, which: Geometric) -> Result<bool, Refused> {
        let first = instruction.operand(2)?;
        let ty = self.scalar_type(first, instruction)?;
        let two = |op| match arithmetic::meaning(op, ty) {
            Some(Meaning::Two(f)) => Some(f),
            Some(Meaning::One(_) | Meaning::Three(_)) | None => None,
        };
        let all = [Opcode::FAdd, Opcode::FMul, Opcode::FSub, Opcode::FDiv].map(two);
        let [Some(sum), Some(product), Some(difference), Some(quotient)] = all else { return Ok(false) };
        let mut a = self.parts(first, instruction)?;
        let mut b = Vec::new();
        if matches!(which, Geometric::Distance | Geometric::Cross) {
            b = self.parts(instruction.operand(3)?, instruction)?;
        }
        if which == Geometric::Distance {
            a = a.iter().zip(&b).map(|(&a, &b)| self.two(difference, a, b)).collect::<Result<_, _>>()?;
        }
        let parts = if which == Geometric::Cross {
            let ([ax, ay, az], [bx, by, bz]) = (&a[..], &b[..]) else { return Ok(false) };
            let mut part = |a: Src, b: Src, c: Src, d: Src| {
                let (left, right) = (self.two(product, a, b)?, self.two(product, c, d)?);
                self.two(difference, left, right)
            };
            vec![part(*ay, *bz, *az, *by)?, part(*az, *bx, *ax, *bz)?, part(*ax, *by, *ay, *bx)?]
        } else {
            let Some(length) = self.length([sum, product], ty, &a)? else { return Ok(false) };
            match which {
                Geometric::Normalize => a.iter().map(|&a| self.two(quotient, a, length)).collect::<Result<_, _>>()?,
                Geometric::Length | Geometric::Distance | Geometric::Cross => vec![length],
            }
        };
        let parts = parts.into_iter().map(|part| self.left_open(part)).collect::<Result<_, _>>()?;
        self.set_parts(instruction, parts)?;
        Ok(true)
    }

    fn length(&mut self, functions: [Bin; 2], ty: Scalar, a: &[Src]) -> Result<Option<Src>, Refused> {
        let square = self.product_sum(functions, a, a)?;
        let root = library::meaning("GLSL.std.450", Glsl::Sqrt as u32, ty);
        match (square, root) {
            (Some(square), Some((Meaning::One(root), _))) => Ok(Some(self.one(root, square)?)),
            _ => Ok(None),
        }
    }

    /// `vloadn`: the vector of that number behind a pointer to its parts, which only they are aligned for.
    fn load_packed(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (offset, pointer) = (instruction.operand(2)?, instruction.operand(3)?);
        let ty = instruction.ty()?;
        let pointer = self.packed(instruction, [offset, pointer], ty)?;
        let (operands, _) = self.operands(&[], pointer, instruction)?;
        let parts = self.load_parts(instruction, pointer, ty, operands)?;
        self.set_parts(instruction, parts)
    }

    /// Lowers `vstoren` of OpenCL: a store of a packed vector.
    fn store_packed(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (data, offset, pointer) = (instruction.operand(2)?, instruction.operand(3)?, instruction.operand(4)?);
        let ty = self.type_of(data, instruction)?;
        let pointer = self.packed(instruction, [offset, pointer], ty)?;
        let (operands, _) = self.operands(&[], pointer, instruction)?;
        let parts = self.parts(data, instruction)?;
        self.store_parts(instruction, pointer, ty, &parts, operands)
    }

    /// The place of a packed vector of a type: as many vectors behind the pointer as the offset says.
    fn packed(&mut self, by: &Instruction, [offset, pointer]: [u32; 2], ty: u32) -> Result<Pointer, Refused> {
        let bytes: u64 = self.leaves(ty, by)?.iter().map(|leaf| leaf.ty.bytes()).sum();
        let pointer = self.pointer(pointer, by)?;
        let (index, of) = (self.scalar(offset, by)?, self.scalar_type(offset, by)?);
        Ok(Pointer { address: self.indexed(pointer.address, index, of, bytes)?, ..pointer })
    }
}
