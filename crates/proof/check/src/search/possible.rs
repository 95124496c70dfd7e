//! Which choices are possible: what comes of one is looked at before it becomes a branch.
//!
//! A source of a read is left out where the graph with it breaks an axiom, which every extension breaks too; where it
//! sends a thread past what was added as certain; and where some read is then left without any source. These are the
//! conditions on which the search abandons a state ([`Search::is_infeasible`], [`leaf`](super::leaf)), asked when the
//! state is made: no execution is lost by them, and a read all of whose sources are left out ends its state at once.
//! The analysis is kept for the branch.

use wattle_memory::ThreadId;

use super::Dependencies;
use super::determined::{When, determine};
use super::gates::open_gate;
use super::ignored::ignorable;
use super::leaf::has_no_leaf;
use super::searcher::{Halt, Known, Open, Search};
use super::state::{Runner, SearchState, Status};

impl<'w> Search<'_, 'w> {
    /// A state right after a choice as a branch, unless it is seen already that no execution comes of it. `earlier` is
    /// the analysis of a state from which it has grown.
    pub(super) fn possible(&mut self, mut state: SearchState<'w>, earlier: &Known) -> Result<Option<Open<'w>>, Halt> {
        let guess = determine(self.setup, &mut state, &self.shared.values, When::Early)?;
        if state.is_broken() || state.breaks_promise() {
            self.count_dependent(&state);
            return Ok(None);
        }
        let known = (!std::mem::take(&mut state.renumbered)).then(|| earlier.clone());
        if let Some(guess) = guess {
            // It is made when the state is searched.
            guess.forget(&mut state);
            return Ok(Some(Open { state, known }));
        }
        if self.watch.exceeds_memory(state.graph.len()) {
            return Ok(Some(Open { state, known }));
        }
        match self.analyse(&state)? {
            Some(now) if !self.is_doomed(&state, &now) => Ok(Some(Open { state, known: Some(now) })),
            Some(_) | None => {
                self.count_dependent(&state);
                Ok(None)
            }
        }
    }

    /// Whether no execution comes of a state, as far as it is known without comparing more completions of threads.
    fn is_doomed(&mut self, state: &SearchState<'_>, now: &Known) -> bool {
        // What a thread at a bound or in a waiting loop shows is for the step that searches the state.
        let shows = |runner: &Runner<'_>| matches!(runner.status, Status::Bounded | Status::Endless | Status::Spins);
        if state.runners.iter().any(shows) {
            return false;
        }
        let choices = self.choices(state, &now.analysis);
        let goes_on = |thread: ThreadId| choices.iter().any(|choice| choice.thread == thread && choice.goes_on());
        // A thread whose completions have not been compared may be sure to write.
        let open = |(thread, runner): (ThreadId, &Runner<'_>)| {
            runner.waiting.is_some() && !runner.compared && !goes_on(thread)
        };
        if self.setup.dependencies != Dependencies::AsWritten && state.runners.iter().enumerate().any(open) {
            return false;
        }
        let gate = open_gate(state).is_some();
        if choices.is_empty() && !gate {
            let ignores = (0..state.runners.len()).any(|thread| ignorable(state, thread).is_some());
            !ignores && has_no_leaf(self, state, &now.analysis)
        } else {
            self.is_infeasible(state, &now.analysis, &choices, gate)
        }
    }
}
