//! What the drivers of Wattle's GPUs share.
//!
//! Drivers execute their queues' operations as [`wattle_core::queue::Executor`]s. This crate has what they share: the
//! [`Survey`] of devices, a device's [`Health`], launches in flight ([`Launched`]) and their [`Report`]s, the
//! [`CacheFolder`] for what drivers compile, and the end of the process ([`exit`]). It never contains a driver, nor
//! code generation.
//!
//! A further back end is a generator of code (a function from a kernel and the device's features to a module, beside
//! `wattle-spirv`) and a driver beside `wattle-vulkan`: it implements `Backend`, `Memory` and `Executor` of
//! `wattle-core` with what is here. Its `Backend` makes queues of its `Executor` with
//! [`wattle_core::queue::with_executor`]. README.md, "The workspace", lists where else it is named.

mod cache;
mod error;
pub mod exit;
mod fill;
mod health;
mod in_flight;
mod report;
mod shape;
mod stop;
mod survey;

pub use cache::CacheFolder;
pub use error::cannot;
pub use fill::word_of;
pub use health::{Health, WhenLost};
pub use in_flight::Launched;
pub use report::Report;
pub use shape::{too_many_blocks, too_many_threads};
pub use stop::{GRACE, Reason};
pub use survey::Survey;
