//! Runs a case on the simulated device and in the checker, and compares the two.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use wattle_check::Simulated as _;
use wattle_check::checker::{Checker, Report, Unknown, Verdict, Violation};
use wattle_check::search::{FOUND_NOTHING, Stuck, Why};
use wattle_core::{Device, Error, ErrorKind, FaultKind, LaunchOptions, Result, Summary, ThreadSpec};
use wattle_memory::Model;

use super::kernel::{Code, Given};
use super::lower::kernel;
use super::{Case, LEN, REGISTERS};

/// The number of interleavings of each case.
pub const SEEDS: u64 = 50;

/// The time limit of a launch: one that takes longer repeats a loop that changes something each time.
const LAUNCH_LIMIT: Duration = Duration::from_millis(300);

/// The kind of error in a run or in an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    Race,
    Fault,
    Assertion,
    Unwritten,
    Barrier,
    Stuck,
    /// An error that no case should have, such as a refusal.
    Other,
}

/// The comparison of the simulated device with the checker.
#[derive(Debug)]
pub enum Judged {
    /// They agree: the checker's verdict, the kinds of what it reports, and what seeds reported.
    Agree {
        verdict: Verdict,
        reported: BTreeSet<Wrong>,
        seen: BTreeMap<Wrong, u64>,
        outcomes: usize,
    },
    /// The checker's search was incomplete, so nothing can be concluded.
    Unknown {
        why: String,
        /// A finding of a seed that the checker does not have: it may be beyond what was searched.
        missed: Option<Wrong>,
        seen: BTreeMap<Wrong, u64>,
    },
    /// No seed finished.
    Endless,
    Differ(Difference),
}

/// A disagreement of the two.
#[derive(Clone, Debug)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The seed that shows it.
    pub seed: u64,
    pub simulated: String,
    pub checked: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// A seed reports this error, and the checker reports neither it nor a race.
    Missed(Wrong),
    /// A seed leaves an outcome that the checker does not have.
    Outcome,
    /// The checker finds no execution at all, and every seed shows one.
    Nothing,
    /// One of the two refuses the case.
    Refused,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with seed {}\nsimulated: {}\nchecker: {}", self.kind, self.seed, self.simulated, self.checked)
    }
}

/// A case with its kernels built: one scenario for all devices.
pub struct Prepared<'c> {
    case: &'c Case,
    code: Vec<Arc<Code>>,
    seen: usize,
}

impl<'c> Prepared<'c> {
    pub fn new(case: &'c Case) -> Prepared<'c> {
        let (mut code, mut first) = (Vec::new(), 0);
        for (number, launch) in case.launches.iter().enumerate() {
            code.push(Arc::new(Code::new(kernel(launch, number, first))));
            first += launch.blocks * launch.threads * u32::from(REGISTERS);
        }
        Prepared { case, code, seen: first as usize }
    }

    /// Runs the scenario, which observes the final contents of all buffers.
    pub fn run(&self, device: &Device) -> Result<Summary> {
        let len = LEN as usize;
        let mut data = device.alloc::<u32>(len)?;
        let (flags, seen) = (device.alloc_zeroed::<u32>(len)?, device.alloc_zeroed::<u32>(self.seen)?);
        let queues = [device.queue_non_blocking()?, device.queue_non_blocking()?];
        if !self.case.unwritten {
            data.write(&queues[0], &vec![0; len])?;
            queues[0].wait()?;
        }
        let mut result = Ok(());
        for (launch, code) in self.case.launches.iter().zip(&self.code) {
            let options = LaunchOptions::new().time_limit(LAUNCH_LIMIT).warp_size(launch.lanes);
            let spec = ThreadSpec::new(launch.blocks as usize, launch.threads as usize);
            let launched = queues[launch.queue].launch_with(options, spec, Given::new(code, &data, &flags, &seen));
            result = result.and(launched);
        }
        for queue in &queues {
            result = result.and(queue.wait());
        }
        result?;
        let buffers = [data.read(&queues[0])?, flags.read(&queues[0])?, seen.read(&queues[0])?];
        let mut summary = Summary::default();
        summary.outcomes.insert(format!("{buffers:?}"), 1);
        Ok(summary)
    }

    /// Runs the case with one seed.
    fn simulate(&self, seed: u64) -> Seen {
        match self.run(&Device::simulated(seed)) {
            Ok(summary) => Seen::Outcome(summary.outcomes.into_keys().collect()),
            Err(error) if matches!(error.kind(), ErrorKind::TimeLimit { .. }) => Seen::Endless,
            Err(error) => Seen::Wrong(wrong(&error), error.to_string()),
        }
    }

    /// Runs the checker.
    pub fn check(&self, limit: Duration) -> Result<Report> {
        Checker::new(Model::Portable).every_kind().time(limit).check(|device| self.run(device))
    }
}

enum Seen {
    Outcome(String),
    Wrong(Wrong, String),
    Endless,
}

fn wrong(error: &Error) -> Wrong {
    match error.kind() {
        ErrorKind::Fault(fault) => match fault.what {
            FaultKind::Assertion(_) => Wrong::Assertion,
            _ => Wrong::Fault,
        },
        ErrorKind::Finding(text) => {
            let kinds = [
                ("data race", Wrong::Race),
                ("nobody wrote it", Wrong::Unwritten),
                ("barrier at", Wrong::Barrier),
                ("warp operation at", Wrong::Barrier),
                ("lanes of a warp wait", Wrong::Barrier),
                ("different barriers", Wrong::Barrier),
                ("can never end", Wrong::Stuck),
            ];
            let first = text.lines().next().unwrap_or_default();
            kinds.iter().find(|(words, _)| first.contains(words)).map_or(Wrong::Other, |&(_, kind)| kind)
        }
        _ => Wrong::Other,
    }
}

fn reported(violation: &Violation) -> BTreeSet<Wrong> {
    match violation {
        Violation::Race { .. } => [Wrong::Race].into(),
        Violation::Fault { what, .. } if what.contains("assertion") => [Wrong::Assertion].into(),
        Violation::Fault { .. } => [Wrong::Fault].into(),
        Violation::Unwritten { .. } => [Wrong::Unwritten].into(),
        // The host observes what nobody has written.
        Violation::Assertion { error, .. } if error.to_string().contains("unwritten memory") => {
            [Wrong::Unwritten].into()
        }
        Violation::Stuck { stuck, .. } => {
            let wrong = |stuck: &Stuck| match stuck.why {
                Why::Barrier(_) => Wrong::Barrier,
                Why::Spins(_) => Wrong::Stuck,
            };
            stuck.iter().map(wrong).collect()
        }
        Violation::Assertion { .. } | Violation::Module { .. } | _ => [Wrong::Other].into(),
    }
}

/// Judges a case with all seeds and the checker.
pub fn judge(case: &Case, limit: Duration) -> Judged {
    let prepared = Prepared::new(case);
    let (mut outcomes, mut found, mut counts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut endless = false;
    for seed in 0..SEEDS {
        match prepared.simulate(seed) {
            Seen::Outcome(outcome) => {
                outcomes.entry(outcome).or_insert(seed);
            }
            Seen::Wrong(wrong, text) => {
                *counts.entry(wrong).or_default() += 1;
                found.entry(wrong).or_insert((seed, text));
            }
            Seen::Endless => {
                endless = true;
                break;
            }
        }
    }
    if endless && outcomes.is_empty() && found.is_empty() {
        return Judged::Endless;
    }
    let report = match prepared.check(limit) {
        Ok(report) => report,
        Err(error) => {
            let (seed, simulated) = found.into_values().next().unwrap_or((0, format!("{outcomes:?}")));
            let kind = DifferenceKind::Refused;
            return Judged::Differ(Difference { kind, seed, simulated, checked: error.to_string() });
        }
    };
    if let Some((seed, text)) = found.get(&Wrong::Other) {
        let (kind, simulated) = (DifferenceKind::Refused, text.clone());
        return Judged::Differ(Difference { kind, seed: *seed, simulated, checked: "did not refuse it".into() });
    }
    let reported: BTreeSet<Wrong> = report.violations.iter().flat_map(reported).collect();
    let checked = || {
        let executions = report.statistics.complete;
        format!("{} {reported:?}, {executions} executions: {:?}", report.verdict, report.outcomes.keys())
    };
    let is_nothing = |why: &Unknown| match why {
        Unknown::Stopped(reason) => reason == FOUND_NOTHING,
        why => *why == Unknown::Nothing,
    };
    if report.unknown.iter().any(is_nothing) && report.violations.is_empty() {
        let (seed, simulated) = found.into_values().next().unwrap_or((0, format!("{outcomes:?}")));
        return Judged::Differ(Difference { kind: DifferenceKind::Nothing, seed, simulated, checked: checked() });
    }
    // What a program with a race does otherwise has no meaning.
    let is_racy = reported.contains(&Wrong::Race);
    if !is_racy && !report.unknown.is_empty() {
        let why: Vec<String> = report.unknown.iter().map(ToString::to_string).collect();
        let missed = found.keys().copied().find(|wrong| !reported.contains(wrong));
        return Judged::Unknown { why: why.join("; "), missed, seen: counts };
    }
    if !is_racy {
        if let Some((wrong, (seed, simulated))) = found.into_iter().find(|(wrong, _)| !reported.contains(wrong)) {
            let kind = DifferenceKind::Missed(wrong);
            return Judged::Differ(Difference { kind, seed, simulated, checked: checked() });
        }
        // What the host observes where nobody has written is another value on each.
        let is_known = |outcome: &String| reported.contains(&Wrong::Unwritten) || report.outcomes.contains_key(outcome);
        let missing = outcomes.iter().find(|(outcome, _)| !is_known(outcome));
        if let Some((outcome, &seed)) = missing {
            let simulated = format!("the outcome {outcome}");
            let kind = DifferenceKind::Outcome;
            return Judged::Differ(Difference { kind, seed, simulated, checked: checked() });
        }
    }
    Judged::Agree { verdict: report.verdict, reported, seen: counts, outcomes: outcomes.len() }
}
