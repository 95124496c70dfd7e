//! The read to give a source next.

use wattle_memory::{Analysis, EventId, ThreadId};

use super::Setup;
use super::choices::{Choice, may_wait};
use super::feasibility::{Feasible, later};
use super::gates::open_gate;
use super::ignored::may_ignore;
use super::searcher::Search;
use super::state::{Runner, SearchState, Status};

/// The read to branch on, of those that may be.
///
/// One for which no further write can come goes first: every branch of it has a source that is there, and none waits in
/// vain. Then a read that blocks its thread: the more threads have ended, the fewer writes are still to come. Of those
/// a read-modify-write, whose place in the order of writes decides most; but in a loop the first of its thread, since
/// only an iteration whose reads have values can turn out to change nothing.
pub(super) fn best<'c>(
    setup: &Setup<'_>,
    state: &SearchState<'_>,
    analysis: &Analysis,
    choices: &'c [Choice],
    may_be: impl Fn(&Choice) -> bool,
) -> Option<&'c Choice> {
    if let [only] = choices {
        return Some(only).filter(|only| may_be(only));
    }
    let gate = open_gate(state).is_some();
    let group = |choice: &Choice| {
        let in_loop = !choice.first && !state.runners[choice.thread].heads.is_empty();
        (!choice.goes_on(), in_loop)
    };
    let place = |choice: &Choice| {
        let ended = state.runners[choice.thread].status == Status::Done;
        let update = state.graph.other_half(choice.read).is_some();
        (ended, !update, !choice.first, choice.sources.len())
    };
    let mut order: Vec<&Choice> = choices.iter().filter(|choice| may_be(choice)).collect();
    order.sort_by_key(|choice| (group(choice), place(choice)));
    let first = *order.first()?;
    let going = choices.iter().filter(|choice| choice.goes_on()).count();
    // To ask whether a write can come takes longer than all else.
    let mut feasible = Feasible::new(setup, state, analysis, choices);
    let mut may_come = |choice: &Choice| {
        let others = gate || going > usize::from(choice.goes_on());
        choice.goes_on() && others && feasible.later(choice.read, gate)
    };
    let mut of_group = order.iter().copied().take_while(|choice| group(choice) == group(first));
    let best = of_group.find(|choice| !may_come(choice)).unwrap_or(first);
    // A plain read has one source once all that comes before it is decided.
    let comes_before = |other: &&Choice| analysis.happens_before.has(other.read, best.read);
    let is_plain = setup.assume_race_free && !state.graph.event(best.read).label.atomic;
    Some(order.into_iter().filter(|_| is_plain).find(comes_before).unwrap_or(best))
}

impl Search<'_, '_> {
    /// A read that has one source, while no other can still come.
    pub(super) fn forced(&self, state: &SearchState<'_>, analysis: &Analysis) -> Option<(ThreadId, EventId, EventId)> {
        let choices = self.choices(state, analysis);
        let choice = best(self.setup, state, analysis, &choices, |_| true)?;
        // A thread whose completions have not been compared may be sure to write, unless it continues anyway.
        let goes_on = |thread: ThreadId| choices.iter().any(|choice| choice.thread == thread && choice.goes_on());
        let open = |(thread, runner): (ThreadId, &Runner<'_>)| {
            runner.waiting.is_some() && !runner.compared && !goes_on(thread)
        };
        if state.runners.iter().enumerate().any(open) {
            return None;
        }
        let [source] = choice.sources[..] else { return None };
        let others = may_ignore(state, choice.thread)
            || choices.iter().any(|other| other.read != choice.read && other.goes_on());
        let mut spinning = state.spinning(choice.read).cloned().unwrap_or_default();
        choice.spinning.iter().for_each(|&write| spinning.insert(write));
        if may_wait(self.setup, state, analysis, choice.read, &spinning) || open_gate(state).is_some() {
            return None;
        }
        let may_come = others && later(self.setup, state, analysis, &choices, choice.read, false);
        (!may_come).then_some((choice.thread, choice.read, source))
    }
}
