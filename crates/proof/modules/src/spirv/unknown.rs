//! What a module declares and this reader does not know. An instruction that it brings is refused where it stands; what
//! it changes besides, such as the meaning of a decoration, nobody here can say.

use std::collections::BTreeSet;

use rspirv::grammar::INSTRUCTION_TABLE;
use rspirv::spirv::{Capability, Op};

use super::module::Spirv;

/// Extensions that are known besides those to which the grammar gives instructions: what they allow is in the
/// specification, or is refused where it is used.
const KNOWN: [&str; 39] = [
    "SPV_EXT_descriptor_indexing",
    "SPV_EXT_shader_atomic_float16_add",
    "SPV_EXT_shader_atomic_float_add",
    "SPV_EXT_shader_atomic_float_min_max",
    "SPV_EXT_shader_viewport_index_layer",
    "SPV_EXT_relaxed_printf_string_address_space",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_user_type",
    "SPV_KHR_16bit_storage",
    "SPV_KHR_8bit_storage",
    "SPV_KHR_bfloat16",
    "SPV_KHR_bit_instructions",
    "SPV_KHR_device_group",
    "SPV_KHR_expect_assume",
    "SPV_KHR_float_controls",
    "SPV_KHR_float_controls2",
    "SPV_KHR_fma",
    "SPV_KHR_integer_dot_product",
    "SPV_KHR_linkonce_odr",
    "SPV_KHR_maximal_reconvergence",
    "SPV_KHR_multiview",
    "SPV_KHR_no_integer_wrap_decoration",
    "SPV_KHR_non_semantic_info",
    "SPV_KHR_physical_storage_buffer",
    "SPV_KHR_quad_control",
    "SPV_KHR_relaxed_extended_instruction",
    "SPV_KHR_shader_atomic_counter_ops",
    "SPV_KHR_shader_ballot",
    "SPV_KHR_shader_clock",
    "SPV_KHR_shader_draw_parameters",
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_subgroup_rotate",
    "SPV_KHR_subgroup_uniform_control_flow",
    "SPV_KHR_subgroup_vote",
    "SPV_KHR_terminate_invocation",
    "SPV_KHR_variable_pointers",
    "SPV_KHR_vulkan_memory_model",
    "SPV_KHR_workgroup_memory_explicit_layout",
];

/// The sets of extended instructions, and the beginning of the names of those that mean nothing.
const SETS: [&str; 4] = ["GLSL.std.450", "OpenCL.std", "OpenCL.DebugInfo.100", "DebugInfo"];
const WITHOUT_MEANING: &str = "NonSemantic.";

impl Spirv {
    /// The capabilities, extensions and sets of instructions that are not known, in words.
    pub fn unknown_declarations(&self) -> BTreeSet<String> {
        let of = |op: Op| self.listing.instructions.iter().filter(move |instruction| instruction.op == op);
        let numbers = of(Op::Capability).filter_map(|instruction| instruction.operands.first().copied());
        let capabilities = numbers.filter(|&number| Capability::from_u32(number).is_none());
        let is_known = |name: &str| {
            KNOWN.contains(&name) || INSTRUCTION_TABLE.iter().any(|known| known.extensions.contains(&name))
        };
        let extensions = of(Op::Extension).map(|instruction| instruction.string(0).0).filter(|name| !is_known(name));
        let is_set = |name: &str| SETS.contains(&name) || name.starts_with(WITHOUT_MEANING);
        let sets = of(Op::ExtInstImport).map(|instruction| instruction.string(0).0).filter(|name| !is_set(name));
        (capabilities.map(|number| format!("capability {number}")))
            .chain(extensions.map(|name| format!("extension {name}")))
            .chain(sets.map(|name| format!("instructions of {name}")))
            .collect()
    }
}
