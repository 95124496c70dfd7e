//! C++20's memory model ([intro.races], [atomics.order]), as Rust takes it: what the host runs.
//!
//! Of scopes it knows the block, whose threads take turns on one thread of the processor's, and all others, which reach
//! everywhere. Atomics and fences of block scope are for their block alone: C++ has them as `atomic_signal_fence`
//! ([atomics.fences]/5), and as accesses that are atomic because nothing comes between. Load buffering of relaxed
//! accesses is allowed, values out of thin air are not (see the module above). The formal shape is that of Lahav,
//! Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11", PLDI 2017, which C++20 adopted for its
//! fences; sequentially consistent accesses do not occur, since Wattle has split each into a fence and a weaker access.

use super::coherence::{from_reads, saturate};
use super::{
    Analysis, Broken, Definitions, Observed, Race, Races, Rules, barrier_hops, both_atomic, merging, require,
    system_hops,
};
use crate::event::EventId;
use crate::{Clause, Graph, Kind, Level, Relation, Target};

pub(super) const RULES: Rules = Rules {
    name: "rust",
    target: Target::Host,
    analyse,
    orders_writes: atomic_together,
    comes_between: |_, _, _, _| true,
    orders_fences: false,
    has_references: false,
    has_classes: false,
    private_cells_order: false,
    clocks_order_counters: true,
    orders_observed_additions: false,
    observed: Observed::Decided,
    excludes_later_writes: |_, _, _| true,
    merged: merging::of_any_scope,
    races: Races::Forbidden(Race { except: atomic_together, clause: DATA_RACE }),
    definitions: DEFINITIONS,
};

/// A clause of the specification.
const fn clause(section: &'static str, quote: &'static str) -> Clause {
    Clause { document: "C++20", section, quote }
}

/// The definition of a data race.
const DATA_RACE: Clause = clause(
    "[intro.races]/21",
    "The execution of a program contains a data race if it contains two potentially concurrent conflicting \
            actions, at least one of which is not atomic, and neither happens before the other …",
);

/// What the terms of stories are in C++. It has no scopes but the thread's own: a fence that is for the compiler alone.
const DEFINITIONS: Definitions = Definitions {
    // The definition of a data race says it.
    atomic: None,
    in_scope: Some(clause(
        "[atomics.fences]/7",
        "Equivalent to atomic_thread_fence(order), except that the resulting ordering constraints are established \
                only between a thread and a signal handler executed in the same thread.",
    )),
    release: Some(clause(
        "[atomics.fences]/3",
        "A release fence A synchronizes with an atomic operation B that performs an acquire operation on an atomic \
                object M if there exists an atomic operation X such that A is sequenced before X, X modifies M, and B reads \
                the value written by X …",
    )),
    acquire: Some(clause(
        "[atomics.fences]/4",
        "An atomic operation A that is a release operation on an atomic object M synchronizes with an acquire fence B \
                if there exists some atomic operation X on M such that X is sequenced before B and reads the value written \
                by A …",
    )),
    synchronizes: Some(clause(
        "[atomics.order]/2",
        "An atomic operation A that performs a release operation on an atomic object M synchronizes with an atomic \
                operation B that performs an acquire operation on M and takes its value from any side effect in the release \
                sequence headed by A.",
    )),
    fence_order: Some(clause(
        "[atomics.order]/4",
        "There is a single total order S on all memory_order::seq_cst operations, including fences …",
    )),
    barrier: None,
};

/// Whether each event's scope includes the other one's thread.
fn in_scope(graph: &Graph, a: EventId, b: EventId) -> bool {
    is_wide(graph, a) && is_wide(graph, b) || graph.share(a, b, Level::Block)
}

/// Whether its scope reaches beyond a block.
fn is_wide(graph: &Graph, event: EventId) -> bool {
    graph.event(event).label.level > Level::Block
}

/// Whether both accesses are atomic with regard to each other.
fn atomic_together(graph: &Graph, a: EventId, b: EventId) -> bool {
    both_atomic(graph, a, b) && in_scope(graph, a, b)
}

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
    let atomic = |a: EventId, b: EventId| a != b && atomic_together(graph, a, b);
    let mo = saturate(graph, graph.chosen_coherence() | caused, &seen, atomic, |_, _| true);

    // [atomics.order]/10: a read-modify-write reads the last value before its own, but for what is atomic only to
    // others. Where it does not, the modification order has a cycle, so this is asked first.
    let fr = from_reads(graph, &mo);
    let divides = |read, write, between| {
        mo.has(between, write) && (in_scope(graph, read, between) || !both_atomic(graph, read, between))
    };
    let rmw = graph.rmw();
    let undivided = rmw.pairs().all(|(read, write)| fr.after(read).all(|between| !divides(read, write, between)));
    require(undivided, "atomicity", "[atomics.order]/10")?;
    require(mo.is_irreflexive(), "modification order", "[intro.races]/13")?;
    // (rf ∪ mo ∪ fr)+: what follows a write in the modification order is in it and in from-reads already, so that a
    // longer path can only end in a read of the last write.
    let later = &mo | &fr;
    let eco = &(&rf | &later) | &later.then(&rf);
    let coherent = eco.pairs().all(|(a, b)| a != b && !happens_before.has(b, a));
    require(coherent, "coherence", "[intro.races]/16 to 18")?;

    // [atomics.order]/4: the order of sequentially consistent fences agrees with coherence-ordered before. The threads
    // of a block take turns on one thread of the processor's, so that a fence of the block's has behind it, at the next
    // fence of another of its threads, all that came before it, however far that one reaches.
    let fences = graph.set(|event| event.label.sc);
    let (mut before, mixed) = (happens_before.clone(), fences.iter().any(|fence| !is_wide(graph, fence)));
    while !fences.is_empty() {
        let between = &before | &before.then(&eco).then(&before);
        let between = between.from(&fences).to(&fences).filter(|a, b| in_scope(graph, a, b));
        require(between.is_acyclic(), "single total order", "[atomics.order]/4")?;
        let next = if mixed { (&before | &between).plus() } else { before.clone() };
        if next == before {
            break;
        }
        before = next;
    }
    Ok(Analysis { ordered: happens_before.clone(), happens_before, causality: seen, coherence: mo })
}

/// [atomics.order]/2 and [atomics.fences]/2 to 4; a release sequence goes on through read-modify-writes alone.
fn synchronizes(graph: &Graph, po: &Relation) -> Relation {
    let atomic = graph.set(|event| event.label.atomic);
    let fences = graph.set(|event| event.label.kind == Kind::Fence);
    let release = graph.set(|event| event.label.release);
    let acquire = graph.set(|event| event.label.acquire);
    let n = graph.len();
    if release.is_empty() || acquire.is_empty() {
        return Relation::new(n);
    }
    let rf = graph.rf().from(&atomic).to(&atomic).filter(|a, b| in_scope(graph, a, b));
    let sequence = rf.then(&graph.rmw()).plus().maybe();
    let released = Relation::identity(n, &release) | po.from(&(&release & &fences)).to(&graph.writes());
    let acquired = Relation::identity(n, &acquire) | po.from(&graph.reads()).to(&(&acquire & &fences));
    released.then(&sequence).then(&rf).then(&acquired).filter(|first, last| in_scope(graph, first, last))
}
