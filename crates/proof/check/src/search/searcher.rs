//! What the steps of a search share: its setup, its visitor, its counts and limits, and the states that are still open.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_memory::Analysis;

use super::limit::Watch;
use super::process::Process;
use super::state::State;
use super::values::Values;
use super::{Problem, Setup, Statistics, Stopped};

/// Why the search does not go on.
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

/// A search of one worker: what every step of it needs.
pub(super) struct Search<'s, 'a, P: Process, V> {
    pub setup: &'s Setup<'a, P>,
    pub visitor: &'s mut V,
    pub statistics: Statistics,
    pub watch: Watch<'s>,
    /// The limit that was reached within a step.
    pub stopped: Option<Stopped>,
    /// What searches of several workers share.
    pub shared: &'s Global,
}

/// What is found once for all states, and shared by all workers.
#[derive(Default)]
pub(super) struct Global {
    pub values: OnceLock<Values>,
    /// The executions that were built on a guess, or beside one.
    pub guessed: Mutex<HashSet<u128>>,
}

/// A state that is still to be searched, and what the model said of it, or of one that it has grown from.
pub(super) struct Open<P> {
    pub state: State<P>,
    pub known: Option<Arc<Analysis>>,
}

impl<P: Process> Open<P> {
    /// The state from which everything begins.
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
