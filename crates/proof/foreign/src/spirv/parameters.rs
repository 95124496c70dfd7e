//! The parameters that a SPIR-V entry point has for a host that launches it: its buffers, in the order of their
//! descriptor sets and bindings, and behind them the members of its push constants.

use wattle_core::{ModuleNumber, ModuleParam, lasting};
use wattle_modules::spirv::{BoundBuffer, Given, Interface, Kind, PushMember, Spirv};

use crate::unsupported::Unsupported;

/// The size of an address among the bytes of parameters.
const ADDRESS: usize = 8;

/// The parameters of an entry point.
pub(crate) struct Parameters {
    interface: Interface,
    /// The threads of a workgroup, where the module fixes them.
    pub local_size: Option<[u32; 3]>,
}

impl Parameters {
    pub fn of(file: &str, module: &Spirv, entry: &str) -> Result<Parameters, Unsupported> {
        let interface = module.interface(Some(entry)).map_err(|refused| refused.with_text(file, &module.text))?;
        Ok(Parameters { local_size: interface.local_size, interface })
    }

    /// The binding of the buffer whose address stands at an offset among the parameters.
    pub fn binding_at(&self, offset: usize) -> Option<(u32, u32)> {
        self.interface.buffers.get(offset / ADDRESS).map(|(binding, _)| *binding)
    }

    /// The offset of the push constants among the parameters.
    pub fn push_at(&self) -> usize {
        self.interface.buffers.len() * ADDRESS
    }

    /// The size of the push constants in bytes.
    pub fn push_bytes(&self) -> usize {
        self.interface.push.iter().map(|member| (member.offset + member.bytes) as usize).max().unwrap_or(0)
    }

    /// How many parameters are memory of a workgroup, whose size the host gives.
    pub fn workgroup(&self) -> usize {
        self.interface.workgroup.len()
    }

    /// The parameters as launches have them, in the order in which they are given.
    pub fn params(&self) -> Vec<ModuleParam> {
        let buffer = |number: usize| ModuleParam {
            name: lasting(&self.interface.buffers[number].1),
            offset: (number * ADDRESS) as u32,
            bytes: ADDRESS as u32,
            takes: ModuleNumber::Buffer,
        };
        let push = |member: &PushMember| ModuleParam {
            name: lasting(&member.name),
            offset: self.push_at() as u32 + member.offset as u32,
            bytes: member.bytes as u32,
            takes: match member.kind {
                Some(Kind::Float) => ModuleNumber::Float,
                Some(Kind::Int(_)) => ModuleNumber::Integer,
                Some(Kind::Bool) | None => ModuleNumber::Any,
            },
        };
        let one = |given: &Given| match given {
            Given::Buffer(number) => buffer(*number),
            Given::Push(number) => push(&self.interface.push[*number]),
        };
        self.interface.order.iter().map(one).collect()
    }

    /// The entry point with its parameters.
    pub fn signature(&self, entry: &str) -> String {
        let buffer = |((set, binding), name): &BoundBuffer| match self.interface.is_kernel {
            true => format!("buffer {name}"),
            false => format!("buffer {name} (set {set}, binding {binding})"),
        };
        let one = |given: &Given| match given {
            Given::Buffer(number) => buffer(&self.interface.buffers[*number]),
            Given::Push(number) => {
                let member = &self.interface.push[*number];
                format!("{} of {} bytes", member.name, member.bytes)
            }
        };
        let workgroup = self.interface.workgroup.iter().map(|name| format!("{name}, memory of the workgroup"));
        let all = self.interface.order.iter().map(one).chain(workgroup);
        format!("{entry}({})", all.collect::<Vec<_>>().join(", "))
    }
}
