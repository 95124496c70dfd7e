//! Wattle's CUDA devices. The driver is found at run time; this crate builds and runs on a machine without one too.
//!
//! Linking this crate makes the devices known: `Device::select("cuda")`, `cuda:1`, `cuda:h100`. Kernels come as PTX
//! from `wattle-ptx`, and the driver makes machine code of it; this crate has the driver's functions, memory, queues
//! and the reports of launches. It never generates code.
//!
//! A device's state is one `Context`, which owns its modules, streams and memory, and which each of these needs to call
//! the driver; so `context.rs` and their files know one another, and likewise the driver's functions (`driver/`) and
//! the end of the process (`exit.rs`), at which no thread may enter them.
//!
//! # Environment
//! - `WATTLE_CUDA_SYNC=1`: each launch is waited for, so that an error that ends the device shows which launch it was.
//! - `WATTLE_CACHE_DIR`: where machine code is kept, instead of `wattle` in the user's cache directory; if it is empty,
//!   no machine code is kept.
//! - `WATTLE_CUDA_GRACE_MS`: how long a launch may take to end after the request to end before the device is given up,
//!   in milliseconds; 10 000 without it.
//!
//! # Launches that wait for others
//! Blocks start in index order in practice, and one that has started runs to its end, but CUDA does not promise it. For
//! a cooperative launch all blocks run at once, or it is refused.
//!
//! Launches on several queues run at the same time where there is room on the device, and as many queues at once as
//! `Properties::concurrent_queues` says: the driver has 8 connections to a device, or as many as
//! `CUDA_DEVICE_MAX_CONNECTIONS` in the environment says when the program starts, 32 at the most.
//!
//! The driver may wait for all that the device does when it loads a kernel for the first time (CUDA C++ Programming
//! Guide, "Lazy Loading: Concurrent Execution"). So a kernel is loaded when nothing is in flight on the device; its
//! first launch waits two seconds for that, after which it is loaded all the same. Launch kernels once before they wait
//! for each other. Nothing hangs for longer than time limits say, even if the driver keeps all threads waiting.
//!
//! # The host beside a launch
//! Atomics of system scope order the device and the host. On host-mapped memory, loads and stores are atomic for both;
//! whether read-modify-write operations of the device are atomic for the host as well depends on the machine's bus
//! (`hostNativeAtomicSupported`). On unified memory they are.
//!
//! # Kernels that use another device's memory
//! `Device::enable_peer_access` lets kernels of one device use buffers of another, over NVLink or PCIe, where the
//! driver reports that they can. Atomics of system scope order the devices. Loads and stores are atomic for both;
//! whether read-modify-write operations are depends on the link (`nvidia-smi topo -p2p a`): NVLink has them, PCIe has
//! not.

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
