//! The branching: which read gets its source next, and from where.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_memory::{Analysis, EventId, Set, ThreadId, stop};

use super::determined::{Guess, When, assume, determine};
use super::hope;
use super::leaf::leaf;
use super::limit::Watch;
use super::process::{Members, Process};
use super::run::{settle, would_spin};
use super::state::{Runner, State, Status};
use super::values::Values;
use super::{Problem, Setup, Statistics, Stopped, Visitor};

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

/// What goes along with every step.
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

/// What is found once for all states.
#[derive(Default)]
pub(super) struct Global {
    pub values: OnceLock<Values>,
    /// The executions that were built on a guess, or beside one.
    pub guessed: Mutex<HashSet<u128>>,
}

/// A state that is still to be searched, and what the model said of it, or of one that it has grown from.
pub(super) struct Open<P> {
    pub state: State<P>,
    known: Option<Arc<Analysis>>,
}

impl<P: Process> Open<P> {
    /// The state from which everything begins.
    pub fn root(setup: &Setup<'_, P>) -> Self {
        Open { state: State::new(setup), known: None }
    }
}

/// A pending read, and where its value can come from.
pub(super) struct Choice {
    pub thread: ThreadId,
    pub read: EventId,
    pub sources: Vec<EventId>,
    /// Sources with which the thread would only go back to the head of its loop.
    spinning: Vec<EventId>,
    /// Whether it is the first pending read of its thread.
    first: bool,
}

impl Choice {
    /// Whether its thread can get any further by it.
    pub fn goes_on(&self) -> bool {
        !self.sources.is_empty()
    }
}

/// The read to branch on. One that holds its thread up goes first: the more threads have come to their ends, the
/// fewer writes are still to come. Of those a read-modify-write, whose place in the order of writes decides most.
fn best<'c, P: Process>(state: &State<P>, choices: &'c [Choice]) -> Option<&'c Choice> {
    choices.iter().min_by_key(|choice| {
        let ended = state.runners[choice.thread].status == Status::Done;
        let update = state.graph.other_half(choice.read).is_some();
        (!choice.goes_on(), ended, !update, !choice.first, choice.sources.len())
    })
}

impl<P: Process, V: Visitor<P>> Search<'_, '_, P, V> {
    /// Goes on with a state until it branches; the branches, first one last, go on the stack.
    pub fn step(&mut self, open: Open<P>, stack: &mut Vec<Open<P>>) -> Result<(), Halt> {
        let Open { mut state, mut known } = open;
        loop {
            if let Some(limit) = self.watch.check() {
                return Err(Halt::Stopped(limit));
            }
            settle(self.setup, &mut state)?;
            let guess = determine(self.setup, &mut state, &self.shared.values, When::Early)?;
            if std::mem::take(&mut state.renumbered) {
                known = None;
            }
            let waits = |runner: &&Runner<P>| runner.waiting.is_some() && runner.depends;
            self.statistics.dependent += u64::from(state.runners.iter().filter(waits).nth(1).is_some());
            if state.is_broken() {
                self.statistics.abandoned += 1;
                return Ok(());
            }
            if let Some(guess) = guess {
                return self.branch_on_guess(state, &guess, stack);
            }
            let bounded: Vec<ThreadId> =
                (0..state.runners.len()).filter(|&thread| state.runners[thread].status == Status::Bounded).collect();
            let at_bound = !bounded.is_empty();
            // Whoever still waits for a read may turn out not to be there.
            if at_bound && bounded.iter().all(|&thread| state.pending(thread).next().is_none()) {
                self.statistics.bounded += 1;
                return Ok(());
            }
            // What has been added since does not make anything possible that was not, so what was known then will do
            // for a step that leaves no choice; it cannot be wrong for long.
            if let Some(earlier) = &known
                && !at_bound
                && let Some((thread, read, source)) = self.forced(&state, earlier)
            {
                state.choose(read, source);
                state.runners[thread].status = Status::Ready;
                continue;
            }
            let now = self.setup.model.analyse(&state.graph);
            // What was broken off says nothing.
            if let Some(limit) = stop::requested().then(|| self.watch.check()).flatten() {
                return Err(Halt::Stopped(limit));
            }
            let Ok(now) = now else {
                self.statistics.abandoned += 1;
                return Ok(());
            };
            let now = known.insert(Arc::new(now)).clone();
            if self.setup.assume_race_free && self.read_what_happened_before(&mut state, &now) {
                continue;
            }
            // Plain reads have had the chance to read what happens before them, which takes no looking ahead.
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
            let mut choices = self.choices(&state, &now);
            let gate = self.open_gate(&state);
            if at_bound {
                if self.is_hopeless(&state, &now, &choices, gate.is_some()) {
                    self.statistics.abandoned += 1;
                    return Ok(());
                }
                choices.retain(|choice| bounded.contains(&choice.thread) && choice.goes_on());
                if choices.is_empty() {
                    self.statistics.bounded += 1;
                    return Ok(());
                }
            }
            let Some(choice) = best(&state, &choices) else {
                match gate {
                    Some((gate, quorum)) => open_gates(&state, gate, quorum, stack),
                    None => self.leaf(&state, &now)?,
                }
                return Ok(());
            };
            if !at_bound && self.is_hopeless(&state, &now, &choices, gate.is_some()) {
                self.statistics.abandoned += 1;
                return Ok(());
            }
            // Someone else may still write only if someone else can still go on.
            let others = gate.is_some() || choices.iter().any(|other| other.read != choice.read && other.goes_on());
            let later = others && hope::later(self.setup, &state, &now, &choices, choice.read, gate.is_some());
            let may_spin = !state.runners[choice.thread].heads.is_empty();
            if let ([source], false, false) = (&choice.sources[..], later, may_spin) {
                state.choose(choice.read, *source);
                state.runners[choice.thread].status = Status::Ready;
                continue;
            }
            return self.branch(state, &now, choice, (later, others), stack);
        }
    }

    fn leaf(&mut self, state: &State<P>, analysis: &Analysis) -> Result<(), Halt> {
        match (leaf(self, state, analysis), self.stopped.take()) {
            (_, Some(limit)) => Err(Halt::Stopped(limit)),
            (ControlFlow::Break(()), None) => Err(Halt::BrokenOff),
            (ControlFlow::Continue(()), None) => Ok(()),
        }
    }

    /// Whether a limit was reached, which ends the step.
    pub fn is_stopped(&mut self) -> bool {
        self.stopped = self.stopped.or_else(|| self.watch.check());
        self.stopped.is_some()
    }

    /// Branches over whether a thread is taken to be sure to do something.
    fn branch_on_guess(&self, state: State<P>, guess: &Guess, stack: &mut Vec<Open<P>>) -> Result<(), Halt> {
        for way in &guess.ways {
            let mut with = state.clone();
            assume(self.setup, &mut with, guess, way)?;
            stack.push(Open { state: with, known: None });
        }
        stack.push(Open { state: State { guessed: true, ..state }, known: None });
        Ok(())
    }

    /// Branches over the sources of a read, and over that it has none of those.
    fn branch(
        &mut self,
        mut state: State<P>,
        now: &Arc<Analysis>,
        choice: &Choice,
        (later, others): (bool, bool),
        stack: &mut Vec<Open<P>>,
    ) -> Result<(), Halt> {
        let (thread, read) = (choice.thread, choice.read);
        let alike = self.alike(&state, thread, read);
        let mut seen = Set::new(state.graph.len());
        let mut spinning = seen.clone();
        choice.spinning.iter().for_each(|&source| spinning.insert(source));
        let mut branches = Vec::new();
        for &source in &choice.sources {
            let mut next = state.clone();
            next.choose(read, source);
            next.runners[thread].status = Status::Ready;
            exclude_alike(&mut next, thread, &alike, &seen);
            settle(self.setup, &mut next)?;
            if next.runners[thread].status == Status::Spins {
                spinning.insert(source);
            } else {
                let known = (!std::mem::take(&mut next.renumbered)).then(|| now.clone());
                branches.push(Open { state: next, known });
            }
            seen.insert(source);
        }
        seen = &seen | &spinning;
        state.exclude(read, &seen);
        state.spins_on(read, &spinning);
        // A thread may wait for ever on a write that sends it back, unless one that lets it go is sure to come after.
        let may_wait = state.spinning(read).is_some_and(|spinning| may_wait(&state, now, read, spinning));
        if later || (may_wait && others) {
            exclude_alike(&mut state, thread, &alike, &seen);
            // Where like threads are kept from the same sources, nobody may be left who could write.
            let gate = self.open_gate(&state).is_some();
            if alike.is_empty() || !self.is_hopeless(&state, now, &self.choices(&state, now), gate) {
                branches.push(Open { state, known: None });
            }
        } else if may_wait {
            let before = self.statistics.abandoned;
            self.leaf(&state, now)?;
            // Where other sources are tried, nothing more has been built here.
            if !branches.is_empty() {
                self.statistics.abandoned = before;
            }
        } else if branches.is_empty() {
            self.statistics.abandoned += 1;
        }
        stack.extend(branches.into_iter().rev());
        Ok(())
    }

    /// Gives all plain reads that nothing new can come to happen before the one source that they can have without a
    /// race. Whether there was any.
    fn read_what_happened_before(&self, state: &mut State<P>, analysis: &Analysis) -> bool {
        let mut chosen = Vec::new();
        for thread in 0..state.runners.len() {
            // What follows a pending read in its thread has that in its past, so only the first one can be closed.
            let Some(read) = state.pending(thread).next() else { continue };
            if state.graph.event(read).label.atomic || !is_closed(state, analysis, read) {
                continue;
            }
            let (sources, spinning) = self.sources(state, analysis, read, thread);
            let before =
                |&write: &EventId| analysis.ordered.has(write, read) || state.graph.event(write).thread.is_none();
            let before: Vec<EventId> = sources.into_iter().chain(spinning).filter(before).collect();
            if let [source] = before[..] {
                chosen.push((thread, read, source));
            }
        }
        for &(thread, read, source) in &chosen {
            state.choose(read, source);
            state.runners[thread].status = Status::Ready;
        }
        !chosen.is_empty()
    }

    /// Whether some read has no source and can never have one.
    fn is_hopeless(&self, state: &State<P>, analysis: &Analysis, choices: &[Choice], gate: bool) -> bool {
        (0..state.runners.len()).any(|thread| {
            state.pending(thread).any(|read| {
                let chooses = choices.iter().any(|choice| choice.read == read);
                let waits = || state.spinning(read).is_some_and(|spinning| may_wait(state, analysis, read, spinning));
                !chooses && !waits() && !hope::later(self.setup, state, analysis, choices, read, gate)
            })
        })
    }

    /// The pending reads that some write is there for.
    fn choices(&self, state: &State<P>, analysis: &Analysis) -> Vec<Choice> {
        let mut choices = Vec::new();
        for thread in 0..state.runners.len() {
            for (number, read) in state.pending(thread).enumerate() {
                let (sources, spinning) = self.sources(state, analysis, read, thread);
                if !sources.is_empty() || !spinning.is_empty() {
                    choices.push(Choice { thread, read, sources, spinning, first: number == 0 });
                }
            }
        }
        choices
    }

    /// A read that has one source and no other to hope for.
    fn forced(&self, state: &State<P>, analysis: &Analysis) -> Option<(ThreadId, EventId, EventId)> {
        let choices = self.choices(state, analysis);
        let choice = best(state, &choices)?;
        // Who is not looked ahead for may be sure to write, unless he goes on anyway.
        let goes_on = |thread: ThreadId| choices.iter().any(|choice| choice.thread == thread && choice.goes_on());
        let open =
            |(thread, runner): (ThreadId, &Runner<P>)| runner.waiting.is_some() && !runner.compared && !goes_on(thread);
        if state.runners.iter().enumerate().any(open) {
            return None;
        }
        let [source] = choice.sources[..] else { return None };
        let others = choices.iter().any(|other| other.read != choice.read && other.goes_on());
        let mut spinning = state.spinning(choice.read).cloned().unwrap_or_default();
        choice.spinning.iter().for_each(|&write| spinning.insert(write));
        if may_wait(state, analysis, choice.read, &spinning) || self.open_gate(state).is_some() {
            return None;
        }
        let hopes = others && hope::later(self.setup, state, analysis, &choices, choice.read, false);
        (!hopes).then_some((choice.thread, choice.read, source))
    }

    /// The writes that a read can read from, as far as what is known tells; and those of them that would only send
    /// the thread back to the head of its loop.
    fn sources(
        &self,
        state: &State<P>,
        analysis: &Analysis,
        read: EventId,
        thread: ThreadId,
    ) -> (Vec<EventId>, Vec<EventId>) {
        let graph = &state.graph;
        let Some(location) = graph.event(read).location else { return (Vec::new(), Vec::new()) };
        let excluded = state.excluded(read);
        let possible = |&write: &EventId| {
            if excluded.is_some_and(|excluded| excluded.contains(write)) || analysis.causality.has(read, write) {
                return false;
            }
            // The own write of a read-modify-write, and what the thread has run on to since.
            if write > read && graph.same_thread(read, write) {
                return false;
            }
            !self.setup.model.hides(graph, analysis, write, read) && !self.taken(state, read, write)
        };
        let spins = |&write: &EventId| {
            let value = graph.event(write).value.unwrap_or(0);
            would_spin(self.setup, state, thread, read, value)
        };
        let possible = state.writes[location].iter().copied().filter(possible);
        let (spinning, sources) = possible.partition(spins);
        (sources, spinning)
    }

    /// Whether another read-modify-write has read from the write already, and both cannot.
    fn taken(&self, state: &State<P>, read: EventId, write: EventId) -> bool {
        let graph = &state.graph;
        let Some(own) = graph.other_half(read) else { return false };
        let location = graph.event(read).location;
        // A compare-exchange whose outcome is open may leave everything as it is.
        if graph.event(own).location.is_none() {
            return false;
        }
        // Each has its own write right behind the one that it reads, where an order relates all three.
        let orders = |a, b| self.setup.model.orders_writes(graph, a, b);
        let initial = graph.event(write).thread.is_none();
        let taker = |&other: &EventId| {
            other != own
                && (initial || (orders(write, own) && orders(write, other)))
                && graph.other_half(other).is_some_and(|half| graph.source(half) == Some(write))
                && orders(own, other)
                && graph.event(other).location == location
        };
        location.is_some_and(|location| state.writes[location].iter().any(taker))
    }

    /// The reads of threads that stand exactly where this one does and cannot be told from it.
    fn alike(&self, state: &State<P>, thread: ThreadId, read: EventId) -> Vec<EventId> {
        let Some(class) = self.setup.symmetric.iter().find(|class| class.contains(&thread)) else {
            return Vec::new();
        };
        let runner = &state.runners[thread];
        if runner.waiting != Some(read) {
            return Vec::new();
        }
        let same = |&&other: &&ThreadId| {
            let candidate = &state.runners[other];
            other != thread
                && candidate.status == runner.status
                && candidate.process.is_alike(&runner.process)
                && untouched(state, other)
                && candidate
                    .waiting
                    .is_some_and(|at| state.graph.event(at).location == state.graph.event(read).location)
        };
        if !untouched(state, thread) {
            return Vec::new();
        }
        class.iter().filter(same).filter_map(|&other| state.runners[other].waiting).collect()
    }

    /// A barrier that some, but not all, of the threads that came can pass.
    fn open_gate(&self, state: &State<P>) -> Option<(usize, usize)> {
        state.gates.iter().enumerate().find_map(|(number, gate)| match gate.barrier.members {
            Members::Quorum(quorum) if !gate.open && gate.arrivals.len() >= quorum as usize => {
                Some((number, quorum as usize))
            }
            _ => None,
        })
    }
}

/// Branches over who is first through a barrier.
fn open_gates<P: Process>(state: &State<P>, gate: usize, quorum: usize, stack: &mut Vec<Open<P>>) {
    for first in subsets(state.gates[gate].arrivals.len(), quorum) {
        let mut next = state.clone();
        next.open(gate, &first);
        stack.push(Open { state: next, known: None });
    }
}

/// Whether nothing new can come to happen before a read, by what the search may still add or choose.
fn is_closed<P: Process>(state: &State<P>, analysis: &Analysis, read: EventId) -> bool {
    let graph = &state.graph;
    (0..graph.len()).filter(|&event| analysis.happens_before.has(event, read)).all(|event| {
        let label = &graph.event(event).label;
        // The order of sequentially consistent fences is found last, and orders more.
        let settled = || {
            let own = graph.event(event).thread;
            let elsewhere = |(thread, runner): (ThreadId, &Runner<P>)| {
                Some(thread) == own || matches!(runner.status, Status::Done | Status::Halted)
            };
            let meets = |other: EventId| {
                let ordered = analysis.happens_before.has(event, other) || analysis.happens_before.has(other, event);
                graph.event(other).label.sc && graph.event(other).thread != own && !ordered
            };
            state.runners.iter().enumerate().all(elsewhere) && !(0..graph.len()).any(meets)
        };
        !state.is_pending(event) && !observes_pending(state, event) && (!label.sc || settled())
    })
}

/// Whether a read reads from a read-modify-write that has not read yet, or from one that has read from such a one: it
/// may come to observe more.
fn observes_pending<P: Process>(state: &State<P>, read: EventId) -> bool {
    let graph = &state.graph;
    let mut source = graph.source(read);
    for _ in 0..graph.len() {
        let Some(half) = source.and_then(|write| graph.other_half(write)) else { return false };
        source = graph.source(half);
        if source.is_none() {
            return true;
        }
    }
    false
}

/// Whether a thread may wait for ever with a read: on a write that sends it back to the head of its loop, and that no
/// write which lets it go is known to come after.
fn may_wait<P: Process>(state: &State<P>, analysis: &Analysis, read: EventId, spinning: &Set) -> bool {
    let location = state.graph.event(read).location;
    spinning.iter().any(|write| {
        let lets_go = |other: EventId| {
            let event = state.graph.event(other);
            event.location == location && event.value.is_some() && !spinning.contains(other)
        };
        !analysis.coherence.after(write).any(lets_go)
    })
}

/// Keeps the reads of like threads from those sources, but for writes of the threads themselves: to those they are not
/// alike.
fn exclude_alike<P: Process>(state: &mut State<P>, thread: ThreadId, alike: &[EventId], sources: &Set) {
    for &other in alike {
        let mut sources = sources.clone();
        let owners = [Some(thread), state.graph.event(other).thread];
        for source in sources.clone().iter() {
            if owners.contains(&state.graph.event(source).thread) {
                sources.remove(source);
            }
        }
        state.exclude(other, &sources);
    }
}

/// Whether nothing has been decided about a thread yet: nothing that it reads is chosen, nobody reads from it.
fn untouched<P: Process>(state: &State<P>, thread: ThreadId) -> bool {
    let graph = &state.graph;
    (0..graph.len()).all(|event| {
        let own = graph.event(event).thread == Some(thread);
        let from = graph.source(event).and_then(|source| graph.event(source).thread);
        !(own && graph.source(event).is_some()) && from != Some(thread)
    })
}

/// All subsets of `size` of the numbers below `of`.
fn subsets(of: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for number in 0..of {
        let with = all.iter().filter(|set: &&Vec<usize>| set.len() < size).map(|set| {
            let mut set = set.clone();
            set.push(number);
            set
        });
        let with: Vec<Vec<usize>> = with.collect();
        all.extend(with);
    }
    all.retain(|set| set.len() == size);
    all
}
