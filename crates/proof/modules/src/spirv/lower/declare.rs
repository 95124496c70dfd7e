//! What stands outside of functions: types, constants, and what clspv's reflection says of variables.

use rspirv::spirv::{BuiltIn, Decoration, NonsemanticClspvreflectionOp as Reflection, Op};

use super::{Lowering, Place};
use crate::refused::Refused;
use crate::spirv::contents::{Contents, scalar_bits};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::module::{Entry, LocalSize};
use crate::spirv::setting::Bound;
use crate::spirv::types::Type;

impl Lowering<'_> {
    /// Declares everything in its order.
    pub(super) fn declare(&mut self, entry: &Entry) -> Result<(), Refused> {
        self.local_size(entry)?;
        for &number in &self.module.global {
            let instruction = self.module.instruction(number);
            self.line = instruction.line;
            match instruction.op {
                Op::TypeVoid
                | Op::TypeBool
                | Op::TypeInt
                | Op::TypeFloat
                | Op::TypeVector
                | Op::TypeMatrix
                | Op::TypeArray
                | Op::TypeRuntimeArray
                | Op::TypeStruct
                | Op::TypePointer => {
                    let mut types = std::mem::take(&mut self.types);
                    let constant = |id| self.fixed(self.scalar(id, instruction).ok()?);
                    let declared = types.declare(instruction, &self.module.declared, constant);
                    self.types = types;
                    declared?;
                }
                Op::Constant
                | Op::ConstantTrue
                | Op::ConstantFalse
                | Op::ConstantComposite
                | Op::ConstantNull
                | Op::SpecConstant
                | Op::SpecConstantTrue
                | Op::SpecConstantFalse
                | Op::SpecConstantComposite
                | Op::Undef => self.constant_of(instruction)?,
                Op::SpecConstantOp => self.constant_operation(instruction)?,
                Op::Variable => self.global_variable(instruction)?,
                Op::ExtInst => self.reflection(instruction)?,
                _ => {}
            }
        }
        self.share_nothing_twice()
    }

    /// The shape of the launch: what the setting says, else what the entry point or the built-in does.
    fn local_size(&mut self, entry: &Entry) -> Result<(), Refused> {
        let literal = |id: Id| {
            let known = self.module.global.iter().map(|&number| self.module.instruction(number));
            let mut constants = known.filter(|known| matches!(known.op, Op::Constant | Op::SpecConstant));
            constants.find(|known| known.result == Some(id)).and_then(|known| known.operand(0).ok())
        };
        let by_ids = |ids: &[Id]| {
            let sizes: Option<Vec<u32>> = ids.iter().map(|&id| literal(id)).collect();
            sizes.and_then(|sizes| <[u32; 3]>::try_from(sizes).ok())
        };
        let built_in = self.module.global.iter().find_map(|&number| {
            let instruction = self.module.instruction(number);
            let is_size = self.module.declared.built_in(instruction.result?) == Some(BuiltIn::WorkgroupSize);
            let composite = matches!(instruction.op, Op::ConstantComposite | Op::SpecConstantComposite);
            (is_size && composite).then_some(&instruction.operands)
        });
        let (by_mode, ids) = match entry.local_size {
            Some(LocalSize::Literal(size)) => (Some(size), None),
            Some(LocalSize::Ids(ids)) => (by_ids(&ids), Some(ids.to_vec())),
            None => (None, None),
        };
        self.extents = built_in.cloned().or(ids).unwrap_or_default();
        let built_in = built_in.and_then(|ids| by_ids(ids));
        // A built-in of this name takes precedence over the mode (SPIR-V specification, 3.21 "BuiltIn").
        let size = self.setting.local_size.or(built_in).or(by_mode).unwrap_or([1; 3]);
        self.shape.local_size = size.map(|extent| extent.max(1));
        self.shape.subgroup = self.setting.subgroup.unwrap_or_else(|| self.shape.threads());
        Ok(())
    }

    /// The value of a constant. The size of a workgroup is that of the launch.
    fn constant_of(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (id, ty) = (instruction.id()?, instruction.ty()?);
        if self.module.declared.built_in(id) == Some(BuiltIn::WorkgroupSize) {
            let sizes = self.shape.local_size.map(|extent| self.constant(extent.into()));
            return self.set_parts(instruction, sizes.to_vec());
        }
        let is_specialized = matches!(instruction.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse);
        if is_specialized && let Some(value) = self.specialized(id, ty, instruction)? {
            let value = self.constant(value);
            return self.set_parts(instruction, vec![value]);
        }
        let parts = match instruction.op {
            Op::Constant | Op::SpecConstant => {
                let ty = self.types.scalar(ty).ok_or_else(|| instruction.refused("the constant is no number"))?;
                let low = u64::from(instruction.operand(0)?);
                let high = u64::from(instruction.operands.get(1).copied().unwrap_or(0));
                vec![self.constant((low | high << 32) & ty.mask())]
            }
            Op::ConstantTrue | Op::SpecConstantTrue => vec![self.constant(1)],
            Op::ConstantFalse | Op::SpecConstantFalse => vec![self.constant(0)],
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let parts = instruction.operands.iter().map(|&part| self.parts(part, instruction));
                parts.collect::<Result<Vec<_>, _>>()?.concat()
            }
            // A null is all zeros, and an undefined value is any.
            _ => {
                if matches!(self.types.get(ty), Some(Type::Opaque | Type::Void) | None) {
                    return Ok(());
                }
                let leaves = self.types.leaves(ty).ok_or_else(|| instruction.refused("its type has no values"))?;
                let all = if instruction.op == Op::Undef { self.undefined() } else { self.constant(0) };
                vec![all; leaves.len()]
            }
        };
        self.set_parts(instruction, parts)
    }

    /// The value that a launch gives a specialization constant: by the input of its name, or as a part of the
    /// workgroup's size.
    fn specialized(&mut self, id: Id, ty: Id, instruction: &Instruction) -> Result<Option<u64>, Refused> {
        let name = self.module.name(id);
        let spec = self.module.declared.decoration(id, Decoration::SpecId);
        let of_spec = |bound: &Bound| bound.constants.get(&spec?).copied();
        if let Some(value) = self.setting.bound.as_ref().and_then(of_spec) {
            let ty = self.types.scalar(ty).ok_or_else(|| instruction.refused("the constant is no number"))?;
            return Ok(Some(value & ty.mask()));
        }
        if let Some(given) = self.setting.inputs.get(&name) {
            let scalar = self.types.scalar(ty);
            let (Some(scalar), Contents::Number(number)) = (scalar, given) else {
                return Err(instruction.refused(format!("the input of `%{name}` is no number")));
            };
            let value = scalar_bits(scalar, number);
            return value.map(Some).map_err(|why| instruction.refused(format!("the input of `%{name}`: {why}")));
        }
        // Several constants may have one `SpecId`, and then one value.
        let spec_of = |part| self.module.declared.decoration(part, Decoration::SpecId);
        let number = self.extents.iter().position(|&part| part == id || spec.is_some() && spec_of(part) == spec);
        Ok(number.and_then(|number| self.shape.local_size.get(number)).map(|&extent| extent.into()))
    }

    /// The instruction of clspv's reflection that this is.
    pub(super) fn reflected(&self, instruction: &Instruction) -> Option<Reflection> {
        let set = self.module.sets.get(instruction.operands.first()?)?;
        let number = *instruction.operands.get(1)?;
        (instruction.op == Op::ExtInst && set.starts_with("NonSemantic.ClspvReflection"))
            .then(|| Reflection::from_u32(number))
            .flatten()
    }

    /// The push constants that clspv's host part fills in: sizes of the launch, whose offsets are 0.
    fn reflection(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let Some(reflected) = self.reflected(instruction) else { return Ok(()) };
        let (size, groups) = (self.shape.local_size, self.shape.workgroups);
        let values = match reflected {
            Reflection::PushConstantGlobalOffset
            | Reflection::PushConstantRegionOffset
            | Reflection::PushConstantRegionGroupOffset => [0; 3],
            Reflection::PushConstantEnqueuedLocalSize => size,
            Reflection::PushConstantGlobalSize => [0, 1, 2].map(|number| size[number].saturating_mul(groups[number])),
            Reflection::PushConstantNumWorkgroups => groups,
            _ => return Ok(()),
        };
        let (offset, bytes) = (instruction.operand(2)?, instruction.operand(3)?);
        let (offset, bytes) = (self.known_scalar(offset, instruction)?, self.known_scalar(bytes, instruction)?);
        let push = self.variables.iter_mut().find(|variable| variable.place == Place::Push);
        let push = push.ok_or_else(|| instruction.refused("the module has no push constants"))?;
        let known = values.iter().flat_map(|value| value.to_le_bytes()).take(bytes as usize);
        let size = push.bytes as usize;
        push.open.retain(|leaf| !(offset..offset.saturating_add(bytes)).contains(&leaf.offset));
        let initial = push.initial.get_or_insert_with(|| vec![0; size]);
        for (byte, value) in (offset as usize..).zip(known) {
            if let Some(there) = initial.get_mut(byte) {
                *there = value;
            }
        }
        Ok(())
    }
}
