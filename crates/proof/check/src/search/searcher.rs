//! The state shared by the steps of a search: setup, visitor, counts, limits, and the open states.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use rustc_hash::FxHashSet;
use wattle_core::lock;
use wattle_memory::{Analysis, stop};

use super::limit::Watch;
use super::process::Address;
use super::settle::settle;
use super::state::{MixedCells, SearchState};
use super::values::Values;
use super::{Problem, Setup, Statistics, Stopped, Visitor};

/// The reason why the search stops.
pub(super) enum Halt {
    BrokenOff,
    Stopped(Stopped),
    Problem(Problem),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Halt {
        Halt::Problem(problem)
    }
}

/// The search of one worker: the state that each of its steps needs.
pub(super) struct Search<'s, 'w> {
    pub setup: &'s Setup<'w>,
    pub statistics: Statistics,
    pub watch: Watch<'s>,
    /// The limit that was reached within a step.
    pub stopped: Option<Stopped>,
    /// The reads in waiting loops that the visitor knows of.
    pub waits: FxHashSet<u32>,
    /// The state that the searches of several workers share.
    pub shared: &'s Global<'s>,
}

/// What all workers share: the visitor, to which they report one at a time, and the results found once for all states.
pub(super) struct Global<'s> {
    visitor: Mutex<&'s mut dyn Visitor>,
    pub values: OnceLock<Values>,
    /// The executions that were built on a guess, or beside one.
    pub guessed: Mutex<HashSet<u128>>,
    /// The cells that are known to be mixed.
    pub mixed: MixedCells,
    /// The cells that this search has found to be mixed.
    pub found_mixed: Arc<Mutex<FxHashSet<Address>>>,
    /// The events that are left to the steps of a search of the executions that are cut off at the bounds of loops;
    /// `None` for the search of all others.
    pub cut_off: Option<AtomicU32>,
}

impl<'s> Global<'s> {
    pub fn new(
        visitor: &'s mut dyn Visitor,
        mixed: MixedCells,
        found_mixed: Arc<Mutex<FxHashSet<Address>>>,
    ) -> Global<'s> {
        let visitor = Mutex::new(visitor);
        Global { visitor, values: OnceLock::new(), guessed: Mutex::default(), mixed, found_mixed, cut_off: None }
    }

    /// The search of the executions that are cut off, whose steps look at no more events than these.
    pub fn of_cut_off(self, events: u32) -> Global<'s> {
        Global { cut_off: Some(AtomicU32::new(events)), ..self }
    }
}

/// A state still to be searched, and the model's analysis of it or of an earlier state from which it has grown.
pub(super) struct Open<'w> {
    pub state: SearchState<'w>,
    pub known: Option<Known>,
}

/// The model's analysis of a graph.
#[derive(Clone)]
pub(super) struct Known {
    pub analysis: Arc<Analysis>,
    /// The revision of the graph.
    revision: u64,
}

impl Known {
    /// Whether the state's graph has not changed since.
    pub fn is_of(&self, state: &SearchState<'_>) -> bool {
        self.revision == state.graph.revision()
    }
}

impl<'s, 'w> Search<'s, 'w> {
    /// A search of one worker.
    pub fn new(setup: &'s Setup<'w>, shared: &'s Global<'s>) -> Self {
        let (statistics, watch) = (Statistics::default(), Watch::new(&setup.limits));
        Search { setup, statistics, watch, stopped: None, waits: FxHashSet::default(), shared }
    }

    /// The visitor, for this worker alone.
    pub fn visitor(&self) -> MutexGuard<'s, &'s mut dyn Visitor> {
        lock(&self.shared.visitor)
    }

    /// Runs all threads until each has ended or waits for a choice.
    pub fn settle(&mut self, state: &mut SearchState<'_>) -> Result<(), Halt> {
        settle(self.setup, state)?;
        self.was_not_ended_early()
    }

    /// The analysis of a state's graph; `None` where an axiom is broken.
    pub fn analyse(&mut self, state: &SearchState<'_>) -> Result<Option<Known>, Halt> {
        let analysed = self.setup.model.analyse(&state.graph);
        self.was_not_ended_early()?;
        let revision = state.graph.revision();
        Ok(analysed.ok().map(|analysis| Known { analysis: Arc::new(analysis), revision }))
    }

    /// Fails where a limit has ended a long computation early: its result is meaningless, so no conclusion is drawn.
    pub fn was_not_ended_early(&mut self) -> Result<(), Halt> {
        if !stop::requested_before() {
            return Ok(());
        }
        // The time stays up and a cancelled search cancelled, but memory may have been returned since.
        let limits = &self.setup.limits;
        let earlier = if limits.memory.is_some() { Stopped::Memory } else { Stopped::Cancelled };
        let limit = self.watch.check().unwrap_or(earlier);
        self.stopped = Some(limit);
        Err(Halt::Stopped(limit))
    }

    /// Fails where a limit has been reached. It is asked before each copy of a state: one state may have thousands of
    /// branches.
    pub fn is_within_limits(&mut self) -> Result<(), Halt> {
        self.watch.check().map_or(Ok(()), |limit| Err(Halt::Stopped(limit)))
    }

    /// Whether executions are searched that are cut off at the bounds of loops.
    pub fn cuts_off(&self) -> bool {
        self.shared.cut_off.is_some()
    }

    /// Counts a step of a graph with these events; fails where a search of executions that are cut off has seen as many
    /// as it may.
    pub fn count_step(&self, events: usize) -> Result<(), Halt> {
        let less = |left: u32| left.checked_sub(events as u32);
        let count = |left: &AtomicU32| left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let is_over = self.shared.cut_off.as_ref().is_some_and(|left| count(left).is_err());
        if is_over { Err(Halt::Stopped(Stopped::Cancelled)) } else { Ok(()) }
    }

    /// Whether a limit was reached, which ends the step.
    pub fn is_stopped(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.watch.check());
        self.stopped.is_some()
    }
}
