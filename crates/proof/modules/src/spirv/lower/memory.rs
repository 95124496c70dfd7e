//! Pointers, loads and stores.

use rspirv::spirv::{MemoryAccess, MemoryModel, Op as Opcode, StorageClass};
use wattle_memory::{Classes, Level};

use super::{Lowering, Pointer, Value};
use crate::code::{Access, Op, Src, Strength};
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::labels::{self, Operands, Semantics};
use crate::spirv::types::{Leaf, Scalar, Type};
use crate::types::Space;

/// The most bytes that one instruction copies.
const MOST_COPIED: u64 = 1 << 12;

/// The most bytes that are copied one by one.
const MOST_BYTEWISE: u64 = 256;

impl Lowering<'_> {
    /// Lowers an instruction about memory; `false` where it is none.
    pub(super) fn memory(&mut self, instruction: &Instruction) -> Result<bool, Refused> {
        match instruction.op {
            Opcode::Variable => self.local_variable(instruction)?,
            Opcode::AccessChain | Opcode::InBoundsAccessChain => self.access_chain(instruction, false)?,
            Opcode::PtrAccessChain | Opcode::InBoundsPtrAccessChain => self.access_chain(instruction, true)?,
            Opcode::Load => self.load(instruction)?,
            Opcode::Store => self.store(instruction)?,
            Opcode::CopyMemory => self.copy_memory(instruction)?,
            Opcode::CopyMemorySized => self.copy_bytes(instruction)?,
            Opcode::PtrCastToGeneric | Opcode::GenericCastToPtr | Opcode::GenericCastToPtrExplicit => {
                self.cast_class(instruction)?;
            }
            Opcode::Bitcast if self.is_pointer(instruction) => self.cast_pointee(instruction)?,
            Opcode::ConvertPtrToU | Opcode::ConvertUToPtr => {
                let parts = self.parts(instruction.operand(0)?, instruction)?;
                self.set_parts(instruction, parts)?;
            }
            Opcode::ArrayLength => self.array_length(instruction)?,
            _ => return self.atomic_operation(instruction),
        }
        Ok(true)
    }

    fn local_variable(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        if let Some((id, what)) = instruction.result.and_then(|id| Some((id, self.object(id)?))) {
            return Err(instruction.refused(format!("`%{}` is {what}", self.module.name(id))));
        }
        let unknown = || instruction.refused("its type is no pointer to memory of the thread");
        let pointer = self.pointer_type(instruction.ty()?).filter(|pointer| pointer.space == Space::Local);
        let pointer = pointer.ok_or_else(unknown)?;
        if self.registers_of_variable(instruction, pointer.to)? {
            return Ok(());
        }
        let bytes = self.types.size(pointer.to).filter(|&bytes| bytes < 1 << 16).ok_or_else(unknown)?;
        let name = self.module.name(instruction.id()?);
        let (address, _) = self.allocate(name, bytes, None);
        let pointer = Pointer { address: self.constant(address), ..pointer };
        let first = match instruction.operands.get(1) {
            Some(&initializer) => Some(self.parts(initializer, instruction)?),
            // Each call has a variable of its own.
            None if self.calls.len() > 1 => {
                let any = self.undefined();
                Some(vec![any; self.leaves(pointer.to, instruction)?.len()])
            }
            None => None,
        };
        if let Some(parts) = first {
            self.store_parts(instruction, pointer, pointer.to, &parts, Operands::default())?;
        }
        self.set(instruction, Value::Pointer(pointer))
    }

    /// An address some bytes behind another.
    pub(super) fn moved(&mut self, address: Src, bytes: u64) -> Result<Src, Refused> {
        let bytes = self.constant(bytes);
        if self.fixed(bytes) == Some(0) { Ok(address) } else { self.two(u64::wrapping_add, address, bytes) }
    }

    /// The address of the item of that number behind another; a number is signed.
    pub(super) fn indexed(&mut self, address: Src, index: Src, ty: Scalar, stride: u64) -> Result<Src, Refused> {
        let stride = self.constant(stride);
        let f = match ty.bits {
            8 => item::<i8>,
            16 => item::<i16>,
            32 => item_by_word,
            _ => item::<i64>,
        };
        self.three(f, address, index, stride)
    }

    fn access_chain(&mut self, instruction: &Instruction, has_element: bool) -> Result<(), Refused> {
        let base = instruction.operand(0)?;
        let mut pointer = self.pointer(base, instruction)?;
        let mut indices = instruction.rest(1);
        if has_element {
            let (&element, rest) = indices.split_first().ok_or_else(|| instruction.refused("it lacks an element"))?;
            // The distance is that of the base pointer's type (SPIR-V specification, OpPtrAccessChain).
            let given = match self.of.get(&base).and_then(|&ty| self.types.get(ty)) {
                Some(Type::Pointer { stride, .. }) => *stride,
                _ => None,
            };
            let stride = given.unwrap_or_else(|| self.types.stride(pointer.to));
            let (index, ty) = (self.scalar(element, instruction)?, self.scalar_type(element, instruction)?);
            pointer.address = self.indexed(pointer.address, index, ty, stride)?;
            indices = rest;
        }
        for &index in indices {
            let part = self.scalar(index, instruction)?;
            match (self.types.named(pointer.to, instruction)?.clone(), self.fixed(part)) {
                (Type::Struct(_), None) => return Err(instruction.refused("the number of a member is no constant")),
                (Type::Struct(members), Some(number)) => {
                    let member = members.get(number as usize).copied();
                    let (to, offset) =
                        member.ok_or_else(|| instruction.refused(format!("there is no member {number}")))?;
                    pointer.coherent |= self.coherent_member(pointer.to, number as u32);
                    pointer.address = self.moved(pointer.address, offset)?;
                    pointer.to = to;
                }
                (Type::Many { of, stride, len }, _) => {
                    let ty = self.scalar_type(index, instruction)?;
                    // "If indexing into a vector, array, or matrix, with the result type being a logical pointer type,
                    // causes undefined behavior if not in bounds" (SPIR-V 1.6, "OpAccessChain"). Where a runtime array
                    // ends, its buffer does, which accesses are checked against; an index is signed, and what lies
                    // before it is others'. A physical pointer is an address: compilers of C count numbers behind the
                    // first part of a vector or of an inner array, and accesses are checked against the variable. A
                    // thread's own variables have no bounds but these.
                    let is_address =
                        self.module.model == MemoryModel::OpenCL && pointer.class != StorageClass::Function;
                    if self.setting.checks_indices && !is_address {
                        self.trap_beyond(part, len.unwrap_or(1 << (ty.bits - 1)))?;
                    }
                    pointer.address = self.indexed(pointer.address, part, ty, stride)?;
                    pointer.to = of;
                }
                _ => return Err(instruction.refused("there are more indices than the type has parts")),
            }
        }
        self.set(instruction, Value::Pointer(pointer))
    }

    fn coherent_member(&self, structure: Id, member: u32) -> bool {
        let which = rspirv::spirv::Decoration::Coherent;
        self.module.declared.member_decoration(structure, member, which).is_some()
    }

    /// The memory operands of an access, behind what the memory model implies.
    pub(super) fn operands(
        &self,
        words: &[u32],
        pointer: Pointer,
        by: &Instruction,
    ) -> Result<(Operands, usize), Refused> {
        let scope = |id| labels::level(self.known_scalar(id, by).ok()?);
        let implied = Operands::implied(self.module.model, pointer.class, pointer.coherent, self.within_groups);
        implied.read(words, scope).ok_or_else(|| by.refused("these memory operands are not supported"))
    }

    /// The access to a scalar.
    pub(super) fn access(
        &mut self,
        by: &Instruction,
        pointer: Pointer,
        leaf: Leaf,
        strength: Strength,
    ) -> Result<Access, Refused> {
        let bytes = leaf.ty.bytes();
        if !matches!(bytes, 1 | 2 | 4 | 8) || leaf.ty.bits != 1 && !leaf.ty.bits.is_multiple_of(8) {
            return Err(by.refused(format!("accesses to numbers of {} bits are not supported", leaf.ty.bits)));
        }
        let address = self.specific(pointer)?;
        let base = self.moved(address, leaf.offset)?;
        // The access is the next step.
        self.roots.insert(self.steps.len(), pointer.root);
        let (space, bytes) = (pointer.space, bytes as u8);
        Ok(Access { space, bytes, sign_to: 0, strength, read_only: false, narrow: false, base, offset: 0 })
    }

    pub(super) fn leaves(&self, ty: Id, by: &Instruction) -> Result<Vec<Leaf>, Refused> {
        self.types.leaves(ty).ok_or_else(|| by.refused("values of this type cannot be loaded or stored"))
    }

    fn load(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        if let Some(parts) = self.load_whole(instruction)? {
            return self.set_parts(instruction, parts);
        }
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let (operands, _) = self.operands(instruction.rest(1), pointer, instruction)?;
        let parts = self.load_parts(instruction, pointer, instruction.ty()?, operands)?;
        self.set_parts(instruction, parts)
    }

    pub(super) fn load_parts(
        &mut self,
        by: &Instruction,
        pointer: Pointer,
        ty: Id,
        operands: Operands,
    ) -> Result<Vec<Src>, Refused> {
        self.reads(pointer);
        let [read, write] = operands.labels(pointer.classes);
        let mut parts = Vec::new();
        for leaf in self.leaves(self.types.layout(pointer.to, ty), by)? {
            let access = self.access(by, pointer, leaf, Strength::Labels { read, write })?;
            let d = self.register("");
            self.emit(Op::Load { access, d })?;
            parts.push(Src::reg(d));
        }
        Ok(parts)
    }

    fn store(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        if self.store_whole(instruction)? {
            return Ok(());
        }
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let object = instruction.operand(1)?;
        let (operands, _) = self.operands(instruction.rest(2), pointer, instruction)?;
        let parts = self.parts(object, instruction)?;
        let ty = self.type_of(object, instruction)?;
        self.store_parts(instruction, pointer, ty, &parts, operands)
    }

    pub(super) fn store_parts(
        &mut self,
        by: &Instruction,
        pointer: Pointer,
        ty: Id,
        parts: &[Src],
        operands: Operands,
    ) -> Result<(), Refused> {
        if pointer.space == Space::Param {
            return Err(by.refused("push constants are not written to"));
        }
        let [read, write] = operands.labels(pointer.classes);
        for (leaf, &a) in self.leaves(self.types.layout(pointer.to, ty), by)?.into_iter().zip(parts) {
            let access = self.access(by, pointer, leaf, Strength::Labels { read, write })?;
            self.emit(Op::Store { access, a })?;
        }
        Ok(())
    }

    fn copy_memory(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (to, from) = (instruction.operand(0)?, instruction.operand(1)?);
        let (to, from) = (self.pointer(to, instruction)?, self.pointer(from, instruction)?);
        let words = instruction.rest(2);
        let (target, taken) = self.operands(words, to, instruction)?;
        // A second set of operands is the source's; the only one is that of both.
        let rest = if taken < words.len() { &words[taken..] } else { words };
        let (source, _) = self.operands(rest, from, instruction)?;
        let parts = self.load_parts(instruction, from, from.to, source)?;
        self.store_parts(instruction, to, from.to, &parts, target)
    }

    /// A copy of a number of bytes: of the largest integers of which the size and the alignment are multiples.
    fn copy_bytes(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (to, from) = (instruction.operand(0)?, instruction.operand(1)?);
        let (to, from) = (self.pointer(to, instruction)?, self.pointer(from, instruction)?);
        let size = self.known_scalar(instruction.operand(2)?, instruction)?;
        if size > MOST_COPIED {
            return Err(instruction.refused(format!("a copy of more than {MOST_COPIED} bytes is not supported")));
        }
        let words = instruction.rest(3);
        let (operands, _) = self.operands(words, to, instruction)?;
        let alignment = match words {
            [mask, alignment, ..] if mask & MemoryAccess::ALIGNED.bits() != 0 => u64::from(*alignment),
            _ => 1,
        };
        // Between the members of a structure there may be bytes that nobody has written.
        let is_own = |pointer: Pointer| pointer.space == Space::Local;
        let most = match (is_own(from), is_own(to)) {
            (true, true) if size <= MOST_BYTEWISE => 1,
            (true, _) | (_, true) => 4,
            (false, false) => 8,
        };
        let units = [8, 4, 2].into_iter().filter(|unit| *unit <= most);
        let unit = units.into_iter().find(|unit| (size | alignment) % unit == 0).unwrap_or(1);
        let ty = Scalar { bits: unit as u32 * 8, ..Scalar::UINT };
        self.reads(from);
        for offset in (0..size).step_by(unit as usize) {
            let leaf = Leaf { offset, ty };
            let [read, _] = operands.labels(from.classes);
            let access = self.access(instruction, from, leaf, Strength::Labels { read, write: read })?;
            let d = self.register("");
            self.emit(Op::Load { access, d })?;
            let [_, write] = operands.labels(to.classes);
            let access = self.access(instruction, to, leaf, Strength::Labels { read: write, write })?;
            self.emit(Op::Store { access, a: Src::reg(d) })?;
        }
        Ok(())
    }

    fn array_length(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let pointer = self.pointer(instruction.operand(0)?, instruction)?;
        let wrong = || instruction.refused("the length of this is not known");
        self.fixed(pointer.address).ok_or_else(wrong)?;
        let is_buffer = |known: &&super::Variable| matches!(known.place, super::Place::Buffer(_));
        let of = pointer.root.and_then(|root| self.variables.get(root)).filter(is_buffer).ok_or_else(wrong)?;
        let (array, offset) = self.types.part(pointer.to, instruction.operand(1)?.into()).ok_or_else(wrong)?;
        let Some(&Type::Many { stride, .. }) = self.types.get(array) else { return Err(wrong()) };
        let length = of.bytes.saturating_sub(offset).checked_div(stride).ok_or_else(wrong)?;
        let length = self.constant(length);
        self.set_parts(instruction, vec![length])
    }

    /// The scope and semantics of an atomic operation.
    pub(super) fn ordered(
        &mut self,
        scope: u32,
        semantics: u32,
        by: &Instruction,
    ) -> Result<(Level, Semantics), Refused> {
        let (level, semantics) = (self.scope(scope, by)?, self.semantics(semantics, by)?);
        let level = if self.module.has_atomics_without_scope() { level.max(Level::Device) } else { level };
        Ok((level, semantics))
    }

    /// The level of a scope operand.
    pub(super) fn scope(&self, id: Id, by: &Instruction) -> Result<Level, Refused> {
        let level = labels::level(self.known_scalar(id, by)?);
        level.ok_or_else(|| by.refused("this scope is not supported"))
    }

    /// The scope and semantics of a fence, or of the memory of a barrier.
    pub(super) fn fenced(&mut self, scope: Id, semantics: Id, by: &Instruction) -> Result<(Level, Semantics), Refused> {
        let (level, semantics) = (self.scope(scope, by)?, self.semantics(semantics, by)?);
        self.orders_buffers |= semantics.order() && semantics.classes.includes(Classes::BUFFER);
        Ok((if self.within_groups { level.min(Level::Block) } else { level }, semantics))
    }

    /// The memory semantics that a constant operand gives; refused if they are unknown.
    pub(super) fn semantics(&mut self, id: Id, by: &Instruction) -> Result<Semantics, Refused> {
        let semantics = Semantics::of(self.known_scalar(id, by)?, self.module.model);
        let semantics = semantics.ok_or_else(|| by.refused("these memory semantics are unknown"))?;
        // A barrier releases and acquires, whatever compilers write (OpenCL C 3.0, 6.15.8 "Synchronization Functions").
        if semantics.sequential && by.op != Opcode::ControlBarrier {
            self.sequential.get_or_insert(self.steps.len());
        }
        Ok(semantics)
    }

    /// Records that an instruction reads what a pointer points into.
    pub(super) fn reads(&mut self, pointer: Pointer) {
        if pointer.space == Space::Local {
            return;
        }
        for (number, variable) in self.variables.iter_mut().enumerate() {
            variable.is_read |= pointer.root.is_none_or(|root| root == number);
        }
    }
}

/// The address of an item: `index` is a signed number of the width of `T`.
fn item<T: Into<i64> + FromBits>(address: u64, index: u64, stride: u64) -> u64 {
    address.wrapping_add((T::from_bits(index).into() as u64).wrapping_mul(stride))
}

/// The address of an item by a number of 32 bits. Analyses look for this function, so it is one for all of them.
#[inline(never)]
pub fn item_by_word(address: u64, index: u64, stride: u64) -> u64 {
    item::<i32>(address, index, stride)
}

/// Signed numbers of the low bits of a word.
trait FromBits {
    fn from_bits(bits: u64) -> Self;
}

macro_rules! from_bits {
    ($($ty:ty),+) => {
        $(impl FromBits for $ty {
            fn from_bits(bits: u64) -> Self {
                bits as $ty
            }
        })+
    };
}

from_bits!(i8, i16, i32, i64);
