//! The portable model: what Wattle promises on every device.
//!
//! PTX's axioms ([`super::ptx`]), made weaker wherever another target's mapping allows more:
//! - A release pattern that begins with a release write ends in that write, and an acquire pattern that ends in an
//!   acquire read begins with it: later writes of the same thread to the same place do not extend it (C++20,
//!   [intro.races]/5 has no such release sequence any more; the Vulkan memory model never had).
//! - A failed compare-exchange is a read (C++20, [atomics.types.operations]/21). This file does not treat it: no write
//!   is added for it (`Change::written` of the checker's search). `Lowering::failed_exchange_writes` says on which
//!   targets the old value is written back.
//!
//! Two conflicting accesses that base causality does not order and that are not both atomic, within each other's
//! scope, are a data race and an error, as in C++20 [intro.races]/21 and in the Vulkan memory model.
//!
//! **Plain accesses are weak.** An access of `Shared` memory that is no atomic becomes `ld.weak` or `st.weak` in PTX, a
//! non-private access in SPIR-V, a relaxed atomic on the host. A weak access synchronizes with nothing by itself and is
//! morally strong with nothing (PTX ISA 8.5, 8.4 "Operation types", 8.7 "Morally strong operations"): it may be served
//! from a cache that other processors' writes have not reached, be made once for two accesses that stand side by side,
//! or be moved up to the next fence, barrier or ordered atomic of its thread. What it reads is certain where causality
//! separates it from every conflicting access, and nowhere else; words that threads really race on are `Atomic`,
//! relaxed if need be. `Read` and `PerItem` memory has no conflicting accesses within a launch, so that on a GPU even a
//! cache which no fence reaches may serve it (`ld.global.nc`).

use super::{Analysis, Broken, Observed, Race, Races, Rules, merging, ptx};
use crate::{Graph, Target};

pub(super) const RULES: Rules = Rules {
    name: "portable",
    target: Target::Portable,
    analyse,
    orders_writes: ptx::morally_strong,
    comes_between: |_, _, _, _| true,
    orders_fences: true,
    has_references: false,
    has_classes: false,
    private_cells_order: false,
    clocks_order_counters: true,
    orders_observed_additions: false,
    observed: Observed::Decided,
    excludes_later_writes: |_, _, _| true,
    merged: merging::on_some_target,
    races: Races::Forbidden(Race { except: ptx::morally_strong, clause: ptx::DATA_RACE }),
    definitions: ptx::DEFINITIONS,
};

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    ptx::axioms(graph, &ptx::synchronizes(graph, ptx::PatternEnd::ReleaseAlone))
}
