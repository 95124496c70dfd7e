//! The branching of the search: the next read that gets a source, and the possible sources.

use std::ops::ControlFlow;

use wattle_memory::{Analysis, Set, ThreadId};

use super::Stopped;
use super::choices::{Choice, may_wait};
use super::determined::{Guess, When, assume, determine};
use super::feasibility;
use super::gates::open_gate;
use super::ignored::may_ignore;
use super::leaf::{cut_off, leaf};
use super::searcher::{Halt, Known, Open, Search};
use super::selection::best;
use super::state::{Runner, SearchState, Status};
use super::symmetry::{alike, exclude_alike};

/// The most events of an execution that is cut off.
const MOST_CUT_OFF_EVENTS: usize = 1024;

/// The threads of a state that are at the bounds of their loops.
struct Bounds {
    threads: Vec<ThreadId>,
    /// Whether some loop of the state does not depend on memory and has come to its bound.
    endless: bool,
    /// Whether the branch ends there once nothing is left to read; otherwise the execution is cut off there.
    ends: bool,
}

impl Bounds {
    fn of(state: &SearchState<'_>, cuts_off: bool) -> Bounds {
        let status = |&thread: &ThreadId| state.runners[thread].status;
        let endless = (0..state.runners.len()).any(|thread| status(&thread) == Status::Endless);
        // A thread that ran ahead to its bound behind a read, of which every source that is there sends it back, waits.
        let waits = |thread: ThreadId| state.pending(thread).any(|read| state.spinning(read).is_some());
        let threads: Vec<ThreadId> = (0..state.runners.len())
            .filter(|&thread| matches!(status(&thread), Status::Bounded | Status::Endless) && !waits(thread))
            .collect();
        // A thread that still waits for a read may turn out not to exist.
        let ends = !threads.is_empty() && !cuts_off;
        Bounds { threads, endless, ends }
    }

    /// Whether some thread is at the bound of a loop.
    fn are_reached(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether the execution has too many events to be cut off: a loop that only computes may have thousands of events
    /// with the other lanes of its warp, too many to relate.
    fn is_too_large(&self, state: &SearchState<'_>) -> bool {
        self.are_reached() && !self.ends && state.graph.len() > MOST_CUT_OFF_EVENTS
    }
}

impl<'w> Search<'_, 'w> {
    /// Counts a branch that ends with threads at the bounds of their loops, and reports the loops.
    fn end_at_bounds(&mut self, state: &SearchState<'_>, bounds: &Bounds) {
        self.statistics.at_bound(bounds.endless);
        let mut loops: Vec<u32> =
            bounds.threads.iter().filter_map(|&thread| state.runners[thread].bounded_at).collect();
        loops.sort_unstable();
        loops.dedup();
        let mut visitor = self.visitor();
        loops.into_iter().for_each(|source| visitor.at_bound(source));
    }

    /// Advances a state until it branches; pushes the branches on the stack, the first one last.
    pub fn step(&mut self, open: Open<'w>, stack: &mut Vec<Open<'w>>) -> Result<(), Halt> {
        self.advance(open, stack)?;
        self.was_not_ended_early()
    }

    fn advance(&mut self, open: Open<'w>, stack: &mut Vec<Open<'w>>) -> Result<(), Halt> {
        let Open { mut state, mut known } = open;
        self.count_step(state.graph.len())?;
        loop {
            let guess = self.run_on(&mut state)?;
            if std::mem::take(&mut state.renumbered) {
                known = None;
            }
            self.count_dependent(&state);
            if state.is_broken() || state.breaks_promise() {
                self.statistics.abandoned += 1;
                return Ok(());
            }
            if let Some(guess) = guess {
                return self.branch_on_guess(state, &guess, stack);
            }
            let bounds = Bounds::of(&state, self.cuts_off());
            if bounds.is_too_large(&state) {
                return Ok(());
            }
            if bounds.ends && bounds.threads.iter().all(|&thread| state.pending(thread).next().is_none()) {
                self.end_at_bounds(&state, &bounds);
                return Ok(());
            }
            // Additions since then make nothing new possible, so the earlier analysis is enough for a step without a
            // choice; it cannot be wrong for long.
            if let Some(earlier) = &known
                && !bounds.are_reached()
                && let Some((thread, read, source)) = self.forced(&state, &earlier.analysis)
            {
                state.choose(read, source);
                state.runners[thread].status = Status::Ready;
                continue;
            }
            if self.watch.exceeds_memory(state.graph.len()) {
                return Err(Halt::Stopped(Stopped::Memory));
            }
            let now = match known.take().filter(|known| known.is_of(&state)) {
                Some(known) => known,
                None => match self.analyse(&state)? {
                    Some(known) => known,
                    None => {
                        self.statistics.abandoned += 1;
                        return Ok(());
                    }
                },
            };
            known = Some(now.clone());
            if self.setup.assume_race_free && self.read_what_happened_before(&mut state, &now.analysis) {
                continue;
            }
            // Plain reads have had the chance to read what happens before them, which needs no look ahead.
            let before = state.known_events();
            let guess = determine(self.setup, &mut state, &self.shared.values, When::Late)?;
            if let Some(guess) = guess {
                state.renumbered = false;
                return self.branch_on_guess(state, &guess, stack);
            }
            if state.known_events() != before {
                known = None;
                state.renumbered = false;
                continue;
            }
            match self.take_source(state, &now, &bounds, stack)? {
                Some(next) => state = next,
                None => return Ok(()),
            }
        }
    }

    /// Runs all threads as far as they go, and adds what they are sure to do; returns what one of them may be sure to
    /// do. Fails where the search is broken off or a limit is reached.
    fn run_on(&mut self, state: &mut SearchState<'w>) -> Result<Option<Guess>, Halt> {
        self.is_within_limits()?;
        self.settle(state)?;
        let guess = determine(self.setup, state, &self.shared.values, When::Early)?;
        let contradicted = self.setup.private.is_some_and(|cells| cells.is_contradicted());
        if contradicted || self.setup.most_events.is_some_and(|most| most.is_exceeded_by(state.graph.len())) {
            return Err(Halt::BrokenOff);
        }
        Ok(guess)
    }

    /// Gives a read a source. Returns the state if the source is the only one; else pushes the branches on the stack,
    /// or ends the branch where no read can have a source.
    fn take_source(
        &mut self,
        mut state: SearchState<'w>,
        now: &Known,
        bounds: &Bounds,
        stack: &mut Vec<Open<'w>>,
    ) -> Result<Option<SearchState<'w>>, Halt> {
        let analysis = &*now.analysis;
        let choices = self.choices(&state, analysis);
        let gate = open_gate(&state);
        if bounds.ends && self.is_infeasible(&state, analysis, &choices, gate.is_some()) {
            self.statistics.abandoned += 1;
            return Ok(None);
        }
        // At a bound only what its threads have read first, since they may turn out not to be there.
        let may_be =
            |choice: &Choice| !bounds.are_reached() || bounds.threads.contains(&choice.thread) && choice.goes_on();
        let mut chosen = best(self.setup, &state, analysis, &choices, may_be);
        if bounds.are_reached() && !bounds.ends {
            chosen = chosen.or_else(|| best(self.setup, &state, analysis, &choices, |_| true));
        }
        if bounds.ends && chosen.is_none() {
            self.end_at_bounds(&state, bounds);
            return Ok(None);
        }
        self.was_not_ended_early()?;
        let Some(choice) = chosen else {
            match gate {
                Some((gate, quorum)) => self.open_gates(&state, gate, quorum, stack)?,
                None if self.branch_on_ignored(&state, stack)? => {}
                None => self.leaf(&state, analysis)?,
            }
            return Ok(None);
        };
        if !bounds.are_reached() && self.is_infeasible(&state, analysis, &choices, gate.is_some()) {
            self.statistics.abandoned += 1;
            return Ok(None);
        }
        // Another thread may still write only if another thread can still go on.
        let ignored = may_ignore(&state, choice.thread);
        let others =
            ignored || gate.is_some() || choices.iter().any(|other| other.read != choice.read && other.goes_on());
        let later = others && feasibility::later(self.setup, &state, analysis, &choices, choice.read, gate.is_some());
        let may_spin = !state.runners[choice.thread].heads.is_empty();
        if let ([source], false, false) = (&choice.sources[..], later, may_spin) {
            state.choose(choice.read, *source);
            state.runners[choice.thread].status = Status::Ready;
            return Ok(Some(state));
        }
        // What its own thread may read later lets nobody else go on, but for lanes that wait for its values.
        let elsewhere = |other: &Choice| {
            other.read != choice.read
                && other.goes_on()
                && (other.thread != choice.thread || other.read < choice.read || state.exchanges(other.thread))
        };
        let others = ignored || gate.is_some() || choices.iter().any(elsewhere);
        self.branch(state, now, choice, (later, others), stack)?;
        Ok(None)
    }

    /// Counts a state in which several threads wait for reads on which stores of theirs depend.
    pub(super) fn count_dependent(&mut self, state: &SearchState<'_>) {
        let waits = |runner: &&Runner<'_>| runner.waiting.is_some() && runner.depends;
        if state.runners.iter().filter(waits).nth(1).is_some() {
            self.statistics.dependent += 1;
            self.statistics.undecided += u64::from(state.runners.iter().any(|runner| waits(&runner) && runner.cut));
        }
    }

    fn leaf(&mut self, state: &SearchState<'_>, analysis: &Analysis) -> Result<(), Halt> {
        let judged = if self.cuts_off() { cut_off(self, state, analysis) } else { leaf(self, state, analysis) };
        match (judged, self.stopped.take()) {
            (_, Some(limit)) => Err(Halt::Stopped(limit)),
            (ControlFlow::Break(()), None) => Err(Halt::BrokenOff),
            (ControlFlow::Continue(()), None) => Ok(()),
        }
    }

    /// Branches on whether a thread is assumed to be sure to do something.
    fn branch_on_guess(
        &mut self,
        state: SearchState<'w>,
        guess: &Guess,
        stack: &mut Vec<Open<'w>>,
    ) -> Result<(), Halt> {
        for way in &guess.ways {
            self.is_within_limits()?;
            let mut with = state.clone();
            assume(self.setup, &mut with, guess.thread, way)?;
            stack.push(Open { state: with, known: None });
        }
        stack.push(Open { state: SearchState { guessed: true, ..state }, known: None });
        Ok(())
    }

    /// Branches on the sources of a read, and on its having none of those.
    fn branch(
        &mut self,
        state: SearchState<'w>,
        now: &Known,
        choice: &Choice,
        (later, others): (bool, bool),
        stack: &mut Vec<Open<'w>>,
    ) -> Result<(), Halt> {
        let (thread, read) = (choice.thread, choice.read);
        let alike = alike(self.setup, &state, thread, read);
        self.statistics.alike += u64::from(!alike.is_empty());
        let mut seen = Set::new(state.graph.len());
        // What sends the thread back is not kept from threads alike, which may wait on the same write with it.
        let (mut spinning, mut tried) = (seen.clone(), seen.clone());
        choice.spinning.iter().for_each(|&source| spinning.insert(source));
        let mut branches = Vec::new();
        // Where no other write can come, and the thread is in no loop in which it could wait, the sources are all there
        // is.
        let runner = &state.runners[thread];
        let leaves = !later && choice.spinning.is_empty() && !runner.loops && state.spinning(read).is_none();
        let place = state.place(thread, read);
        let mut whole = Some(state);
        for (number, &source) in choice.sources.iter().enumerate() {
            self.is_within_limits()?;
            let taken = if leaves && number + 1 == choice.sources.len() { whole.take() } else { whole.clone() };
            let Some(mut next) = taken else { break };
            next.choose(read, source);
            next.runners[thread].status = Status::Ready;
            exclude_alike(&mut next, thread, &alike, &tried);
            self.settle(&mut next)?;
            // A loop behind the read repeats others, and goes on whatever this one could read later.
            let again = next.runners[thread].spins_since.is_some_and(|first| next.place(thread, first) <= place);
            seen.insert(source);
            if again && whole.is_some() {
                spinning.insert(source);
                continue;
            }
            tried.insert(source);
            branches.extend(self.possible(next, now)?);
        }
        let Some(mut state) = whole else {
            self.statistics.abandoned += u64::from(branches.is_empty());
            stack.extend(branches.into_iter().rev());
            return Ok(());
        };
        seen = &seen | &spinning;
        state.exclude(read, &seen);
        state.spins_on(read, &spinning);
        // A thread may wait for ever on a write that sends it back, unless one that lets it go is sure to come after.
        let may_wait =
            state.spinning(read).is_some_and(|spinning| may_wait(self.setup, &state, &now.analysis, read, spinning));
        if later || (may_wait && others) {
            exclude_alike(&mut state, thread, &alike, &tried);
            // If equal threads are kept from the same sources, no thread may remain that could write.
            let gate = open_gate(&state).is_some();
            if alike.is_empty()
                || !self.is_infeasible(&state, &now.analysis, &self.choices(&state, &now.analysis), gate)
            {
                branches.push(Open { state, known: Some(now.clone()) });
            }
        } else if may_wait {
            let before = self.statistics.abandoned;
            self.leaf(&state, &now.analysis)?;
            // Where other sources are tried, nothing more has been built in this branch.
            if !branches.is_empty() {
                self.statistics.abandoned = before;
            }
        } else if branches.is_empty() {
            self.statistics.abandoned += 1;
        }
        stack.extend(branches.into_iter().rev());
        Ok(())
    }
}
