//! What stands outside of functions: types, constants, variables, and what clspv's reflection says of them.

use rspirv::spirv::{BuiltIn, Decoration, MemoryModel, NonsemanticClspvreflectionOp as Reflection, Op, StorageClass};
use wattle_memory::Classes;

use super::{Lowering, Place, Pointer, Value, Variable, address_of};
use crate::address::LOCAL_WINDOW;
use crate::code::{LocalVariable, PlacedVariable, Src};
use crate::module::apart;
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::labels;
use crate::spirv::module::{Entry, LocalSize};
use crate::spirv::parts::{Member, Parts};
use crate::spirv::setting::{Bound, BuiltInVariable, Contents, MOST_BYTES, scalar_bits};
use crate::spirv::types::Type;
use crate::types::{self, Sort, Space};

const BYTE: types::Type = types::Type { sort: Sort::Bits, bits: 8 };

/// The size in bytes of workgroup memory whose length the host gives at launch, where nobody says it.
const SIZED_AT_LAUNCH: u64 = 1 << 16;

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

    /// Whether the host gives the value of a specialization constant only as the length of an argument in workgroup
    /// memory, and nobody has said it.
    fn is_sized_at_launch(&self, ty: Id) -> bool {
        let lengths = self.module.global.iter().filter_map(|&number| {
            let array = self.module.instruction(number);
            (array.op == Op::TypeArray && array.result == Some(ty)).then(|| array.operand(1).ok()).flatten()
        });
        let mut ids = lengths.filter_map(|length| {
            let open = !self.setting.inputs.contains_key(&self.module.name(length));
            let spec = open.then(|| self.module.declared.decoration(length, Decoration::SpecId)).flatten();
            spec.filter(|spec| self.setting.bound.as_ref().is_none_or(|bound| !bound.constants.contains_key(spec)))
        });
        ids.next().is_some_and(|id| {
            self.module.global.iter().any(|&number| {
                let instruction = self.module.instruction(number);
                let spec = self.reflected(instruction) == Some(Reflection::ArgumentWorkgroup);
                spec && instruction.operand(4).is_ok_and(|spec| self.known_literal(spec) == Some(id))
            })
        })
    }

    /// The literal of a constant, wherever it stands.
    fn known_literal(&self, id: Id) -> Option<u32> {
        let mut all = self.module.global.iter().map(|&number| self.module.instruction(number));
        all.find(|known| known.op == Op::Constant && known.result == Some(id))?.operand(0).ok()
    }

    /// A variable outside of functions.
    fn global_variable(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let id = instruction.id()?;
        let Some(Pointer { mut space, mut classes, class, to, .. }) = self.pointer_type(instruction.ty()?) else {
            // Images, samplers and inputs of other stages are refused where they are used.
            return Ok(());
        };
        // What all threads only read may as well be each one's own.
        if class == StorageClass::UniformConstant {
            (space, classes) = (Space::Local, Classes::NONE);
        }
        let name = self.module.name(id);
        let wrong = |why: String| instruction.refused(format!("`%{name}`: {why}"));
        if let (Space::Global, Some(&Type::Many { of, len, .. })) = (space, self.types.get(to))
            && len != Some(1)
            && matches!(self.types.get(of), Some(Type::Struct(_)))
            && self.module.model != MemoryModel::OpenCL
        {
            return Err(wrong(
                "an array of buffers, each of which is memory of its own, is not supported: declare them one by one"
                    .into(),
            ));
        }
        let initializer = match instruction.operands.get(1) {
            Some(&initializer) => Some(self.initial_bytes(to, initializer, instruction)?),
            None => None,
        };
        let given = self.setting.inputs.get(&name);
        let mut initial = match given {
            Some(Contents::Unwritten(..)) | None => initializer,
            Some(given) => Some(given.bytes(to, &self.types, self.parts_of(to).as_ref()).map_err(wrong)?),
        };
        let bound = match (&self.setting.bound, space) {
            (Some(bound), Space::Param) => {
                let mut push = bound.push.clone();
                push.resize(push.len().max(self.types.size(to).unwrap_or(0).min(MOST_BYTES) as usize), 0);
                initial = Some(Contents::Bytes(push, None).bytes(to, &self.types, None).map_err(wrong)?);
                None
            }
            (Some(bound), Space::Global) => {
                let of = |which| self.module.declared.decoration(id, which);
                let binding = of(Decoration::DescriptorSet).zip(of(Decoration::Binding));
                let Some(memory) = binding.and_then(|binding| bound.memories.get(&binding)) else {
                    self.unbound.insert(id);
                    return Ok(());
                };
                let needed = self.types.size(to).unwrap_or(0);
                if memory.bytes < needed {
                    return Err(wrong(format!("it has {needed} bytes, and {} are bound to it", memory.bytes)));
                }
                Some(*memory)
            }
            (Some(_) | None, _) => None,
        };
        let bytes = match (self.types.size(to), &initial, given) {
            _ if bound.is_some() => bound.map_or(0, |memory| memory.bytes),
            (Some(_), ..) if class == StorageClass::Workgroup && self.is_sized_at_launch(to) => SIZED_AT_LAUNCH,
            (Some(bytes), initial, _) => initial.as_ref().map_or(0, |initial| initial.len() as u64).max(bytes),
            (None, Some(initial), _) => initial.len() as u64,
            (None, None, Some(Contents::Unwritten(bytes, _))) => *bytes,
            (None, None, _) => {
                return Err(wrong(format!(
                    "its length is given at launch: write `; @Input: %{name} = {{…}}` or --arg {name}=u32[8]:0"
                )));
            }
        };
        if bytes > MOST_BYTES {
            return Err(wrong(format!("{bytes} bytes are too many")));
        }
        let number = |place: fn(usize) -> Place, variables: &[Variable]| {
            let same = variables
                .iter()
                .filter(|known| std::mem::discriminant(&known.place) == std::mem::discriminant(&place(0)));
            same.count()
        };
        let (place, address) = match space {
            Space::Global => {
                let number = number(Place::Buffer, &self.variables);
                let own = (Place::Buffer(number), address_of(number));
                bound.map_or(own, |memory| (Place::Buffer(memory.buffer), memory.address))
            }
            Space::Shared => {
                let number = number(Place::Workgroup, &self.variables);
                (Place::Workgroup(number), address_of(number))
            }
            Space::Param => {
                if self.variables.iter().any(|known| known.place == Place::Push) {
                    return Err(wrong("the module has several variables of push constants".into()));
                }
                (Place::Push, 0)
            }
            _ => {
                let mut built_in = self.module.declared.built_in(id);
                // An input that is initialized with the size of a workgroup has its value already.
                built_in = built_in.filter(|_| initial.is_none());
                if let Some(which) = built_in.filter(|&which| self.whole.contains(&id) && self.is_special(which, to)) {
                    return self.set(instruction, Value::BuiltIn(which, to));
                }
                let (address, first) = self.allocate(name, bytes, initial.as_deref());
                if let Some(which) = built_in {
                    let leaves = self.types.leaves(to).unwrap_or_default();
                    let leaves = leaves.into_iter().map(|mut leaf| {
                        leaf.offset += first;
                        leaf
                    });
                    let leaves = leaves.collect();
                    if self.shape.built_in(which, 0, 0).is_none() {
                        return Ok(());
                    }
                    self.built_ins.push(BuiltInVariable { which, leaves });
                }
                let is_generic = class == StorageClass::UniformConstant;
                let address = self.constant(if is_generic { LOCAL_WINDOW + address } else { address });
                let coherent = false;
                let pointer = Pointer { space, classes, class, address, is_generic, to, coherent, root: None };
                return self.set(instruction, Value::Pointer(pointer));
            }
        };
        let laid_out =
            class == StorageClass::Workgroup && self.module.declared.decoration(to, Decoration::Block).is_some();
        if let Some(known) = self.laid_out.filter(|_| laid_out) {
            return self.alias(known, instruction, name, bytes, initial);
        }
        if laid_out {
            self.laid_out = Some(self.variables.len());
        }
        let address = self.constant(address);
        let coherent = self.module.declared.decoration(id, Decoration::Coherent).is_some();
        let is_open = place == Place::Push && initial.is_none();
        let open = if is_open { self.types.leaves(to).unwrap_or_default() } else { Vec::new() };
        let (root, scalars) = (Some(self.variables.len()), given.and_then(Contents::scalars));
        let parts = self.parts_of(to);
        let member = parts.as_ref().and_then(Parts::only_member).map(|member| member.name.clone());
        let member = member.filter(|name| !name.is_empty());
        let parts = parts.map(Parts::unwrapped);
        self.variables.push(Variable {
            name,
            place,
            ty: to,
            bytes,
            initial,
            open,
            scalars,
            is_read: false,
            parts,
            member,
        });
        let is_generic = false;
        self.set(
            instruction,
            Value::Pointer(Pointer { space, classes, class, address, is_generic, to, coherent, root }),
        )
    }

    /// The parts of a value of a type.
    pub(super) fn parts_of(&self, ty: Id) -> Option<Parts> {
        Some(match self.types.get(ty)? {
            Type::Scalar(scalar) => Parts::Scalar(*scalar),
            Type::Many { of, len, stride } => {
                let is_vector =
                    self.module.defined(ty).is_some_and(|at| self.module.instruction(at).op == Op::TypeVector);
                match (self.parts_of(*of)?, *len) {
                    (Parts::Scalar(of), Some(len)) if is_vector => Parts::Vector { of, len },
                    (of, len) => Parts::Many { of: Box::new(of), len, stride: *stride },
                }
            }
            Type::Struct(members) => {
                // Without names its scalars go by their numbers; of a block with one member that one's is not needed.
                let member = |(number, &(of, offset)): (u32, &(Id, u64))| {
                    let name = self.module.member_name(ty, number).or((members.len() == 1).then(String::new))?;
                    Some(Member { name, offset, parts: self.parts_of(of)? })
                };
                Parts::Members((0..).zip(members).map(member).collect::<Option<_>>()?)
            }
            Type::Void | Type::Pointer { .. } | Type::Opaque => return None,
        })
    }

    /// A variable of a workgroup whose layout is explicit: it begins where the first such variable does
    /// (SPV_KHR_workgroup_memory_explicit_layout: all of them are `Aliased`, and share their memory).
    fn alias(
        &mut self,
        known: usize,
        instruction: &Instruction,
        name: String,
        bytes: u64,
        initial: Option<Vec<u8>>,
    ) -> Result<(), Refused> {
        let Some(pointer) = self.pointer_type(instruction.ty()?) else { return Ok(()) };
        let variable = &mut self.variables[known];
        let Place::Workgroup(number) = variable.place else { return Ok(()) };
        variable.name = format!("{}/{name}", variable.name);
        variable.bytes = variable.bytes.max(bytes);
        variable.initial = variable.initial.take().or(initial);
        variable.parts = None;
        let address = self.constant(address_of(number));
        self.set(instruction, Value::Pointer(Pointer { address, root: Some(known), ..pointer }))
    }

    /// A variable in a thread's own memory: its address, and the number of its first byte among all that the thread
    /// has.
    pub(super) fn allocate(&mut self, name: String, bytes: u64, initial: Option<&[u8]>) -> (u64, u64) {
        // Address 0 is that of null pointers.
        let null = if self.module.model == MemoryModel::OpenCL { 8 } else { 0 };
        let end = self.local_variables.last().map_or(null, |last| last.variable.at + last.variable.bytes.unwrap_or(0));
        let (at, first) = (apart(end, 16), self.local.len().next_multiple_of(8));
        self.local.resize(first + bytes as usize, None);
        for (place, &byte) in (first..).zip(initial.unwrap_or_default()) {
            self.local[place] = Some(byte);
        }
        let has_value = initial.is_some();
        let variable = PlacedVariable { name, at, bytes: Some(bytes), item: None, ty: BYTE, has_value };
        self.local_variables.push(LocalVariable { variable, first: first as u64 });
        (at, first as u64)
    }

    /// The bytes of a constant.
    fn initial_bytes(&self, ty: Id, constant: Id, by: &Instruction) -> Result<Vec<u8>, Refused> {
        let leaves = self.types.leaves(ty).ok_or_else(|| by.refused("its type has no values"))?;
        let parts = self.parts(constant, by)?;
        let mut bytes = vec![0; self.types.size(ty).filter(|&size| size <= MOST_BYTES).unwrap_or(0) as usize];
        for (leaf, &part) in leaves.iter().zip(&parts) {
            let value = self.fixed(part).ok_or_else(|| by.refused("its initializer is no constant"))?;
            let size = leaf.ty.bytes() as usize;
            if let Some(there) = bytes.get_mut(leaf.offset as usize..leaf.offset as usize + size) {
                there.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Ok(bytes)
    }

    /// The pointer that a type describes, without its address.
    pub(super) fn pointer_type(&self, ty: Id) -> Option<Pointer> {
        let Type::Pointer { class, to, .. } = *self.types.get(ty)? else { return None };
        let (space, classes) = labels::space(class, self.module.model)?;
        let is_generic = space == Space::Generic;
        let address = Src::constant(0);
        Some(Pointer { space, classes, class, address, is_generic, to, coherent: false, root: None })
    }

    /// Two variables with one binding are one memory, which this reader does not follow.
    fn share_nothing_twice(&self) -> Result<(), Refused> {
        let mut bindings = Vec::new();
        for &number in &self.module.global {
            let instruction = self.module.instruction(number);
            let (Op::Variable, Some(id)) = (instruction.op, instruction.result) else { continue };
            let of = |which| self.module.declared.decoration(id, which);
            if let (Some(set), Some(binding)) = (of(Decoration::DescriptorSet), of(Decoration::Binding)) {
                if bindings.contains(&(set, binding)) {
                    return Err(instruction.refused(format!(
                        "another variable has binding {binding} of descriptor set {set} too: several names of one memory \
                         are not supported"
                    )));
                }
                bindings.push((set, binding));
            }
        }
        Ok(())
    }

    /// The instruction of clspv's reflection that this is.
    fn reflected(&self, instruction: &Instruction) -> Option<Reflection> {
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
