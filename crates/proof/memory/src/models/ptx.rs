//! PTX ISA 8.5, section 8 "Memory Consistency Model"; without proxies.
//!
//! Where the published formal models (Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory
//! Consistency Model", ASPLOS 2019; NVIDIA's mixed-proxy models) and the text differ, the text holds. A `fence.sc` is a
//! release and an acquire fence too. The read of an `atom.release` and the write of an `atom.acquire` are relaxed. A
//! failed compare-exchange writes the old value back: `atom` "stores the result of the specified operation at location
//! `a`", and `cas(r,s,t) = (r == s) ? t : r` (PTX ISA 8.8, 9.7.13.5); see `failed_exchange_writes` in the targets'
//! rows.
//!
//! Weak accesses may race: what they then read is whatever the axioms allow.

use super::coherence::{from_reads, saturate};
use super::{Analysis, Broken, Definitions, Observed, Race, Races, Rules, barrier_hops, merging, require, system_hops};
use crate::event::EventId;
use crate::{Clause, Graph, Kind, Relation, Target, stop};

pub(super) const RULES: Rules = Rules {
    name: "ptx",
    target: Target::Ptx { sm: 90 },
    analyse,
    orders_writes: morally_strong,
    comes_between: |_, _, _, _| true,
    orders_fences: true,
    has_references: false,
    has_classes: false,
    private_cells_order: false,
    clocks_order_counters: true,
    orders_observed_additions: true,
    observed: Observed::DecidedExceptStrong,
    excludes_later_writes: |_, _, _| true,
    merged: merging::if_equal,
    races: Races::Allowed(Race { except: morally_strong, clause: DATA_RACE }),
    definitions: DEFINITIONS,
};

/// A clause of the specification.
const fn clause(section: &'static str, quote: &'static str) -> Clause {
    Clause { document: "PTX ISA 8.5,", section, quote }
}

/// The definition of a data race.
pub(super) const DATA_RACE: Clause = clause(
    "8.7.1",
    "Two conflicting memory operations are said to be in a data-race if they are not related in causality \
            order and they are not morally strong.",
);

/// What the terms of stories are in PTX.
pub(super) const DEFINITIONS: Definitions = Definitions {
    atomic: Some(MORALLY_STRONG),
    in_scope: Some(MORALLY_STRONG),
    release: Some(clause(
        "8.8",
        "A release pattern on a location M consists of … a release operation on M … Or a release or \
                acquire-release memory fence followed by a strong write on M in program order",
    )),
    acquire: Some(clause(
        "8.8",
        "An acquire pattern on a location M consists of … an acquire operation on M … Or a strong read on M \
                followed by an acquire memory fence in program order",
    )),
    synchronizes: Some(clause(
        "8.9.4",
        "A release pattern X synchronizes with an acquire pattern Y, if a write operation in X precedes a read \
                operation in Y in observation order, and the first operation in X and the last operation in Y are \
                morally strong.",
    )),
    fence_order: Some(clause(
        "8.9.4",
        "A fence.sc operation X synchronizes with a fence.sc operation Y if X precedes Y in the Fence-SC order.",
    )),
    barrier: Some(clause(
        "8.9.4",
        "A bar{.cta}.sync or bar{.cta}.red or bar{.cta}.arrive operation synchronizes with a bar{.cta}.sync or \
                bar{.cta}.red operation executed on the same barrier.",
    )),
};

const MORALLY_STRONG: Clause = clause(
    "8.7",
    "Two operations are said to be morally strong relative to each other if … each operation is strong and \
            specifies a scope that includes the thread executing the other operation.",
);

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    let analysis = axioms(graph, &synchronizes(graph, PatternEnd::AnyLaterWrite))?;
    // 8.7.1 asks of causality order, not of base causality order, whether operations race: what observes an atomic
    // operation has it before what follows in its thread (8.9.5). A read-modify-write is one operation.
    let ordered = &analysis.causality | &graph.rmw().then(&analysis.causality);
    Ok(Analysis { ordered, ..analysis })
}

/// 8.7 "Morally strong operations", of accesses. The two are different.
pub(super) fn morally_strong(graph: &Graph, a: EventId, b: EventId) -> bool {
    let (first, second) = (graph.event(a), graph.event(b));
    let strong = first.label.atomic && second.label.atomic && graph.in_scope(a, b);
    a != b && first.location == second.location && (graph.same_thread(a, b) || strong)
}

/// 8.9.2 "Observation order": reads-from of morally strong operations, through any number of read-modify-writes.
fn observation(graph: &Graph) -> Relation {
    let mut observed = Relation::new(graph.len());
    for read in 0..graph.len() {
        let Some(mut source) = graph.source(read).filter(|&source| morally_strong(graph, source, read)) else {
            continue;
        };
        // Each write has one half to go on to, so the chain ends; it cannot be longer than there are events.
        for _ in 0..graph.len() {
            observed.insert(source, read);
            let Some(earlier) = graph.other_half(source) else { break };
            match graph.source(earlier).filter(|&next| morally_strong(graph, next, earlier)) {
                Some(next) => source = next,
                None => break,
            }
        }
    }
    observed
}

/// The writes in which a release pattern that begins with a release write can end.
pub(super) enum PatternEnd {
    /// Only the release write itself.
    ReleaseAlone,
    /// The release write, or any strong write of the location that follows it.
    AnyLaterWrite,
}

/// The relations from which causality is built.
pub(super) struct Synchronization {
    pub po: Relation,
    pub observation: Relation,
    /// 8.9.4 "Synchronizes-with": of patterns, barriers, and what the system orders.
    pub synchronizes: Relation,
}

/// 8.8 "Release and acquire patterns" and 8.9.4.
pub(super) fn synchronizes(graph: &Graph, end: PatternEnd) -> Synchronization {
    let (po, observation) = (graph.po(), observation(graph));
    let fences = graph.set(|event| event.label.kind == Kind::Fence);
    let release = graph.set(|event| event.label.release);
    let acquire = graph.set(|event| event.label.acquire);

    // The observed operations are strong writes, read by strong reads.
    let n = graph.len();
    if release.is_empty() || acquire.is_empty() {
        let synchronizes = barrier_hops(graph, &po) | system_hops(graph, &po);
        return Synchronization { po, observation, synchronizes };
    }
    // 8.8: an acquire pattern begins with a strong read, and "while atomic reductions conceptually perform a strong
    // read as part of its read-modify-write sequence, this strong read does not form an acquire pattern".
    let (reads, writes) =
        (&graph.reads() & &graph.set(|event| event.label.atomic && !event.label.reduces), graph.writes());
    let mut release_pattern = Relation::identity(n, &release) | po.from(&(&release & &fences)).to(&writes);
    let mut acquire_pattern = Relation::identity(n, &acquire) | po.from(&reads).to(&(&acquire & &fences));
    if let PatternEnd::AnyLaterWrite = end {
        let at = |a: EventId, b: EventId| graph.event(a).location == graph.event(b).location;
        release_pattern |= &po.from(&release).to(&writes).filter(at);
        acquire_pattern |= &po.from(&reads).to(&acquire).filter(at);
    }
    let patterns = release_pattern.then(&observation).then(&acquire_pattern);
    let synchronizes = patterns.filter(|first, last| ends_meet(graph, first, last))
        | barrier_hops(graph, &po)
        | system_hops(graph, &po);
    Synchronization { po, observation, synchronizes }
}

/// Whether the first operation of a release pattern and the last of an acquire pattern are morally strong. They may
/// be accesses of one location, or fences, which have none.
fn ends_meet(graph: &Graph, first: EventId, last: EventId) -> bool {
    graph.same_thread(first, last) || graph.in_scope(first, last)
}

/// 8.9.5 "Causality order", and the axioms of 8.10. `portable` differs only in what synchronizes.
pub(super) fn axioms(graph: &Graph, with: &Synchronization) -> Result<Analysis, Broken> {
    let Synchronization { po, synchronizes, .. } = with;
    let mut base = (po | synchronizes | &graph.fence_order()).plus();
    loop {
        let (analysis, communication) = given(graph, with, &base)?;
        let forced = forced_fences(graph, &analysis, &communication);
        if forced.is_empty() || stop::requested_before() {
            return Ok(analysis);
        }
        forced.pairs().for_each(|(first, second)| base.insert_closed(first, second));
    }
}

/// The orders of two sequentially consistent fences that are not chosen, and that every choice has: the other order
/// breaks an axiom. `communication` is rf ∪ co ∪ fr. Let it relate `x` to `y`, let base causality put a fence before
/// `x`, and causality put `y` before another fence. Were the latter fence first, causality would put `y` before `x`:
/// against 8.10.6 where `x` is read by `y` or reads before it, against 8.10.1 where coherence orders them. The two are
/// ordered in one of the two ways if they are morally strong (8.9.3 "Fence-SC order").
fn forced_fences(graph: &Graph, analysis: &Analysis, communication: &Relation) -> Relation {
    let fences = graph.set(|event| event.label.sc);
    if fences.len() < 2 {
        return Relation::new(graph.len());
    }
    let Analysis { happens_before: base, causality, .. } = analysis;
    let between = base.from(&fences).then(communication).then(&causality.to(&fences));
    between.filter(|first, second| first != second && !base.has(first, second) && graph.in_scope(first, second))
}

/// What follows from a graph and base causality; and its communication, rf ∪ co ∪ fr.
fn given(graph: &Graph, with: &Synchronization, base: &Relation) -> Result<(Analysis, Relation), Broken> {
    let Synchronization { po, observation, .. } = with;
    let causality = base | &observation.then(base);

    // 8.10.2: the order of sequentially consistent fences agrees with causality.
    let fences = graph.set(|event| event.label.sc);
    require(fences.iter().all(|fence| !causality.has(fence, fence)), "Fence-SC", "PTX ISA 8.10.2")?;

    // 8.10.1: writes of one location that causality orders are ordered so by coherence.
    let same_location = graph.same_location();
    let writes = graph.writes();
    let caused = (&causality & &same_location).from(&writes).to(&writes);
    let strong = |a: EventId, b: EventId| morally_strong(graph, a, b);
    let co = saturate(graph, graph.chosen_coherence() | caused, &causality, strong, |_, _| true);

    // 8.10.3: no write that is morally strong with both comes between the halves of a read-modify-write. Where one
    // does, coherence has a cycle, so this is asked first.
    let (rf, fr, rmw) = (graph.rf(), from_reads(graph, &co), graph.rmw());
    let atomic = rmw.pairs().all(|(read, write)| {
        fr.after(read).all(|between| !(co.has(between, write) && strong(read, between) && strong(between, write)))
    });
    require(atomic, "Atomicity", "PTX ISA 8.10.3")?;
    require(co.is_irreflexive(), "Coherence", "PTX ISA 8.10.1")?;

    // 8.10.5: sequential consistency per location, for operations that are morally strong with one another.
    let communication = &(&rf | &co) | &fr;
    let strongly = communication.filter(strong);
    require((strongly | (po & &same_location)).is_acyclic(), "SC-per-Location", "PTX ISA 8.10.5")?;

    // 8.10.6: communication does not contradict causality.
    let causal = (&rf | &fr).pairs().all(|(a, b)| !causality.has(b, a));
    require(causal, "Causality", "PTX ISA 8.10.6")?;
    let analysis = Analysis { ordered: base.clone(), happens_before: base.clone(), causality, coherence: co };
    Ok((analysis, communication))
}
