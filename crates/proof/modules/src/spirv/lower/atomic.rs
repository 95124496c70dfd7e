//! Atomic operations (SPIR-V specification, "Atomic Instructions").

use rspirv::spirv::Op as Opcode;
use wattle_memory::{Classes, Level};

use super::{Lowering, Pointer};
use crate::code::{Access, Op, Rmw, Src, Strength};
use crate::refused::Refused;
use crate::spirv::instruction::Instruction;
use crate::spirv::labels::{Operands, Semantics};
use crate::spirv::types::{Leaf, Scalar};
use crate::types::Space;

impl Lowering<'_> {
    /// The access of an atomic operation on an integer or a float of a type.
    fn atomic(
        &mut self,
        by: &Instruction,
        (pointer, level, semantics): (Pointer, Level, Semantics),
        ty: Scalar,
    ) -> Result<Access, Refused> {
        if !matches!(by.op, Opcode::AtomicStore | Opcode::AtomicFlagClear) {
            self.reads(pointer);
        }
        let strength = match pointer.space {
            // Nobody else sees a thread's own memory.
            Space::Local => {
                let [read, write] = Operands::default().labels(Classes::NONE);
                Strength::Labels { read, write }
            }
            Space::Param | Space::Const => return Err(by.refused("an atomic operation on memory that is only read")),
            Space::Global | Space::Shared | Space::Generic => {
                let [read, write] = semantics.atomic(level, pointer.classes);
                Strength::Labels { read, write }
            }
        };
        self.access(by, pointer, Leaf { offset: 0, ty }, strength)
    }

    /// Lowers an atomic operation; `false` where it is none.
    pub(super) fn atomic_operation(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        match instruction.op {
            Opcode::AtomicLoad | Opcode::AtomicStore => self.atomic_access(instruction)?,
            Opcode::AtomicCompareExchange | Opcode::AtomicCompareExchangeWeak => self.compare_exchange(instruction)?,
            Opcode::AtomicFlagTestAndSet | Opcode::AtomicFlagClear => self.flag(instruction)?,
            _ => match read_modify_write(instruction.op) {
                Some(how) => self.update(instruction, how)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    /// A flag, which is a word: it is set where that is not 0 (SPIR-V specification, OpAtomicFlagTestAndSet).
    fn flag(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let (level, semantics) = self.ordered(instruction.operand(1)?, instruction.operand(2)?, instruction)?;
        let access = self.atomic(instruction, (pointer, level, semantics), Scalar::UINT)?;
        if instruction.op == Opcode::AtomicFlagClear {
            let a = self.constant(0);
            return self.emit(Op::Store { access, a });
        }
        let (d, a) = (self.register(""), self.constant(1));
        self.emit(Op::Rmw { access, how: Rmw::Exchange, d, a })?;
        let was_set = self.one(|word| u64::from(word != 0), Src::reg(d))?;
        self.set_parts(instruction, vec![was_set])
    }

    fn atomic_access(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let (level, semantics) = self.ordered(instruction.operand(1)?, instruction.operand(2)?, instruction)?;
        if instruction.op == Opcode::AtomicLoad {
            let ty = self.types.scalar(instruction.ty()?).ok_or_else(|| instruction.refused("it gives no number"))?;
            let access = self.atomic(instruction, (pointer, level, semantics), ty)?;
            let d = self.register("");
            self.emit(Op::Load { access, d })?;
            return self.set_parts(instruction, vec![Src::reg(d)]);
        }
        let value = instruction.operand(3)?;
        let (a, ty) = (self.scalar(value, instruction)?, self.scalar_type(value, instruction)?);
        let access = self.atomic(instruction, (pointer, level, semantics), ty)?;
        self.emit(Op::Store { access, a })
    }

    fn update(&mut self, instruction: &Instruction, how: Rmw) -> Result<(), Refused> {
        let ty = self.types.scalar(instruction.ty()?).ok_or_else(|| instruction.refused("it gives no number"))?;
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let (level, semantics) = self.ordered(instruction.operand(1)?, instruction.operand(2)?, instruction)?;
        let a = match instruction.op {
            Opcode::AtomicIIncrement => self.constant(1),
            Opcode::AtomicIDecrement => self.constant(ty.mask()),
            Opcode::AtomicISub => {
                let a = self.scalar(instruction.operand(3)?, instruction)?;
                let negate =
                    if ty.bits == 32 { |a: u64| u64::from((a as u32).wrapping_neg()) } else { u64::wrapping_neg };
                self.one(negate, a)?
            }
            _ => self.scalar(instruction.operand(3)?, instruction)?,
        };
        let how = match (instruction.op, ty.bits) {
            (Opcode::AtomicFAddEXT, 32) => Rmw::AddSingle,
            (Opcode::AtomicFAddEXT, 64) => Rmw::AddDouble,
            (Opcode::AtomicFMinEXT, 64) => Rmw::MinDouble,
            (Opcode::AtomicFMaxEXT, 64) => Rmw::MaxDouble,
            _ => how,
        };
        let access = self.atomic(instruction, (pointer, level, semantics), ty)?;
        if !matches!(ty.bits, 32 | 64) {
            return Err(instruction.refused(format!("atomic operations on {} bits are not supported", ty.bits)));
        }
        let d = self.register("");
        self.emit(Op::Rmw { access, how, d, a })?;
        self.set_parts(instruction, vec![Src::reg(d)])
    }

    /// A compare-exchange: pointer, scope, semantics where it succeeds, and where it fails, value, comparator.
    fn compare_exchange(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let ty = self.types.scalar(instruction.ty()?).ok_or_else(|| instruction.refused("it gives no number"))?;
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let (level, equal) = self.ordered(instruction.operand(1)?, instruction.operand(2)?, instruction)?;
        let unequal = self.semantics(instruction.operand(3)?, instruction)?;
        if unequal.release || !unequal.acquire_no_more_than(&equal) {
            let why = "its semantics where it fails order more than where it succeeds, or other memory, or they release, which is not \
                       supported";
            return Err(instruction.refused(why));
        }
        let (b, a) = (instruction.operand(4)?, instruction.operand(5)?);
        let (b, a) = (self.scalar(b, instruction)?, self.scalar(a, instruction)?);
        if pointer.space == Space::Local || !matches!(ty.bits, 32 | 64) {
            return Err(self.not_supported(instruction));
        }
        let mut access = self.atomic(instruction, (pointer, level, equal), ty)?;
        // "Unequal" is what the operation is where it only reads (SPIR-V specification, OpAtomicCompareExchange).
        let [succeeds, write] = equal.atomic(level, pointer.classes);
        let [read, _] = unequal.atomic(level, pointer.classes);
        access.strength = Strength::Labels { read, write };
        let d = self.register("");
        self.emit(Op::Cas { access, d, a, b, succeeded: Some(succeeds).filter(|succeeds| *succeeds != read) })?;
        self.set_parts(instruction, vec![Src::reg(d)])
    }
}

/// The operation of an atomic instruction that reads, changes and writes.
pub(in crate::spirv) fn read_modify_write(op: Opcode) -> Option<Rmw> {
    Some(match op {
        Opcode::AtomicExchange => Rmw::Exchange,
        Opcode::AtomicIIncrement | Opcode::AtomicIDecrement | Opcode::AtomicIAdd | Opcode::AtomicISub => Rmw::Add,
        Opcode::AtomicSMin => Rmw::MinSigned,
        Opcode::AtomicUMin => Rmw::MinUnsigned,
        Opcode::AtomicSMax => Rmw::MaxSigned,
        Opcode::AtomicUMax => Rmw::MaxUnsigned,
        Opcode::AtomicAnd => Rmw::And,
        Opcode::AtomicOr => Rmw::Or,
        Opcode::AtomicXor => Rmw::Xor,
        Opcode::AtomicFAddEXT => Rmw::AddSingle,
        Opcode::AtomicFMinEXT => Rmw::MinSingle,
        Opcode::AtomicFMaxEXT => Rmw::MaxSingle,
        _ => return None,
    })
}
