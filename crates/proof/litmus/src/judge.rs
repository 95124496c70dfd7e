//! Answers to the questions about one program.
//!
//! **Outcome** and **race** are decided over all executions that the model has ([`mod@wattle_check::search`]): exactly,
//! unless a loop that changes something each time was iterated as often as [`Options::loop_bound`] allows. An answer
//! that such executions could change is [`Answer::Unknown`]. A stuck execution has no end, so no claim applies to it; a
//! race in one whose threads wait at barriers is a race.
//!
//! **Liveness** is decided twice. [`lasso`] explores all interleavings under the progress model, exactly for programs
//! with one location whose updates nothing divides ([`Divided`]). For others the search looks for executions of the
//! model, weak ones included, whose threads wait for ever although all of them are scheduled; such an execution keeps
//! every progress model's promises. Neither finds an unfair schedule that is stuck only because a read saw an old
//! value.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use wattle_check::keep::Keeper;
use wattle_check::search::{
    End, Execution, Limits, Problem, Setup, Statistics, Stopped, Visitor, Watch, Why, last_values, search,
};
use wattle_memory::{Analysis, LocationId, Model};

use crate::ask::Question;
use crate::condition::{Condition, Observed, Quantifier};
use crate::divided::Divided;
use crate::evidence::Evidence;
use crate::lasso::{self, LassoError, Liveness};
use crate::process::{LitmusThread, World};
use crate::program::Program;

/// The bounds of the search for an answer.
#[derive(Clone, Debug)]
pub struct Options {
    /// The maximum number of iterations of a loop that changes something each time.
    pub loop_bound: u32,
    /// The maximum number of states of interleavings that liveness explores.
    pub most_states: usize,
    /// The limits at which the search stops.
    pub limits: Limits,
    /// Whether the search continues when the answer is known, so that all executions are counted.
    pub count_all: bool,
    /// The store of answers for later runs ([`run_folder`](crate::run_folder)); `None` if they are not kept.
    pub keeper: Option<Arc<dyn Keeper>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { loop_bound: 8, most_states: 1 << 20, limits: Limits::default(), count_all: false, keeper: None }
    }
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The claim holds, there is no race, every run ends.
    Yes,
    /// The claim does not hold, there is a race, or some run does not end.
    No,
    /// The answer was not found.
    Unknown(Reason),
}

/// The reason why no answer was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A loop continues beyond the bound.
    #[error("a loop was gone through {0} times, and goes on")]
    LoopBound(u32),
    /// The program has more states than the limit.
    #[error("there are more than {0} states")]
    States(usize),
    /// A limit was reached.
    #[error(transparent)]
    Stopped(Stopped),
    /// A limit was reached after so many states.
    #[error("{why}, after {states} states")]
    StoppedAfter {
        /// The limit.
        why: Stopped,
        /// The number of states.
        states: usize,
    },
    /// The condition observes a location without a value at the end.
    #[error("the condition looks at something that has no value at the end")]
    NoValue,
}

/// An answer with its evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The answer to the question about the program.
    pub answer: Answer,
    /// The evidence, if one execution can show it.
    pub evidence: Option<Evidence>,
    /// The counts of the search.
    pub statistics: Statistics,
}

/// The reason why a question cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JudgeError {
    /// The program claims nothing.
    #[error("the file claims nothing: expected exists, ~exists or forall")]
    NoClaim,
    /// The program has a property that the search does not support.
    #[error("accesses of different sizes to one location")]
    MixedSizes,
    /// The interleavings cannot be explored.
    #[error(transparent)]
    Lasso(#[from] LassoError),
}

/// Answers a question about a program under a model.
///
/// # Errors
/// The question cannot be asked about the program.
pub fn judge(world: &World, model: Model, question: Question, options: &Options) -> Result<Verdict, JudgeError> {
    match question {
        Question::Outcome => outcome(world, model, options),
        Question::Race => race(world, model, options),
        Question::Liveness(progress) => {
            let setup = Setup { limits: options.limits.clone(), ..world.setup(model) };
            let divided = Divided::of(world, model, options)?;
            let is_exact = world.program().locations.len() <= 1 && divided.is_empty();
            match lasso::liveness(&setup, &divided, progress, options.most_states)? {
                Liveness::Stuck(stuck) => Ok(Verdict {
                    answer: Answer::No,
                    evidence: Some(Evidence::Stuck(stuck)),
                    statistics: Statistics::default(),
                }),
                found @ (Liveness::Ends { .. } | Liveness::Unknown { .. }) if !is_exact => {
                    waits(world, model, options, &found)
                }
                found => Ok(Verdict { answer: ends(&found), evidence: None, statistics: Statistics::default() }),
            }
        }
    }
}

fn ends(found: &Liveness) -> Answer {
    match *found {
        Liveness::Ends { .. } => Answer::Yes,
        Liveness::Stuck(_) => Answer::No,
        Liveness::Unknown { states } => Answer::Unknown(Reason::States(states)),
        Liveness::Stopped { why, states } => Answer::Unknown(Reason::StoppedAfter { why, states }),
    }
}

/// Searches all executions; returns the reason if the search was incomplete.
pub(crate) fn explore(
    world: &World,
    model: Model,
    options: &Options,
    failed_iterations: bool,
    visitor: &mut dyn Visitor,
) -> Result<(Option<Reason>, Statistics), JudgeError> {
    let setup = Setup {
        loop_bound: options.loop_bound,
        failed_iterations,
        limits: options.limits.clone(),
        ..world.setup(model)
    };
    let (end, statistics) = search(&setup, visitor);
    let missed = match end {
        End::Stopped(stopped) => Some(Reason::Stopped(stopped)),
        End::Problem(Problem::MixedSizes { .. }) => return Err(JudgeError::MixedSizes),
        End::Exhausted | End::BrokenOff if !statistics.is_exhaustive() => Some(Reason::LoopBound(options.loop_bound)),
        End::Exhausted | End::BrokenOff => None,
    };
    Ok((missed, statistics))
}

/// The verdict `with` the evidence, if some was found; without it `otherwise`, unless the search was incomplete.
fn verdict(
    found: Option<Evidence>,
    with: Answer,
    otherwise: Answer,
    (missed, statistics): (Option<Reason>, Statistics),
) -> Verdict {
    let answer = match (&found, missed) {
        (Some(_), _) => with,
        (None, Some(reason)) => Answer::Unknown(reason),
        (None, None) => otherwise,
    };
    Verdict { answer, evidence: found, statistics }
}

fn outcome(world: &World, model: Model, options: &Options) -> Result<Verdict, JudgeError> {
    let claim = world.program().claim.as_ref().ok_or(JudgeError::NoClaim)?;
    let wanted = claim.quantifier != Quantifier::Forall;
    let mut ends = Ends {
        finals: Finals::of(world.program(), &options.limits),
        condition: &claim.condition,
        wanted,
        found: None,
        open: false,
        all: options.count_all,
    };
    let (missed, statistics) = explore(world, model, options, false, &mut ends)?;
    let mut missed = missed.or(ends.finals.stopped());
    if ends.open {
        missed = missed.or(Some(Reason::NoValue));
    }
    let (with, without) = match claim.quantifier {
        Quantifier::Exists => (Answer::Yes, Answer::No),
        Quantifier::NotExists | Quantifier::Forall => (Answer::No, Answer::Yes),
    };
    Ok(verdict(ends.found.map(Evidence::End), with, without, (missed, statistics)))
}

fn race(world: &World, model: Model, options: &Options) -> Result<Verdict, JudgeError> {
    let finals = Finals::of(world.program(), &options.limits);
    let mut races = Races { finals, model, found: None, all: options.count_all };
    let (missed, statistics) = explore(world, model, options, true, &mut races)?;
    let missed = missed.or(races.finals.stopped());
    Ok(verdict(races.found, Answer::No, Answer::Yes, (missed, statistics)))
}

fn waits(world: &World, model: Model, options: &Options, lasso: &Liveness) -> Result<Verdict, JudgeError> {
    let mut waits = Waits { found: None, all: options.count_all };
    let searched = explore(world, model, options, false, &mut waits)?;
    Ok(verdict(waits.found, Answer::No, ends(lasso), searched))
}

/// The number of ends of an execution that are visited between two checks of the limits.
const BETWEEN_LOOKS: u64 = 1024;

/// The registers and locations that conditions observe, and the ends that count.
pub(crate) struct Finals<'w> {
    program: &'w Program,
    /// Everything that a condition observes.
    pub(crate) observed: Vec<Observed>,
    /// The observed locations.
    locations: Vec<LocationId>,
    limits: &'w Limits,
    /// The limit that was reached before all ends of an execution had been visited.
    stopped: Cell<Option<Stopped>>,
}

impl<'w> Finals<'w> {
    pub(crate) fn of(program: &'w Program, limits: &'w Limits) -> Finals<'w> {
        let mut observed = BTreeSet::new();
        let conditions = program.filter.iter().chain(program.claim.iter().map(|claim| &claim.condition));
        conditions.for_each(|condition| {
            condition.visit(&mut |seen| {
                observed.insert(seen);
            });
        });
        let location = |seen: &Observed| match *seen {
            Observed::Memory(location) => Some(location),
            Observed::Register { .. } => None,
        };
        let locations = observed.iter().filter_map(location).collect();
        let observed = observed.into_iter().collect();
        Finals { program, observed, locations, limits, stopped: Cell::new(None) }
    }

    pub(crate) fn stopped(&self) -> Option<Reason> {
        self.stopped.get().map(Reason::Stopped)
    }

    /// Visits each end that an execution can be left with and that the filter accepts, until `see` breaks off. There
    /// are several if nothing orders the last writes of a location: all combinations of them.
    pub(crate) fn each(
        &self,
        execution: &Execution<'_>,
        mut see: impl FnMut(&dyn Fn(Observed) -> Option<u64>) -> bool,
    ) -> bool {
        execution.endings.iter().any(|analysis| self.each_of(execution, analysis, &mut see))
    }

    /// Visits each of the ends that one order of the fences leaves.
    fn each_of(
        &self,
        execution: &Execution<'_>,
        analysis: &Analysis,
        see: &mut impl FnMut(&dyn Fn(Observed) -> Option<u64>) -> bool,
    ) -> bool {
        let values: Vec<Vec<u64>> = self
            .locations
            .iter()
            .map(|&location| {
                let touched = execution.cells.iter().find(|(address, _)| address.memory as usize == location);
                match touched {
                    Some(&(_, number)) => last_values(execution.graph, analysis, number),
                    None => vec![self.program.locations[location]],
                }
            })
            .collect();
        // Counts through all combinations, the first location fastest.
        let mut chosen = vec![0; values.len()];
        let mut watch = Watch::new(self.limits);
        for number in 1u64.. {
            if number.is_multiple_of(BETWEEN_LOOKS)
                && let Some(stopped) = watch.check()
            {
                self.stopped.set(Some(stopped));
                return false;
            }
            let value = |observed: Observed| match observed {
                Observed::Register { thread, register } => {
                    execution.threads.get(thread)?.process::<LitmusThread>()?.register(register)
                }
                Observed::Memory(location) => {
                    let at = self.locations.iter().position(|&known| known == location)?;
                    values[at].get(chosen[at]).copied()
                }
            };
            let counts = self.program.filter.as_ref().is_none_or(|filter| filter.holds(&value) == Some(true));
            if counts && see(&value) {
                return true;
            }
            let next = (0..values.len()).find(|&at| {
                chosen[at] = if chosen[at] + 1 < values[at].len() { chosen[at] + 1 } else { 0 };
                chosen[at] > 0
            });
            if next.is_none() {
                return false;
            }
        }
        false
    }
}

/// A visitor that looks for an end at which the condition holds, or does not.
struct Ends<'w> {
    finals: Finals<'w>,
    condition: &'w Condition,
    wanted: bool,
    found: Option<Vec<(Observed, u64)>>,
    /// Whether there was an end at which the condition could not be decided.
    open: bool,
    all: bool,
}

impl Visitor for Ends<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.found.is_some() {
            return ControlFlow::Continue(());
        }
        let (found, open) = (&mut self.found, &mut self.open);
        self.finals.each(execution, |value| {
            let holds = self.condition.holds(value);
            *open |= holds.is_none();
            if holds == Some(self.wanted) {
                let observed = self.finals.observed.iter();
                *found = Some(observed.filter_map(|&observed| Some((observed, value(observed)?))).collect());
            }
            found.is_some()
        });
        enough(self.found.is_some(), self.all)
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn enough(found: bool, all: bool) -> ControlFlow<()> {
    if found && !all { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// A visitor that looks for a data race.
struct Races<'w> {
    finals: Finals<'w>,
    model: Model,
    found: Option<Evidence>,
    all: bool,
}

impl Races<'_> {
    fn look(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let races = self.model.races(execution.graph, execution.analysis);
        if let (None, Some(&(first, second))) = (&self.found, races.first()) {
            let source = |event: usize| execution.graph.event(event).source;
            self.found = Some(Evidence::Race(source(first), source(second)));
        }
        enough(self.found.is_some(), self.all)
    }
}

impl Visitor for Races<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.finals.each(execution, |_| true) { self.look(execution) } else { ControlFlow::Continue(()) }
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let ends = self.finals.program.filter.is_none() || self.finals.each(execution, |_| true);
        if ends { self.look(execution) } else { ControlFlow::Continue(()) }
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        // Reads of spinning threads are not in the graph, and a filter applies to ends only.
        let at_barriers = execution.stuck.iter().all(|stuck| matches!(stuck.why, Why::Barrier(_)));
        if at_barriers && self.finals.program.filter.is_none() {
            self.look(execution)
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// A visitor that looks for threads that wait for ever.
struct Waits {
    found: Option<Evidence>,
    all: bool,
}

impl Visitor for Waits {
    fn complete(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let threads = || execution.stuck.iter().map(|stuck| stuck.thread).collect();
        self.found.get_or_insert_with(|| Evidence::Waits(threads()));
        enough(true, self.all)
    }
}
