//! Scenarios written as litmus files: read back unchanged, with the same verdict and the same ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use wattle_check::checker::Checker;
use wattle_check::search::{End, Execution, Limits, Setup, Visitor, last_values, search};
use wattle_litmus::{
    Answer, Condition, Dialect, EmitError, EmitOptions, Observed, Options, Program, Question, Term, World,
    emit_scenario, judge, parse, print,
};
use wattle_memory::{Model, Target};

/// The time limit of each step.
const PATIENCE: Duration = Duration::from_secs(60);

fn limits() -> Limits {
    Limits { deadline: Instant::now().checked_add(PATIENCE), ..Limits::default() }
}

/// A visitor that collects the memories which a program's executions leave, of the locations that its claim names.
struct Ends {
    locations: Vec<usize>,
    initial: Vec<u64>,
    seen: BTreeSet<Vec<u64>>,
    stuck: bool,
    raced: bool,
    assume_race_free: bool,
}

impl Ends {
    fn races(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.assume_race_free && !Model::Portable.races(execution.graph, execution.analysis).is_empty() {
            self.raced = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Visitor for Ends {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.races(execution)?;
        for analysis in &execution.endings {
            let mut ends = vec![Vec::new()];
            for &location in &self.locations {
                let cell = execution.cells.iter().find(|(address, _)| address.memory as usize == location);
                let values = match cell {
                    Some(&(_, number)) => last_values(execution.graph, analysis, number),
                    None => vec![self.initial[location]],
                };
                ends = ends
                    .into_iter()
                    .flat_map(|end: Vec<u64>| values.iter().map(move |&v| end.iter().copied().chain([v]).collect()))
                    .collect();
            }
            self.seen.extend(ends);
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.races(execution)?;
        self.stuck = true;
        ControlFlow::Continue(())
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, _has_happened: bool) -> ControlFlow<()> {
        self.races(execution)
    }
}

fn ends(program: &Program, model: Model) -> Option<Ends> {
    let world = World::new(program.clone());
    let mut locations = BTreeSet::new();
    let claim = program.claim.as_ref()?;
    claim.condition.visit(&mut |seen| {
        if let Observed::Memory(location) = seen {
            locations.insert(location);
        }
    });
    let locations: Vec<usize> = locations.into_iter().collect();
    for assume_race_free in [true, false] {
        let setup = Setup { assume_race_free, limits: limits(), ..world.setup(model) };
        let mut ends = Ends {
            locations: locations.clone(),
            initial: program.locations.clone(),
            seen: BTreeSet::new(),
            stuck: false,
            raced: false,
            assume_race_free,
        };
        let (end, statistics) = search(&setup, &mut ends);
        if ends.raced {
            continue;
        }
        assert_eq!((end, statistics.bounded), (End::Exhausted, 0), "{}", print(program));
        return Some(ends);
    }
    None
}

/// The ends that a claim of this crate lists; `None` where it says of each place alone what it may hold.
fn claimed(condition: &Condition) -> Option<BTreeSet<Vec<u64>>> {
    fn end(condition: &Condition) -> Option<Vec<(usize, u64)>> {
        match condition {
            Condition::All(all) => all.iter().map(end).collect::<Option<Vec<_>>>().map(|parts| parts.concat()),
            Condition::Compare(Term::Final(Observed::Memory(location)), _, Term::Constant(value)) => {
                Some(vec![(*location, *value)])
            }
            Condition::Any(_) | Condition::Compare(..) | Condition::Not(_) => None,
        }
    }
    let ends = if let Condition::Any(any) = condition { any } else { std::slice::from_ref(condition) };
    let sorted = |mut end: Vec<(usize, u64)>| {
        end.sort_unstable();
        end.into_iter().map(|(_, value)| value).collect()
    };
    ends.iter().map(|one| end(one).map(sorted)).collect()
}

/// The values that a claim gives each place.
fn allowed(condition: &Condition, into: &mut BTreeMap<usize, BTreeSet<u64>>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| allowed(part, into)),
        Condition::Compare(Term::Final(Observed::Memory(location)), _, Term::Constant(value)) => {
            into.entry(*location).or_default().insert(*value);
        }
        other => panic!("{other:?}"),
    }
}

/// Checks that a program is read back as written, and that its ends are exactly those that it claims.
fn check(scenario: &str, program: &Program, model: Model) {
    let text = print(program);
    let read = parse(&program.name, &text).unwrap_or_else(|error| panic!("{scenario}: {error}\n{text}"));
    assert_eq!(&read, program, "{scenario}\n{text}");
    let condition = &read.claim.as_ref().expect("each file claims something").condition;
    // What is always so says nothing of a place.
    if let Condition::Compare(left, _, right) = condition
        && left == right
    {
        return;
    }
    let found = ends(&read, model).unwrap_or_else(|| panic!("{scenario}: nothing was found\n{text}"));
    if let Some(said) = claimed(condition) {
        assert_eq!(found.seen, said, "{scenario}\n{text}");
        return;
    }
    let (mut said, mut seen) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<_>>::new());
    allowed(condition, &mut said);
    for end in &found.seen {
        found.locations.iter().zip(end).for_each(|(&location, &value)| {
            seen.entry(location).or_default().insert(value);
        });
    }
    assert_eq!(seen, said, "{scenario}\n{text}");
}

/// Writes all scenarios but those named in `without`, and checks each file; returns those that no file can say.
fn scenarios(target: Target, dialect: Dialect, without: &[&str]) -> Vec<&'static str> {
    let mut refused = Vec::new();
    for scenario in wattle_kernels::all() {
        if without.iter().any(|name| scenario.name.starts_with(name)) {
            continue;
        }
        let report = Checker::for_target(target).time(PATIENCE).check_scenario(scenario, None).unwrap();
        let options = EmitOptions { limits: limits(), ..EmitOptions::default() };
        let programs = match emit_scenario(&report, dialect, &options) {
            Ok(programs) => programs,
            Err(error) => {
                println!("{}: {error}", scenario.name);
                refused.push(scenario.name);
                continue;
            }
        };
        assert!(!programs.is_empty(), "{}", scenario.name);
        programs.iter().for_each(|program| check(scenario.name, program, target.model()));
    }
    refused
}

/// Scenarios that no litmus file can say: loops without an end in which no two iterations are alike, arithmetic of 32 bits
/// that wraps, and threads that depend on too many values of others.
const REFUSED: &[&str] = &[
    "queue-michael-scott-broken-link-relaxed",
    "reader-writer-lock",
    "reader-writer-lock-broken-reader-leaves-relaxed",
    "reader-writer-lock-broken-writer-leaves-relaxed",
    "reader-writer-lock-broken-relaxed-wait",
    "sense-barrier",
    "sense-barrier-broken-relaxed-count",
    "sense-barrier-broken-relaxed-sense",
    "sense-barrier-broken-relaxed-wait",
    "sense-barrier-broken-relaxed",
    "scan-storage",
    "scan-storage-broken-no-barrier",
];

#[test]
fn scenarios_become_ptx_files_with_the_same_ends() {
    // The textbook's sum races, which is allowed in PTX: it has too many executions for a test.
    assert_eq!(scenarios(Target::Ptx { sm: 90 }, Dialect::Ptx, &["last-block-sum-textbook"]), REFUSED);
}

#[test]
fn scenarios_become_vulkan_files_with_the_same_ends() {
    // Vulkan has no system scope.
    assert_eq!(scenarios(Target::Vulkan, Dialect::Vulkan, &["cumulativity", "interference"]), REFUSED);
}

fn written(name: &str, target: Target, dialect: Dialect) -> Result<Vec<Program>, EmitError> {
    let scenario = wattle_kernels::all().iter().find(|scenario| scenario.name == name).unwrap();
    let report = Checker::for_target(target).check_scenario(scenario, None).unwrap();
    emit_scenario(&report, dialect, &EmitOptions::default())
}

#[test]
fn a_publication_reads_like_one() {
    let programs = written("publication", Target::Ptx { sm: 90 }, Dialect::Ptx).unwrap();
    assert_eq!(programs.len(), 1);
    let text = print(&programs[0]);
    assert_eq!(text, PUBLICATION, "{text}");
    let verdict = judge(&World::new(programs[0].clone()), Model::Ptx, Question::Outcome, &Options::default()).unwrap();
    assert_eq!(verdict.answer, Answer::Yes);
}

const PUBLICATION: &str = r#"PTX producer_consumer
"written by Wattle for ptx:sm_90: producer_consumer, blocks: 3, threads per block: 1"
{
payload_0=0;
ready_0=0;
mismatches_0=0;
P0:r0=0;
P2:r0=0;
}
 P0@cta 0,gpu 0                       | P1@cta 1,gpu 0 | P2@cta 2,gpu 0                           ;
 st.weak payload_0, 42                |                | LC00:                                    ;
 fence.release.gpu                    |                | atom.relaxed.gpu.cas r0, ready_0, 0, 0   ;
 atom.relaxed.gpu.exch r0, ready_0, 1 |                | beq r0, 0, LC00                          ;
                                      |                | fence.acquire.gpu                        ;
                                      |                | ld.weak r0, payload_0                    ;
                                      |                | bne r0, 0, LC01                          ;
                                      |                | atom.relaxed.gpu.add r0, mismatches_0, 1 ;
                                      |                | LC01:                                    ;
forall
(payload_0 == 42 /\ ready_0 == 1 /\ mismatches_0 == 0)
"#;

#[test]
fn what_is_lowered_for_something_else_is_refused() {
    let refused = |target| written("publication", target, Dialect::Vulkan).unwrap_err().to_string();
    assert_eq!(
        refused(Target::Portable),
        "what is lowered for portable cannot be written in the dialect of Vulkan: check it for that target"
    );
    assert!(refused(Target::Ptx { sm: 80 }).contains("ptx:sm_80"));
}
