//! Wattle's CUDA devices. The driver is found at run time; a machine without one builds and runs this all the same.
//!
//! Being linked makes the devices known: `Device::select("cuda")`, `cuda:1`, `cuda:h100`. Kernels come as PTX from
//! `wattle-ptx`, and the driver makes machine code of it; here live the driver's functions, memory, queues and what a
//! launch told. What never will: code generation.
//!
//! # Environment
//! - `WATTLE_CUDA_SYNC=1`: each launch is waited for, so that an error that ends the device tells which launch it was.
//! - `WATTLE_CACHE_DIR`: where machine code is kept, instead of `wattle` in the user's cache directory; if it is empty
//!   it is not kept.
//! - `WATTLE_CUDA_GRACE_MS`: how long a launch that was told to end may take to do so before the device is given up,
//!   in milliseconds; 10 000 without it.
//!
//! # Launches that wait for others
//! Blocks start in index order in practice, and one that has started runs to its end; nobody promises it. A cooperative
//! launch is promised that all its blocks run at once, or refused.
//!
//! Launches on several queues run at the same time where there is room on the device, and as many queues at once as
//! `Properties::concurrent_queues` says: the driver has 8 connections to a device, or as many as
//! `CUDA_DEVICE_MAX_CONNECTIONS` in the environment says when the program starts, 32 at the most.
//!
//! The driver may wait for all that the device does when it loads a kernel for the first time (CUDA C++ Programming
//! Guide, "Lazy Loading: Concurrent Execution"). So a kernel is loaded when nothing is in flight on the device; the first
//! launch of one waits for that for two seconds, and is loaded then all the same. Launch kernels once before they wait
//! for each other. Nothing hangs for longer than time limits say, also if the driver keeps all threads waiting.
//!
//! # The host beside a launch
//! Atomics of system scope order the device and the host. On host-mapped memory, loads and stores are atomic for both;
//! whether read-modify-write operations of the device are so for the host as well depends on the machine's bus
//! (`hostNativeAtomicSupported`). On unified memory they are.

mod arguments;
mod backend;
mod builtin;
mod clock;
mod context;
mod deferred_free;
mod driver;
mod executor;
mod exit;
mod helper;
mod memory;
mod modules;
mod peers;
mod physical;
mod rows;
mod shape;
mod slots;
mod staging;
mod survey;
mod targets;
mod transfer;
mod wait;
mod watchdog;

pub use survey::survey;
