//! What Wattle's code generators share, and what drivers need of any of them: the words of a launch's [`control`]
//! block, the [`Fault`]s that it names, and [`questions`] to a kernel that each generator asks.
//!
//! What never will live here: instructions of a target, and drivers.

pub mod control;
mod fault;
pub mod questions;

pub use fault::{Fault, FaultSite, Sites};
