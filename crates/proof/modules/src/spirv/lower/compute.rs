//! Arithmetic and conversions.

use rspirv::spirv::Op as Opcode;

use super::Lowering;
use crate::code::{Bin, Bitwise, Guard, Op, Src};
use crate::meaning::bits;
use crate::refused::Refused;
use crate::spirv::arithmetic::{self, Meaning};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::types::Type;
use crate::spirv::undefined::{self, Undefined};

impl Lowering<'_> {
    /// Lowers an instruction that computes; `false` where it is none.
    pub(super) fn compute(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        match instruction.op {
            Opcode::Undef => {
                let leaves = self.types.leaves(instruction.ty()?);
                let leaves = leaves.ok_or_else(|| instruction.refused("its type has no values"))?;
                let any = self.undefined();
                self.set_parts(instruction, vec![any; leaves.len()])?;
            }
            Opcode::CopyObject | Opcode::CopyLogical | Opcode::ExpectKHR => {
                let value = self.value(instruction.operand(0)?, instruction)?.clone();
                self.set(instruction, value)?;
            }
            Opcode::Select => self.select(instruction)?,
            Opcode::CompositeConstruct => self.construct(instruction)?,
            Opcode::CompositeExtract => self.extract(instruction)?,
            Opcode::CompositeInsert => self.insert(instruction)?,
            Opcode::VectorShuffle => self.shuffle_vectors(instruction)?,
            Opcode::VectorExtractDynamic => self.extract_dynamic(instruction)?,
            Opcode::VectorInsertDynamic => self.insert_dynamic(instruction)?,
            Opcode::Any | Opcode::All => self.any_or_all(instruction)?,
            Opcode::Bitcast => self.bitcast(instruction)?,
            Opcode::ConvertFToU
            | Opcode::ConvertFToS
            | Opcode::ConvertSToF
            | Opcode::ConvertUToF
            | Opcode::UConvert
            | Opcode::SConvert
            | Opcode::FConvert
            | Opcode::SatConvertSToU
            | Opcode::SatConvertUToS => self.convert(instruction)?,
            Opcode::IAddCarry | Opcode::ISubBorrow | Opcode::UMulExtended | Opcode::SMulExtended => {
                self.extended(instruction)?;
            }
            Opcode::BitFieldInsert => self.insert_bits(instruction)?,
            Opcode::VectorTimesScalar => self.scale(instruction)?,
            Opcode::Dot => self.dot(instruction)?,
            Opcode::Transpose
            | Opcode::MatrixTimesScalar
            | Opcode::VectorTimesMatrix
            | Opcode::MatrixTimesVector
            | Opcode::MatrixTimesMatrix
            | Opcode::OuterProduct => self.of_matrices(instruction)?,
            Opcode::ExtInst => return self.extended_instruction(instruction),
            _ => {
                let Some(&first) = instruction.operands.first() else { return Ok(false) };
                let Ok(ty) = self.scalar_type(first, instruction) else { return Ok(false) };
                let Some(meaning) = arithmetic::meaning(instruction.op, ty) else { return Ok(false) };
                self.operate(instruction, meaning, &undefined::of(instruction.op, ty), &instruction.operands)?;
            }
        }
        Ok(true)
    }

    /// A specialization constant that an operation computes.
    pub(super) fn constant_operation(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let op = rspirv::spirv::Op::from_u32(instruction.operand(0)?);
        let op = op.ok_or_else(|| instruction.refused("its operation is unknown"))?;
        let (result_type, result) = (instruction.result_type, instruction.result);
        let operands = instruction.rest(1).to_vec();
        let operation = Instruction { op, result_type, result, operands, line: instruction.line };
        let before = self.steps.len();
        if !self.compute(&operation)? || self.steps.len() > before {
            return Err(self.not_supported(&operation));
        }
        Ok(())
    }

    /// A function on each part of its operands, and what they may leave undefined.
    pub(super) fn operate(
        &mut self,
        instruction: &Instruction,
        meaning: Meaning,
        undefined: &[Undefined],
        operands: &[Id],
    ) -> Result<(), Refused> {
        let operands = operands.iter().map(|&operand| self.parts(operand, instruction));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        self.by_parts(instruction, meaning, undefined, &operands)
    }

    fn by_parts(
        &mut self,
        by: &Instruction,
        meaning: Meaning,
        undefined: &[Undefined],
        operands: &[Vec<Src>],
    ) -> Result<(), Refused> {
        let wanted = match meaning {
            Meaning::One(_) => 1,
            Meaning::Two(_) => 2,
            Meaning::Three(_) => 3,
        };
        let [first, rest @ ..] = operands else { return Err(by.refused("it lacks operands")) };
        if operands.len() != wanted || rest.iter().any(|operand| operand.len() != first.len()) {
            return Err(by.refused("its operands do not fit each other"));
        }
        let mut parts = Vec::new();
        for (number, _) in first.iter().enumerate() {
            let operand = |of: usize| operands[of][number];
            for undefined in undefined {
                if let Undefined::Behaviour(what, condition) = *undefined {
                    let condition = self.apply(condition, &operand)?;
                    self.trap_if(condition, what)?;
                }
            }
            let mut result = self.apply(meaning, &operand)?;
            for undefined in undefined {
                match *undefined {
                    Undefined::Result(condition) => {
                        let condition = self.apply(condition, &operand)?;
                        result = self.unless(condition, result)?;
                    }
                    Undefined::Rounding => result = self.left_open(result)?,
                    Undefined::Behaviour(..) => {}
                }
            }
            parts.push(result);
        }
        self.set_parts(by, parts)
    }

    fn apply(&mut self, meaning: Meaning, operand: &dyn Fn(usize) -> Src) -> Result<Src, Refused> {
        match meaning {
            Meaning::One(f) => self.one(f, operand(0)),
            Meaning::Two(f) => self.two(f, operand(0), operand(1)),
            Meaning::Three(f) => self.three(f, operand(0), operand(1), operand(2)),
        }
    }

    /// A value, or one that nothing fixes where a condition holds.
    pub(super) fn unless(&mut self, condition: Src, value: Src) -> Result<Src, Refused> {
        if self.fixed(condition) == Some(0) {
            return Ok(value);
        }
        let any = self.undefined();
        self.chosen(condition, any, value)
    }

    /// A value in whose place another one may stand. It is computed from the same operands.
    pub(super) fn left_open(&mut self, value: Src) -> Result<Src, Refused> {
        let d = self.register("");
        self.emit(Op::Partial { f: |value, _| value, d, a: value, b: value, is_open: |_, _| true })?;
        Ok(Src::reg(d))
    }

    /// A fault where a condition holds, by the words for that undefined behaviour.
    pub(super) fn trap_if(&mut self, condition: Src, what: &'static str) -> Result<(), Refused> {
        match (self.fixed(condition), condition.as_reg()) {
            (Some(0), _) => Ok(()),
            (None, Some(reg)) => self.emit_if(Guard { reg, negated: false }, Op::Trap(what)),
            (Some(_), _) | (None, None) => self.emit(Op::Trap(what)),
        }
    }

    /// The value of one of two by a truth value.
    pub(super) fn chosen(&mut self, p: Src, a: Src, b: Src) -> Result<Src, Refused> {
        match (self.fixed(p), p.as_reg()) {
            (Some(0), _) => Ok(b),
            (_, Some(p)) => {
                let d = self.register("");
                self.emit(Op::Select { d, a, b, p })?;
                Ok(Src::reg(d))
            }
            _ => Ok(a),
        }
    }

    fn select(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let [p, a, b] = [0, 1, 2].map(|number| instruction.operand(number).and_then(|of| self.parts(of, instruction)));
        let (p, a, b) = (p?, a?, b?);
        if a.len() != b.len() || p.len() != 1 && p.len() != a.len() {
            return Err(instruction.refused("its operands do not fit each other"));
        }
        let mut parts = Vec::new();
        for (number, (&a, &b)) in a.iter().zip(&b).enumerate() {
            parts.push(self.chosen(*p.get(number).unwrap_or(&p[0]), a, b)?);
        }
        self.set_parts(instruction, parts)
    }

    /// A fault where an index is not below a length: it is "less than zero or greater than or equal to the number of
    /// components" (SPIR-V 1.6, "OpVectorExtractDynamic").
    pub(super) fn trap_beyond(&mut self, index: Src, len: u64) -> Result<(), Refused> {
        let len = self.constant(len);
        let beyond = self.two(|index, len| (index >= len).into(), index, len)?;
        self.trap_if(beyond, "an index beyond the parts of a vector or an array")
    }

    /// Bits of one type as those of another: the parts of a vector are the lower ones first.
    fn bitcast(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let of = instruction.operand(0)?;
        let (from, to) = (self.type_of(of, instruction)?, instruction.ty()?);
        let is_pointer = |ty| matches!(self.types.get(ty), Some(Type::Pointer { .. }));
        if is_pointer(from) || is_pointer(to) {
            return Err(instruction.refused("pointers as other types are not supported"));
        }
        let wrong = || instruction.refused("its operand is no number");
        let (old, new) = (self.types.scalar(from).ok_or_else(wrong)?, self.types.scalar(to).ok_or_else(wrong)?);
        let parts = self.parts(of, instruction)?;
        if old.bits == new.bits {
            return self.set_parts(instruction, parts);
        }
        let (small, large) = (old.bits.min(new.bits), old.bits.max(new.bits));
        let ratio = (large / small.max(1)) as usize;
        let mut cast = Vec::new();
        if old.bits < new.bits {
            for parts in parts.chunks(ratio) {
                let d = self.register("");
                self.emit(Op::Pack { d, bits: small, parts: parts.into() })?;
                cast.push(Src::reg(d));
            }
        } else {
            for a in parts {
                let registers: Vec<_> = (0..ratio).map(|_| self.register("")).collect();
                cast.extend(registers.iter().map(|&register| Src::reg(register)));
                self.emit(Op::Unpack { a, bits: small, parts: registers.into() })?;
            }
        }
        self.set_parts(instruction, cast)
    }

    /// An operation with two results: the plain one, and the carry or the upper half.
    fn extended(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (first, second) = (instruction.operand(0)?, instruction.operand(1)?);
        let ty = self.scalar_type(first, instruction)?;
        let meanings = arithmetic::extended(instruction.op, ty.bits);
        let meanings = meanings.and_then(|(low, high)| Some([arithmetic::meaning(low, ty)?, high]));
        let meanings = meanings.ok_or_else(|| self.not_supported(instruction))?;
        let (a, b) = (self.parts(first, instruction)?, self.parts(second, instruction)?);
        let mut parts = Vec::new();
        for meaning in meanings {
            for (&a, &b) in a.iter().zip(&b) {
                let Meaning::Two(f) = meaning else { return Err(self.not_supported(instruction)) };
                parts.push(self.two(f, a, b)?);
            }
        }
        self.set_parts(instruction, parts)
    }

    fn insert_bits(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let ty = self.scalar_type(instruction.operand(0)?, instruction)?;
        if !matches!(ty.bits, 32 | 64) {
            return Err(self.not_supported(instruction));
        }
        let (offset, count) = (instruction.operand(2)?, instruction.operand(3)?);
        let (offset, count) = (self.scalar(offset, instruction)?, self.scalar(count, instruction)?);
        let beyond = self.two(undefined::beyond(ty.bits), offset, count)?;
        let (base, insert) = (instruction.operand(0)?, instruction.operand(1)?);
        let (base, insert) = (self.parts(base, instruction)?, self.parts(insert, instruction)?);
        let mut parts = Vec::new();
        for (&insert, &base) in insert.iter().zip(&base) {
            let d = self.register("");
            let (f, bitwise) = (bits::insert(ty.bits), Bitwise(2));
            self.emit(Op::Quad { f, bitwise, d, a: insert, b: base, c: offset, e: count })?;
            parts.push(self.unless(beyond, Src::reg(d))?);
        }
        self.set_parts(instruction, parts)
    }

    /// Whether any truth value of a vector is set, or all are.
    fn any_or_all(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let join: fn(u64, u64) -> u64 = if instruction.op == Opcode::Any { |a, b| a | b } else { |a, b| a & b };
        let parts = self.parts(instruction.operand(0)?, instruction)?;
        let mut all = self.constant(u64::from(instruction.op == Opcode::All));
        for part in parts {
            all = self.two(join, all, part)?;
        }
        self.set_parts(instruction, vec![all])
    }

    /// The product of each part of a vector and a scalar.
    fn scale(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (vector, scalar) = (instruction.operand(0)?, instruction.operand(1)?);
        let ty = self.scalar_type(vector, instruction)?;
        let (vector, scalar) = (self.parts(vector, instruction)?, self.scalar(scalar, instruction)?);
        let operands = [vector.clone(), vec![scalar; vector.len()]];
        let meaning = arithmetic::meaning(Opcode::FMul, ty);
        let meaning = meaning.ok_or_else(|| self.not_supported(instruction))?;
        self.by_parts(instruction, meaning, &[], &operands)
    }

    /// A dot product, each product and sum rounded: one of the results that the specification permits.
    fn dot(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (first, second) = (instruction.operand(0)?, instruction.operand(1)?);
        let operations = self.sum_and_product(self.scalar_type(first, instruction)?, instruction)?;
        let (a, b) = (self.parts(first, instruction)?, self.parts(second, instruction)?);
        let all = self.product_sum(operations, &a, &b)?;
        let all = all.ok_or_else(|| instruction.refused("the vectors have no parts"))?;
        self.set_parts(instruction, vec![all])
    }

    /// The sum of the products of two vectors' parts; `None` where they have none.
    pub(super) fn product_sum(
        &mut self,
        [sum, product]: [Bin; 2],
        a: &[Src],
        b: &[Src],
    ) -> Result<Option<Src>, Refused> {
        let mut all = None;
        for (&a, &b) in a.iter().zip(b) {
            let product = self.two(product, a, b)?;
            all = Some(match all {
                None => product,
                Some(all) => self.two(sum, all, product)?,
            });
        }
        Ok(all)
    }
}
