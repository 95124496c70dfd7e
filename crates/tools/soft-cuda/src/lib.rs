//! A CUDA driver without a GPU, for tests.
//!
//! Built as a library of C functions and put in front of programs as `libcuda.so`, it implements the part of the CUDA
//! driver API that a computing program needs: devices, contexts, memory, streams, events, modules, launches. Modules
//! are PTX text, which [`wattle_modules`] reads; the threads of its kernels run on the host. It never contains anything
//! that depends on who wrote that text.
//!
//! # How kernels run
//! - Each stream that has work is a thread of the host; kernels of several streams, copies and the host run at the same
//!   time, and see each other's accesses, all of which are whole (8, 16, 32 or 64 bits).
//! - Blocks get places in the order of their indices: `SOFT_CUDA_SMS` times `SOFT_CUDA_BLOCKS_PER_SM` are resident,
//!   fewer if they are large. All threads of all resident blocks take turns, independently of their warps.
//! - Accesses outside of live allocations, unaligned ones, `trap`, and reads of registers that were never written end
//!   the context, as on a GPU; the reason, with the line of the text, is printed on stderr. A block whose threads all
//!   wait at barriers that no thread will complete ends the context too, where a GPU would hang.
//! - Memory and registers that were never written hold the pattern `0xA5`. Device memory is at addresses that crash a
//!   host program that uses them.
//!
//! # What is refused
//! PTX that [`wattle_modules`] refuses. The error is that of the driver's compiler, with the line in the log.
//!
//! # Environment
//! - `SOFT_CUDA_DEVICES=n`: the number of devices (1).
//! - `SOFT_CUDA_SM=nn`: the devices' compute capability (90).
//! - `SOFT_CUDA_DRIVER=nnnnn`: the driver's version (12090), which decides what PTX it understands.
//! - `SOFT_CUDA_MEMORY=bytes`: the memory of each device (1 GiB).
//! - `SOFT_CUDA_SMS=n`, `SOFT_CUDA_BLOCKS_PER_SM=n`: multiprocessors (8), and places for blocks on each (4).
//! - `SOFT_CUDA_INIT_ERROR=code`: the result of `cuInit`.
//! - `SOFT_CUDA_LAUNCH_ERROR=n:code`: the process's n-th launch, counted from 1, ends with that error.
//! - `SOFT_CUDA_QUANTUM=n`: the number of instructions in a thread's turn (128).
//! - `SOFT_CUDA_SEED=n`: turns vary in length and order, repeatably for a stream's launches.
//! - `SOFT_CUDA_STRICT=0`: reads of registers that were never written are not faults.
//! - `SOFT_CUDA_KEEP=folder`: each text that is linked is kept there, in a file named after its contents.
//! - `SOFT_CUDA_LOAD_WAITS=1`: a call that loads a module waits until nothing runs in the context, and all other calls
//!   wait for it, as a driver's calls may.
//! - `SOFT_CUDA_END_ABORTS=1`: when the process ends, what the library has registered at `cuInit` for that takes a
//!   moment, and a call from then on aborts the process: nothing better can be expected of a driver being torn down.
//! - `SOFT_CUDA_TRACE=1`: calls and their results are printed on stderr.
//!
//! Besides the driver's functions the library exports [`soft_cuda_calls`](api::soft_cuda_calls), which counts calls,
//! [`soft_cuda_instructions`](api::soft_cuda_instructions), and
//! [`soft_cuda_last_failure`](api::soft_cuda_last_failure).

// The tests inside this crate use the tools of the integration tests.
#[cfg(test)]
extern crate self as soft_cuda;

pub mod api;
// Safe functions of these take addresses as the driver does, whose callers vouch for them.
mod driver;
mod machine;

pub use driver::status;
