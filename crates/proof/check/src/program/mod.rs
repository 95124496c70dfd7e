//! Launches of kernels as programs for the search: the world that their threads share, and each thread as a
//! [`Process`].
//!
//! Memory operations are lowered by the target's table, so that the checker judges what is emitted; an [`Edit`] changes
//! single instructions, so that advice can be tried out.
//!
//! [`Process`]: crate::search::Process

mod edit;
mod forks;
mod scheduled;
mod thread;
mod world;

pub use edit::{Edit, Edits, Strength};
pub use forks::{Fork, forks, with_barrier_before};
pub use scheduled::Scheduled;
pub use thread::KernelThread;
pub use world::{Image, LaunchWorld, World};
