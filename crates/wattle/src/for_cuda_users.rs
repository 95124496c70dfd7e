//! For CUDA users: what CUDA's words are here.
//!
//! The documentation's search finds the items by these words too. What a kernel is written in is on the page of
//! [`#[kernel]`](macro@crate::kernel), with the table of mathematical functions. A word of CUDA's that a kernel calls is
//! refused where it stands, with what to write.
//!
//! # Kernels and functions
//!
//! | CUDA | here |
//! |---|---|
//! | `__global__` | [`#[kernel]`](macro@crate::kernel); its first parameter is `acc: &Acc` |
//! | `__device__`, `__forceinline__` | [`#[device_fn]`](macro@crate::device_fn), built in place; in `impl` blocks and traits too |
//! | `__host__ __device__` | a [`#[device_fn]`](macro@crate::device_fn) is called in kernels alone; on the host a kernel calls it, on [`Device::host_serial`](crate::Device::host_serial), in a test say |
//! | template kernels, template arguments | generic kernels, `fn saxpy<T: Float, const N: usize>(…)`; each instance is built when it is first launched |
//! | functors, `__device__` lambda, extended lambda | a parameter that is a [`DeviceFn`](crate::DeviceFn): a function by its name, or [`device_closure!`](crate::device_closure) |
//! | `kernel<<<grid, block>>>(…)`, `dim3`, `cudaLaunchKernel` | [`queue.launch(ThreadSpec::new(blocks, threads), kernel(…))`](crate::Queue::launch); [`FrameSpec`](crate::FrameSpec) where the device may choose |
//! | `__noinline__`, recursion | a device function is always built in place, and does not call itself |
//! | `#pragma unroll` | nothing to say: loops with constant bounds are unrolled where that pays, by Wattle or by the driver's compiler |
//! | `__restrict__` | nothing to say: views of one launch that are written overlap no others |
//! | `extern "C"`, modules, `cuModuleLoad`, existing `.ptx` | [`Module::ptx`](crate::Module::ptx), launched with the usual buffers |
//! | `__launch_bounds__`, `.maxntid` | nothing to say: code is made for the launch's own number of threads; [`LaunchOptions::threads`](crate::LaunchOptions::threads) bounds what a `FrameSpec` becomes |
//! | `-use_fast_math`, `-fmad=true` | never by default: `x.exp_fast()` and its like one by one, `#[kernel(contract)]`, `#[kernel(reassociate)]` |
//! | `nvcc -lineinfo`, `-G` | always: faults, races and the machine code name the source line |
//! | `assert`, `__trap` | `assert!(x < n, "x = {x}")`: the launch returns the fault, with its line and thread |
//! | `printf` | `println!("thread {i}: {}", x[i])`; where it goes: [`Queue::print_to`](crate::Queue::print_to) |
//! | `clock64`, `clock`, `%globaltimer` | [`Acc::clock`](crate::Acc::clock) |
//!
//! # Threads
//!
//! | CUDA | here |
//! |---|---|
//! | `threadIdx` | [`acc.thread_in_block()`](crate::Acc::thread_in_block); a number in 1-D, `[y, x]` in 2-D, the fastest one last |
//! | `blockIdx`, `blockDim`, `gridDim` | [`acc.block_in_grid()`](crate::Acc::block_in_grid), [`acc.threads_in_block()`](crate::Acc::threads_in_block), [`acc.blocks_in_grid()`](crate::Acc::blocks_in_grid) |
//! | `blockIdx.x * blockDim.x + threadIdx.x` | [`acc.thread_in_grid()`](crate::Acc::thread_in_grid), or `for (i, x) in acc.items(&mut out)` ([`Acc::items`](crate::Acc::items)) |
//! | `size_t i`, `unsigned long long` indices | `#[kernel(wide)]` ([`kernel`](macro@crate::kernel)); CUDA devices compute them with 32 bits where a launch needs no more |
//! | grid-stride loop | `for i in acc.indices(THREADS_IN_GRID, 0..n)` ([`Acc::indices`](crate::Acc::indices)) |
//! | `__syncthreads` | [`acc.sync_block()`](crate::Acc::sync_block) |
//! | `__syncthreads_count`, `__syncthreads_or`, `__syncthreads_and` | an `Atomic` in block shared memory between two [`acc.sync_block()`](crate::Acc::sync_block) |
//! | `warpSize`, `laneId` | [`warp.size()`](crate::Warp::size), [`warp.lane()`](crate::Warp::lane) of [`acc.warp()`](crate::Acc::warp) |
//! | `__shfl_sync`, `__shfl_up_sync`, `__shfl_down_sync`, `__shfl_xor_sync` | [`shuffle`](crate::Warp::shuffle), [`shuffle_up`](crate::Warp::shuffle_up), [`shuffle_down`](crate::Warp::shuffle_down), [`shuffle_xor`](crate::Warp::shuffle_xor) |
//! | `__ballot_sync`, `__any_sync`, `__all_sync`, `__activemask` | [`ballot`](crate::Warp::ballot), [`any`](crate::Warp::any), [`all`](crate::Warp::all); all lanes take part, so there is no mask to give |
//! | `__reduce_add_sync`, `cg::reduce`, `cg::inclusive_scan` | [`reduce_sum`](crate::Warp::reduce_sum), [`inclusive_sum`](crate::Warp::inclusive_sum) and their like |
//! | `__syncwarp` | [`warp.sync()`](crate::Warp::sync) |
//! | `__match_any_sync`, `__match_all_sync` | not there: a loop over [`shuffle`](crate::Warp::shuffle); for all lanes `warp.all(x == warp.shuffle(x, 0))` |
//! | `__nanosleep` | not there: a loop that loads from an [`Atomic`](crate::Atomic) waits without it |
//! | `__lanemask_lt` | [`Mask::count_below`](crate::WarpMask::count_below) of what [`ballot`](crate::Warp::ballot) gives |
//! | cooperative groups: `this_thread_block`, `tiled_partition` | [`Acc`](crate::Acc), [`Warp`](crate::Warp); no groups of other sizes |
//! | cooperative groups: `grid.sync`, `this_grid` | not there: end the kernel and launch the next one, or count the blocks in an [`Atomic`](crate::Atomic) in a launch with [`LaunchOptions::cooperative`](crate::LaunchOptions::cooperative) (`grid_barrier` of the scenarios) |
//! | thread block clusters, distributed shared memory | not there: blocks meet in the device's memory |
//!
//! # Memory in kernels
//!
//! | CUDA | here |
//! |---|---|
//! | `const float* __restrict__`, `__ldg` | [`Read<f32>`](crate::Read) |
//! | `float*`, one element a thread | [`PerItem<f32>`](crate::PerItem) |
//! | `float*`, any element | [`Shared<f32>`](crate::Shared): plain accesses, which must not race |
//! | `volatile` | [`Atomic<u32>`](crate::Atomic), relaxed if need be: `volatile` orders nothing |
//! | `__shared__ float tile[256];` | `let tile = acc.shared::<f32, 256>();` ([`Acc::shared`](crate::Acc::shared)); of atomics [`Acc::shared_atomic`](crate::Acc::shared_atomic) |
//! | `extern __shared__` | [`Acc::shared_at_launch`](crate::Acc::shared_at_launch), with [`LaunchOptions::shared_len`](crate::LaunchOptions::shared_len) |
//! | `__constant__` | `const TABLE: [f32; 256] = …;`, also of structs, indexed as `TABLE[i]`; values of a launch are parameters |
//! | `__device__` variables | a buffer that the launches are given |
//! | local memory, `float x[16]` | `let mut x = [0.0; 16];` |
//! | bank conflicts, padded tiles | `acc.shared_nd::<f32, 16, 17>()` ([`Acc::shared_nd`](crate::Acc::shared_nd)): a row of 17 lies in other banks than the next one |
//! | `__align__`, `alignas` | nothing to say: elements of 8 and 16 bytes are aligned to their size |
//! | `memset`, `memcpy` in kernels | a loop over [`acc.items`](crate::Acc::items) or [`acc.indices`](crate::Acc::indices) |
//! | `__ldcs`, `__ldcg`, `__stcs`, cache hints | not there: `x[i]`; a [`Read`](crate::Read) view goes through the read-only cache |
//! | `float2`, `float3`, `float4`, `make_float4`, `int4`, `uint4`, `double2` | `[f32; 4]`, or a struct with [`#[derive(Element)]`](macro@crate::Element): 16 bytes are one load; [`Read::lanes`](crate::Read::lanes) of a view of numbers |
//! | `__half`, `__nv_bfloat16` | [`f16`](crate::half::f16), [`bf16`](crate::half::bf16) |
//! | `__half2float`, `__float2half`, `__half22float2` | `x as f32`, `x as f16`, `[h[0] as f32, h[1] as f32]` |
//! | `__half2`, `__hadd2`, `__hfma2` | `[f16; 2]` and its arithmetic by element; atomic sums of pairs are in [`pairs`](crate::pairs) |
//! | `bool` in memory | `bool`, also in structs: a byte, of which every one but 0 reads as `true`; [`Element`](trait@crate::prelude::Element). Atomics are of `u32` |
//! | `texture`, `surface`, `tex2D`, `cudaTextureObject_t` | not there: a [`Read<T, 2>`](crate::Read) view with a clamped index |
//! | `cp.async`, `memcpy_async`, `cuda::pipeline`, TMA | not there: copy in a loop over `acc.indices(THREADS_IN_BLOCK, …)`, then [`acc.sync_block()`](crate::Acc::sync_block) |
//! | tensor cores, `wmma`, `mma.sync`, `wgmma` | not there: tiles in shared memory with `x.fma(y, z)` |
//! | dynamic parallelism, `malloc` in kernels | not there: the next launch on the same queue; a buffer whose parts `fetch_add` gives out |
//!
//! # Atomics and fences
//!
//! | CUDA | here |
//! |---|---|
//! | `atomicAdd`, `atomicSub`, `atomicMin`, `atomicMax`, `atomicAnd`, `atomicOr`, `atomicXor`, `atomicInc`, `atomicDec` | [`fetch_add`](crate::Atomic::fetch_add), [`fetch_sub`](crate::Atomic::fetch_sub), [`fetch_min`](crate::Atomic::fetch_min), … of [`Atomic`](crate::Atomic) |
//! | `atomicExch`, `atomicCAS` | [`exchange`](crate::Atomic::exchange), [`compare_exchange`](crate::Atomic::compare_exchange) |
//! | `atomicAdd_block`, `atomicAdd_system`, `cuda::atomic_ref` | the forms with scope and order, [`fetch_add_with`](crate::Atomic::fetch_add_with) |
//! | `__threadfence_block`, `__threadfence`, `__threadfence_system` | [`acc.mem_fence(Scope::Block, …)`](crate::Acc::mem_fence), `Scope::Device`, `Scope::System`, with the order that is needed |
//! | `compute-sanitizer --tool racecheck` | [`Device::select("simulated")`](crate::Device::select) reports races, and the checker proves that there are none |
//!
//! # Arithmetic
//!
//! | CUDA | here |
//! |---|---|
//! | `sinf`, `expf`, `powf`, `fmodf`, `hypotf`, … | methods, `x.sin()`, `x.exp()`, `x.pow(y)`, `x % y`: the same bits on every device, see [the table](macro@crate::kernel#mathematical-functions) |
//! | `sincosf`, `sinpif`, `rsqrtf`, `fabsf`, `isnan`, `CUDART_PI_F` | `x.sin_cos()`, `(x * PI).sin()`, `x.rsqrt()`, `x.abs()`, `x.is_nan()`, `std::f32::consts::PI` |
//! | `__fadd_rn`, `__fmul_rn`, `__dadd_rn` | `x + y`, `x * y`: rounded to nearest, and never contracted unless the kernel says so |
//! | `__float2int_rn`, `__float2int_rz`, `__int2float_rn` | `x.round_ties_even() as i32`, `x as i32`, which saturates as in Rust, `n as f32` |
//! | `__sinf`, `__cosf`, `__expf`, `__logf`, `__powf`, `__fdividef`, `rsqrtf`, `__frcp_rn` | [`sin_fast`](crate::ir::FloatOps::sin_fast), [`exp_fast`](crate::ir::FloatOps::exp_fast), [`ln_fast`](crate::ir::FloatOps::ln_fast), [`pow_fast`](crate::ir::FloatOps::pow_fast), [`div_fast`](crate::ir::FloatOps::div_fast), [`rsqrt_fast`](crate::ir::FloatOps::rsqrt_fast), [`recip_fast`](crate::ir::FloatOps::recip_fast) |
//! | `fmaf`, `__fmaf_rn` | [`x.fma(y, z)`](crate::ir::FloatOps::fma); `#[kernel(contract)]` for all of a kernel |
//! | `__popc`, `__popcll`, `__clz`, `__clzll`, `__ffs`, `__ffsll`, `__brev`, `__byte_perm` | [`count_ones`](crate::ir::IntOps::count_ones), [`leading_zeros`](crate::ir::IntOps::leading_zeros), [`trailing_zeros`](crate::ir::IntOps::trailing_zeros), [`reverse_bits`](crate::ir::IntOps::reverse_bits), [`swap_bytes`](crate::ir::IntOps::swap_bytes) |
//! | `__dp4a` | not there: a loop over the bytes of `[i8; 4]` |
//! | `__umulhi`, `__umul64hi`, `__mul24`, `__funnelshift_l` | [`mul_hi`](crate::ir::WordOps::mul_hi), `x * y`, [`rotate_left`](crate::ir::IntOps::rotate_left) |
//! | `__float_as_uint`, `__uint_as_float`, `reinterpret_cast` | `x.to_bits()`, `f32::from_bits(n)` |
//! | `min`, `max`, `fminf`, `fmaxf`, `__saturatef` | [`x.min(y)`](crate::ir::NumberOps::min), [`x.max(y)`](crate::ir::NumberOps::max), `x.clamp(0.0, 1.0)` |
//!
//! # The host's side
//!
//! | CUDA | here |
//! |---|---|
//! | `cudaSetDevice`, `cudaGetDeviceCount`, `cudaGetDeviceProperties`, `cudaDeviceProp` | [`Device::select`](crate::Device::select), [`Device::all`](crate::Device::all), [`Properties`](crate::Properties) |
//! | `cudaOccupancyMaxActiveBlocksPerMultiprocessor`, `cudaOccupancyMaxPotentialBlockSize` | a [`FrameSpec`](crate::FrameSpec), of which the device makes blocks; [`Properties::max_cooperative_blocks`](crate::Properties::max_cooperative_blocks) |
//! | `cudaFuncSetAttribute`, `cudaFuncSetCacheConfig` | nothing to say: a kernel that needs more shared memory than 48 KiB is launched so |
//! | `cudaMalloc`, `cudaMallocAsync`, `cudaFree`, `cudaMemset` | [`Device::alloc`](crate::Device::alloc), which a dropped [`Buffer`](crate::Buffer) gives back; [`Device::alloc_zeroed`](crate::Device::alloc_zeroed), [`Queue::fill`](crate::Queue::fill) |
//! | `cudaMalloc3D`, `cudaMallocPitch`, `cudaMemcpy2D`, `cudaMemcpy3D` | [`Device::alloc_nd`](crate::Device::alloc_nd), and [`Buffer::region`](crate::Buffer::region) for a part |
//! | `cudaMemcpyToSymbol` | the values are parameters of the kernel, or a buffer |
//! | `cudaMemcpy`, `cudaMemcpyAsync` | [`Device::from_slice`](crate::Device::from_slice), [`Buffer::read`](crate::Buffer::read), [`Buffer::write`](crate::Buffer::write), [`Queue::copy`](crate::Queue::copy) |
//! | `cudaMemPrefetchAsync`, `cudaMemAdvise` | not there |
//! | managed memory, `cudaMallocManaged`, `__managed__` | [`Device::alloc_unified`](crate::Device::alloc_unified), with [`Buffer::map`](crate::Buffer::map) |
//! | pinned and mapped memory, `cudaHostAlloc`, `cudaMallocHost` | [`Device::alloc_host_mapped`](crate::Device::alloc_host_mapped) |
//! | streams, `cudaStream_t`, `cudaStreamCreate` | [`Queue`](crate::Queue), of [`Device::queue`](crate::Device::queue) |
//! | `cudaStreamCreateWithPriority` | not there: queues have no priorities |
//! | `cudaStreamQuery`, `cudaEventQuery`, `cudaEventSynchronize` | [`Queue::record`](crate::Queue::record), then [`Event::is_complete`](crate::Event::is_complete) or [`Event::wait`](crate::Event::wait) |
//! | `cudaStreamSynchronize`, `cudaDeviceSynchronize` | [`Queue::wait`](crate::Queue::wait) |
//! | events, `cudaEvent_t`, `cudaEventRecord`, `cudaStreamWaitEvent` | [`Event`](crate::Event), of [`Queue::record`](crate::Queue::record), and [`Queue::wait_for`](crate::Queue::wait_for) |
//! | `cudaEventElapsedTime` | [`Event::elapsed_since`](crate::Event::elapsed_since) |
//! | `cudaLaunchHostFunc`, `cudaStreamAddCallback` | [`Queue::host_task`](crate::Queue::host_task) |
//! | `cudaLaunchCooperativeKernel` | [`LaunchOptions::cooperative`](crate::LaunchOptions::cooperative) with [`Queue::launch_with`](crate::Queue::launch_with) |
//! | `cudaGetLastError`, `cudaPeekAtLastError`, `cudaError_t` | [`Error`](crate::Error): each call returns what went wrong, and a launch its faults |
//! | `thrust`, `cub`, `cublas`, `curand`, `cufft` | not there; sums, scans, sorts, histograms, matrix products and random numbers are among the scenarios and in `examples/gallery`, to be copied |
//! | CUDA graphs, `cudaGraph_t` | not there: launches on a queue |
//! | `cudaMemcpyPeer`, multi-device | a queue for each device, and [`Queue::copy`](crate::Queue::copy) between their buffers |
//! | `cudaDeviceEnablePeerAccess`, `cudaDeviceCanAccessPeer` | [`Device::enable_peer_access`](crate::Device::enable_peer_access), [`Device::peers`](crate::Device::peers) |
