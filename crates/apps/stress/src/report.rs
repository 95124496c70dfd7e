//! What was seen beside what is allowed: a campaign's report, and how the parts of one are put together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::Bench;
use crate::shard::Shard;

/// What a model says of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// The model allows it.
    Allowed,
    /// The model does not have it, but the program has a data race, of which the model promises nothing.
    Undefined,
    /// The model forbids it.
    Forbidden,
    /// Not all outcomes that the model allows are known.
    Unknown,
}

/// The launch and instance in which an outcome was seen first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct First {
    /// The number of the launch; with the campaign's seed it gives the launch's.
    pub launch: u64,
    /// The instance in that launch.
    pub instance: u32,
    /// The launch's environment.
    pub environment: String,
}

/// An outcome: one that was seen, or one that is allowed by the target and was not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The values of what is observed.
    pub values: Vec<i32>,
    /// How many instances had it.
    pub count: u64,
    /// What the portable model says of it.
    pub portable: Judgement,
    /// What the target's model says of it.
    pub target: Judgement,
    /// Whether no interleaving of the threads has it.
    pub weak: bool,
    /// The first launch that had it, by number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first: Option<First>,
}

/// What came of a mutant that has outcomes of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantReport {
    /// The change that makes the mutant.
    pub change: String,
    /// The instances that ran.
    pub instances: u64,
    /// The instances with an outcome that the program itself does not have.
    pub shown: u64,
    /// The reason why the device cannot show any, as far as is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub out_of_reach: Option<String>,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    /// The name of the test.
    pub name: String,
    /// What the command is given to run it again: a path or a scenario's name.
    pub source: String,
    /// The changes to the file that the program was made from, each in a sentence.
    pub notes: Vec<String>,
    /// What is observed, in the order of the values.
    pub observed: Vec<String>,
    /// The environments that ran.
    pub environments: Vec<String>,
    /// The instances that came to their end.
    pub instances: u64,
    /// The instances in which a wait was given up.
    pub unfinished: u64,
    /// How many launches ran.
    pub launches: u64,
    /// The outcomes, by their values.
    pub outcomes: Vec<Outcome>,
    /// What came of each mutant of the test.
    pub mutants: Vec<MutantReport>,
    /// The confidence that a clean run gives: the least probability, over the mutants that showed an outcome, with
    /// which the program's instances would have shown one that comes as often; none where no mutant showed any.
    ///
    /// Instances are taken as independent, as MC Mutants does (Levine et al., ASPLOS 2023, "reproducibility").
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f64>,
    /// The code that ran, where an outcome is forbidden.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}

/// A file or scenario that was not run, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refused {
    /// The path of the file, or the name of the scenario.
    pub source: String,
    /// Why it was not run, or not to its end, in words.
    pub reason: String,
    /// Whether that leaves a question without an answer: it ran, and the device reported an error; or it cannot run as
    /// it was asked to.
    #[serde(default)]
    pub unanswered: bool,
}

impl Refused {
    /// The entry of a program that was not run, with the reason.
    pub fn skipped(source: impl Into<String>, reason: impl Into<String>) -> Refused {
        Refused { source: source.into(), reason: reason.into(), unanswered: false }
    }

    /// What ran until the device reported an error, or cannot run as it was asked to.
    pub fn unanswered(source: impl Into<String>, reason: impl Into<String>) -> Refused {
        Refused { unanswered: true, ..Refused::skipped(source, reason) }
    }
}

/// How many mutants with outcomes of their own showed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutationScore {
    /// How many mutants showed an outcome that the program itself does not have.
    pub shown: usize,
    /// How many mutants ran and have outcomes that the device can show, as far as is known.
    pub within_reach: usize,
    /// How many mutants have outcomes of their own.
    pub all: usize,
}

/// What came of a scenario that ran as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The name of the scenario.
    pub scenario: String,
    /// How often it ran.
    pub runs: u64,
    /// How often its own check failed.
    pub failed: u64,
    /// Whether it is there to be refuted.
    pub to_be_refuted: bool,
    /// How often each combination of its observations came, and what the target's model says of it.
    pub outcomes: BTreeMap<String, (u64, Judgement)>,
    /// The first failure in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// A campaign's report, or the report of some shards of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the device that the campaign runs on.
    pub device: String,
    /// What the device is, by its own description, on each machine that took part.
    #[serde(default)]
    pub machines: Vec<String>,
    /// What was asked for, in order: names, files and folders.
    #[serde(default)]
    pub asked: Vec<String>,
    /// The target whose model judges.
    pub target: String,
    /// The campaign's seed.
    pub seed: u64,
    /// The number of shards of the campaign.
    pub shard_count: u64,
    /// The shards that are in this report.
    pub shards: Vec<u64>,
    /// The time that they took together, in milliseconds.
    pub milliseconds: u64,
    /// The tests, by source and name.
    pub tests: Vec<TestReport>,
    /// The scenarios that ran as they are written, by name.
    pub written: Vec<Written>,
    /// What was not run, and why.
    pub refused: Vec<Refused>,
    /// How many mutants showed outcomes of their own, over all tests of the report.
    #[serde(default)]
    pub mutation_score: MutationScore,
}

/// The reason why reports are not put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// No report was given to merge.
    #[error("there is no report to merge: give the files that `wattle stress --json --shard i/n` wrote")]
    Nothing,
    /// The reports are of different campaigns.
    #[error("the reports are of different campaigns: {what} is `{first}` in one and `{second}` in another")]
    Different {
        /// The setting that differs.
        what: &'static str,
        /// The value in the first report.
        first: String,
        /// The value in another one.
        second: String,
    },
    /// A shard is there twice.
    #[error("shard {0} is in two of the reports, and would count twice")]
    Twice(u64),
}

/// Puts the reports of a campaign's shards together; the order in which they are given makes no difference.
///
/// # Errors
/// They are not of one campaign, or a shard is there twice.
pub fn merge(mut reports: Vec<Report>) -> Result<Report, MergeError> {
    reports.sort_by(|a, b| a.shards.cmp(&b.shards));
    let mut reports = reports.into_iter();
    let mut all = reports.next().ok_or(MergeError::Nothing)?;
    for report in reports {
        same("the device", &all.device, &report.device)?;
        same("what is tested", &all.asked.join(" "), &report.asked.join(" "))?;
        same("the target", &all.target, &report.target)?;
        same("the seed", &all.seed, &report.seed)?;
        same("the number of shards", &all.shard_count, &report.shard_count)?;
        if let Some(&twice) = report.shards.iter().find(|shard| all.shards.contains(shard)) {
            return Err(MergeError::Twice(twice));
        }
        all.shards.extend(report.shards);
        all.machines.extend(report.machines);
        all.milliseconds += report.milliseconds;
        for test in report.tests {
            match all.tests.iter_mut().find(|known| (&known.source, &known.name) == (&test.source, &test.name)) {
                Some(known) => known.add(test),
                None => all.tests.push(test),
            }
        }
        for written in report.written {
            match all.written.iter_mut().find(|known| known.scenario == written.scenario) {
                Some(known) => known.add(written),
                None => all.written.push(written),
            }
        }
        all.refused.extend(report.refused);
    }
    all.conclude();
    Ok(all)
}

fn same<T: PartialEq + ToString>(what: &'static str, first: &T, second: &T) -> Result<(), MergeError> {
    if first == second {
        return Ok(());
    }
    Err(MergeError::Different { what, first: first.to_string(), second: second.to_string() })
}

impl Report {
    /// A report in which nothing has run yet.
    pub fn new(bench: &Bench, asked: Vec<String>, seed: u64, shard: Shard) -> Report {
        let properties = bench.device().properties();
        Report {
            device: properties.name.clone(),
            machines: vec![properties.description.clone()],
            asked,
            target: bench.target().to_string(),
            seed,
            shard_count: shard.count,
            shards: vec![shard.index],
            milliseconds: 0,
            tests: Vec::new(),
            written: Vec::new(),
            refused: Vec::new(),
            mutation_score: MutationScore::default(),
        }
    }

    /// The shards of the campaign that are not in this report.
    pub fn missing_shards(&self) -> Vec<u64> {
        (0..self.shard_count).filter(|shard| !self.shards.contains(shard)).collect()
    }

    /// Sorts everything that has no order of its own, and computes what follows from the tests.
    pub fn conclude(&mut self) {
        self.shards.sort_unstable();
        self.tests.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        self.written.sort_by(|a, b| a.scenario.cmp(&b.scenario));
        self.refused.sort();
        self.refused.dedup();
        self.machines.sort();
        self.machines.dedup();
        self.tests.iter_mut().for_each(|test| test.confidence = test.confidence_of_mutants());
        let all = || self.tests.iter().flat_map(|test| &test.mutants);
        let ran = |mutant: &&MutantReport| mutant.instances > 0 && (mutant.out_of_reach.is_none() || mutant.shown > 0);
        let (within_reach, shown) = (all().filter(ran).count(), all().filter(|mutant| mutant.shown > 0).count());
        self.mutation_score = MutationScore { shown, within_reach, all: all().count() };
    }

    /// Whether each test ran and ended, and all that was seen is known to be allowed or not.
    pub fn is_answered(&self) -> bool {
        let is_known = |outcome: &Outcome| outcome.count == 0 || outcome.target != Judgement::Unknown;
        let are_known = |test: &TestReport| test.instances > 0 && test.outcomes.iter().all(is_known);
        let is_judged = |written: &Written| {
            written.outcomes.values().all(|(count, judgement)| *count == 0 || *judgement != Judgement::Unknown)
        };
        self.tests.iter().all(are_known)
            && self.written.iter().all(is_judged)
            && !self.refused.iter().any(|refused| refused.unanswered)
    }

    /// The tests with an outcome that the target's model forbids.
    pub fn forbidden(&self) -> impl Iterator<Item = (&TestReport, &Outcome)> {
        self.tests.iter().flat_map(|test| test.forbidden().map(move |outcome| (test, outcome)))
    }

    /// Whether nothing was seen that the target's model forbids.
    pub fn is_clean(&self) -> bool {
        self.forbidden().next().is_none() && self.written.iter().all(Written::is_clean)
    }

    /// The instances that came to their end.
    pub fn instances(&self) -> u64 {
        self.tests.iter().map(|test| test.instances).sum()
    }

    /// The mutation score in words.
    pub(crate) fn score_text(&self) -> String {
        let MutationScore { shown, within_reach, all } = self.mutation_score;
        let of = if within_reach == all {
            format!("{shown} of {all}")
        } else {
            format!("{shown} of {within_reach} that ran and are within reach, {all} in all")
        };
        let gentle = within_reach > 0 && shown == 0;
        of + if gentle { "; the environment is too gentle to tell anything" } else { "" }
    }

    /// The command that runs the launch again in which an outcome was first seen.
    pub fn command(&self, test: &TestReport, first: &First) -> String {
        format!(
            "wattle stress {} --device {} --seconds 10 --seed {} --replay {} --environment {}",
            quoted(&test.source),
            quoted(&self.device),
            self.seed,
            first.launch,
            quoted(&first.environment)
        )
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-./:=,+@%".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl Written {
    /// Whether nothing was seen that is not allowed. That its own check fails is what a scenario that is to be refuted
    /// is there for.
    pub fn is_clean(&self) -> bool {
        let forbidden = |(_, judgement): &(u64, Judgement)| *judgement == Judgement::Forbidden;
        (self.to_be_refuted || self.failed == 0) && !self.outcomes.values().any(forbidden)
    }

    fn add(&mut self, other: Written) {
        self.runs += other.runs;
        self.failed += other.failed;
        for (outcome, (count, judgement)) in other.outcomes {
            self.outcomes.entry(outcome).or_insert((0, judgement)).0 += count;
        }
        self.error = self.error.take().or(other.error);
    }
}

impl TestReport {
    /// The outcomes that were seen and that the target's model forbids.
    pub fn forbidden(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.count > 0 && outcome.target == Judgement::Forbidden)
    }

    /// The weak outcomes that the target's model allows and that were not seen.
    pub fn unseen(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.count == 0 && outcome.weak)
    }

    /// An outcome in words: `P0:r0=0 P1:r0=1`.
    pub fn text(&self, outcome: &Outcome) -> String {
        let parts = self.observed.iter().zip(&outcome.values);
        parts.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn confidence_of_mutants(&self) -> Option<f64> {
        let shown = self.mutants.iter().filter(|mutant| mutant.shown > 0);
        let of = |mutant: &MutantReport| {
            let rate = mutant.shown as f64 / mutant.instances.max(1) as f64;
            -(-rate * self.instances as f64).exp_m1()
        };
        shown.map(of).min_by(f64::total_cmp)
    }

    fn add(&mut self, other: TestReport) {
        self.instances += other.instances;
        self.unfinished += other.unfinished;
        self.launches += other.launches;
        for outcome in other.outcomes {
            match self.outcomes.iter_mut().find(|known| known.values == outcome.values) {
                Some(known) => {
                    known.count += outcome.count;
                    // The launch of the smallest number is the first.
                    known.first = match (known.first.take(), outcome.first) {
                        (Some(a), Some(b)) => Some(a.min(b)),
                        (a, b) => a.or(b),
                    };
                }
                None => self.outcomes.push(outcome),
            }
        }
        self.outcomes.sort_by(|a, b| a.values.cmp(&b.values));
        for mutant in other.mutants {
            match self.mutants.iter_mut().find(|known| known.change == mutant.change) {
                Some(known) => {
                    known.instances += mutant.instances;
                    known.shown += mutant.shown;
                }
                None => self.mutants.push(mutant),
            }
        }
        self.environments.extend(other.environments);
        self.environments.sort();
        self.environments.dedup();
        self.code = self.code.take().or(other.code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_a_shell_reads_them() {
        for (word, expected) in
            [("a/b-c.litmus", "a/b-c.litmus"), ("", "''"), ("my dir/x & y", "'my dir/x & y'"), ("it's", "'it'\\''s'")]
        {
            assert_eq!(quoted(word), expected);
        }
    }

    fn part(shard: u64) -> Report {
        let (outcome, count) = ("a=1".to_owned(), shard + 1);
        let written = Written {
            scenario: "store-buffering".into(),
            runs: 10 * count,
            failed: count,
            to_be_refuted: false,
            outcomes: BTreeMap::from([(outcome, (count, Judgement::Allowed))]),
            error: (shard == 1).then(|| "it failed".to_owned()),
        };
        Report {
            device: "host".into(),
            machines: vec![format!("machine {shard}")],
            asked: vec!["store-buffering".into()],
            target: "host".into(),
            seed: 7,
            shard_count: 3,
            shards: vec![shard],
            milliseconds: 100,
            tests: Vec::new(),
            written: vec![written],
            refused: Vec::new(),
            mutation_score: MutationScore::default(),
        }
    }

    #[test]
    fn shards_are_added_up() {
        let all = merge(vec![part(2), part(0), part(1)]).expect("they fit");
        assert_eq!((all.shards.as_slice(), all.milliseconds, all.machines.len()), ([0, 1, 2].as_slice(), 300, 3));
        let [written] = &all.written[..] else { panic!("{:?}", all.written) };
        assert_eq!((written.runs, written.failed, written.error.as_deref()), (60, 6, Some("it failed")));
        assert_eq!(written.outcomes["a=1"], (6, Judgement::Allowed));
        assert!(matches!(merge(vec![part(1), part(1)]), Err(MergeError::Twice(1))));
        let other = Report { seed: 8, ..part(0) };
        assert!(matches!(merge(vec![part(1), other]), Err(MergeError::Different { what: "the seed", .. })));
    }

    /// A scenario that is to be refuted may fail its own check, and must not show what the model forbids.
    #[test]
    fn a_scenario_to_be_refuted_may_fail_and_not_do_what_is_forbidden() {
        let written = |failed: u64, judgement: Judgement| Written {
            scenario: "broken".into(),
            runs: 10,
            failed,
            to_be_refuted: true,
            outcomes: BTreeMap::from([("a=1".to_owned(), (3, judgement))]),
            error: None,
        };
        assert!(written(3, Judgement::Allowed).is_clean());
        assert!(!written(3, Judgement::Forbidden).is_clean());
    }
}
