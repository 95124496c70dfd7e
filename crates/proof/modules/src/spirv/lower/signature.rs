//! A shader with the variables that a launch by names gives contents: what an error about them shows.

use rspirv::spirv::{Decoration, Op as Opcode, StorageClass};

use super::Lowering;
use super::interface::nothing_bound;
use crate::refused::Refused;
use crate::spirv::instruction::{Id, source_names};
use crate::spirv::module::Spirv;
use crate::spirv::types::Type;

impl Spirv {
    /// A shader's entry point with its buffers, uniforms and push constants: their names in the source, which are
    /// those that a launch by names takes, and their types.
    ///
    /// # Errors
    /// There is no such entry point, or its declarations are refused.
    pub fn signature(&self, entry: Option<&str>) -> Result<String, Refused> {
        let entry = self.entry(entry)?;
        let setting = nothing_bound();
        let mut lowering = Lowering::new(self, &setting);
        lowering.declare(entry)?;
        let names = source_names(&self.listing);
        let mut all = Vec::new();
        for instruction in self.global.iter().map(|&number| self.instruction(number)) {
            let (Opcode::Variable, Some(id)) = (instruction.op, instruction.result) else { continue };
            let Some(pointer) = lowering.pointer_type(instruction.ty()?) else { continue };
            let what = match pointer.class {
                StorageClass::PushConstant => "push constants",
                StorageClass::Uniform if lowering.is_given_by_host(pointer.class, pointer.to) => "uniform",
                StorageClass::Uniform | StorageClass::StorageBuffer => "buffer",
                _ => continue,
            };
            let name = names.get(&id).cloned().unwrap_or_else(|| self.name(id));
            let ty = lowering.parts_of(pointer.to).map(|parts| format!(": {parts}")).unwrap_or_default();
            all.push((id, format!("{what} {name}{ty}{}", self.binding_text(id))));
        }
        // Since SPIR-V 1.4 an entry point lists all that it uses; before, its inputs and outputs alone.
        if all.iter().any(|(id, _)| entry.interface.contains(id)) {
            all.retain(|(id, _)| entry.interface.contains(id));
        }
        let all: Vec<String> = all.into_iter().map(|(_, text)| text).collect();
        Ok(format!("{}({})", entry.name, all.join(", ")))
    }

    fn binding_text(&self, id: Id) -> String {
        let of = |which| self.declared.decoration(id, which);
        match of(Decoration::DescriptorSet).zip(of(Decoration::Binding)) {
            Some((set, binding)) => format!(" (set {set}, binding {binding})"),
            None => String::new(),
        }
    }
}

impl Lowering<'_> {
    /// Whether the host alone writes a variable of a storage class: push constants and uniforms. A `Uniform` block that
    /// is a `BufferBlock` is a buffer, as modules before SPIR-V 1.3 have it.
    pub(super) fn is_given_by_host(&self, class: StorageClass, to: Id) -> bool {
        let block = match self.types.get(to) {
            Some(&Type::Many { of, .. }) => of,
            Some(Type::Void | Type::Scalar(_) | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque) | None => to,
        };
        match class {
            StorageClass::PushConstant => true,
            StorageClass::Uniform => self.module.declared.decoration(block, Decoration::BufferBlock).is_none(),
            _ => false,
        }
    }
}
