//! What kernels can ask of the device that they are built for.

/// The properties of devices.
///
/// A row is
///
/// ```text
/// /// The documentation of the property and of its methods.
/// Variant method name Answer { host: answer, cuda: answer, vulkan: most }
/// ```
///
/// - `method` is that of `acc.device()`, and `name` stands behind `device.` in the printed kernel.
/// - `Answer` is `number` or `flag`.
/// - The three answers are expressions: for devices that are made of the host's cores, with `warp_size` lanes in a
///   warp; for CUDA devices of a compute capability `sm`, in tenths; and for a Vulkan device with all features. For a
///   Vulkan device with fewer features, `wattle-spirv`'s features decide.
#[macro_export]
macro_rules! device_properties {
    ($then:ident $($with:tt)*) => { $then! { $($with)* [warp_size sm]
        /// The lanes of a whole warp, as `Warp::size`; of Vulkan's devices it is known when the kernel runs.
        WarpSize warp_size warp_size number { host: warp_size, cuda: 32, vulkan: 0 }
        /// The compute capability of a CUDA device, in tenths: 90 for sm_90; 0 of other devices.
        ComputeCapability compute_capability compute_capability number { host: 0, cuda: sm, vulkan: 0 }
        /// Whether it has integers of 8 bits, `u8` and `i8`.
        Int8 has_u8 int8 flag { host: 1, cuda: 1, vulkan: 1 }
        /// Whether it has integers of 16 bits, `u16` and `i16`, and memory of floats of 16 bits.
        Int16 has_u16 int16 flag { host: 1, cuda: 1, vulkan: 1 }
        /// Whether it has integers of 64 bits, `u64` and `i64`.
        Int64 has_u64 int64 flag { host: 1, cuda: 1, vulkan: 1 }
        /// Whether it has `f64`.
        Float64 has_f64 float64 flag { host: 1, cuda: 1, vulkan: 1 }
        /// Whether it calculates with `f16` by itself; others do so through `f32`, more slowly and with the same bits.
        Float16 has_native_f16 float16 flag { host: 0, cuda: 1, vulkan: 1 }
        /// Whether it calculates with `bf16` by itself; others do so through `f32`, more slowly and with the same bits.
        // PTX ISA 8.5, 9.7.4: `add.bf16` from sm_90 on.
        Bfloat16 has_native_bf16 bfloat16 flag { host: 0, cuda: (sm >= 90) as u32, vulkan: 0 }
        /// Whether its threads can read a clock, `Acc::clock`.
        Clock has_clock clock flag { host: 1, cuda: 1, vulkan: 1 }
    } };
}
