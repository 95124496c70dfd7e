//! Runs a test for some time: asks the models, tunes the environment, then runs the program and its mutants in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wattle_check::search::Watch;
use wattle_core::Result;
use wattle_litmus::Options as Search;
use wattle_memory::{Model, Target};

use crate::environment::{Environment, Random, Space};
use crate::lower::{Allowed, NotJudged, allowed};
use crate::mutant::mutants;
use crate::program::Program;
use crate::report::{First, Judgement, MutantReport, Outcome, TestReport};
use crate::run::{Bench, Counts, Prepared};
use crate::shard::Shard;

/// What a campaign does.
#[derive(Clone, Debug)]
pub struct Options {
    /// The seed of all choices.
    pub seed: u64,
    /// The part of the campaign: every `count`-th launch.
    pub shard: Shard,
    /// The environment; `None` to tune it.
    pub environment: Option<Environment>,
    /// The one launch that is run again and again, by number.
    pub replay: Option<u64>,
    /// The most launches of the program; then the test ends before its time.
    pub most_launches: u64,
    /// The bounds of the searches for what is allowed.
    pub search: Search,
    /// What runs in the program's place, which is still judged as itself: a faulty code generator, for tests of this
    /// crate.
    #[doc(hidden)]
    pub planted: Option<fn(&Program) -> Program>,
}

impl Default for Options {
    fn default() -> Options {
        let search = Search { loop_bound: 2, ..Search::default() };
        Options {
            seed: 0,
            shard: Shard::WHOLE,
            environment: None,
            replay: None,
            most_launches: u64::MAX,
            search,
            planted: None,
        }
    }
}

/// The most mutants of a test that the device can show, as far as is known.
const MOST_MUTANTS: usize = 8;
/// The environments that are tried.
const CANDIDATES: usize = 6;
/// The share of the time that tuning takes.
const TUNING: f64 = 0.2;

/// What the models say of a program on a target.
struct Judge {
    target: Allowed,
    portable: Option<Allowed>,
    sequential: BTreeSet<Vec<i32>>,
    races_are_undefined: bool,
}

impl Judge {
    fn new(program: &Program, target: Target, search: &Search) -> std::result::Result<Judge, NotJudged> {
        let judged = allowed(program, target, target.model(), search)?;
        let portable = allowed(program, Target::Portable, Model::Portable, search).ok();
        let sequential = allowed(program, target, Model::Sc, search)?.outcomes;
        Ok(Judge { target: judged, portable, sequential, races_are_undefined: target.races_are_undefined() })
    }

    fn target(&self, outcome: &[i32]) -> Judgement {
        judge(&self.target, self.races_are_undefined, outcome)
    }

    fn portable(&self, outcome: &[i32]) -> Judgement {
        self.portable.as_ref().map_or(Judgement::Unknown, |allowed| judge(allowed, true, outcome))
    }

    fn is_weak(&self, outcome: &[i32]) -> bool {
        !self.sequential.contains(outcome)
    }
}

fn judge(allowed: &Allowed, races_are_undefined: bool, outcome: &[i32]) -> Judgement {
    if allowed.outcomes.contains(outcome) {
        Judgement::Allowed
    } else if races_are_undefined && allowed.races != Some(false) {
        Judgement::Undefined
    } else if allowed.is_complete() {
        Judgement::Forbidden
    } else {
        Judgement::Unknown
    }
}

/// A mutant with outcomes that its program does not have.
struct Telling {
    change: String,
    program: Program,
    /// The outcomes.
    own: BTreeSet<Vec<i32>>,
    /// The reason why the device can show none of them, where that is known.
    out_of_reach: Option<&'static str>,
}

impl Telling {
    fn is_within_reach(&self) -> bool {
        self.out_of_reach.is_none()
    }
}

/// Runs a test for `time`, judging included. `source` is what names it in the command that runs it again.
///
/// # Errors
/// The models cannot judge the program for the device's target: the text says why. What the device reports is in the
/// inner result.
pub fn test(
    bench: &Bench,
    source: &str,
    program: &Program,
    time: Duration,
    options: &Options,
) -> std::result::Result<Result<TestReport>, NotJudged> {
    let deadline = Instant::now() + time;
    let program = bench.adapted(program);
    if options.environment.is_some_and(|environment| environment.space == Space::Block) && !bench.can_share(&program) {
        return Err(NotJudged::Apart);
    }
    let judge = Judge::new(&program, bench.target(), &options.search)?;
    let telling = telling(bench, &program, &judge, options, deadline - time / 2);
    Ok(Campaign { bench, source, program: &program, judge, telling, options }.run(deadline))
}

/// The mutants with outcomes of their own. Those that are not judged in time are left out.
fn telling(bench: &Bench, program: &Program, judge: &Judge, options: &Options, until: Instant) -> Vec<Telling> {
    let mut all: Vec<Telling> = Vec::new();
    if options.replay.is_some() {
        return all;
    }
    let mut watch = Watch::new(&options.search.limits);
    for mutant in mutants(program) {
        let are_enough = all.iter().filter(|mutant| mutant.is_within_reach()).count() == MOST_MUTANTS;
        if are_enough || Instant::now() >= until || watch.check().is_some() {
            break;
        }
        let mut search = options.search.clone();
        search.limits.deadline = Some(search.limits.deadline.map_or(until, |deadline| deadline.min(until)));
        let Ok(allowed) = allowed(&mutant.program, bench.target(), bench.target().model(), &search) else { continue };
        let own: BTreeSet<_> = allowed.outcomes.difference(&judge.target.outcomes).cloned().collect();
        if !own.is_empty() {
            let out_of_reach = bench.out_of_reach(&mutant.program, &own);
            all.push(Telling { change: mutant.change, program: mutant.program, own, out_of_reach });
        }
    }
    all
}

struct Campaign<'c> {
    bench: &'c Bench,
    source: &'c str,
    program: &'c Program,
    judge: Judge,
    telling: Vec<Telling>,
    options: &'c Options,
}

impl Campaign<'_> {
    fn run(&self, deadline: Instant) -> Result<TestReport> {
        let planted = self.options.planted.map(|plant| plant(self.program));
        let runs = planted.as_ref().unwrap_or(self.program);
        let mut prepared = self.bench.prepared(runs);
        let mut others: Vec<Prepared<'_>> =
            self.telling.iter().map(|mutant| self.bench.prepared(&mutant.program)).collect();
        let environment = match self.options.environment {
            Some(environment) => environment,
            None => self.tuned(&mut prepared, &mut others, deadline)?,
        };
        let mut seen: BTreeMap<Vec<i32>, (u64, First)> = BTreeMap::new();
        let mut mutants: Vec<MutantReport> = self
            .telling
            .iter()
            .map(|mutant| MutantReport {
                change: mutant.change.clone(),
                instances: 0,
                shown: 0,
                out_of_reach: mutant.out_of_reach.map(str::to_owned),
            })
            .collect();
        let run = self.run_mutants();
        let (mut instances, mut unfinished, mut launches) = (0, 0, 0);
        // At least one launch, unless the bench's own time is over.
        while launches == 0 || (Instant::now() < deadline && launches < self.options.most_launches) {
            let number = self.options.shard.index + launches * self.options.shard.count;
            let number = self.options.replay.unwrap_or(number);
            let Some(counts) = self.bench.launch(&mut prepared, &environment, self.seed(number))? else { break };
            launches += 1;
            instances += counts.instances();
            unfinished += counts.unfinished;
            for (outcome, (count, instance)) in counts.outcomes {
                let first = First { launch: number, instance, environment: environment.to_string() };
                seen.entry(outcome).or_insert((0, first)).0 += count;
            }
            // A mutant in every other turn: the one that has shown the least.
            if launches % 2 == 1
                && let Some(&least) = run.iter().min_by_key(|&&at| (mutants[at].shown, mutants[at].instances))
            {
                let Some(counts) = self.bench.launch(&mut others[least], &environment, self.seed(number))? else {
                    break;
                };
                mutants[least].instances += counts.instances();
                mutants[least].shown += own(&self.telling[least], &counts);
            }
        }
        let outcomes = self.outcomes(seen);
        let forbidden = |outcome: &Outcome| outcome.count > 0 && outcome.target == Judgement::Forbidden;
        let code = outcomes.iter().any(forbidden).then(|| self.bench.code(runs, environment.space));
        Ok(TestReport {
            name: self.program.name.clone(),
            source: self.source.to_owned(),
            notes: self.program.notes.clone(),
            observed: self.program.observed_names(),
            environments: vec![environment.to_string()],
            instances,
            unfinished,
            launches,
            outcomes,
            mutants,
            confidence: None,
            code,
        })
    }

    /// The mutants that are run, by number: those that the device can show, as far as is known. Where there are none, a
    /// driver's compiler may still show one.
    fn run_mutants(&self) -> Vec<usize> {
        let within: Vec<_> = (0..self.telling.len()).filter(|&at| self.telling[at].is_within_reach()).collect();
        if within.is_empty() && self.bench.generates() { (0..self.telling.len()).collect() } else { within }
    }

    /// The seed of a launch.
    fn seed(&self, launch: u64) -> u64 {
        Random::of(self.options.seed, &self.program.name, launch).word()
    }

    fn outcomes(&self, mut seen: BTreeMap<Vec<i32>, (u64, First)>) -> Vec<Outcome> {
        let mut values = self.judge.target.outcomes.clone();
        values.extend(seen.keys().cloned());
        let outcome = |values: Vec<i32>| {
            let (count, first) = seen.remove(&values).map_or((0, None), |(count, first)| (count, Some(first)));
            Outcome {
                count,
                portable: self.judge.portable(&values),
                target: self.judge.target(&values),
                weak: self.judge.is_weak(&values),
                first,
                values,
            }
        };
        values.into_iter().map(outcome).collect()
    }

    /// The environment in which weak outcomes, and the mutants' own, come most often in the time.
    fn tuned(
        &self,
        prepared: &mut Prepared<'_>,
        others: &mut [Prepared<'_>],
        deadline: Instant,
    ) -> Result<Environment> {
        let began = Instant::now();
        let all = deadline.saturating_duration_since(began).mul_f64(TUNING);
        let mut random = Random::of(self.options.seed, "tuning", 0);
        let run = self.run_mutants();
        let (can_share, can_stress) = (self.bench.can_share(self.program), self.bench.can_stress());
        let mut best = (Environment::FIRST, (0.0, 0.0));
        for candidate in 0..CANDIDATES {
            let environment = match candidate {
                0 => Environment::FIRST,
                _ => Environment::random(&mut random, can_share, can_stress),
            };
            let (start, until) = (Instant::now(), began + all.mul_f64((candidate + 1) as f64 / CANDIDATES as f64));
            let (mut weak, mut mixed, mut round) = (0, 0, 0);
            while round == 0 || Instant::now() < until {
                let seed = random.word();
                let Some(counts) = self.bench.launch(prepared, &environment, seed)? else { return Ok(best.0) };
                weak += counts.outcomes.iter().filter(|(it, _)| self.judge.is_weak(it)).map(|(_, n)| n.0).sum::<u64>();
                mixed += counts.instances() - counts.outcomes.values().map(|n| n.0).max().unwrap_or(0);
                if !run.is_empty() {
                    let at = run[round % run.len()];
                    let counts = self.bench.launch(&mut others[at], &environment, seed)?;
                    weak += counts.map_or(0, |counts| own(&self.telling[at], &counts));
                }
                round += 1;
            }
            let seconds = start.elapsed().as_secs_f64().max(1e-9);
            // Without weak outcomes, threads that mix well are the best guess.
            let score = (weak as f64 / seconds, mixed as f64 / seconds);
            if candidate == 0 || score > best.1 {
                best = (environment, score);
            }
            if self.bench.is_over() || Instant::now() >= began + all {
                break;
            }
        }
        Ok(best.0)
    }
}

/// How many instances had an outcome of the mutant's own.
fn own(mutant: &Telling, counts: &Counts) -> u64 {
    counts.outcomes.iter().filter(|(outcome, _)| mutant.own.contains(*outcome)).map(|(_, n)| n.0).sum()
}
