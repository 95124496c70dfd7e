//! What a host gives an entry point: buffers by their bindings, push constants, and the size of a workgroup.

use rspirv::spirv::{BuiltIn, Decoration, Op as Opcode};

use super::{Lowering, Place};
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::module::{Entry, LocalSize, Spirv};
use crate::spirv::setting::{Bound, Setting};
use crate::spirv::types::{Kind, Type};

/// A buffer: its descriptor set and its binding, and its name.
pub type BoundBuffer = ((u32, u32), String);

/// What a host gives an entry point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// The buffers, by descriptor set and binding.
    pub buffers: Vec<BoundBuffer>,
    /// The members of the push constants, or the values that a kernel's parameters take.
    pub push: Vec<PushMember>,
    /// The order in which a host gives them.
    pub order: Vec<Given>,
    /// Whether the buffers and the members are the parameters of a kernel, and no variables.
    pub is_kernel: bool,
    /// The parameters of a kernel that are memory of a workgroup, whose size the host gives.
    pub workgroup: Vec<String>,
    /// The threads of a workgroup, where no specialization constant gives them.
    pub local_size: Option<[u32; 3]>,
}

/// What a host gives, by its number among the buffers or among the members of the push constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// A buffer.
    Buffer(usize),
    /// A member of the push constants, or a value.
    Push(usize),
}

/// A member of the push constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushMember {
    /// The name of the member in the source.
    pub name: String,
    /// The offset in bytes.
    pub offset: u64,
    /// The size in bytes.
    pub bytes: u64,
    /// The kind of a number; `None` for a composite.
    pub kind: Option<Kind>,
}

/// The setting in which declarations alone are looked at: nothing is bound.
pub(super) fn nothing_bound() -> Setting {
    Setting {
        local_size: None,
        workgroups: [1; 3],
        subgroup: None,
        checks_indices: true,
        inputs: Default::default(),
        bound: Some(Bound::default()),
    }
}

impl Spirv {
    /// What a host gives an entry point, the only one unless it is named.
    ///
    /// # Errors
    /// There is no such entry point, or its declarations are refused.
    pub fn interface(&self, entry: Option<&str>) -> Result<Interface, Refused> {
        let entry = self.entry(entry)?;
        let setting = nothing_bound();
        let mut lowering = Lowering::new(self, &setting);
        lowering.declare(entry)?;
        let local_size = self.fixes_local_size(entry).then_some(lowering.shape.local_size);
        if let Some(function) = self.functions.get(&entry.function).filter(|function| !function.parameters.is_empty()) {
            return Ok(Interface { local_size, ..lowering.kernel_interface(entry, function)? });
        }
        let mut buffers: Vec<(Id, BoundBuffer)> = Vec::new();
        for &id in &lowering.unbound {
            let of = |which| self.declared.decoration(id, which);
            if let Some(binding) = of(Decoration::DescriptorSet).zip(of(Decoration::Binding)) {
                buffers.push((id, (binding, self.debug_name(id, None))));
            }
        }
        // Since SPIR-V 1.4 an entry point lists all that it uses; before, its inputs and outputs alone.
        if buffers.iter().any(|(id, _)| entry.interface.contains(id)) {
            buffers.retain(|(id, _)| entry.interface.contains(id));
        }
        buffers.sort_by_key(|(_, (binding, _))| *binding);
        let push = lowering.variables.iter().find(|variable| variable.place == Place::Push);
        let push = push.map_or_else(Vec::new, |push| lowering.members(push.ty));
        let buffers: Vec<BoundBuffer> = buffers.into_iter().map(|(_, buffer)| buffer).collect();
        let order = (0..buffers.len()).map(Given::Buffer).chain((0..push.len()).map(Given::Push)).collect();
        Ok(Interface { buffers, push, order, is_kernel: false, workgroup: Vec::new(), local_size })
    }

    /// Whether the size of a workgroup is one for all launches.
    fn fixes_local_size(&self, entry: &Entry) -> bool {
        let is_constant = |id: Id| {
            let mut all = self.global.iter().map(|&number| self.instruction(number));
            all.any(|known| known.result == Some(id) && known.op == Opcode::Constant)
        };
        let built_in = self.global.iter().map(|&number| self.instruction(number)).find(|instruction| {
            instruction.result.and_then(|id| self.declared.built_in(id)) == Some(BuiltIn::WorkgroupSize)
                && matches!(instruction.op, Opcode::ConstantComposite | Opcode::SpecConstantComposite)
        });
        match (built_in, entry.local_size) {
            (Some(built_in), _) => built_in.operands.iter().all(|&id| is_constant(id)),
            (None, Some(LocalSize::Ids(ids))) => ids.into_iter().all(is_constant),
            (None, Some(LocalSize::Literal(_))) => true,
            (None, None) => false,
        }
    }

    /// The name that the source gives a result or a member of a structure; else that of the text.
    pub(super) fn debug_name(&self, id: Id, member: Option<u32>) -> String {
        let (named, own) = match member {
            Some(member) => (self.member_name(id, member), format!("member {member}")),
            None => {
                (self.named(|known| known.op == Opcode::Name && known.operands.first() == Some(&id), 1), self.name(id))
            }
        };
        named.unwrap_or(own)
    }

    /// The name that the source gives a member of a structure.
    pub(in crate::spirv) fn member_name(&self, ty: Id, member: u32) -> Option<String> {
        let is_it =
            |known: &Instruction| known.op == Opcode::MemberName && known.rest(0).get(..2) == Some(&[ty, member]);
        self.named(is_it, 2)
    }

    /// The name in an instruction, behind some operands.
    fn named(&self, is_it: impl Fn(&Instruction) -> bool, behind: usize) -> Option<String> {
        let mut all = self.global.iter().map(|&number| self.instruction(number));
        all.find(|known| is_it(known)).map(|known| known.string(behind).0).filter(|name| !name.is_empty())
    }
}

impl Lowering<'_> {
    /// The members of push constants of a type.
    fn members(&self, ty: Id) -> Vec<PushMember> {
        let Some(Type::Struct(members)) = self.types.get(ty) else { return Vec::new() };
        let member = |(number, &(of, offset)): (u32, &(Id, u64))| PushMember {
            name: self.module.debug_name(ty, Some(number)),
            offset,
            bytes: self.types.size(of).unwrap_or(0),
            kind: match self.types.get(of) {
                Some(Type::Scalar(scalar)) => Some(scalar.kind),
                _ => None,
            },
        };
        (0..).zip(members).map(member).collect()
    }
}
