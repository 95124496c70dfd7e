//! Types, and where their parts lie in memory (SPIR-V specification, 2.16 "Validation Rules": Offset, ArrayStride,
//! MatrixStride).
//!
//! A type without such decorations has the layout of C: each part at the next multiple of its alignment. In the OpenCL
//! environment this is its layout, with a vector of three parts as large as one of four, and vectors aligned to their
//! sizes (OpenCL C 3.0, 6.3.5 "Alignment of Types"); elsewhere SPIR-V leaves it open, so no program that is right
//! depends on it.

use std::collections::{HashMap, HashSet};

use rspirv::spirv::{Decoration, MemoryModel, Op, StorageClass};

use super::instruction::{Id, Instruction};
use super::module::Declarations;
use crate::refused::Refused;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// No value.
    Void,
    /// One scalar: a truth value, an integer or a float.
    Scalar(Scalar),
    /// Several parts of one type, by a distance in bytes: vectors, matrices and arrays. The length of a runtime array
    /// is `None`.
    Many {
        /// The type of a part.
        of: Id,
        /// The number of parts.
        len: Option<u64>,
        /// The distance of two parts in bytes.
        stride: u64,
    },
    /// Members, each with its offset in bytes.
    Struct(Vec<(Id, u64)>),
    /// A pointer to a type, with the distance of two of them in bytes.
    Pointer {
        /// The storage class.
        class: StorageClass,
        /// The type that it points to.
        to: Id,
        /// The distance between neighbours in an array that it points into, if one is given.
        stride: Option<u64>,
    },
    /// A type that only its own instructions use: functions, images.
    Opaque,
}

/// The kinds of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A truth value.
    Bool,
    /// An integer; the flag says whether it is declared as signed.
    Int(bool),
    /// A float.
    Float,
}

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// The kind of the values: truth values, integers or floats.
    pub kind: Kind,
    /// The width in bits; 1 for a truth value.
    pub bits: u32,
}

impl Scalar {
    /// An unsigned integer of 32 bits.
    pub const UINT: Scalar = Scalar { kind: Kind::Int(false), bits: 32 };

    /// The name of the type as arguments write it: `f32`, `u8`.
    pub fn name(self) -> String {
        match self.kind {
            Kind::Float => format!("f{}", self.bits),
            Kind::Int(signed) => format!("{}{}", if signed { "i" } else { "u" }, self.bits),
            Kind::Bool => "bool".into(),
        }
    }

    /// The size in memory: truth values have 4 bytes, as in Vulkan's interfaces.
    pub fn bytes(self) -> u64 {
        if self.kind == Kind::Bool { 4 } else { u64::from(self.bits.div_ceil(8)) }
    }

    /// The mask of its bits.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits.clamp(1, 64))
    }

    /// Bits as a number, with their sign if the type, or the caller, says so.
    pub fn signed(self, bits: u64) -> i64 {
        let shift = 64 - self.bits.clamp(1, 64);
        (bits << shift) as i64 >> shift
    }
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The offset in bytes.
    pub offset: u64,
    /// The type of the scalar.
    pub ty: Scalar,
}

/// The types of a module.
#[derive(Debug, Default)]
pub struct Types {
    all: HashMap<Id, Declared>,
    /// Whether types without decorations have OpenCL's layout.
    is_opencl: bool,
    /// The matrices, and arrays of them, whose columns lie as a structure says that they are members of.
    laid_out: HashSet<Id>,
}

/// A type, and what follows from it, once for all types that contain it.
#[derive(Debug)]
struct Declared {
    ty: Type,
    /// The size in bytes; `None` where a runtime array ends it.
    size: Option<u64>,
    /// The alignment in a layout without decorations.
    alignment: u64,
    /// The number of types that stand in one another in the type.
    depth: u32,
}

/// The most types that stand in one another (SPIR-V specification, 2.17 "Universal Limits": structure nesting depth).
const MOST_DEPTH: u32 = 255;

/// The most scalars that one value may have.
const MOST_LEAVES: usize = 1 << 16;

impl Types {
    /// No types yet, of a module with that memory model.
    pub fn of(model: MemoryModel) -> Types {
        Types { is_opencl: model == MemoryModel::OpenCL, ..Types::default() }
    }

    /// Whether the types are those of a module with OpenCL's memory model.
    pub fn is_opencl(&self) -> bool {
        self.is_opencl
    }

    /// The array of unknown length of a type, as a buffer is.
    pub fn runtime_array(&mut self, of: Id) -> Id {
        self.many(of, None, self.stride(of))
    }

    /// The array type of this element type, length and stride in bytes. Where the module declares none, one is added.
    fn many(&mut self, of: Id, len: Option<u64>, stride: u64) -> Id {
        let ty = Type::Many { of, len, stride };
        let known = self.all.iter().find(|(_, declared)| declared.ty == ty).map(|(&id, _)| id);
        known.unwrap_or_else(|| {
            let id = (0..=Id::MAX).rev().find(|id| !self.all.contains_key(id)).unwrap_or(Id::MAX);
            let depth = self.all.get(&of).map_or(1, |of| of.depth + 1);
            let (size, alignment) = (self.size_of(&ty), self.alignment(of));
            self.all.insert(id, Declared { ty, size, alignment, depth });
            id
        })
    }

    /// A matrix, or an array of matrices, with that distance of the columns, or of the rows where it lies by rows.
    fn with_distance(&mut self, ty: Id, distance: u64, by_rows: bool) -> Id {
        let Some(&Type::Many { of, len, stride }) = self.get(ty) else { return ty };
        let scalar = |types: &Types, id: Id| match types.get(id) {
            Some(Type::Scalar(scalar)) => Some(scalar.bytes()),
            _ => None,
        };
        let column = match self.get(of) {
            Some(&Type::Many { of, len, .. }) => scalar(self, of).map(|bytes| (of, len, bytes)),
            _ => None,
        };
        let laid_out = match column {
            Some((part, rows, bytes)) if by_rows => {
                let column = self.many(part, rows, distance);
                self.laid_out.insert(column);
                self.many(column, len, bytes)
            }
            Some(_) => self.many(of, len, distance),
            None => {
                let of = self.with_distance(of, distance, by_rows);
                self.many(of, len, stride)
            }
        };
        self.laid_out.insert(laid_out);
        laid_out
    }

    /// The type whose parts lie as those of a value of a type do, that is reached as `reached`: of a matrix the
    /// structure that it is a member of says how its columns lie.
    pub fn layout(&self, reached: Id, ty: Id) -> Id {
        if self.laid_out.contains(&reached) { reached } else { ty }
    }

    /// The offset of a value of a type that comes after `bytes` bytes of other values: the next multiple of its
    /// alignment.
    pub fn behind(&self, bytes: u64, ty: Id) -> u64 {
        bytes.next_multiple_of(self.alignment(ty).max(1))
    }

    /// The type that an `OpType` instruction with this number declares.
    pub fn get(&self, id: Id) -> Option<&Type> {
        self.all.get(&id).map(|declared| &declared.ty)
    }

    /// The type that an `OpType` instruction with this number declares, for an instruction that needs it.
    ///
    /// # Errors
    /// No type has this number; the refusal names the instruction that needs it.
    pub fn named(&self, id: Id, by: &Instruction) -> Result<&Type, Refused> {
        self.get(id).ok_or_else(|| by.refused("its type is declared nowhere, or is not supported"))
    }

    /// Records the type that an instruction declares.
    pub fn declare(
        &mut self,
        instruction: &Instruction,
        declared: &Declarations,
        constant: impl Fn(Id) -> Option<u64>,
    ) -> Result<(), Refused> {
        let stride = |of: Id, types: &Types, given: Option<u32>| given.map_or_else(|| types.stride(of), u64::from);
        let result = instruction.id()?;
        let depth = self.depth(instruction)?;
        let array_stride = declared.decoration(result, Decoration::ArrayStride);
        let is_packed = declared.decoration(result, Decoration::CPacked).is_some();
        let scalar = |kind, bits| Type::Scalar(Scalar { kind, bits });
        let many = |types: &Types, of: Id, len, given| Type::Many { of, len, stride: stride(of, types, given) };
        let ty = match instruction.op {
            Op::TypeVoid => Type::Void,
            Op::TypeBool => scalar(Kind::Bool, 1),
            Op::TypeInt => match instruction.operand(0)? {
                bits @ 1..=64 => scalar(Kind::Int(instruction.operand(1)? == 1), bits),
                bits => return Err(instruction.refused(format!("integers of {bits} bits are not supported"))),
            },
            Op::TypeFloat => match (instruction.operand(0)?, instruction.operands.len()) {
                (bits @ (16 | 32 | 64), 1) => scalar(Kind::Float, bits),
                (bits, _) => return Err(instruction.refused(format!("these floats of {bits} bits are not supported"))),
            },
            Op::TypeVector | Op::TypeMatrix => {
                many(self, instruction.operand(0)?, Some(instruction.operand(1)?.into()), None)
            }
            Op::TypeArray => {
                let len = constant(instruction.operand(1)?);
                let len = len.ok_or_else(|| instruction.refused("the length of the array is no constant"))?;
                many(self, instruction.operand(0)?, Some(len), array_stride)
            }
            Op::TypeRuntimeArray => many(self, instruction.operand(0)?, None, array_stride),
            Op::TypeStruct => Type::Struct(self.members(instruction, declared, is_packed)?),
            Op::TypePointer => {
                let class = StorageClass::from_u32(instruction.operand(0)?);
                let class = class.ok_or_else(|| instruction.refused("its storage class is unknown"))?;
                Type::Pointer { class, to: instruction.operand(1)?, stride: array_stride.map(u64::from) }
            }
            _ => Type::Opaque,
        };
        let (mut size, mut alignment) = (self.size_of(&ty), self.alignment_of(&ty));
        if self.is_opencl && instruction.op == Op::TypeVector {
            size = size.map(u64::next_power_of_two);
            alignment = size.unwrap_or(1);
        }
        if self.is_opencl && instruction.op == Op::TypeStruct {
            alignment = if is_packed { 1 } else { alignment };
            size = size.map(|size| size.next_multiple_of(alignment.max(1)));
        }
        self.all.insert(result, Declared { ty, size, alignment, depth });
        Ok(())
    }

    /// The depth of a type that an instruction declares: the number of types that stand in one another.
    fn depth(&self, instruction: &Instruction) -> Result<u32, Refused> {
        // SPIR-V 1.6, 2.16.1: types are declared before their uses, but for forward pointers, which logical addressing
        // does not have. So no type contains itself.
        let parts = match instruction.op {
            Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => instruction.rest(0).get(..1),
            Op::TypeStruct => Some(instruction.rest(0)),
            _ => None,
        };
        let mut depth = 1;
        for part in parts.unwrap_or_default() {
            self.named(*part, instruction)?;
            depth = self.all.get(part).map_or(depth, |part| depth.max(part.depth + 1));
        }
        if depth > MOST_DEPTH {
            return Err(instruction.refused(format!("more than {MOST_DEPTH} types stand in one another")));
        }
        Ok(depth)
    }

    /// The members of a structure, each with its offset: where a decoration puts it, else behind the one before.
    fn members(
        &mut self,
        instruction: &Instruction,
        declared: &Declarations,
        is_packed: bool,
    ) -> Result<Vec<(Id, u64)>, Refused> {
        let result = instruction.id()?;
        let mut end = 0u64;
        let mut members = Vec::new();
        for (number, mut member) in (0u32..).zip(instruction.operands.iter().copied()) {
            let by_rows = declared.member_decoration(result, number, Decoration::RowMajor).is_some();
            match declared.member_decoration(result, number, Decoration::MatrixStride) {
                Some(distance) => member = self.with_distance(member, distance.into(), by_rows),
                None if by_rows => {
                    return Err(instruction.refused("a matrix that lies by rows has a distance of them (MatrixStride)"));
                }
                None => {}
            }
            let given = declared.member_decoration(result, number, Decoration::Offset);
            let natural = || if is_packed { end } else { self.behind(end, member) };
            let offset = given.map_or_else(natural, u64::from);
            end = offset.saturating_add(self.size(member).unwrap_or(0));
            members.push((member, offset));
        }
        Ok(members)
    }

    /// The type of all scalars of a type, if they have one.
    pub fn only_scalar(&self, id: Id) -> Option<Scalar> {
        match self.get(id)? {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Many { of, .. } => self.only_scalar(*of),
            Type::Struct(members) => {
                let mut of = members.iter().map(|&(member, _)| self.only_scalar(member));
                let first = of.next()??;
                of.all(|other| other == Some(first)).then_some(first)
            }
            Type::Void | Type::Pointer { .. } | Type::Opaque => None,
        }
    }

    /// The size in bytes; `None` where a runtime array ends it.
    pub fn size(&self, id: Id) -> Option<u64> {
        self.all.get(&id)?.size
    }

    fn size_of(&self, ty: &Type) -> Option<u64> {
        match ty {
            Type::Void | Type::Opaque => Some(0),
            Type::Scalar(scalar) => Some(scalar.bytes()),
            Type::Pointer { .. } => Some(8),
            // The last part has no bytes behind it that belong to the next one.
            Type::Many { of, len, stride } => match (*len)? {
                0 => Some(0),
                len => (len - 1).checked_mul(*stride)?.checked_add(self.size(*of)?),
            },
            Type::Struct(members) => members
                .iter()
                .try_fold(0, |end: u64, &(member, offset)| Some(end.max(offset.checked_add(self.size(member)?)?))),
        }
    }

    /// The alignment in a layout without decorations.
    fn alignment(&self, id: Id) -> u64 {
        self.all.get(&id).map_or(1, |declared| declared.alignment)
    }

    fn alignment_of(&self, ty: &Type) -> u64 {
        match ty {
            Type::Void | Type::Opaque => 1,
            Type::Scalar(scalar) => scalar.bytes().next_power_of_two(),
            Type::Pointer { .. } => 8,
            Type::Many { of, .. } => self.alignment(*of),
            Type::Struct(members) => members.iter().map(|&(member, _)| self.alignment(member)).max().unwrap_or(1),
        }
    }

    /// The distance of two values in an array without a stride.
    pub fn stride(&self, id: Id) -> u64 {
        self.size(id).unwrap_or(0).next_multiple_of(self.alignment(id).max(1))
    }

    /// The part of that number of a type: its type and its offset.
    pub fn part(&self, id: Id, number: u64) -> Option<(Id, u64)> {
        match self.get(id)? {
            Type::Many { of, len, stride } => {
                (len.is_none_or(|len| number < len)).then_some((*of, number.checked_mul(*stride)?))
            }
            Type::Struct(members) => members.get(usize::try_from(number).ok()?).copied(),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Opaque => None,
        }
    }

    /// The number of parts of a type that has some; `None` for a runtime array.
    pub fn parts(&self, id: Id) -> Option<u64> {
        match self.get(id)? {
            Type::Many { len, .. } => *len,
            Type::Struct(members) => Some(members.len() as u64),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } | Type::Opaque => Some(0),
        }
    }

    /// The scalars of a type, in their order. A pointer is one of 64 bits.
    pub fn leaves(&self, id: Id) -> Option<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.push_leaves(id, 0, &mut leaves)?;
        Some(leaves)
    }

    fn push_leaves(&self, id: Id, offset: u64, leaves: &mut Vec<Leaf>) -> Option<()> {
        match self.get(id)? {
            Type::Void | Type::Opaque => None,
            Type::Scalar(ty) => {
                leaves.push(Leaf { offset, ty: *ty });
                (leaves.len() <= MOST_LEAVES).then_some(())
            }
            Type::Pointer { .. } => {
                leaves.push(Leaf { offset, ty: Scalar { kind: Kind::Int(false), bits: 64 } });
                Some(())
            }
            Type::Many { len, .. } => (0..(*len)?).try_for_each(|number| {
                let (part, at) = self.part(id, number)?;
                self.push_leaves(part, offset.checked_add(at)?, leaves)
            }),
            Type::Struct(members) => {
                members.iter().try_for_each(|&(member, at)| self.push_leaves(member, offset.checked_add(at)?, leaves))
            }
        }
    }

    /// The scalar type of a type that is a scalar, or a vector of one.
    pub fn scalar(&self, id: Id) -> Option<Scalar> {
        match self.get(id)? {
            Type::Scalar(scalar) => Some(*scalar),
            Type::Many { of, .. } => self.scalar(*of),
            Type::Pointer { .. } => Some(Scalar { kind: Kind::Int(false), bits: 64 }),
            Type::Void | Type::Struct(_) | Type::Opaque => None,
        }
    }
}
