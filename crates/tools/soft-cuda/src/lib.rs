//! A CUDA driver without a GPU, for tests.
//!
//! Built as a library of C functions and put in front of programs as `libcuda.so`, it is the part of the CUDA driver
//! API that a program needs that computes: devices, contexts, memory, streams, events, modules, launches. Modules are
//! PTX text, which [`wattle_modules`] reads; the threads of its kernels run here, on the host. What never will live here:
//! anything that knows who wrote that text.
//!
//! # How kernels run
//! - Each stream that has work is a thread of the host; kernels of several streams, copies and the host run at the same
//!   time, and see each other's accesses, all of which are whole (8, 16, 32 or 64 bits).
//! - Blocks get places in the order of their indices: `SOFT_CUDA_SMS` times `SOFT_CUDA_BLOCKS_PER_SM` are resident, fewer
//!   if they are large. All threads of all resident blocks have turns, in no step with their warps.
//! - Accesses outside of live allocations, unaligned ones, `trap`, and reads of registers that were never written end the
//!   context, as on a GPU; the reason, with the line of the text, is printed on stderr. A block all of whose threads wait at
//!   barriers that nobody completes does so too, where a GPU would hang.
//! - Memory and registers that were never written hold the pattern `0xA5`. Memory of a device is at addresses that crash
//!   a host that uses them.
//!
//! # What is refused
//! What [`wattle_modules`] refuses. The error is that of the driver's compiler, with the line in the log.
//!
//! # Environment
//! - `SOFT_CUDA_DEVICES=n`: so many devices (1).
//! - `SOFT_CUDA_SM=nn`: their compute capability (90).
//! - `SOFT_CUDA_DRIVER=nnnnn`: the driver's version (12090), which says what PTX it understands.
//! - `SOFT_CUDA_MEMORY=bytes`: memory of each device (1 GiB).
//! - `SOFT_CUDA_SMS=n`, `SOFT_CUDA_BLOCKS_PER_SM=n`: multiprocessors (8), and places for blocks on each (4).
//! - `SOFT_CUDA_INIT_ERROR=code`: what `cuInit` returns.
//! - `SOFT_CUDA_LAUNCH_ERROR=n:code`: the process's n-th launch, counted from 1, ends with that error.
//! - `SOFT_CUDA_QUANTUM=n`: instructions of a thread's turn (128).
//! - `SOFT_CUDA_SEED=n`: turns vary in length and order, repeatably for a stream's launches.
//! - `SOFT_CUDA_STRICT=0`: reads of registers that were never written are no faults.
//! - `SOFT_CUDA_KEEP=folder`: each text that is linked is kept there, in a file named after what is in it.
//! - `SOFT_CUDA_LOAD_WAITS=1`: who loads a module waits until nothing runs in the context, and all other calls wait for
//!   that, as those of a driver may.
//! - `SOFT_CUDA_END_ABORTS=1`: when the process ends, what the library has registered at `cuInit` for that takes a moment,
//!   and a call from then on aborts the process: of a driver that is being torn down nothing better may be expected.
//! - `SOFT_CUDA_TRACE=1`: calls and what they returned are printed on stderr.
//!
//! Besides the driver's functions it exports [`soft_cuda_calls`](api::soft_cuda_calls), which counts calls,
//! [`soft_cuda_instructions`](api::soft_cuda_instructions), and
//! [`soft_cuda_last_failure`](api::soft_cuda_last_failure).

// The tests inside this crate use the tools of those outside.
#[cfg(test)]
extern crate self as soft_cuda;

pub mod api;
pub mod driver;
pub mod machine;
