//! The answers to the questions about a launch: what is claimed of its ends, whether it has a data race, whether every
//! thread ends under a schedule.
//!
//! Contents that nobody has given (push constants, memory before its first write) may be anything. An execution that is
//! wrong with some of them is wrong; that none is wrong is only said where such contents decide nothing.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use wattle_check::search::{Address, Execution, Setup, Statistics, Visitor, search, single_or_commuting_run};
use wattle_litmus::lasso::{self, Liveness};
use wattle_litmus::{Divided, Schedule};
use wattle_memory::{Graph, Kind, Model};
use wattle_modules::code::Op;

use super::ends::Ends;
use super::excuse;
use crate::claim::{Claim, Possible, Quantifier};
use crate::gap::{gap_of_whole, loops_at};
use crate::judge::assertion::MOST_ENDS;
use crate::judge::execution::NOT_ALL_COME;
use crate::opencl;
use crate::unsupported::Unsupported;
use crate::verdict::Options;
use crate::world::World;

/// A question about a launch.
#[derive(Clone, Debug)]
pub enum Question {
    /// Whether the claim is met over all executions that end.
    Assertion(Claim),
    /// Whether no execution has a data race.
    Race,
    /// Whether every thread ends, under a schedule.
    Termination(Schedule),
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The claim is met, there is no race, every thread ends.
    Yes,
    /// The claim is not met, there is a race, or some thread does not end: the reason.
    No(String),
    /// The answer was not found: the reason.
    Unknown(String),
}

/// The values that stand for contents that nobody has given, one after another.
const FILLS: [u64; 3] = [0, 1, 0x2d];

/// Answers a question.
///
/// # Errors
/// A thread came to something that the checker has no meaning for.
pub fn answer(world: &mut World, question: &Question, options: &Options) -> Result<(Answer, Statistics), Unsupported> {
    let mut statistics = Statistics::default();
    let mut unknown = None;
    if let Some(spirv) = &mut world.parts[0].spirv {
        spirv.leave_unordered(!matches!(question, Question::Race));
    }
    for fill in FILLS {
        world.fill_with(fill);
        let found = loop {
            let found = attempt(world, question, options)?;
            if !world.adapted()? {
                break found;
            }
        };
        statistics.add(&found.statistics);
        // What is found with some contents is found; what is not may be there with others.
        let is_excused = |at| matches!(question, Question::Race) && excuse::is_harmless(world, at);
        match world.why_unfixed(&is_excused) {
            Some(why) if question.rests_on_all(&found.answer) => unknown = Some(why),
            _ => return Ok((found.answer, statistics)),
        }
    }
    Ok((Answer::Unknown(unknown.unwrap_or_default()), statistics))
}

impl Question {
    /// Whether an answer is about all executions, so that others may change it.
    fn rests_on_all(&self, answer: &Answer) -> bool {
        let exists = matches!(self, Question::Assertion(Claim { quantifier: Quantifier::Exists, .. }));
        match answer {
            Answer::Yes => !exists,
            Answer::No(_) => exists,
            Answer::Unknown(_) => true,
        }
    }
}

/// What one search found.
struct SearchAnswer {
    answer: Answer,
    statistics: Statistics,
}

fn attempt(world: &World, question: &Question, options: &Options) -> Result<SearchAnswer, Unsupported> {
    let wanted = match question {
        Question::Race => Wanted::Race,
        Question::Assertion(claim) => Wanted::End(Box::new(Ends::of(world, claim)?)),
        Question::Termination(_) => Wanted::Stuck,
    };
    if let Question::Termination(schedule) = question {
        let setup = setup(world, options, false);
        match lasso::liveness(&setup, &Divided::default(), *schedule, MOST_STATES) {
            Ok(Liveness::Stuck(stuck)) => {
                let answer = Answer::No(stuck_text(world, &stuck));
                return Ok(SearchAnswer { answer, statistics: Statistics::default() });
            }
            Ok(Liveness::Ends { .. }) => {}
            Ok(Liveness::Unknown { states }) => return Ok(unknown(format!("there are more than {states} states"))),
            Ok(Liveness::Stopped { why, states }) => return Ok(unknown(format!("{why}, after {states} states"))),
            Err(error) => return Ok(unknown(error.to_string())),
        }
    }
    let races = matches!(wanted, Wanted::Race);
    let mut found = explore(world, wanted, options, races);
    if found.is_none() {
        found = explore(world, Wanted::Race, options, false);
    }
    Ok(found.unwrap_or_else(|| unknown("a thread may wait for what it can only see by a race".into())))
}

/// The most states of interleavings that are explored.
const MOST_STATES: usize = 1 << 20;

fn unknown(why: String) -> SearchAnswer {
    SearchAnswer { answer: Answer::Unknown(why), statistics: Statistics::default() }
}

fn setup<'w>(world: &'w World, options: &Options, races: bool) -> Setup<'w> {
    Setup {
        loop_bound: options.loop_bound,
        limits: options.limits.clone(),
        meter: options.meter.clone(),
        assume_race_free: races,
        failed_iterations: races,
        ..Setup::new(world, Model::Vulkan).with_threads(world, world.threads())
    }
}

/// Searches; `None` where the assumption that there are no races may have hidden something.
fn explore(world: &World, wanted: Wanted<'_>, options: &Options, assume_race_free: bool) -> Option<SearchAnswer> {
    let is_race = matches!(wanted, Wanted::Race);
    let mut setup = setup(world, options, is_race);
    setup.assume_race_free = assume_race_free;
    let single = single_or_commuting_run(&setup).ok();
    world.turns.run_has_ended();
    let mut seen = Seen {
        world,
        wanted,
        found: None,
        faulted: None,
        undecided: None,
        doubt: None,
        unsure: false,
        bounded: BTreeSet::new(),
    };
    let statistics = match single {
        Some(single) => {
            let value = |address: Address| {
                let at = single.memory.binary_search_by_key(&address, |(address, _)| *address).ok()?;
                Some(single.memory[at].1)
            };
            let clauses = if let Wanted::End(ends) = &seen.wanted { ends.clauses.len() } else { 0 };
            (0..clauses).for_each(|clause| seen.end(clause, &value, &|| None));
            Statistics { complete: 1, ..Statistics::default() }
        }
        None => {
            let (end, statistics) = search(&setup, &mut seen);
            if seen.found.is_none() {
                let stopped =
                    gap_of_whole(world, &end, &statistics, options.loop_bound, &loops_at(world, &seen.bounded));
                seen.undecided = seen.undecided.or(stopped);
            }
            if seen.unsure && seen.found.is_none() {
                return None;
            }
            statistics
        }
    };
    Some(SearchAnswer { answer: seen.answer(), statistics })
}

/// What a search looks for.
enum Wanted<'c> {
    /// A race.
    Race,
    /// Threads that wait for ever.
    Stuck,
    /// An end at which the claim's condition holds, or does not.
    End(Box<Ends<'c>>),
}

/// The visitor.
struct Seen<'w> {
    world: &'w World,
    wanted: Wanted<'w>,
    found: Option<String>,
    /// A fault, which makes the rest of its execution meaningless.
    faulted: Option<String>,
    /// Why nothing is known where nothing is found.
    undecided: Option<String>,
    /// Why what some execution shows may be none of the program's.
    doubt: Option<String>,
    /// Whether the assumption that there are no races may have hidden something.
    unsure: bool,
    /// The jumps back of loops at whose bound some branch ended.
    bounded: BTreeSet<u32>,
}

impl Seen<'_> {
    fn answer(&self) -> Answer {
        let exists = match &self.wanted {
            Wanted::End(ends) => ends.quantifier == Quantifier::Exists,
            Wanted::Race | Wanted::Stuck => false,
        };
        let open = self.doubt.as_ref().or(self.undecided.as_ref()).or(self.faulted.as_ref());
        match (&self.found, open) {
            (Some(_), _) if exists => Answer::Yes,
            (Some(found), _) => Answer::No(found.clone()),
            (None, Some(why)) => Answer::Unknown(why.clone()),
            (None, None) if exists => Answer::No("no execution ends so".into()),
            (None, None) => Answer::Yes,
        }
    }

    /// Whether an end shows what is looked for, as far as a clause looks at it.
    fn is_shown(&self, clause: usize, value: &dyn Fn(Address) -> Option<u64>) -> Option<bool> {
        let Wanted::End(ends) = &self.wanted else { return Some(false) };
        ends.clauses[clause].possible(self.world, value).map(|Possible { yes, no }| match ends.quantifier {
            Quantifier::Forall => no,
            Quantifier::Exists | Quantifier::NotExists => yes,
        })
    }

    /// Records what one end of an execution shows about a clause. `value` gives what the cells hold, and `doubt` says
    /// why the execution may be none.
    fn end(&mut self, clause: usize, value: &dyn Fn(Address) -> Option<u64>, doubt: &dyn Fn() -> Option<String>) {
        let Wanted::End(ends) = &self.wanted else { return };
        match self.is_shown(clause, value) {
            Some(true) => {
                let text = ends.clauses[clause].text(self.world, value);
                self.find(text, doubt());
            }
            Some(false) => {}
            None => self.undecided = Some("too many of the parts that the claim looks at were never written".into()),
        }
    }

    /// Records what was looked for, unless it is doubtful.
    fn find(&mut self, found: String, doubt: Option<String>) {
        match doubt {
            Some(why) => self.doubt = Some(why),
            None => self.found = Some(found),
        }
    }

    /// Records what an execution shows besides: reads of memory that nobody has written, and faults. A load beyond its
    /// variable gives some value, as robust buffer access has it; what else is wrong leaves its execution no meaning.
    fn note(&mut self, execution: &Execution<'_>) {
        let graph = execution.graph;
        for read in 0..graph.len() {
            let event = graph.event(read);
            let unwritten = |source| graph.event(source).label.unwritten;
            if event.label.kind == Kind::Read && graph.source(read).is_some_and(unwritten) {
                let cell = execution.cells.iter().find(|(_, known)| Some(*known) == event.location);
                if let Some((address, _)) = cell {
                    self.world.unfixed.found(*address, None);
                }
            }
        }
        let is_load = |at: u32| {
            let outline = self.world.kernel().steps[at as usize].op.outline(|_| {}, |_| {});
            outline.reads_memory && !outline.writes_memory
        };
        if let (None, Some(fault)) = (&self.faulted, execution.faults.iter().find(|fault| !is_load(fault.source))) {
            let what = self.world.wrong(fault.fault).map(|wrong| wrong.to_string()).unwrap_or_default();
            self.faulted = Some(format!("{what}, at {}", self.world.place_of(fault.source as usize)));
        }
    }

    /// A race of an execution, and why it may be none.
    fn race(&self, execution: &Execution<'_>) -> Option<(String, Option<String>)> {
        let races = Model::Vulkan.races(execution.graph, execution.analysis);
        let &(first, second) =
            races.iter().find(|&&race| !opencl::is_doubtful(self.world, execution, race)).or(races.first())?;
        let graph: &Graph = execution.graph;
        let place = |event: usize| self.world.place_of(graph.event(event).source as usize);
        let location = graph.event(first).location;
        let cell = execution.cells.iter().find(|(_, known)| Some(*known) == location);
        let cell = cell.map_or_else(|| "memory".to_owned(), |(address, _)| self.world.name_of(*address));
        let text = format!("data race on {cell}: nothing orders {} and {}", place(first), place(second));
        Some((text, opencl::doubt(self.world, execution, &races, &[])))
    }

    fn flow(&self) -> ControlFlow<()> {
        let is_over = self.found.is_some() || self.unsure || self.world.is_spoilt();
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn look_for_race(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        self.note(execution);
        let race = if matches!(self.wanted, Wanted::Race) { self.race(execution) } else { None };
        if let (None, Some((race, doubt))) = (&self.found, race) {
            self.find(race, doubt);
        }
        self.flow()
    }
}

impl Visitor for Seen<'_> {
    fn at_bound(&mut self, source: u32) {
        self.bounded.insert(source);
    }

    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if let ControlFlow::Break(()) = self.look_for_race(execution) {
            return ControlFlow::Break(());
        }
        let clauses = if let Wanted::End(ends) = &self.wanted { ends.clauses.len() } else { 0 };
        let world = self.world;
        for clause in 0..clauses {
            let Wanted::End(ends) = &self.wanted else { break };
            let wanted = ends.clauses[clause].cells(self.world);
            let cells = execution.cells.iter().filter(|(address, _)| wanted.contains(address));
            let (addresses, locations): (Vec<Address>, Vec<_>) = cells.copied().unzip();
            let Some(all) = execution.ends(&locations, MOST_ENDS) else {
                self.undecided = Some(format!("an execution has more than {MOST_ENDS} ends"));
                continue;
            };
            for end in all {
                // The cells of an execution stand in ascending order.
                let value = |address| addresses.binary_search(&address).ok().map(|at| end[at]);
                let left: Vec<_> = locations.iter().copied().zip(end.iter().copied()).collect();
                self.end(clause, &value, &|| opencl::doubt(world, execution, &[], &left));
            }
        }
        self.flow()
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let at_exchange = execution.stuck.iter().find_map(|stuck| {
            let wattle_check::search::Why::Barrier(event) = stuck.why else { return None };
            let at = execution.graph.event(event).source as usize;
            let op = &self.world.kernel().steps.get(at)?.op;
            matches!(op, Op::Exchange { .. }).then_some(at)
        });
        if let Some(at) = at_exchange {
            self.world.refuse(at, NOT_ALL_COME);
            return ControlFlow::Break(());
        }
        if matches!(self.wanted, Wanted::Stuck) && self.found.is_none() {
            let threads: Vec<_> = execution.stuck.iter().map(|stuck| self.world.thread_name(stuck.thread)).collect();
            let doubt = opencl::doubt(self.world, execution, &[], &[]);
            self.find(format!("stuck for ever: {}", threads.join("; ")), doubt);
        }
        self.look_for_race(execution)
    }

    fn failed_iteration(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.look_for_race(execution)
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, has_happened: bool) -> ControlFlow<()> {
        if self.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        if let Some((race, doubt)) = self.race(execution) {
            if has_happened {
                self.find(race, doubt);
            } else {
                self.unsure = true;
            }
        }
        self.flow()
    }
}

fn stuck_text(world: &World, stuck: &lasso::Stuck) -> String {
    let names =
        |threads: &[usize]| threads.iter().map(|&thread| world.thread_name(thread)).collect::<Vec<_>>().join("; ");
    match stuck {
        lasso::Stuck::AtBarriers(threads) => format!("at barriers that do not open: {}", names(threads)),
        lasso::Stuck::Round { running, waiting } => {
            format!("for ever in a loop: {}; without a step: {}", names(running), names(waiting))
        }
    }
}
