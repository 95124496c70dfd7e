//! The portable model: what Wattle promises on every device.
//!
//! PTX's axioms ([`super::ptx`]), made weaker wherever another target's mapping allows more:
//! - A release pattern that begins with a release write ends in that write, and an acquire pattern that ends in an
//!   acquire read begins with it: later writes of the same thread to the same place do not extend it (C++20,
//!   [intro.races]/5 has no such release sequence any more; the Vulkan memory model never had).
//! - A failed compare-exchange is a read (C++20, [atomics.types.operations]/21). That is not this file's: the search
//!   makes no write of it.
//!
//! Two conflicting accesses that base causality does not order and that are not both atomic, within each other's
//! scope, are a data race and an error, as in C++20 [intro.races]/21 and in the Vulkan memory model.

use super::{Analysis, Broken, ptx};
use crate::Graph;

pub(super) fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    ptx::axioms(graph, &ptx::synchronizes(graph, ptx::PatternEnd::ReleaseAlone))
}
