//! C++20's memory model ([intro.races], [atomics.order]), as Rust takes it: what the host runs.
//!
//! Scopes are ignored here. Load buffering of relaxed accesses is allowed, values out of thin air are not (see the
//! module above). The formal shape is that of Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in
//! C/C++11", PLDI 2017, which C++20 adopted for its fences; sequentially consistent accesses do not occur, since Wattle
//! has split each into a fence and a weaker access.

use super::coherence::{from_reads, saturate};
use super::{Analysis, Broken, Races, Rules, barrier_hops, both_atomic, require, system_hops};
use crate::{Graph, Kind, Relation, Target};

pub(super) const RULES: Rules = Rules {
    name: "rust",
    target: Target::Host,
    analyse,
    orders_writes: both_atomic,
    comes_between: |_, _, _, _| true,
    orders_fences: false,
    races: Races::Forbidden(both_atomic),
};

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    let po = graph.po();
    let happens_before =
        (&po | &(synchronizes(graph, &po) | barrier_hops(graph, &po) | system_hops(graph, &po))).plus();
    require(happens_before.is_irreflexive(), "happens-before", "[intro.races]/10")?;

    // [intro.races]/13 to 16: the modification order agrees with happens-before, also through what is read.
    let rf = graph.rf();
    let (writes, same_location) = (graph.writes(), graph.same_location());
    let seen = &happens_before | &rf.then(&happens_before);
    let caused = (&seen & &same_location).from(&writes).to(&writes);
    let atomic = |a: usize, b: usize| a != b && graph.event(a).label.atomic && graph.event(b).label.atomic;
    let mo = saturate(graph, graph.chosen_coherence() | caused, &seen, atomic);

    // [atomics.order]/10: a read-modify-write reads the last value before its own. Where it does not, the modification
    // order has a cycle, so this is asked first.
    let fr = from_reads(graph, &mo);
    let undivided = graph.rmw().pairs().all(|(read, write)| fr.after(read).all(|between| !mo.has(between, write)));
    require(undivided, "atomicity", "[atomics.order]/10")?;
    require(mo.is_irreflexive(), "modification order", "[intro.races]/13")?;
    let eco = (&(&rf | &mo) | &fr).plus();
    let coherent = eco.pairs().all(|(a, b)| a != b && !happens_before.has(b, a));
    require(coherent, "coherence", "[intro.races]/16 to 18")?;

    // [atomics.order]/4: the order of sequentially consistent fences agrees with coherence-ordered before.
    let fences = graph.set(|event| event.label.sc);
    let between = &happens_before | &happens_before.then(&eco).then(&happens_before);
    require(between.from(&fences).to(&fences).is_acyclic(), "single total order", "[atomics.order]/4")?;
    Ok(Analysis { ordered: happens_before.clone(), happens_before, causality: seen, coherence: mo })
}

/// [atomics.order]/2 and [atomics.fences]/2 to 4; a release sequence goes on through read-modify-writes alone.
fn synchronizes(graph: &Graph, po: &Relation) -> Relation {
    let atomic = graph.set(|event| event.label.atomic);
    let fences = graph.set(|event| event.label.kind == Kind::Fence);
    let release = graph.set(|event| event.label.release);
    let acquire = graph.set(|event| event.label.acquire);
    let n = graph.len();
    let rf = graph.rf().from(&atomic).to(&atomic);
    let sequence = rf.then(&graph.rmw()).plus().maybe();
    let released = Relation::identity(n, &release) | po.from(&(&release & &fences)).to(&graph.writes());
    let acquired = Relation::identity(n, &acquire) | po.from(&graph.reads()).to(&(&acquire & &fences));
    released.then(&sequence).then(&rf).then(&acquired)
}
