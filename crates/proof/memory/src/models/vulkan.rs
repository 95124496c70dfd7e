//! The Vulkan memory model (Vulkan 1.3, appendix "Memory Model"; Khronos' formal model in Alloy), with availability
//! and visibility chains.
//!
//! Khronos' formal model gives racing plain reads no meaning at all. Racy programs are refused here too, yet a litmus
//! file may ask for their outcomes: those follow Dartagnan's `cat/vulkan.cat` (github.com/hernanponcedeleon/Dat3M). A
//! plain read may read from a write that nothing orders with it, and comes before the writes that location-order puts
//! after its source only if it is itself location-ordered after that source; so two reads that race with two writes of
//! one thread may see them in either order. Two differences are left: values out of thin air are forbidden, which no
//! published model of Vulkan does; and the release sequence goes through read-modify-writes that read from one another,
//! and not through those that follow immediately in the modification order, which a growing graph does not know.
//!
//! The letters of the formal model are kept where they are short: `hb` happens-before, `sw` synchronizes-with, `ssw`
//! system-synchronizes-with, `asmo` a location's scoped modification order.

use std::collections::HashMap;

use super::coherence::saturate;
use super::{Analysis, Broken, Definitions, Observed, Race, Races, Rules, merging, require};
use crate::event::{EventId, LocationId};
use crate::{Classes, Clause, Graph, Kind, Label, Level, Relation, Set, Target};

pub(super) const RULES: Rules = Rules {
    name: "vulkan",
    target: Target::Vulkan,
    analyse,
    orders_writes: mutually_ordered,
    comes_between: read_before,
    orders_fences: false,
    has_references: true,
    has_classes: true,
    private_cells_order: false,
    clocks_order_counters: true,
    orders_observed_additions: false,
    observed: Observed::Undecided,
    excludes_later_writes,
    merged: merging::if_equal,
    races: Races::Forbidden(Race { except: mutually_ordered, clause: DATA_RACE }),
    definitions: DEFINITIONS,
};

/// A clause of the specification.
const fn clause(section: &'static str, quote: &'static str) -> Clause {
    Clause { document: "Vulkan Memory Model,", section, quote }
}

/// The definition of a data race.
const DATA_RACE: Clause = clause(
    "\"Data Race\"",
    "If there does not exist a location-ordered relation between X and Y for each location in M, then there \
            is a data race.",
);

/// What the terms of stories are for Vulkan, whose fences have no sequentially consistent order.
const DEFINITIONS: Definitions = Definitions {
    atomic: Some(clause(
        "\"Atomic Operation\"",
        "If two atomic operations are not mutually-ordered, and if their sets of memory locations overlap, then each \
                must be synchronized against the other as if they were non-atomic operations.",
    )),
    in_scope: Some(clause("\"Synchronizes-With\"", "A and B are in the instance of each other's memory scopes")),
    release: Some(clause(
        "\"Synchronizes-With\"",
        "If A is a release barrier and B is an acquire barrier, then A synchronizes-with B if … there exists an \
                atomic write X … A is program-ordered before X",
    )),
    acquire: Some(clause(
        "\"Synchronizes-With\"",
        "If A is a release barrier and B is an acquire barrier, then A synchronizes-with B if … there exists an \
                atomic read Y … Y is program-ordered before B",
    )),
    synchronizes: Some(clause(
        "\"Synchronizes-With\"",
        "Synchronizes-with is a relation between operations, where each operation is either an atomic operation or a \
                memory barrier",
    )),
    fence_order: None,
    barrier: Some(clause(
        "\"Synchronizes-With\"",
        "If A is a release barrier, B is an acquire barrier, and C is a control barrier … then A synchronizes-with B \
                if … A is program-ordered before (or equals) C … C is program-ordered before (or equals) B",
    )),
};

fn analyse(graph: &Graph) -> Result<Analysis, Broken> {
    let base = Base::new(graph);
    let hb = base.happens_before();
    let locord = base.location_ordered(&hb);

    // "Scoped modification order": total among atomic writes that are mutually ordered.
    let (writes, initials) = (graph.writes(), graph.initials());
    let chosen = graph.chosen_coherence();
    let mutual = |a: EventId, b: EventId| mutually_ordered(graph, a, b);
    let seen = &locord | &base.rf.then(&locord);
    let related = |a: EventId, b: EventId| initials.contains(a) || mutual(a, b);
    let first = (&chosen | &seen.from(&writes).to(&writes)).filter(related);
    let asmo = saturate(graph, first, &seen, mutual, related);
    require(asmo.is_irreflexive(), "scoped modification order", "Memory Model, Scoped Modification Order")?;
    // It "relates no other operations": what comes after a write by way of one in both scopes is not after it.
    let asmo = asmo.filter(related);

    // "From-reads": what the modification order puts after the source, initial values first; and what location-order
    // puts after it, where the read is location-ordered after the source too.
    let overwritten = &asmo | &locord.from(&writes).to(&writes);
    let known = (&base.rf & &locord).inverse();
    let fr = base.rf.inverse().then(&asmo) | known.then(&locord.from(&writes).to(&writes));
    let together = &(&(&locord | &base.rf) | &fr) | &asmo;
    require(together.is_acyclic(), "consistency", "Memory Model, Valid Executions: location-ordered, rf, fr, asmo")?;

    // A read-modify-write is one operation on its location.
    let undivided = graph.rmw().pairs().all(|(read, write)| fr.after(read).all(|between| !asmo.has(between, write)));
    require(undivided, "atomicity", "Memory Model, Atomic Operation")?;

    // A non-atomic read does not read what another write has hidden.
    let hidden = locord.from(&writes);
    let hidden = hidden.then(&hidden.plus());
    let visible = base.rf.pairs().all(|(write, read)| graph.event(read).label.atomic || !hidden.has(write, read));
    require(visible, "visible-to", "Memory Model, Visible-To")?;
    Ok(Analysis {
        ordered: locord,
        happens_before: hb,
        causality: together.plus(),
        coherence: overwritten.plus() | chosen,
    })
}

/// "Mutually-ordered": atomic, of one location by one reference, each in the other's scope instance.
fn mutually_ordered(graph: &Graph, a: EventId, b: EventId) -> bool {
    let (first, second) = (graph.event(a), graph.event(b));
    let place = first.location == second.location && first.reference == second.reference;
    a != b && place && first.label.atomic && second.label.atomic && graph.in_scope(a, b)
}

/// Whether a read that reads from `write` comes before `other`, given that those two are ordered.
fn read_before(graph: &Graph, analysis: &Analysis, (write, read): (EventId, EventId), other: EventId) -> bool {
    graph.event(write).thread.is_none() || mutually_ordered(graph, write, other) || analysis.ordered.has(write, read)
}

/// Whether a read that happens before `last` happens before what follows `last` in its thread and accesses the read's
/// location, where no access races. Happens-before goes on behind an acquire fence or barrier about the location's
/// class; the read does not synchronize itself, so all that orders it with `last` is about its own class.
fn excludes_later_writes(graph: &Graph, read: EventId, last: EventId) -> bool {
    let (read, last) = (graph.event(read).label, graph.event(last).label);
    let goes_on = matches!(last.kind, Kind::Fence | Kind::Barrier) && last.acquire;
    goes_on
        && last.semantics.includes(read.storage)
        && read.semantics == Classes::NONE
        && !read.private
        && graph.system_order().is_empty()
}

/// The relations that are computed from the graph alone.
struct Base<'g> {
    graph: &'g Graph,
    po: Relation,
    rf: Relation,
    ssw: Relation,
    acquires: Set,
    releases: Set,
}

impl<'g> Base<'g> {
    fn new(graph: &'g Graph) -> Self {
        let acquires = graph.set(|event| event.label.acquire);
        let releases = graph.set(|event| event.label.release);
        let po = graph.po();
        // The system's operations stand in threads of their own or in none; what precedes one in its thread takes part.
        let ssw = super::system_hops(graph, &po);
        Base { graph, po, rf: graph.rf(), ssw, acquires, releases }
    }

    /// "Happens-before": program order, and for each set of storage classes what synchronization about exactly
    /// those classes orders ("inter-thread-happens-before").
    fn happens_before(&self) -> Relation {
        let graph = self.graph;
        let sw = self.synchronizes_with();
        let mut used = 0;
        graph.events().iter().for_each(|event| used |= event.label.semantics.0 | event.label.storage.0);
        let mut hb = self.po.clone();
        for mask in (1..=used).filter(|mask| mask & !used == 0) {
            let about = graph.set(|event| event.label.semantics.includes(Classes(mask)));
            let touches = graph.set(|event| event.label.is_access() && event.label.storage.0 & mask != 0);
            let either = &about | &touches;
            let step = &self.ssw
                | &(sw.from(&about).to(&about)
                    | self.po.from(&either).to(&(&self.releases & &about))
                    | self.po.from(&(&self.acquires & &about)).to(&either));
            hb |= &step.plus();
        }
        hb
    }

    /// "Synchronizes-with": release and acquire, of atomics and fences, and barriers between fences.
    fn synchronizes_with(&self) -> Relation {
        let (graph, n) = (self.graph, self.graph.len());
        let fences = graph.set(|event| matches!(event.label.kind, Kind::Fence | Kind::Barrier));
        let (release_fence, acquire_fence) = (&fences & &self.releases, &fences & &self.acquires);
        let label = |event: EventId| graph.event(event).label;
        let about = |fence: EventId, access: EventId| label(fence).semantics.includes(label(access).storage);
        let from_fence = self.po.from(&release_fence).to(&graph.writes()).filter(about);
        let to_fence = self.po.from(&graph.reads()).to(&acquire_fence).filter(|read, fence| about(fence, read));
        let rf = self.rf.filter(|write, read| mutually_ordered(graph, write, read));
        // The release sequence: through read-modify-writes that read from one another.
        let sequence = rf.then(&graph.rmw()).plus().maybe();
        let released = Relation::identity(n, &self.releases) | from_fence;
        let acquired = Relation::identity(n, &self.acquires) | to_fence;
        let by_atomics = released.then(&sequence).then(&rf).then(&acquired);
        let barriers = graph.barrier_order().filter(|a, b| a != b && graph.in_scope(a, b));
        let near = self.po.maybe();
        let by_barriers = near.from(&release_fence).then(&barriers).then(&near.to(&acquire_fence));
        (by_atomics | by_barriers).filter(|a, b| graph.in_scope(a, b))
    }

    /// "Availability" and "visibility" chains, and "location-ordered".
    fn location_ordered(&self, hb: &Relation) -> Relation {
        let (graph, n) = (self.graph, self.graph.len());
        let available = |least: Level| {
            graph.set(|event| {
                let label = &event.label;
                let own = label.kind == Kind::Write && label.coherent;
                (own || makes_available(label)) && label.level >= least
            })
        };
        let visible = |least: Level| {
            graph.set(|event| {
                let label = &event.label;
                let own = label.kind == Kind::Read && label.coherent;
                (own || makes_visible(label)) && label.level >= least
            })
        };
        // The accesses to which an availability or visibility operation applies: those of its classes, or its own.
        let about = about(graph);
        let within = |level: Level| hb & &graph.sharing(level);
        let [in_subgroup, in_block, in_family, in_system] =
            [Level::Subgroup, Level::Block, Level::QueueFamily, Level::System].map(within);
        let (by_subgroup, by_block, by_family) = (&in_subgroup & &about, &in_block & &about, &in_family & &about);

        let avsg = Relation::identity(n, &available(Level::Subgroup));
        let from_subgroup = avsg.then(&by_subgroup).maybe();
        let avwg = from_subgroup.to(&available(Level::Block));
        let from_block = from_subgroup.then(&avwg.then(&by_block).maybe());
        let avqf = from_block.to(&available(Level::QueueFamily));
        let from_family = from_block.then(&avqf.then(&by_family).maybe());
        let avsh = from_family.to(&available(Level::Device));

        let vissg = Relation::identity(n, &visible(Level::Subgroup));
        let to_subgroup = by_subgroup.then(&vissg).maybe();
        let viswg = to_subgroup.from(&visible(Level::Block));
        let to_block = by_block.then(&viswg).maybe().then(&to_subgroup);
        let visqf = to_block.from(&visible(Level::QueueFamily));
        let to_family = by_family.then(&visqf).maybe().then(&to_block);
        let vissh = to_family.from(&visible(Level::Device));

        let shared = graph.set(|event| event.label.is_access() && !event.label.private);
        let (reads, writes) = (graph.reads(), graph.writes());
        let (shared_reads, shared_writes) = (&shared & &reads, &shared & &writes);
        let begin = &self.po.maybe().from(&shared_writes) & &about;
        let end = &self.po.maybe().to(&shared_reads) & &about;
        let mut via_chains = Relation::new(n);
        for (within, av, vis) in [
            (&in_subgroup, &avsg, &vissg),
            (&in_block, &avwg, &viswg),
            (&in_family, &avqf, &visqf),
            (&in_system, &avsh, &vissh),
        ] {
            let across = begin.then(av).then(within);
            via_chains |= &across.to(&shared_writes);
            via_chains |= &across.then(vis).then(&end);
        }
        let same_place = graph.same_location();
        let same_reference = |a: EventId, b: EventId| graph.event(a).reference == graph.event(b).reference;
        let own = hb & &graph.sharing(Level::Thread);
        let by_reference = (&(own | via_chains) & &same_place).filter(same_reference);

        let device_available = graph.set(|event| event.label.kind == Kind::MakeAvailable);
        let device_visible = graph.set(|event| event.label.kind == Kind::MakeVisible);
        let made_available = hb.from(&writes).to(&device_available).then(hb);
        let by_device = made_available.to(&writes) | made_available.to(&device_visible).then(hb).to(&reads);
        let after_reads = hb.from(&shared_reads).to(&shared);
        let by_system = self.ssw.plus().from(&reads);
        let all = by_reference | by_device | after_reads | by_system;
        &all & &same_place
    }
}

/// Whether an event is a release with MakeAvailable.
fn makes_available(label: &Label) -> bool {
    label.release && label.makes_available
}

/// Whether an event is an acquire with MakeVisible.
fn makes_visible(label: &Label) -> bool {
    label.acquire && label.makes_visible
}

/// "avvisinc": an availability operation applies to the accesses of its classes that come before it, a visibility
/// operation to those that come after it (Khronos' formal model since 2025, Vulkan-MemoryModel #40); an access's own
/// applies to its reference, in both directions.
fn about(graph: &Graph) -> Relation {
    let n = graph.len();
    // There are few sets of classes; for each the operations and the accesses that meet it.
    let mut of_classes: [Option<[Set; 2]>; 256] = [const { None }; 256];
    let mut meeting = |classes: Classes| {
        let known = of_classes[usize::from(classes.0)].get_or_insert_with(|| {
            let meets = |other: Classes| other.0 & classes.0 != 0;
            let operations = graph.set(|event| makes_available(&event.label) && meets(event.label.semantics));
            let accesses = graph.set(|event| event.label.is_access() && meets(event.label.storage));
            [operations, accesses]
        });
        known.clone()
    };
    let mut references: HashMap<(Option<LocationId>, u32), [Set; 2]> = HashMap::new();
    for (id, event) in graph.events().iter().enumerate().filter(|(_, event)| event.label.is_access()) {
        let key = (event.location, event.reference);
        let [all, coherent] = references.entry(key).or_insert_with(|| [Set::new(n), Set::new(n)]);
        all.insert(id);
        if event.label.coherent {
            coherent.insert(id);
        }
    }
    let mut about = Relation::new(n);
    for (id, event) in graph.events().iter().enumerate() {
        let mut row = Set::new(n);
        if event.label.is_access() {
            let [operations, _] = meeting(event.label.storage);
            row = &row | &operations;
        }
        if makes_visible(&event.label) {
            let [_, accesses] = meeting(event.label.semantics);
            row = &row | &accesses;
        }
        row.remove(id);
        if let Some([all, coherent]) = references.get(&(event.location, event.reference))
            && event.label.is_access()
        {
            row = &row | if event.label.coherent { all } else { coherent };
        }
        about.insert_all(id, &row);
    }
    about
}
