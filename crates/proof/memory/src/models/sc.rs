//! Sequential consistency (Lamport 1979): all interleavings that keep program order.

use super::coherence::{from_reads, saturate};
use super::{Analysis, Broken, Definitions, Observed, Races, Rules, barrier_hops, merging, require, system_hops};
use crate::{Graph, Relation, Target, stop};

pub(super) const RULES: Rules = Rules {
    name: "sc",
    target: Target::Portable,
    analyse,
    orders_writes: |_, _, _| true,
    comes_between: |_, _, _, _| true,
    orders_fences: false,
    has_references: false,
    has_classes: false,
    private_cells_order: false,
    clocks_order_counters: true,
    orders_observed_additions: false,
    observed: Observed::Undecided,
    excludes_later_writes: |_, _, _| true,
    merged: merging::if_equal,
    races: Races::Never,
    definitions: Definitions::NONE,
};

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    let po = graph.po();
    let order = &po | &(barrier_hops(graph, &po) | system_hops(graph, &po));
    interleaving(graph, &order)
}

/// Analyses a graph under the axiom that an order of all accesses which keeps `order` explains every read:
/// acyclic(order ∪ rf ∪ co ∪ fr). In that order nothing comes between the halves of a read-modify-write: `saturate`
/// puts every write before or behind both.
pub(super) fn interleaving(graph: &Graph, order: &Relation) -> Result<Analysis, Broken> {
    let rf = graph.rf();
    let mut before = (order | &rf).plus();
    let mut co = graph.chosen_coherence();
    let (same_location, writes) = (graph.same_location(), graph.writes());
    loop {
        let size = before.pairs().count();
        let written = (&before & &same_location).from(&writes).to(&writes);
        co = saturate(graph, co | written, &before, |a, b| a != b, |_, _| true);
        let fr = from_reads(graph, &co);
        require(co.is_irreflexive(), "interleaving", "acyclic(po | rf | co | fr)")?;
        before = (&(&before | &co) | &fr).plus();
        require(before.is_irreflexive(), "interleaving", "acyclic(po | rf | co | fr)")?;
        if before.pairs().count() == size || stop::requested_before() {
            break;
        }
    }
    Ok(Analysis { ordered: before.clone(), happens_before: before.clone(), causality: before, coherence: co })
}
