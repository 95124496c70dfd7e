//! What is known of drivers that they do not tell: their faults, and where they see the host's writes.

use ash::vk;
use wattle_spirv::Workarounds;

/// The ways around the faults of a driver. Each fault was found by running the driver.
pub(crate) fn workarounds(driver: vk::DriverId) -> Workarounds {
    match driver {
        // Mesa 22.3: a counter of 16 bits ends the loops of an invocation, and masks are not kept at a loop's end.
        vk::DriverId::MESA_LLVMPIPE => Workarounds {
            loops_end_after: Some(65_535),
            leave_loops_at_the_head: true,
            fences_in_loops_end_blocks: true,
            pads_blocks: true,
            folds_wrongly: true,
            ..on_this_processor()
        },
        vk::DriverId::GOOGLE_SWIFTSHADER => {
            Workarounds { rough_conversion: true, loses_roots: true, ..on_this_processor() }
        }
        // Of quotients nobody promises more than that they are rough. These drivers make a fused instruction of `Fma`,
        // which Vulkan promises of none.
        vk::DriverId::NVIDIA_PROPRIETARY
        | vk::DriverId::MESA_NVK
        | vk::DriverId::AMD_PROPRIETARY
        | vk::DriverId::AMD_OPEN_SOURCE
        | vk::DriverId::MESA_RADV
        | vk::DriverId::INTEL_PROPRIETARY_WINDOWS
        | vk::DriverId::INTEL_OPEN_SOURCE_MESA => Workarounds { rough_division: true, ..Workarounds::default() },
        _ => Workarounds { rough_division: true, split_fma: true, ..Workarounds::default() },
    }
}

/// What computes with this processor's own quotients and roots, which are exact, and multiplies and adds in two steps.
fn on_this_processor() -> Workarounds {
    Workarounds { split_fma: true, rough_division: false, ..Workarounds::default() }
}

/// How many memory accesses a kernel's code may have, its arrays' first zeros included, where the driver's compiler does not
/// come to an end with more.
///
/// lavapipe (Mesa 22.3 with LLVM 15) makes a coroutine of a kernel; the time that this takes grows with the square and more
/// of the number of accesses, each of which is a branch for each lane. Neither bytes nor threads matter: `[0.0; 256]` took 1
/// second, `[0.0; 512]` 5, `[0.0; 1024]` 21, `[0.0; 2048]` minutes, as `f32` and as `f64`, for 1 thread and for 9; 512 loads
/// of a buffer took 5. It compiles at the first launch, whose time limit cannot end it, so the device is lost then.
/// SwiftShader takes `[0.0; 4096]`, which is the longest there is, for 256 threads in a second.
pub(crate) fn most_accesses(driver: vk::DriverId) -> Option<u64> {
    (driver == vk::DriverId::MESA_LLVMPIPE).then_some(1_200)
}

/// Whether a running kernel is surely shown what the host writes to memory of the device that the host can reach.
///
/// The word that tells a launch to stop is polled by the launch. In the host's own memory every GPU that shares it sees
/// the write, at the price of a way over the bus; NVIDIA's GPUs see writes to their own memory too, since these go
/// through the cache that the launch reads from. Of others that is not known, so they are given the host's memory.
pub(crate) fn sees_writes_to_its_memory(driver: vk::DriverId) -> bool {
    driver == vk::DriverId::NVIDIA_PROPRIETARY
}
