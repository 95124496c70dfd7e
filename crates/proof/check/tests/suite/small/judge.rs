//! Judges what a program does on a target, and whether `portable` promises that.

use std::collections::HashSet;
use std::fmt;
use std::ops::ControlFlow;

use wattle_check::search::{End, Execution, Visitor, last_values, search};
use wattle_memory::{Model, Placement, Scope, Target};

use super::race::interleaving_races;
use crate::script::{Program, registers, setup};
use crate::source::{HIDDEN, Statement, lower};

/// The registers of both threads, and the final value of each place.
type Outcome = Vec<u8>;

/// The counts of judged programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub programs: u64,
    /// The number of programs that race in an interleaving, so that no target is judged.
    pub excused: u64,
    /// The number of programs that race only in an execution that is no interleaving.
    pub excused_weakly: u64,
    /// The number of judged programs: for ptx:sm_90, ptx:sm_80, and vulkan and the host in two blocks and in one.
    pub judged: [u64; 6],
    pub outcomes: u64,
}

impl Count {
    pub fn add(&mut self, other: &Count) {
        self.programs += other.programs;
        self.excused += other.excused;
        self.excused_weakly += other.excused_weakly;
        self.outcomes += other.outcomes;
        for (mine, theirs) in self.judged.iter_mut().zip(other.judged) {
            *mine += theirs;
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count { programs, excused, excused_weakly, judged: [sm90, sm80, apart, together, host, block], outcomes } =
            self;
        write!(
            f,
            "{programs} programs, {} excused by races ({excused_weakly} of them by none that ",
            excused + excused_weakly
        )?;
        write!(f, "interleavings show), {outcomes} outcomes promised; judged: ptx:sm_90 {sm90}, ptx:sm_80 {sm80}, ")?;
        write!(f, "vulkan {apart} in two blocks and {together} in one, host {host} and {block}")
    }
}

struct Outcomes<'a> {
    model: Model,
    promised: Option<&'a HashSet<Outcome>>,
    found: HashSet<Outcome>,
    racy: bool,
    broken: Option<Outcome>,
}

impl Visitor for Outcomes<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.promised.is_none() {
            self.racy = !self.model.races(execution.graph, execution.analysis).is_empty();
            if self.racy {
                return ControlFlow::Break(());
            }
        }
        // The last register is not observed.
        let registers = registers(execution).flat_map(|registers| &registers[..7]);
        let registers: Outcome = registers.map(|value| value.map_or(255, |value| value as u8)).collect();
        let mut outcomes: Vec<Outcome> = Vec::new();
        for analysis in &execution.endings {
            let mut ends = vec![registers.clone()];
            for (_, location) in execution.cells.iter().filter(|(address, _)| address.element != HIDDEN) {
                let left = last_values(execution.graph, analysis, *location);
                let with = |outcome: Outcome| {
                    left.iter().map(move |&value| [&outcome[..], &[value as u8]].concat()).collect::<Vec<_>>()
                };
                ends = ends.into_iter().flat_map(with).collect();
            }
            outcomes.extend(ends);
        }
        for outcome in outcomes {
            if self.promised.is_some_and(|promised| !promised.contains(&outcome)) {
                self.broken = Some(outcome);
                return ControlFlow::Break(());
            }
            self.found.insert(outcome);
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        unreachable!("nobody waits")
    }
}

fn run<'a>(
    program: &Program,
    places: &[Placement],
    model: Model,
    promised: Option<&'a HashSet<Outcome>>,
) -> Outcomes<'a> {
    let mut outcomes = Outcomes { model, promised, found: HashSet::new(), racy: false, broken: None };
    let (end, _) = search(&setup(program, places.to_vec(), model), &mut outcomes);
    assert!(matches!(end, End::Exhausted | End::BrokenOff));
    outcomes
}

fn apart() -> Vec<Placement> {
    vec![Placement::new(0, 0), Placement::new(1, 0)]
}

fn together() -> Vec<Placement> {
    vec![Placement::new(0, 0), Placement { subgroup: 1, ..Placement::new(0, 1) }]
}

/// The same program with every scope narrowed to the block.
fn narrowed(threads: &[Vec<Statement>]) -> Vec<Vec<Statement>> {
    let mut threads = threads.to_vec();
    for statement in threads.iter_mut().flatten() {
        match statement {
            Statement::Load { scope, .. }
            | Statement::Store { scope, .. }
            | Statement::Exchange { scope, .. }
            | Statement::FailedExchange { scope, .. }
            | Statement::Fence { scope, .. } => *scope = Scope::Block,
            _ => {}
        }
    }
    threads
}

/// Judges a program of atomics of device scope; the error describes what is wrong.
pub fn judge(threads: &[Vec<Statement>], count: &mut Count) -> Result<(), String> {
    count.programs += 1;
    let races = interleaving_races(threads);
    if races {
        count.excused += 1;
        // The shortcut is verified for some of the programs.
        if count.excused % 512 != 1 {
            return Ok(());
        }
    }
    let source = lower(threads, Target::Portable).ok_or("portable has all scopes")?;
    let portable = run(&source, &apart(), Model::Portable, None);
    if races {
        return if portable.racy { Ok(()) } else { Err(format!("no race found in {threads:#?}")) };
    }
    if portable.racy {
        count.excused_weakly += 1;
        return Ok(());
    }
    count.outcomes += portable.found.len() as u64;
    let narrow = narrowed(threads);
    type Placed<'t> = (Target, &'t [Vec<Statement>], Vec<Placement>);
    let targets: [Placed; 6] = [
        (Target::Ptx { sm: 90 }, threads, apart()),
        (Target::Ptx { sm: 80 }, threads, apart()),
        (Target::Vulkan, threads, apart()),
        (Target::Vulkan, &narrow, together()),
        (Target::Host, threads, apart()),
        (Target::Host, &narrow, together()),
    ];
    let mut modern = Program::new();
    for (number, (target, threads, places)) in targets.into_iter().enumerate() {
        let lowered = lower(threads, target).ok_or("the target has all scopes")?;
        count.judged[number] += 1;
        match number {
            0 => modern.clone_from(&lowered),
            // Without one-sided fences the two are the same.
            1 if lowered == modern => continue,
            _ => {}
        }
        if let Some(outcome) = run(&lowered, &places, target.model(), Some(&portable.found)).broken {
            return Err(format!("{target} in {places:?}: {outcome:?} is not promised\n{threads:#?}"));
        }
    }
    Ok(())
}
