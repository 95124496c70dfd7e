//! What the drivers of Wattle's GPUs share.
//!
//! A driver implements [`Executor`], which does a queue's operations on the thread that calls; [`Blocking`] and
//! [`NonBlocking`] make a queue of it. [`values`] walks what a launch is given, [`Told`] turns what it told into errors,
//! and [`CacheFolder`] keeps what drivers compile. What never will live here: a driver, and code generation.

mod arguments;
mod cache;
mod error;
mod executor;
mod first_error;
mod queue;
mod stop;
mod told;

pub use arguments::{Value, ViewValue, values};
pub use cache::CacheFolder;
pub use error::{cannot, lock, panicked, system};
pub use executor::Executor;
pub use first_error::FirstError;
pub use queue::{Blocking, NonBlocking};
pub use stop::{GRACE, Reason};
pub use told::Told;
