//! The state shared by the steps of a search: setup, visitor, counts, limits, and the open states.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_memory::Analysis;

use super::limit::Watch;
use super::process::Process;
use super::state::State;
use super::values::Values;
use super::{Problem, Setup, Statistics, Stopped};

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
pub(super) struct Search<'s, 'a, P: Process, V> {
    pub setup: &'s Setup<'a, P>,
    pub visitor: &'s mut V,
    pub statistics: Statistics,
    pub watch: Watch<'s>,
    /// The limit that was reached within a step.
    pub stopped: Option<Stopped>,
    /// The state that the searches of several workers share.
    pub shared: &'s Global,
}

/// The results found once for all states and shared by all workers.
#[derive(Default)]
pub(super) struct Global {
    pub values: OnceLock<Values>,
    /// The executions that were built on a guess, or beside one.
    pub guessed: Mutex<HashSet<u128>>,
}

/// A state still to be searched, and the model's analysis of it or of an earlier state from which it has grown.
pub(super) struct Open<P> {
    pub state: State<P>,
    pub known: Option<Arc<Analysis>>,
}

impl<P: Process> Open<P> {
    /// The initial state.
    pub fn root(setup: &Setup<'_, P>) -> Self {
        Open { state: State::new(setup), known: None }
    }
}

impl<P: Process, V> Search<'_, '_, P, V> {
    /// Whether a limit was reached, which ends the step.
    pub fn is_stopped(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.watch.check());
        self.stopped.is_some()
    }
}
