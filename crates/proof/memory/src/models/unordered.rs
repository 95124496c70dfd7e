//! The textbook's counting model: a thread's accesses to different places happen in any order, unless a fence that
//! orders them or a barrier stands between.
//!
//! A release fence, or a release write, keeps what precedes it before the writes that follow (the write itself); an
//! acquire fence, or an acquire read, keeps the reads that precede it (the read itself) before what follows; a
//! sequentially consistent fence keeps everything. Scopes are ignored: the textbook has none.

use super::sc::interleaving;
use super::{Analysis, Broken, Definitions, Observed, Races, Rules, barrier_hops, merging, system_hops};
use crate::{Graph, Kind, Relation, Target};

pub(super) const RULES: Rules = Rules {
    name: "unordered",
    target: Target::Portable,
    analyse,
    orders_writes: |_, _, _| true,
    comes_between: |_, _, _, _| true,
    orders_fences: false,
    has_references: false,
    has_classes: false,
    private_cells_order: true,
    clocks_order_counters: false,
    orders_observed_additions: false,
    observed: Observed::Undecided,
    excludes_later_writes: |_, _, _| false,
    merged: merging::if_equal,
    races: Races::Never,
    definitions: Definitions::NONE,
};

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    interleaving(graph, &kept(graph))
}

/// The part of program order that this model keeps.
fn kept(graph: &Graph) -> Relation {
    let po = graph.po();
    let accesses = graph.set(|event| event.label.is_access());
    // The write of a compare-exchange that may yet fail has no location, and orders nothing.
    let there = |event: &crate::Event| event.label.kind == Kind::Write && event.location.is_some();
    let (reads, writes) = (graph.reads(), graph.set(there));
    let fence = |acquire: bool, release: bool| {
        graph.set(|event| {
            let label = &event.label;
            label.kind == Kind::Fence && (!acquire || label.acquire) && (!release || label.release)
        })
    };
    let across = |fences: &crate::Set| po.from(&accesses).to(fences).then(&po.to(&accesses));
    let sc = graph.set(|event| event.label.sc);
    let acquire_read = graph.set(|event| event.label.kind == Kind::Read && event.label.acquire);
    let release_write = graph.set(|event| there(event) && event.label.release);
    let fenced = across(&fence(true, false)).from(&reads)
        | across(&fence(false, true)).to(&writes)
        | across(&sc)
        | po.from(&acquire_read).to(&accesses)
        | po.from(&accesses).to(&release_write);
    let outside = barrier_hops(graph, &po) | system_hops(graph, &po);
    let rmw = graph.rmw();
    let kept = (&po & &graph.same_location()) | fenced | &rmw | outside;
    // A read-modify-write is one step: what comes before either half comes before both.
    let halves = &rmw | &rmw.inverse();
    let together = halves.maybe().then(&kept).then(&halves.maybe());
    &kept | &together.filter(|a, b| a != b && graph.other_half(a) != Some(b))
}
