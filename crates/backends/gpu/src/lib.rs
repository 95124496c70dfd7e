//! What the drivers of Wattle's GPUs share.
//!
//! Drivers do their queues' operations as [`wattle_core::queue::Executor`]s. What they have in common is here: the
//! [`Survey`] of devices, a device's [`Health`], what launches are [`Given`], launches that are in flight ([`Launched`])
//! and what they [`Report`], the [`CacheFolder`] that keeps what drivers compile, and the end of the process ([`exit`]).
//! What never will live here: a driver, and code generation.

mod arguments;
mod cache;
mod error;
pub mod exit;
mod health;
mod in_flight;
mod report;
mod shape;
mod stop;
mod survey;

pub use arguments::{Given, Value, ViewValue, values};
pub use cache::CacheFolder;
pub use error::cannot;
pub use health::{Health, WhenLost};
pub use in_flight::Launched;
pub use report::Report;
pub use shape::{too_many_blocks, too_many_threads};
pub use stop::{GRACE, Reason};
pub use survey::Survey;
