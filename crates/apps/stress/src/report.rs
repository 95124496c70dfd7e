//! What was seen beside what is allowed: a campaign's report, and how the parts of one are put together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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

/// Where an outcome was first seen.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestReport {
    /// The name.
    pub name: String,
    /// What the command is given to run it again: a path or a scenario's name.
    pub source: String,
    /// Where the program is not quite the file's.
    pub notes: Vec<String>,
    /// What is observed, in the order of the values.
    pub observed: Vec<String>,
    /// The environments that ran.
    pub environments: Vec<String>,
    /// The instances that came to their end.
    pub instances: u64,
    /// The instances in which a wait was given up.
    pub unfinished: u64,
    /// The launches.
    pub launches: u64,
    /// The outcomes, by their values.
    pub outcomes: Vec<Outcome>,
    /// The mutants.
    pub mutants: Vec<MutantReport>,
    /// The code that ran, where an outcome is forbidden.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
}

/// A file or scenario that was not run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refused {
    /// Its path or name.
    pub source: String,
    /// The reason.
    pub reason: String,
}

/// What came of a scenario that ran as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its name.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The device.
    pub device: String,
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
}

/// The reason why reports are not put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("there is no report to merge: give the files that `wattle stress --json --shard i/n` wrote")]
    Nothing,
    /// They are of different campaigns.
    #[error("the reports are of different campaigns: {what} is `{first}` in one and `{second}` in another")]
    Different {
        /// What differs.
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
        same("the target", &all.target, &report.target)?;
        same("the seed", &all.seed, &report.seed)?;
        same("the number of shards", &all.shard_count, &report.shard_count)?;
        if let Some(&twice) = report.shards.iter().find(|shard| all.shards.contains(shard)) {
            return Err(MergeError::Twice(twice));
        }
        all.shards.extend(report.shards);
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
    all.sort();
    Ok(all)
}

fn same<T: PartialEq + ToString>(what: &'static str, first: &T, second: &T) -> Result<(), MergeError> {
    if first == second {
        return Ok(());
    }
    Err(MergeError::Different { what, first: first.to_string(), second: second.to_string() })
}

impl Report {
    /// The shards of the campaign that are not in this report.
    pub fn missing_shards(&self) -> Vec<u64> {
        (0..self.shard_count).filter(|shard| !self.shards.contains(shard)).collect()
    }

    /// Sorts everything that has no order of its own.
    pub(crate) fn sort(&mut self) {
        self.shards.sort_unstable();
        self.tests.sort_by(|a, b| (&a.source, &a.name).cmp(&(&b.source, &b.name)));
        self.written.sort_by(|a, b| a.scenario.cmp(&b.scenario));
        self.refused.sort();
        self.refused.dedup();
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

    /// How many mutants with outcomes of their own showed one, and how many the device can show as far as is known: the
    /// mutation score; and how many there are in all.
    pub fn mutation_score(&self) -> (usize, usize, usize) {
        let all = || self.tests.iter().flat_map(|test| &test.mutants);
        let within_reach = all().filter(|mutant| mutant.out_of_reach.is_none() || mutant.shown > 0).count();
        (all().filter(|mutant| mutant.shown > 0).count(), within_reach, all().count())
    }

    /// The mutation score in words.
    pub(crate) fn score_text(&self) -> String {
        match self.mutation_score() {
            (shown, within_reach, all) if within_reach == all => format!("{shown} of {all}"),
            (shown, within_reach, all) => format!("{shown} of {within_reach} within reach, {all} in all"),
        }
    }

    /// The command that runs the launch again in which an outcome was first seen.
    pub fn command(&self, test: &TestReport, first: &First) -> String {
        format!(
            "wattle stress {} --device {} --seconds 10 --seed {} --replay {} --environment {}",
            test.source, self.device, self.seed, first.launch, first.environment
        )
    }
}

impl Written {
    /// Whether nothing was seen that is not allowed.
    pub fn is_clean(&self) -> bool {
        let forbidden = |(_, judgement): &(u64, Judgement)| *judgement == Judgement::Forbidden;
        self.to_be_refuted || (self.failed == 0 && !self.outcomes.values().any(forbidden))
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

    /// The confidence that a clean run gives: the least probability, over the mutants that showed an outcome, with which
    /// the program's instances would have shown one that comes as often. `None` where no mutant showed any.
    ///
    /// Instances are taken as independent, as MC Mutants does (Levine et al., ASPLOS 2023, "reproducibility").
    pub fn confidence(&self) -> Option<f64> {
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
