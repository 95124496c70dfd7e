//! The memory models: which executions are possible.
//!
//! Each model is one file of relations and axioms that reads like its specification. Their common part is in this
//! module: a model is asked about a [`Graph`] that may still grow, and answers with what follows already ([`Analysis`])
//! or with the axiom that every extension breaks too ([`Broken`]). All relations are monotone: another event, source or
//! order never removes a pair.
//!
//! No model here allows values out of thin air: (rf ∪ dependency) is acyclic in whatever the search builds, since it
//! adds a write only when everything that the write depends on is known. So no file states that axiom.

mod coherence;
mod definition;
mod merging;
mod portable;
mod ptx;
mod rust;
mod sc;
mod unordered;
mod vulkan;

use std::fmt;
use std::str::FromStr;

use definition::Definitions;
pub use definition::Term;

use crate::event::{EventId, Kind};
use crate::{Clause, Graph, Label, Relation, Target};

/// The functions that define a model. Each model's file sets all of them; none has a default.
struct Rules {
    /// The name on the command line.
    name: &'static str,
    /// The target whose lowered programs it judges if no other is named.
    target: Target,
    /// Computes what follows from a graph, or the axiom that it breaks.
    analyse: fn(&Graph) -> Result<Analysis, Broken>,
    /// Whether coherence orders every two such writes of one location.
    orders_writes: fn(&Graph, EventId, EventId) -> bool,
    /// Whether the last write, which happens before the read, certainly comes between it and the first write.
    comes_between: fn(&Graph, &Analysis, (EventId, EventId), EventId) -> bool,
    /// Whether the order of sequentially consistent fences must be found.
    orders_fences: bool,
    /// Whether accesses through different references to a location are not those through one.
    has_references: bool,
    /// Whether synchronization is about storage classes, each by itself.
    has_classes: bool,
    /// Whether a thread's accesses to cells that no other thread uses can order its other accesses.
    private_cells_order: bool,
    /// Whether vector clocks that know program order, barriers, launches, and the releases of additions to a counter
    /// tell what is ordered in each execution, where nothing else synchronizes.
    clocks_order_counters: bool,
    /// Whether all additions to a counter come before whatever the thread of the last one does next, plain writes of
    /// the counter included.
    orders_observed_additions: bool,
    /// Whether two threads synchronize by a read of what the other wrote, as far as that follows from the scopes and
    /// orders of the two accesses and of the fences around them.
    observed: Observed,
    /// Whether the read, which happens before the event `last`, reads from nothing that `last`'s thread does behind it.
    excludes_later_writes: fn(&Graph, EventId, EventId) -> bool,
    /// What two events in the arms of a branch are that a compiler may make one, if it may.
    merged: fn(Label, Label) -> Option<Label>,
    /// The conflicting accesses that race.
    races: Races,
    /// The specification's words for what stories explain.
    definitions: Definitions,
}

/// What scopes and orders alone tell about a read of what another thread wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Scopes and orders tell nothing: no read orders anything, everything is ordered anyhow, or more decides it.
    Undecided,
    /// A release and an acquire in each other's scope synchronize, and so does whatever lets a weak read see a write
    /// without a race.
    Decided,
    /// A pair is decided as in [`Observed::Decided`], but for a weak read of a strong write: that it does not race does
    /// not say that what comes before the write comes before it.
    DecidedExceptStrong,
}

/// Whether conflicting, unordered accesses race.
#[derive(Clone, Copy)]
enum Races {
    /// No accesses race.
    Never,
    /// Such accesses race, and it only means that the values of weak accesses are not certain.
    Allowed(Race),
    /// Such accesses race, and a race is an error in itself.
    Forbidden(Race),
}

/// The definition of a data race.
#[derive(Clone, Copy)]
struct Race {
    /// The conflicting, unordered accesses that do not race.
    except: fn(&Graph, EventId, EventId) -> bool,
    /// The definition in the specification's words.
    clause: Clause,
}

/// Whether both accesses are atomic.
fn both_atomic(graph: &Graph, a: EventId, b: EventId) -> bool {
    graph.event(a).label.atomic && graph.event(b).label.atomic
}

macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident $file:ident;)+) => {
        /// A memory model.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Model {
            $($(#[$doc])* $variant,)+
        }

        impl Model {
            /// All models.
            pub const ALL: [Model; [$(Model::$variant),+].len()] = [$(Model::$variant),+];

            const fn rules(self) -> &'static Rules {
                match self {
                    $(Model::$variant => &$file::RULES,)+
                }
            }
        }
    };
}
models! {
    /// What Wattle promises on every device: the default.
    Portable portable;
    /// The PTX memory model: PTX ISA 8.5, section 8.
    Ptx ptx;
    /// The Vulkan memory model, with availability and visibility chains.
    Vulkan vulkan;
    /// C++20's model as Rust takes it.
    Rust rust;
    /// Sequential consistency: all interleavings.
    Sc sc;
    /// The textbook's counting model: accesses of a thread to different places happen in any order, except across
    /// fences.
    Unordered unordered;
}

impl Model {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.rules().name
    }

    /// The target whose lowered programs the model judges if no other is named.
    pub fn target(self) -> Target {
        self.rules().target
    }

    /// Computes what follows from the graph.
    ///
    /// # Errors
    /// The axiom that the graph breaks, and that every graph it can grow into breaks too.
    pub fn analyse(self, graph: &Graph) -> Result<Analysis, Broken> {
        (self.rules().analyse)(graph)
    }

    /// Whether coherence orders every two such writes of one location. Other writes are ordered only where an axiom
    /// forces it.
    pub fn orders_writes(self, graph: &Graph, a: EventId, b: EventId) -> bool {
        (self.rules().orders_writes)(graph, a, b)
    }

    /// Whether a read that is made again and again sees a write in the end. They are atomic with regard to each other
    /// where the model permits races; where it does not, nothing is said of what a racing read would see. No
    /// specification says that a weak load, which may be made once for all of them, or a load out of the store's scope
    /// ever finds what was written.
    pub fn comes_to_see(self, graph: &Graph, read: EventId, write: EventId) -> bool {
        self.forbids_races() || self.orders_writes(graph, read, write)
    }

    /// Whether a read cannot read from a write of its location, since another write certainly comes between them.
    pub fn hides(self, graph: &Graph, analysis: &Analysis, write: EventId, read: EventId) -> bool {
        analysis.coherence.after(write).any(|other| {
            let before = analysis.causality.has(other, read) && graph.event(other).label.kind == crate::Kind::Write;
            before && (self.rules().comes_between)(graph, analysis, (write, read), other)
        })
    }

    /// Whether executions have an order of sequentially consistent fences that must be found. If not, the other
    /// relations contain all that is known about fences.
    pub fn orders_fences(self) -> bool {
        self.rules().orders_fences
    }

    /// Whether accesses to one location through different references differ from accesses through one, as in Vulkan's
    /// model, whose availability and visibility go by reference.
    pub fn has_references(self) -> bool {
        self.rules().has_references
    }

    /// Whether synchronization is about storage classes, each by itself, as in Vulkan's model: a barrier that is about
    /// the memory of blocks orders no accesses of buffers.
    pub fn has_classes(self) -> bool {
        self.rules().has_classes
    }

    /// What scopes and orders alone tell about a read of what another thread wrote.
    pub fn observed(self) -> Observed {
        self.rules().observed
    }

    /// Whether what a thread does with a cell that no other thread uses can order its other accesses. If not, such
    /// accesses can stay out of graphs.
    pub fn private_cells_order(self) -> bool {
        self.rules().private_cells_order
    }

    /// Whether vector clocks that know program order, barriers of blocks, launches, and what additions to a counter
    /// have released tell what is ordered in each execution, if nothing else synchronizes there.
    pub fn clocks_order_counters(self) -> bool {
        self.rules().clocks_order_counters
    }

    /// Whether all additions to a counter come before what the thread of the last one does next to that counter, by
    /// whichever accesses: in PTX, what an operation observes comes before it in causality order (PTX ISA 8.8, 8.9.5
    /// "Causality Order").
    pub fn orders_observed_additions(self) -> bool {
        self.rules().orders_observed_additions
    }

    /// Whether a read, which happens before the event `last`, can read from nothing that `last`'s thread does behind
    /// it, where no accesses race that may not.
    pub fn excludes_later_writes(self, graph: &Graph, read: EventId, last: EventId) -> bool {
        (self.rules().excludes_later_writes)(graph, read, last)
    }

    /// What two events in the arms of a branch are together if they are one instruction: with the narrower scope, and
    /// the order that both have. `None` if they are two.
    pub fn merged(self, one: Label, other: Label) -> Option<Label> {
        (self.rules().merged)(one, other)
    }

    /// Whether two fences take part in one order.
    pub fn fences_meet(self, graph: &Graph, a: EventId, b: EventId) -> bool {
        self.orders_fences() && graph.event(a).label.sc && graph.event(b).label.sc && graph.in_scope(a, b)
    }

    /// The data races of a finished graph: conflicting accesses that nothing orders and that are not atomic enough to
    /// be left unordered. Each pair is listed once, in the order of the events' numbers.
    pub fn races(self, graph: &Graph, analysis: &Analysis) -> Vec<(EventId, EventId)> {
        let mut accesses = vec![Vec::new(); graph.locations()];
        for (id, event) in graph.events().iter().enumerate() {
            event.location.into_iter().for_each(|location| accesses[location].push(id));
        }
        let mut races = Vec::new();
        for events in &accesses {
            for (at, &b) in events.iter().enumerate() {
                let ordered = |a| analysis.ordered.has(a, b) || analysis.ordered.has(b, a);
                let racing = events[..at].iter().filter(|&&a| self.may_race(graph, a, b) && !ordered(a));
                races.extend(racing.map(|&a| (a, b)));
            }
        }
        races.sort_unstable();
        races
    }

    /// Whether two events are conflicting accesses that race unless something orders them: they are not atomic enough
    /// to be left unordered.
    pub fn may_race(self, graph: &Graph, a: EventId, b: EventId) -> bool {
        let (Races::Allowed(race) | Races::Forbidden(race)) = self.rules().races else { return false };
        let (first, second) = (graph.event(a), graph.event(b));
        let access =
            |event: &crate::Event| event.thread.is_some() && event.label.is_access() && event.location.is_some();
        a != b
            && access(first)
            && access(second)
            && first.location == second.location
            && (first.label.kind == crate::Kind::Write || second.label.kind == crate::Kind::Write)
            && graph.other_half(a) != Some(b)
            && !(race.except)(graph, a, b)
    }

    /// Whether accesses can race under the model.
    pub fn has_races(self) -> bool {
        match self.rules().races {
            Races::Never => false,
            Races::Allowed(_) | Races::Forbidden(_) => true,
        }
    }

    /// The specification's definition of a data race; `None` where accesses cannot race.
    pub fn race_clause(self) -> Option<Clause> {
        match self.rules().races {
            Races::Never => None,
            Races::Allowed(race) | Races::Forbidden(race) => Some(race.clause),
        }
    }

    /// How the specification defines a term; `None` where it has no such term, or where the model follows none.
    pub const fn definition(self, term: Term) -> Option<Clause> {
        self.rules().definitions.of(term)
    }

    /// Whether a data race is an error in itself; if not, it only means that the values of weak accesses are not
    /// certain.
    pub const fn forbids_races(self) -> bool {
        matches!(self.rules().races, Races::Forbidden(_))
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        Model::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| UnknownModel(name.to_owned()))
    }
}

/// The names of all models, formatted for a sentence.
fn names() -> String {
    let names = Model::ALL.map(Model::name);
    let (last, others) = names.split_last().expect("there are models");
    format!("{} or {last}", others.join(", "))
}

/// An error for a name that no model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no memory model `{0}`: write {names}", names = names())]
pub struct UnknownModel(pub String);

/// The consequences of a graph under a model.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The order that keeps two accesses from racing.
    pub ordered: Relation,
    /// The order from which everything that prevents races is derived: an access before which nothing new can happen
    /// has all its possible sources.
    pub happens_before: Relation,
    /// The order that reads-from and from-reads may not contradict: a read reads from no write that comes after it, nor
    /// from one that coherence puts before a write that comes before the read.
    pub causality: Relation,
    /// The known order of the writes of each location.
    pub coherence: Relation,
}

/// An axiom that a graph breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The specification's name for the axiom.
    pub axiom: &'static str,
    /// The section of the specification.
    pub section: &'static str,
}

/// `Err` with that axiom if the condition does not hold.
fn require(holds: bool, axiom: &'static str, section: &'static str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(Broken { axiom, section }) }
}

/// The order that barriers give: what precedes an arrival comes before what follows a passage.
fn barrier_hops(graph: &Graph, po: &Relation) -> Relation {
    let order = graph.barrier_order();
    if order.is_empty() {
        return order;
    }
    // A thread may go from one barrier to the next with nothing between them that a hop could end in.
    let onward = next_barriers(graph).then(&order);
    let order = if onward.is_empty() { order } else { &order | &order.then(&onward.plus()) };
    po.then(&order).then_transitive(po)
}

/// From each barrier to the one that its thread comes to next, where nothing stands between them.
fn next_barriers(graph: &Graph) -> Relation {
    let mut next = Relation::new(graph.len());
    let mut last: Vec<Option<EventId>> = vec![None; graph.threads().len()];
    for event in 0..graph.len() {
        let Some(thread) = graph.event(event).thread else { continue };
        let is_barrier = |event: EventId| graph.event(event).label.kind == Kind::Barrier;
        if let Some(before) = last[thread].replace(event).filter(|&before| is_barrier(before) && is_barrier(event)) {
            next.insert(before, event);
        }
    }
    next
}

/// The order that the system gives: what is not after `first` in its thread comes before what is not before `second` in
/// its own.
fn system_hops(graph: &Graph, po: &Relation) -> Relation {
    let order = graph.system_order();
    if order.is_empty() { order } else { po.maybe().then(&order).then(&po.maybe()) }
}
