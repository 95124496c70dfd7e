//! Wattle's Vulkan devices. The loader is found at run time; a machine without one builds and runs this crate all the
//! same.
//!
//! Linking this crate registers the devices: `Device::select("vulkan")`, `vulkan:1`, `vulkan:llvmpipe`. Kernels come as
//! SPIR-V from `wattle-spirv`; drivers, memory, queues and the reports of launches live here. Code generation never
//! will.
//!
//! A device's state is one `Context`, which owns its pipelines, staging memory and lanes, and which each of these needs
//! to call the driver; so `context.rs` and their files know one another.
//!
//! # Environment
//! - `WATTLE_VULKAN_VALIDATION=1`: the Khronos validation layer, whose messages [`validation_messages`] keeps.
//! - `WATTLE_CACHE_DIR`: where pipeline caches are kept, instead of `wattle` in the user's cache directory; if it is
//!   empty they are not kept.
//! - `WATTLE_VULKAN_STAGED=1`: buffers are treated as if the host could not reach them, as on GPUs with memory of
//!   their own, so that the copies through a staging buffer can be tested anywhere.
//!
//! # Which blocks run
//! Vulkan promises nothing here: neither in which order blocks start, nor that a block which has started goes on while
//! others run. So a kernel whose blocks wait for each other relies on the device:
//! - **Software devices** give the host's guarantee: blocks start in index order, and one that has started runs to its
//!   end (linear occupancy-bound progress), so that a block may wait for lower ones. Their drivers start blocks in
//!   orders of their own, and now and then give two blocks to one thread; launches of kernels that read a view in a
//!   loop without a bound are therefore dispatched block by block, so that no block has to wait for another that is
//!   under way. More than `maxComputeWorkGroupCount[0]` blocks of such kernels are refused.
//! - **GPUs** do so in practice, in one dispatch. Vulkan does not promise it.
//!
//! A cooperative launch asks for all blocks at once. It is granted up to the number that the device is thought to run
//! (software: one; GPUs: compute units), and is best effort: where the blocks wait for each other in vain, the launch's
//! time limit ends it with an error that reports their positions.
//!
//! # The end of the process
//! A launch that still runs when the process ends is asked to end, and is waited for, two seconds at most; threads that
//! use a device then stop for good. Otherwise drivers would be destroyed while in use, and the process would crash.

mod ahead;
mod arguments;
mod backend;
mod block;
mod cache;
mod context;
mod descriptors;
mod drivers;
mod error;
mod executor;
mod exit;
mod families;
mod host_part;
mod in_flight;
mod lane;
mod loader;
mod memory;
mod memory_types;
mod physical;
mod pipeline;
mod record;
mod report;
mod shape;
mod staging;
mod survey;
mod transfer;
mod validation;

#[cfg(test)]
mod tests;

pub use survey::survey;
pub use validation::validation_messages;
