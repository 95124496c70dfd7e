//! The scenarios: small kernels whose threads communicate, each with what it shows and what must come out.
//!
//! One module per scenario or family; its documentation is the scenario's page. The kernels are public, so that
//! benchmarks and tests use the very same ones, and so are the functions that run them over a caller's own data. The
//! scenarios register themselves; only the tests list what must be among them.
//! What never will live here: a device, or anything that a user could not have written over the `wattle` crate alone.

use wattle::Scenario;

pub mod algorithms;
pub mod block_fence;
pub mod block_scan;
pub mod chained_scan;
pub mod cumulativity;
mod data;
pub mod grid_barrier;
pub mod histogram;
pub mod interference;
pub mod last_block_sum;
pub mod litmus;
pub mod locks;
pub mod orderings;
pub mod product;
pub mod publication;
pub mod reduce;
pub mod stencil;
pub mod store_buffering;
pub mod stream;
pub mod swap;
pub mod transpose;
pub mod two_queues;
mod weak;
pub mod wild;

/// All scenarios that are registered: this crate's, and those of whatever else is linked.
///
/// # Panics
/// Two scenarios have one name, which [`Scenario::all`] returns as an error.
pub fn all() -> &'static [Scenario] {
    Scenario::all().unwrap_or_else(|error| panic!("{error}"))
}

/// The scenario of that name.
///
/// # Panics
/// As [`all`].
pub fn find(name: &str) -> Option<&'static Scenario> {
    all().iter().find(|scenario| scenario.name == name)
}
