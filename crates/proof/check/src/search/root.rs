//! The state at which a search begins.

use std::sync::Arc;

use super::ignored::circle_reads;
use super::searcher::{Global, Open};
use super::state::SearchState;
use super::values::Values;
use super::{Dependencies, Setup};

impl<'w> Open<'w> {
    /// The state of the search before any thread has run.
    pub fn root(setup: &Setup<'w>, global: &Global<'_>) -> Self {
        let values = || global.values.get_or_init(|| Values::find(setup));
        let ignores = setup.dependencies == Dependencies::Ignored;
        let circle_reads = ignores.then(|| Arc::new(circle_reads(setup, values())));
        Open {
            state: SearchState { mixed: global.mixed.clone(), circle_reads, ..SearchState::new(setup) },
            known: None,
        }
    }
}
