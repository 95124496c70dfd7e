//! Variables outside of functions: the memory that each of them is, its size, and its first contents.

use rspirv::spirv::{Decoration, MemoryModel, NonsemanticClspvreflectionOp as Reflection, Op, StorageClass};
use wattle_memory::Classes;

use super::{Lowering, Place, Pointer, Value, Variable, address_of};
use crate::address::LOCAL_WINDOW;
use crate::code::{LocalVariable, PlacedVariable, Src};
use crate::module::apart;
use crate::refused::{Refused, RefusedKind};
use crate::spirv::contents::{Contents, MOST_BYTES};
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::labels;
use crate::spirv::parts::{Member, Parts};
use crate::spirv::setting::{BoundMemory, BuiltInVariable};
use crate::spirv::types::Type;
use crate::types::{self, Sort, Space};

const BYTE: types::Type = types::Type { sort: Sort::Bits, bits: 8 };

/// The size in bytes of workgroup memory whose length the host gives at launch, where nobody says it.
const SIZED_AT_LAUNCH: u64 = 1 << 16;

/// A variable outside of functions, as its declaration has it.
struct Declared<'i> {
    instruction: &'i Instruction,
    id: Id,
    name: String,
    /// The pointer to the variable, without its address.
    pointer: Pointer,
}

impl Declared<'_> {
    fn wrong(&self, why: impl std::fmt::Display) -> Refused {
        self.instruction.refused(format!("`%{}`: {why}", self.name))
    }

    /// A refusal of the contents that a launch gives the variable, or does not give.
    fn launch_is_wrong(&self, why: impl std::fmt::Display) -> Refused {
        Refused { kind: RefusedKind::Launch, ..self.wrong(why) }
    }
}

/// The memory that a launch's host binds to a variable by numbers.
enum Binding {
    /// The host binds nothing so: the variable is memory of its own.
    Own,
    /// The variable is this part of a buffer.
    Bound(BoundMemory),
    /// The host leaves the variable's binding without memory.
    Unbound,
}

impl Lowering<'_> {
    /// Declares a variable outside of functions: one that all threads share, or one of each thread.
    pub(super) fn global_variable(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let id = instruction.id()?;
        let Some(mut pointer) = self.pointer_type(instruction.ty()?) else {
            // Images, samplers and inputs of other stages are refused where they are used.
            return Ok(());
        };
        // What all threads only read may as well be each one's own.
        if pointer.class == StorageClass::UniformConstant {
            (pointer.space, pointer.classes) = (Space::Local, Classes::NONE);
        }
        let declared = Declared { instruction, id, name: self.module.name(id), pointer };
        self.is_one_memory(&declared)?;
        let initial = self.first_contents(&declared)?;
        let bound = match self.binding(&declared)? {
            Binding::Own => None,
            Binding::Bound(memory) => Some(memory),
            Binding::Unbound => {
                self.unbound.insert(id);
                return Ok(());
            }
        };
        let bytes = self.bytes_of(&declared, bound, initial.as_deref())?;
        let numbers =
            |is_alike: fn(&Place) -> bool, all: &[Variable]| all.iter().filter(|known| is_alike(&known.place)).count();
        let (place, address) = match (pointer.space, bound) {
            (Space::Global, Some(memory)) => (Place::Buffer(memory.buffer), memory.address),
            (Space::Global, None) => {
                let number = numbers(|place| matches!(place, Place::Buffer(_)), &self.variables);
                (Place::Buffer(number), address_of(number))
            }
            (Space::Shared, _) => {
                let number = numbers(|place| matches!(place, Place::Workgroup(_)), &self.variables);
                (Place::Workgroup(number), address_of(number))
            }
            (Space::Param, _) => {
                if self.variables.iter().any(|known| known.place == Place::Push) {
                    return Err(declared.wrong("the module has several variables of push constants"));
                }
                (Place::Push, 0)
            }
            (Space::Local | Space::Generic | Space::Const, _) => return self.own_variable(declared, bytes, initial),
        };
        self.shared_variable(declared, (place, address), bytes, initial)
    }

    /// Refuses an array of buffers, whose elements are memories of their own.
    fn is_one_memory(&self, declared: &Declared<'_>) -> Result<(), Refused> {
        let Pointer { space, to, .. } = declared.pointer;
        if let (Space::Global, Some(&Type::Many { of, len, .. })) = (space, self.types.get(to))
            && len != Some(1)
            && matches!(self.types.get(of), Some(Type::Struct(_)))
            && self.module.model != MemoryModel::OpenCL
        {
            return Err(declared.wrong(
                "an array of buffers, each of which is memory of its own, is not supported: declare them one by one",
            ));
        }
        Ok(())
    }

    /// The bytes of a variable before the launch: what the host gives, else those of its initializer; `None` where
    /// nobody writes them.
    fn first_contents(&self, declared: &Declared<'_>) -> Result<Option<Vec<u8>>, Refused> {
        let Pointer { space, to, .. } = declared.pointer;
        let initializer = match declared.instruction.operands.get(1) {
            Some(&initializer) => Some(self.initial_bytes(to, initializer, declared.instruction)?),
            None => None,
        };
        let wrong = |why: String| declared.launch_is_wrong(why);
        let given = match self.setting.inputs.get(&declared.name) {
            Some(Contents::Unwritten(..)) | None => initializer,
            Some(given) => Some(given.bytes(to, &self.types, self.parts_of(to).as_ref()).map_err(wrong)?),
        };
        let Some(bound) = self.setting.bound.as_ref().filter(|_| space == Space::Param) else { return Ok(given) };
        let mut push = bound.push.clone();
        push.resize(push.len().max(self.types.size(to).unwrap_or(0).min(MOST_BYTES) as usize), 0);
        Contents::Bytes(push, None).bytes(to, &self.types, None).map_err(wrong).map(Some)
    }

    /// The memory that the host binds to a variable; refused if it is too small.
    fn binding(&self, declared: &Declared<'_>) -> Result<Binding, Refused> {
        let Pointer { space, to, .. } = declared.pointer;
        let Some(bound) = self.setting.bound.as_ref().filter(|_| space == Space::Global) else {
            return Ok(Binding::Own);
        };
        let of = |which| self.module.declared.decoration(declared.id, which);
        let binding = of(Decoration::DescriptorSet).zip(of(Decoration::Binding));
        let Some(&memory) = binding.and_then(|binding| bound.memories.get(&binding)) else {
            return Ok(Binding::Unbound);
        };
        let needed = self.types.size(to).unwrap_or(0);
        if memory.bytes < needed {
            return Err(declared.wrong(format!("it has {needed} bytes, and {} are bound to it", memory.bytes)));
        }
        Ok(Binding::Bound(memory))
    }

    /// The size of a variable in bytes; refused if it is not known, or too great.
    fn bytes_of(
        &self,
        declared: &Declared<'_>,
        bound: Option<BoundMemory>,
        initial: Option<&[u8]>,
    ) -> Result<u64, Refused> {
        let Pointer { class, to, .. } = declared.pointer;
        let bytes = match (bound, self.types.size(to), initial) {
            (Some(memory), ..) => memory.bytes,
            (None, Some(_), _) if class == StorageClass::Workgroup && self.is_sized_at_launch(to) => SIZED_AT_LAUNCH,
            (None, Some(bytes), initial) => initial.map_or(0, |initial| initial.len() as u64).max(bytes),
            (None, None, Some(initial)) => initial.len() as u64,
            (None, None, None) => match self.setting.inputs.get(&declared.name) {
                Some(Contents::Unwritten(bytes, _)) => *bytes,
                Some(Contents::Number(_) | Contents::List(_) | Contents::Bytes(..) | Contents::Members { .. })
                | None => {
                    let name = &declared.name;
                    let example = self.parts_of(to).map_or_else(|| "u32[8]:0".to_owned(), |parts| parts.example());
                    return Err(declared.launch_is_wrong(format!(
                        "its length is given at launch: write `; @Input: %{name} = {{…}}` or --arg '{name}={example}'"
                    )));
                }
            },
        };
        if bytes > MOST_BYTES {
            return Err(declared.wrong(format!("{bytes} bytes are too many")));
        }
        Ok(bytes)
    }

    /// Declares a variable that each thread has in its own memory: a built-in, or what all threads only read.
    fn own_variable(&mut self, declared: Declared<'_>, bytes: u64, initial: Option<Vec<u8>>) -> Result<(), Refused> {
        let Declared { instruction, id, name, pointer } = declared;
        let mut built_in = self.module.declared.built_in(id);
        // An input that is initialized with the size of a workgroup has its value already.
        built_in = built_in.filter(|_| initial.is_none());
        if let Some(which) = built_in.filter(|&which| self.whole.contains(&id) && self.is_special(which, pointer.to)) {
            return self.set(instruction, Value::BuiltIn(which, pointer.to));
        }
        let (address, first) = self.allocate(name, bytes, initial.as_deref());
        if let Some(which) = built_in {
            let leaves = self.types.leaves(pointer.to).unwrap_or_default();
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
        let is_generic = pointer.class == StorageClass::UniformConstant;
        let address = self.constant(if is_generic { LOCAL_WINDOW + address } else { address });
        self.set(instruction, Value::Pointer(Pointer { address, is_generic, coherent: false, root: None, ..pointer }))
    }

    /// Declares a variable that threads share, at its place and its address there.
    fn shared_variable(
        &mut self,
        declared: Declared<'_>,
        (place, address): (Place, u64),
        bytes: u64,
        initial: Option<Vec<u8>>,
    ) -> Result<(), Refused> {
        let Declared { instruction, id, name, pointer } = declared;
        let Pointer { class, to, .. } = pointer;
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
        let scalars = self.setting.inputs.get(&name).and_then(Contents::scalars);
        let parts = self.parts_of(to);
        let member = parts.as_ref().and_then(Parts::only_member).map(|member| member.name.clone());
        let member = member.filter(|name| !name.is_empty());
        let parts = parts.map(Parts::unwrapped);
        let root = Some(self.variables.len());
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
            is_given_by_host: self.is_given_by_host(class, to),
        });
        self.set(instruction, Value::Pointer(Pointer { address, is_generic: false, coherent, root, ..pointer }))
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
    pub(super) fn share_nothing_twice(&self) -> Result<(), Refused> {
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
}
