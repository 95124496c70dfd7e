//! Properties of drivers that Vulkan does not report: their faults, and where they see the host's writes.

use ash::vk;
use wattle_spirv::Workarounds;

/// The workarounds for a driver. Each fault was found by running the driver.
pub(crate) fn workarounds(driver: vk::DriverId) -> Workarounds {
    match driver {
        // Mesa 22.3: a counter of 16 bits ends the loops of an invocation, and masks are not kept at a loop's end.
        vk::DriverId::MESA_LLVMPIPE => Workarounds {
            loops_end_after: Some(65_535),
            leave_loops_at_the_head: true,
            fences_in_loops_end_blocks: true,
            pads_blocks: true,
            folds_wrongly: true,
            rough_rounding: true,
            ..on_this_processor()
        },
        vk::DriverId::GOOGLE_SWIFTSHADER => Workarounds {
            leave_loops_at_the_head: true,
            rough_conversion: true,
            loses_roots: true,
            ..on_this_processor()
        },
        // Vulkan promises only a rough precision for quotients. These drivers turn `Fma` into a fused instruction,
        // which Vulkan does not promise of any.
        vk::DriverId::NVIDIA_PROPRIETARY => {
            Workarounds { rough_division: true, loads_miss_stores: true, ..Workarounds::default() }
        }
        vk::DriverId::MESA_NVK
        | vk::DriverId::AMD_PROPRIETARY
        | vk::DriverId::AMD_OPEN_SOURCE
        | vk::DriverId::MESA_RADV
        | vk::DriverId::INTEL_PROPRIETARY_WINDOWS
        | vk::DriverId::INTEL_OPEN_SOURCE_MESA => Workarounds { rough_division: true, ..Workarounds::default() },
        _ => Workarounds { rough_division: true, split_fma: true, ..Workarounds::default() },
    }
}

/// Workarounds for a driver that computes with this processor's own exact quotients and roots, and multiplies and adds
/// in two steps.
fn on_this_processor() -> Workarounds {
    Workarounds { split_fma: true, rough_division: false, ..Workarounds::default() }
}

/// Whether the driver runs the invocations of a subgroup as one vector with a mask, so that those which part are
/// together again behind the construct, though it does not offer `VK_KHR_shader_maximal_reconvergence`.
///
/// Mesa's llvmpipe keeps masks for each construct (`lp_exec_mask`, in Mesa's `gallivm/lp_bld_ir_common.h`). SwiftShader
/// gives each block the union of the masks with which lanes come to it, and a loop runs until no lane is left in it
/// (`EmitNonLoop` and `EmitLoop`, in its `src/Pipeline/SpirvShaderControlFlow.cpp`). Both run what is behind a
/// construct once for all lanes.
pub(crate) fn runs_subgroups_as_vectors(driver: vk::DriverId) -> bool {
    matches!(driver, vk::DriverId::MESA_LLVMPIPE | vk::DriverId::GOOGLE_SWIFTSHADER)
}

/// The maximum number of memory accesses in a kernel's code, the zeroing of its arrays included, where the driver's
/// compiler does not finish with more.
///
/// lavapipe (Mesa 22.3 with LLVM 15) makes a coroutine of a kernel; the time that this takes grows with the square and
/// more of the number of accesses, each of which is a branch for each lane. Neither bytes nor threads matter: `[0.0;
/// 256]` took 1 second, `[0.0; 512]` 5, `[0.0; 1024]` 21, `[0.0; 2048]` minutes, as `f32` and as `f64`, for 1 thread
/// and for 9; 512 loads of a buffer took 5. It compiles at the first launch, whose time limit cannot end it, so the
/// device is lost then. SwiftShader takes `[0.0; 4096]`, which is the longest there is, for 256 threads in a second.
pub(crate) fn most_accesses(driver: vk::DriverId) -> Option<u64> {
    (driver == vk::DriverId::MESA_LLVMPIPE).then_some(1_200)
}

/// Whether a running kernel is known to see what the host writes to host-visible memory of the device.
///
/// A launch polls the word that asks it to stop. In the host's own memory every GPU that shares it sees the write, at
/// the price of a bus access; NVIDIA's GPUs see writes to their own memory too, since these go through the cache that
/// the launch reads from. For other GPUs this is not known, so the word is in the host's memory.
pub(crate) fn sees_writes_to_its_memory(driver: vk::DriverId) -> bool {
    driver == vk::DriverId::NVIDIA_PROPRIETARY
}
