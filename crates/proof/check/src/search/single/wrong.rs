//! Runs that end at a race or a fault.
//!
//! A run is an interleaving, which every model permits. So a fault in it is one of the program's.
//!
//! As long as nothing but barriers and the ends of launches can have ordered threads ([`Order`](super::Order)), the
//! structural clocks are all of happens-before. So two conflicting accesses that they do not order race in an execution
//! that begins as the run has: the run is an interleaving, which every model permits, and an execution of its beginning
//! is the beginning of an execution. A search would show the same after relating all events of the program; where these
//! are many, the two accesses alone are shown.

use wattle_memory::{Analysis, Classes, EventId, Graph, Kind, Label, Level, LocationId, ThreadId};

use super::super::boundaries::placements;
use super::super::process::{AccessTarget, Address};
use super::super::{Execution, Fault, Setup};
use super::{Accesses, Cell, Epoch, Runs, Status, Updates};

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Two accesses race.
    Race(EventId, EventId),
    /// A thread has a fault.
    Fault(Fault),
}

/// A run with which something is wrong. Of a race the graph has the two accesses alone, of a fault what came before
/// where that is not much.
#[derive(Debug)]
pub struct WrongRun {
    /// The graph.
    pub graph: Graph,
    /// The analysis of the graph under the model.
    pub analysis: Analysis,
    /// What is wrong.
    pub wrong: Wrong,
    /// The cells, in ascending order, and their locations in the graph.
    pub cells: Vec<(Address, LocationId)>,
    /// The number of accesses, fences and arrivals at barriers up to there.
    pub events: u64,
}

impl WrongRun {
    /// What is shown, as an execution of the program.
    pub fn execution<'a>(&'a self, setup: &'a Setup<'_>) -> Execution<'a> {
        Execution {
            graph: &self.graph,
            analysis: &self.analysis,
            endings: vec![&self.analysis],
            threads: setup.threads.iter().map(|spawn| &spawn.process).collect(),
            faults: match self.wrong {
                Wrong::Race(..) => Vec::new(),
                Wrong::Fault(fault) => vec![fault],
            },
            stuck: Vec::new(),
            ignored: Vec::new(),
            cells: self.cells.clone(),
        }
    }
}

/// Whether the program has a single execution up to a fault: no order of its accesses keeps a thread from that.
pub fn always_faults(setup: &Setup<'_>) -> bool {
    let mut runs = Runs::new(setup, Updates::Conflict, None);
    let is_fault = |wrong: &WrongRun| matches!(wrong.wrong, Wrong::Fault(_));
    setup.system.is_empty() && runs.run().is_none() && runs.wrong.as_deref().is_some_and(is_fault)
}

/// An access that a run has come to.
#[derive(Clone, Copy)]
pub(super) struct ReachedAccess {
    pub thread: ThreadId,
    pub target: AccessTarget,
    pub label: Label,
    pub source: u32,
    /// What the cell has after it.
    pub value: u64,
}

impl Runs<'_, '_> {
    /// Ends the run at an access that may race with an earlier one of its cell. It is shown where the run has no graph.
    pub(super) fn end_at<T>(&mut self, access: ReachedAccess, cell: &Cell) -> Option<T> {
        let is_long = self.graph.is_none() || self.updates == Updates::OneOfSeveral;
        if is_long && !self.order.is_uncertain() {
            let race = self.earlier(access, cell).and_then(|earlier| self.between(earlier, access, cell));
            // A fault before it may come of what is read too early.
            self.wrong = race.or_else(|| self.wrong.take());
        }
        None
    }

    /// Ends a thread at a fault. The others go on, since one of them may race with it.
    pub(super) fn end_at_fault(&mut self, fault: Fault) -> Option<()> {
        if self.wrong.is_none() {
            let graph = self.graph.take();
            let mut cells: Vec<_> = match graph {
                Some(_) => self.cells.iter().map(|(&address, cell)| (address, cell.location)).collect(),
                None => Vec::new(),
            };
            cells.sort_unstable();
            let graph = graph.unwrap_or_else(|| Graph::new(placements(self.setup)));
            let analysis = self.setup.model.analyse(&graph).ok()?;
            let (wrong, events) = (Wrong::Fault(fault), self.events);
            self.wrong = Some(Box::new(WrongRun { graph, analysis, wrong, cells, events }));
        }
        (self.graph, self.failed, self.faulted) = (None, true, true);
        self.runners[fault.thread].status = Status::Done;
        Some(())
    }

    /// An earlier access of the cell that conflicts with one, and that nothing orders before it.
    fn earlier(&self, access: ReachedAccess, cell: &Cell) -> Option<(Kind, Epoch)> {
        let ReachedAccess { thread, label, .. } = access;
        let unordered = |epoch: Epoch| epoch.thread != thread && !self.is_before(epoch, thread, cell.class);
        let among = |accesses: &Accesses| {
            let mut all = accesses.iter().flat_map(|(_, recent)| [Some(recent.last), recent.other]).flatten();
            all.find(|&epoch| unordered(epoch))
        };
        let writer = cell.writer.filter(|&writer| unordered(writer)).or_else(|| among(&cell.alike));
        let writer = writer.map(|writer| (Kind::Write, writer));
        let reader = || among(&cell.reads).map(|read| (Kind::Read, read));
        writer.or_else(|| if label.kind == Kind::Write { reader() } else { None })
    }

    /// The race between two accesses, if the model says so.
    fn between(&self, (kind, earlier): (Kind, Epoch), access: ReachedAccess, cell: &Cell) -> Option<Box<WrongRun>> {
        let ReachedAccess { thread, target, label, source, value: after } = access;
        // Of an atomic access before it no more is known, and whatever its scope is, a plain one races with it.
        let before = Label {
            kind,
            atomic: earlier.atomic,
            private: label.private && !earlier.atomic,
            acquire: false,
            release: false,
            sc: false,
            level: if earlier.atomic { Level::Device } else { Level::Thread },
            semantics: Classes(0),
            makes_available: false,
            makes_visible: false,
            ..label
        };
        let initial = self.setup.memory.initial(target.address);
        let initially = (initial.value, initial.unwritten);
        let mut graph = Graph::new(placements(self.setup));
        // What an earlier read has found is what the cell had then: no write came between.
        let (value, unwritten) = if kind == Kind::Read { (cell.value, cell.unwritten) } else { initially };
        let location = graph.add_location(value, unwritten);
        let mut add = |thread, label: Label, source, (reference, value), from: Option<EventId>| {
            let event = graph.add(thread, label, source);
            graph.set_location(event, location, reference);
            graph.set_value(event, value);
            if label.kind == Kind::Read {
                graph.set_source(event, from.unwrap_or(graph.initial(location)));
            }
            event
        };
        let first = add(earlier.thread, before, earlier.source, (cell.reference, cell.value), None);
        let second = add(thread, label, source, (target.reference, after), Some(first).filter(|_| kind == Kind::Write));
        let model = self.setup.model;
        let analysis = model.analyse(&graph).ok()?;
        let races = model.races(&graph, &analysis);
        let is_it = |&(one, other): &(EventId, EventId)| (one.min(other), one.max(other)) == (first, second);
        let (first, second) = races.into_iter().find(is_it)?;
        let (wrong, cells) = (Wrong::Race(first, second), vec![(target.address, location)]);
        Some(Box::new(WrongRun { graph, analysis, wrong, cells, events: self.events }))
    }
}
