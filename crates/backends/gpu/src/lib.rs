//! What the drivers of Wattle's GPUs share.
//!
//! Drivers do their queues' operations as [`wattle_core::queue::Executor`]s. [`values`] walks what a launch is given, [`Told`] turns what it told into errors,
//! and [`CacheFolder`] keeps what drivers compile. What never will live here: a driver, and code generation.

mod arguments;
mod cache;
mod error;
mod stop;
mod told;

pub use arguments::{Value, ViewValue, values};
pub use cache::CacheFolder;
pub use error::cannot;
pub use stop::{GRACE, Reason};
pub use told::Told;
