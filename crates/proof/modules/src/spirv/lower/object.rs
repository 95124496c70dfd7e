//! What is refused by name: images, samplers and the other objects that only their own instructions use.

use rspirv::spirv::Op as Opcode;

use super::Lowering;
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::types::Type;

/// The types of objects, what they are called, and what to use instead.
const OBJECTS: [(Opcode, &str); 6] = [
    (Opcode::TypeImage, "an image, which is not supported: use a storage buffer"),
    (
        Opcode::TypeSampledImage,
        "a texture, which is not supported: use a storage buffer, and compute what is between its items",
    ),
    (
        Opcode::TypeSampler,
        "a sampler, which is not supported: use a storage buffer, and compute what is between its items",
    ),
    (
        Opcode::TypeEvent,
        "an event of an asynchronous copy, which is not supported: copy by loads and stores, and a barrier",
    ),
    (Opcode::TypeQueue, "a queue, which is not supported: launch the kernels from the host"),
    (Opcode::TypePipe, "a pipe, which is not supported: use a buffer and an atomic counter"),
];

impl Lowering<'_> {
    /// What a variable or a parameter is, or points to, where only its own instructions use that.
    pub(super) fn object(&self, id: Id) -> Option<&'static str> {
        let ty = self.module.listing.instructions.iter().find(|known| known.result == Some(id))?.result_type?;
        let mut of = if let Some(Type::Pointer { to, .. }) = self.types.get(ty) { *to } else { ty };
        while let Some(Type::Many { of: items, .. }) = self.types.get(of) {
            of = *items;
        }
        if !matches!(self.types.get(of), None | Some(Type::Opaque)) {
            return None;
        }
        let op = self.module.defined(of).map(|at| self.module.instruction(at).op);
        let known = OBJECTS.iter().find(|(object, _)| Some(*object) == op);
        Some(known.map_or("an object that only its own instructions use, which is not supported", |(_, what)| what))
    }

    /// The refusal of an instruction that has no meaning here.
    pub(super) fn not_supported(&self, instruction: &Instruction) -> Refused {
        let name = match instruction.op {
            Opcode::ExtInst => self.extended_name(instruction),
            _ => format!("`{}`", instruction.name()),
        };
        let instead = match instruction.name().starts_with("OpImage") {
            true => ": it is of images, which are not; use a storage buffer",
            false => "",
        };
        instruction.refused(format!("{name} is not supported{instead}"))
    }
}
