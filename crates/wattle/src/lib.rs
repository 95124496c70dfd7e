//! Parallel kernels whose threads talk through memory: written once in Rust, run on every device, their fences proved.
//!
//! Who knows CUDA finds its words in [`for_cuda_users`]; where the time of fences goes is on the page
//! [`what_a_fence_costs`].
//!
//! This is the library that users depend on. Here live the prelude and the choice of devices by name; everything else
//! is re-exported from the crates that own it. What never will live here: an idea of its own.
//!
//! ```
//! use wattle::prelude::*;
//!
//! /// `y` becomes `a * x + y`.
//! #[kernel]
//! fn saxpy<T: Float>(acc: &Acc, a: T, x: Read<T>, y: PerItem<T>) {
//!     for (i, y) in acc.items(&mut y) {
//!         *y = a * x[i] + *y;
//!     }
//! }
//!
//! fn scenario(device: &Device) -> Result<()> {
//!     let queue = device.queue()?;
//!     let x = device.from_slice(&[1.0f32; 1000])?;
//!     let mut y = device.from_slice(&[2.0f32; 1000])?;
//!     queue.launch(FrameSpec::cover(1000, 64), saxpy(3.0, &x, &mut y))?;
//!     assert_eq!(y.read(&queue)?, [5.0; 1000]);
//!     Ok(())
//! }
//!
//! # fn main() -> Result<()> {
//! for device in Device::all() {
//!     scenario(&device)?;
//! }
//! # Ok(())
//! # }
//! ```

extern crate self as wattle;

/// The crate of the floats of 16 bits, [`f16`](half::f16) and [`bf16`](half::bf16).
pub use half;
pub use wattle_core::{Acc, Atomic, Device, DeviceFn, FrameSpec, PerItem, Queue, Read, Shared, ThreadSpec};
pub use wattle_core::{
    Buffer, Destination, DeviceKind, Error, ErrorClass, ErrorKind, Event, Expectation, Extent, Fault, FaultKind,
    Kernel, KernelIdentity, Launch, LaunchOptions, Limit, MapGuard, MapGuardMut, Missing, ModuleLanguage, Printed,
    PrintedLine, Properties, Result, Scenario, Sizes, Source, Spec, Summary, SyncDomain, SyncDomainMap, ThisDevice,
    ToExtent, View, ViewMut, Warp, WarpMask, Work, interrupt, print_to_stderr,
};
pub use wattle_ir as ir;
pub use wattle_macros::{Element, device_closure, device_fn, kernel, scenario};
pub use wattle_memory as memory;

#[cfg(feature = "check")]
pub use wattle_check::{
    Simulated,
    checker::{self, Checker},
    story,
};
/// The CUDA devices, which [`Device::select`] finds.
#[cfg(feature = "cuda")]
pub use wattle_cuda as cuda;
#[cfg(feature = "check")]
pub use wattle_foreign::{LoadedKernel, Module};
pub use wattle_memory::Model;
/// The Vulkan devices, which [`Device::select`] finds.
#[cfg(feature = "vulkan")]
pub use wattle_vulkan as vulkan;

#[doc(alias(
    "__forceinline__",
    "-use_fast_math",
    "-fmad=true",
    "-lineinfo",
    "__trap",
    "clock",
    "__syncthreads_count",
    "__syncthreads_or",
    "__syncthreads_and",
    "cg::reduce",
    "cg::inclusive_scan",
    "__match_any_sync",
    "__nanosleep",
    "__half",
    "__nv_bfloat16",
    "__half2",
    "__hadd2",
    "__hfma2",
    "surface",
    "tex2D",
    "cudaTextureObject_t",
    "cp.async",
    "memcpy_async",
    "cuda::pipeline",
    "TMA",
    "wmma",
    "mma.sync",
    "wgmma",
    "tensor cores",
    "dynamic parallelism",
    "malloc",
    "atomicAdd_block",
    "atomicAdd_system",
    "racecheck",
    "__mul24",
    "__saturatef",
    "__float_as_uint",
    "__uint_as_float",
    "reinterpret_cast",
    "cudaFree",
    "cudaGraph_t",
    "CUDA graphs",
    "cudaMemcpyPeer",
    "thread block clusters",
    "distributed shared memory",
    "cooperative groups",
    "streams",
    "__noinline__",
    "cuModuleLoad",
    ".ptx",
    "__match_all_sync",
    "__lanemask_lt",
    "__align__",
    "alignas",
    "memset",
    "memcpy",
    "__ldcs",
    "__ldcg",
    "__stcs",
    "float3",
    "uint4",
    "double2",
    "__half2float",
    "__float2half",
    "__half22float2",
    "sincosf",
    "sinpif",
    "isnan",
    "CUDART_PI_F",
    "__fadd_rn",
    "__fmul_rn",
    "__dadd_rn",
    "__float2int_rn",
    "__float2int_rz",
    "__int2float_rn",
    "__popcll",
    "__clzll",
    "__ffsll",
    "__dp4a",
    "__umul64hi",
    "cudaGetDeviceProperties",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    "cudaOccupancyMaxPotentialBlockSize",
    "cudaFuncSetAttribute",
    "cudaFuncSetCacheConfig",
    "cudaMallocAsync",
    "cudaMemcpy2D",
    "cudaMemcpyToSymbol",
    "cudaMemPrefetchAsync",
    "cudaMemAdvise",
    "cudaStreamCreateWithPriority",
    "cudaStreamQuery",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaPeekAtLastError",
    "thrust",
    "cub",
    "cublas",
    "curand",
    "cufft"
))]
pub mod for_cuda_users;
pub mod pairs;
pub mod what_a_fence_costs;

/// What a file with kernels and scenarios imports.
pub mod prelude {
    pub use half::{bf16, f16};
    #[cfg(feature = "check")]
    pub use wattle_check::{Simulated as _, checker::Checker};
    pub use wattle_core::{
        Acc, Atomic, Buffer, Device, DeviceFn, Error, Event, FrameSpec, LaunchOptions, PerItem, Queue, Read, Result,
        Scenario, Shared, Sizes, Summary, ThreadSpec,
    };
    #[cfg(feature = "check")]
    pub use wattle_foreign::Module;
    pub use wattle_memory::Model;

    pub use wattle_ir::worker::{
        ALL_THREADS, BLOCKS_IN_GRID, LINEAR_BLOCKS_IN_GRID, LINEAR_THREADS_IN_BLOCK, LINEAR_THREADS_IN_GRID,
        THREADS_IN_BLOCK, THREADS_IN_GRID, THREADS_IN_WARP, WARPS_IN_BLOCK, WARPS_IN_GRID,
    };
    pub use wattle_ir::{AtomicInt, AtomicScalar, Element, Float, Int, Number, Scalar, Signed, Word};
    pub use wattle_macros::{Element, device_closure, device_fn, kernel, scenario};
    pub use wattle_memory::{Order, Scope};
}

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// An array that would overflow a worker's stack does not compile.
///
/// ```compile_fail,E0080
/// use wattle::prelude::*;
///
/// #[kernel]
/// fn large(acc: &Acc, y: Shared<u32>) {
///     let mut array = [0u32; 4_000_000];
///     array[1] = y[0];
///     y[0] = array[0];
/// }
///
/// let device = Device::host();
/// let y = device.alloc_zeroed::<u32>(1).unwrap();
/// device.queue().unwrap().launch(ThreadSpec::new(1, 1), large(&y)).unwrap();
/// ```
#[cfg(doctest)]
struct LargeArray;
