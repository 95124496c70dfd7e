//! Launches of kernels as programs for the search: what their threads share, and each of them as a [`Process`].
//!
//! A memory operation becomes what the lowering table makes of it for the target, so that the checker judges what
//! is emitted; an [`Edit`] changes single instructions, so that advice can be tried out.
//!
//! [`Process`]: crate::search::Process

mod edit;
mod thread;
mod world;

pub use edit::{Edit, Edits, Strength};
pub use thread::KernelThread;
pub use world::{Image, LaunchWorld, Mapping, ViewOf, World};
