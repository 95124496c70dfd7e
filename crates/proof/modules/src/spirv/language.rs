//! What the language that a module was compiled from promises beyond what the module shows.

use rspirv::spirv::{Decoration, MemoryModel, Op, SourceLanguage as Number};

use super::instruction::Instruction;
use super::module::Spirv;

/// The language that a module was compiled from, by its `OpSource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceLanguage {
    /// GLSL, of either kind.
    Glsl,
    /// HLSL, or Slang, whose barriers are HLSL's.
    Hlsl,
    /// OpenCL C, or C++ for OpenCL.
    OpenCl,
    /// WGSL.
    Wgsl,
    /// Another language, or none that the module names.
    Other,
}

impl Spirv {
    fn source(&self) -> Option<&Instruction> {
        self.listing.instructions.iter().find(|known| known.op == Op::Source)
    }

    /// The language that it was compiled from.
    pub fn language(&self) -> SourceLanguage {
        let named = self.source().and_then(|source| Number::from_u32(*source.operands.first()?));
        match named {
            Some(Number::GLSL | Number::ESSL) => SourceLanguage::Glsl,
            Some(Number::HLSL | Number::Slang) => SourceLanguage::Hlsl,
            Some(Number::OpenCL_C | Number::OpenCL_CPP | Number::CPP_for_OpenCL) => SourceLanguage::OpenCl,
            Some(Number::WGSL) => SourceLanguage::Wgsl,
            Some(Number::Unknown | Number::SYCL | Number::HERO_C | Number::NZSL | Number::Zig | Number::Rust)
            | None => SourceLanguage::Other,
        }
    }

    /// Whether the module was compiled from OpenCL C before 2.0, whose atomic functions, such as `atomic_add`, name no
    /// scope and are atomic for the whole device (OpenCL C 1.2, 6.12.11 "Atomic Functions"). Compilers write the
    /// work-group's scope for them.
    pub fn has_atomics_without_scope(&self) -> bool {
        let version = self.source().and_then(|source| source.operands.get(1));
        self.has_opencl_model()
            && self.language() == SourceLanguage::OpenCl
            && version.is_some_and(|version| *version < 200_000)
    }

    /// Whether the module's barriers order accesses of buffers within a workgroup, and nothing among several, although
    /// no buffer is `Coherent`: WGSL's accesses of `storage` are non-private there, and HLSL's barriers reach the
    /// thread group for each UAV that is not `globallycoherent` (WGSL, "Memory Model"; Direct3D 11.3 Functional
    /// Specification, "sync": `_uglobal`). Compilers leave that out of modules with the GLSL450 memory model, in which
    /// such accesses are private.
    pub fn orders_buffers_within_groups(&self) -> bool {
        let has_promise = match self.language() {
            SourceLanguage::Hlsl | SourceLanguage::Wgsl => true,
            SourceLanguage::Glsl | SourceLanguage::OpenCl | SourceLanguage::Other => false,
        };
        let is_coherent = |known: &Instruction| {
            let which = match known.op {
                Op::Decorate => 1,
                Op::MemberDecorate => 2,
                _ => return false,
            };
            known.operands.get(which) == Some(&(Decoration::Coherent as u32))
        };
        has_promise && self.model == MemoryModel::GLSL450 && !self.listing.instructions.iter().any(is_coherent)
    }

    /// Whether the module declares the Vulkan memory model; else that model's operands are implied.
    pub fn has_vulkan_model(&self) -> bool {
        self.model == MemoryModel::Vulkan
    }

    /// Whether the module declares OpenCL's memory model, whose atomic operations order the memory of their objects.
    pub fn has_opencl_model(&self) -> bool {
        self.model == MemoryModel::OpenCL
    }
}
