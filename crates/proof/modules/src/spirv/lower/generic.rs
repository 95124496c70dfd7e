//! Pointers, and their casts between storage classes (OpenCL C 3.0, 6.7.5 "Address Space Qualifiers"; SPIR-V
//! specification, OpPtrCastToGeneric, OpGenericCastToPtr, OpGenericCastToPtrExplicit).
//!
//! A pointer of the generic class holds a [generic address](crate::address). Where the text shows what it was cast
//! from, its accesses are of that class; where it does not, such as of a pointer that a variable held, each address
//! shows it.

use rspirv::spirv::{Op as Opcode, StorageClass};

use super::{Lowering, Pointer, Value};
use crate::address;
use crate::code::{Src, Un};
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::types::Type;
use crate::types::Space;

impl Lowering<'_> {
    /// The pointer that a result is.
    pub(super) fn pointer(&self, id: Id, by: &Instruction) -> Result<Pointer, Refused> {
        match self.value(id, by)? {
            Value::Pointer(pointer) => Ok(*pointer),
            Value::Parts(_) | Value::Registers(..) | Value::BuiltIn(..) => {
                Err(by.refused(format!("`%{}` is no pointer", self.module.name(id))))
            }
        }
    }

    /// The storage class of a type of pointers.
    fn class_of(&self, ty: Id) -> Option<StorageClass> {
        match self.types.get(ty)? {
            Type::Pointer { class, .. } => Some(*class),
            Type::Void | Type::Scalar(_) | Type::Many { .. } | Type::Struct(_) | Type::Opaque => None,
        }
    }

    /// Whether a cast is one from pointer to pointer.
    pub(super) fn is_pointer(&self, cast: &Instruction) -> bool {
        let from = cast.operand(0).ok().and_then(|of| self.of.get(&of));
        let is_one = |ty: Option<&Id>| ty.is_some_and(|&ty| self.class_of(ty).is_some());
        is_one(from) && is_one(cast.result_type.as_ref())
    }

    /// A pointer to the same place as another type.
    pub(super) fn cast_pointee(&mut self, cast: &Instruction) -> Result<(), Refused> {
        let pointer = self.pointer(cast.operand(0)?, cast)?;
        let Some(&Type::Pointer { to, .. }) = self.types.get(cast.ty()?) else { return Err(self.not_supported(cast)) };
        self.set(cast, Value::Pointer(Pointer { to, ..pointer }))
    }

    /// A cast to the generic storage class, or from it. One to a class that the pointer does not have gives a null
    /// pointer.
    pub(super) fn cast_class(&mut self, cast: &Instruction) -> Result<(), Refused> {
        let pointer = self.pointer(cast.operand(0)?, cast)?;
        let to = self.pointer_type(cast.ty()?).ok_or_else(|| self.not_supported(cast))?;
        if to.class == StorageClass::Generic {
            let address = self.converted(to_generic(pointer.space), pointer.address)?;
            return self.set(cast, Value::Pointer(Pointer { address, to: to.to, is_generic: true, ..pointer }));
        }
        if pointer.space != Space::Generic && pointer.class != to.class && cast.op == Opcode::GenericCastToPtr {
            return Err(
                cast.refused(format!("the pointer is cast to {:?}, and it is one of {:?}", to.class, pointer.class))
            );
        }
        let address = self.converted(from_generic(to.space), pointer.address)?;
        let root = pointer.root.filter(|_| pointer.class == to.class);
        self.set(cast, Value::Pointer(Pointer { address, root, coherent: pointer.coherent, ..to }))
    }

    /// The address of a pointer in the space that its accesses name.
    pub(super) fn specific(&mut self, pointer: Pointer) -> Result<Src, Refused> {
        let convert = if pointer.is_generic { from_generic(pointer.space) } else { None };
        self.converted(convert, pointer.address)
    }

    fn converted(&mut self, by: Option<Un>, address: Src) -> Result<Src, Refused> {
        by.map_or(Ok(address), |convert| self.one(convert, address))
    }
}

/// What makes an address in a space a generic one; `None` where it is one. Null stays null.
fn to_generic(space: Space) -> Option<Un> {
    fn within(address: u64, window: u64) -> u64 {
        if address == 0 { 0 } else { address.wrapping_add(window) }
    }
    match space {
        Space::Shared => Some(|address| within(address, address::SHARED_WINDOW)),
        Space::Local => Some(|address| within(address, address::LOCAL_WINDOW)),
        Space::Generic | Space::Global | Space::Param | Space::Const => None,
    }
}

/// What makes a generic address one in a space, or null where it lies elsewhere; `None` for spaces with no other
/// addresses.
fn from_generic(space: Space) -> Option<Un> {
    fn of(wanted: Space, address: u64) -> u64 {
        let (space, address) = address::generic(address);
        if space == wanted { address } else { 0 }
    }
    match space {
        Space::Shared => Some(|address| of(Space::Shared, address)),
        Space::Local => Some(|address| of(Space::Local, address)),
        Space::Global => Some(|address| of(Space::Global, address)),
        Space::Generic | Space::Param | Space::Const => None,
    }
}
