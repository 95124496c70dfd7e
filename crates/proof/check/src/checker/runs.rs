//! The runs of a scenario's function with one choice of what its launches leave to devices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use wattle_core::{Device, Error, ErrorClass, ErrorKind, LaunchOptions, Result, Shape, Summary, caught, lock};
use wattle_ir::Kernel;

use super::Checker;
use super::device::CheckedBackend;
use super::frames::{Choice, OpenWarps};
use super::run::{Run, RunPath, Shared, note};
use super::variants::Asked;
use crate::report::{Report, Unknown, Violation};

/// What runs observed, each with how often.
pub(super) type Outcomes = BTreeMap<String, u64>;

/// What the launches of a scenario leave to devices.
#[derive(Default)]
pub(super) struct LeftToDevices {
    /// The launches by frames.
    pub framed: Vec<(Shape, LaunchOptions)>,
    /// The warps of kernels whose launch does not say how many lanes they have.
    pub warps: OpenWarps,
    /// What kernels ask of their device.
    pub asked: Asked,
    /// The first run, and what it observed.
    pub first_run: Option<(RunPath, Outcomes)>,
}

/// What all these runs have in common.
#[derive(Clone, Copy)]
pub(super) struct Runs<'r> {
    pub checker: &'r Checker,
    pub choice: Choice,
    pub shared: &'r Arc<Shared>,
    pub scenario: &'r dyn Fn(&Device) -> Result<Summary>,
}

impl Runs<'_> {
    /// Runs the scenario's function with each outcome of its launches.
    pub fn explore(self, report: &mut Report) -> Result<LeftToDevices> {
        let checker = self.checker;
        let mut path = RunPath::default();
        let mut left = LeftToDevices::default();
        loop {
            let known = path.phases.len();
            let (summary, after) = run_as(self.begin(path), self.scenario);
            path = after;
            if path.looks_at_open {
                return Ok(left);
            }
            std::mem::take(&mut path.framed).into_iter().for_each(|launch| note(&mut left.framed, launch));
            left.warps = left.warps.and(path.warps);
            left.asked = left.asked.and(path.asked);
            report.runs += 1;
            if let Some(text) = path.strayed.take() {
                let what = format!("check this scenario: it is not deterministic apart from its launches; {text}");
                let instead = "let nothing but the launches' results decide what it does: no time, no random numbers, no \
                           state that outlives a run";
                return Err(Error::capability("checker", what, instead));
            }
            if let Some(error) = path.refused.take() {
                return Err(error);
            }
            if path.overlaps {
                note(&mut report.unknown, Unknown::Overlap);
            }
            path.decided.iter().for_each(|&what| note(&mut report.unknown, Unknown::Decided(what)));
            for phase in path.phases.iter().skip(known.min(path.phases.len())) {
                report.statistics.add(&phase.statistics);
                report.events += phase.events;
                report.covered = match (report.covered, phase.covered) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
                phase.rests.on.iter().for_each(|lines| note(&mut report.rests_on, *lines));
                phase.rests.perhaps_on.iter().for_each(|lines| note(&mut report.may_rest_on, *lines));
                report.rests_unfinished |= phase.rests.unfinished;
                phase.rests.waits.iter().for_each(|lines| note(&mut report.rests_on_progress, *lines));
                phase.assumes.iter().for_each(|site| note(&mut report.assumes, *site));
                phase.notes.iter().for_each(|text| note(&mut report.notes, text.clone()));
                let kernels = phase.world.launches.iter().map(|launch| launch.program.kernel());
                kernels.flat_map(of_other_bits).for_each(|text| note(&mut report.notes, text));
                report.symmetric |= phase.symmetric;
                report.kept += u32::from(phase.kept);
                report.searches += 1;
                report.executed.extend(&phase.executed);
                phase.shapes.iter().for_each(|shape| note(&mut report.shapes, shape.clone()));
                phase.unknown.iter().for_each(|unknown| note(&mut report.unknown, unknown.clone()));
                phase.violations.iter().for_each(|violation| violation.clone().join(&mut report.violations));
                report.launches.push(phase.world.clone());
            }
            // A run whose launches had an error observes nothing.
            if !path.phases.iter().take(path.at).any(|phase| phase.is_broken(checker)) {
                self.observe(summary, &mut path, &mut left, report)?;
            }
            if !report.violations.is_empty() && !checker.every_kind {
                return Ok(left);
            }
            if let Some(stopped) = checker.limits(self.shared.deadline).reached() {
                note(&mut report.unknown, Unknown::Stopped(stopped.to_string()));
                return Ok(left);
            }
            // The next path takes another outcome of the last search that has one left.
            path.phases.truncate(path.at);
            path.chosen.truncate(path.at);
            while let (Some(phase), Some(chosen)) = (path.phases.last(), path.chosen.last_mut()) {
                if *chosen + 1 < phase.outcomes.len() {
                    *chosen += 1;
                    break;
                }
                path.phases.pop();
                path.chosen.pop();
            }
            if path.phases.is_empty() {
                return Ok(left);
            }
            path.at = 0;
        }
    }

    /// Takes what a run observed, or its error, into the report.
    fn observe(
        &self,
        summary: Result<Summary>,
        path: &mut RunPath,
        left: &mut LeftToDevices,
        report: &mut Report,
    ) -> Result<()> {
        let last = path.at.checked_sub(1).and_then(|last| Some((path.phases.get(last)?, path.chosen.get(last)?)));
        let outcome = last.and_then(|(phase, &chosen)| phase.outcomes.get(chosen));
        let witness = outcome.and_then(|outcome| outcome.witness.clone());
        let orders = outcome.and_then(|outcome| outcome.orders.clone());
        let count = |report: &mut Report, outcomes: &Outcomes| {
            for (outcome, count) in outcomes {
                *report.outcomes.entry(outcome.clone()).or_default() += count;
                if let Some(orders) = &orders {
                    report.orders.entry(outcome.clone()).or_default().add(orders);
                }
            }
        };
        let summary = match path.unwritten.take() {
            Some(element) if !self.checker.keeps_on => {
                let (other, after) = run_as(Run { fills: true, ..self.begin(path.again()) }, self.scenario);
                without_unwritten(summary, other, &after, &element, report)
            }
            Some(_) | None => summary,
        };
        match summary {
            Err(error) if is_unanswered(&error) => return Err(error),
            Ok(summary) => {
                left.first_run.get_or_insert_with(|| (path.again(), summary.outcomes.clone()));
                if report.example.is_none() {
                    report.example.clone_from(&witness);
                }
                count(report, &summary.outcomes);
                if let Some(witness) = &witness {
                    for outcome in summary.outcomes.keys() {
                        report.witnesses.entry(outcome.clone()).or_insert_with(|| witness.clone());
                    }
                }
                summary.checks.into_iter().for_each(|check| note(&mut report.checks, check));
                if summary.outcomes.is_empty() && report.summaries.len() < Report::MOST_SUMMARIES {
                    report.summaries.insert(summary.did);
                }
            }
            // With `keeps_on` only the observations matter, whether the check holds or not.
            Err(error) if self.checker.keeps_on => {
                error.observed().into_iter().for_each(|outcomes| count(report, outcomes));
            }
            Err(error) => Violation::Assertion { witness, error }.join(&mut report.violations),
        }
        Ok(())
    }

    /// Whether the scenario's host part does otherwise where the device says that its warps have `size` lanes: its
    /// launches differ from those of the first run, or what it observes does.
    pub fn tells_apart(self, size: u32, first: &RunPath, observed: &Outcomes) -> bool {
        let mut run = self.begin(first.again());
        run.properties.warp_width = size;
        let (summary, after) = run_as(run, self.scenario);
        let is_same = after.strayed.is_none() && after.refused.is_none() && after.at == first.phases.len();
        !is_same || summary.map_or(true, |summary| summary.outcomes != *observed)
    }

    fn begin(&self, path: RunPath) -> Run {
        Run::new(self.checker, self.choice, self.shared.clone(), path)
    }
}

/// Runs the scenario's function once.
fn run_as(run: Run, scenario: &dyn Fn(&Device) -> Result<Summary>) -> (Result<Summary>, RunPath) {
    let run = Arc::new(run);
    let backend = CheckedBackend::new(&run);
    let device = Device::new(backend.clone());
    let summary = caught("the scenario", || scenario(&device));
    // Launches that the scenario did not wait for run too.
    backend.finish();
    let path = std::mem::take(&mut *lock(&run.path));
    run.shared.looks_at_open.fetch_or(path.looks_at_open, Ordering::Relaxed);
    (summary, path)
}

/// The result of a run in which the host read an element that nobody has written: it must be that of another run, in
/// which other values stood there.
fn without_unwritten(
    summary: Result<Summary>,
    other: Result<Summary>,
    after: &RunPath,
    element: &str,
    report: &mut Report,
) -> Result<Summary> {
    let summary = summary?;
    if after.strayed.is_some() || after.refused.is_some() || after.at != after.phases.len() {
        let why =
            format!("the host passes on what nobody has written ({element}), and not every value of it was tried");
        note(&mut report.unknown, Unknown::Stopped(why));
        return Ok(summary);
    }
    let depends = |otherwise: &str| {
        let what = format!("unwritten memory: the host reads {element}, which nobody has written, and {otherwise}");
        Err(Error::check(what))
    };
    match other {
        Ok(other) if other.outcomes == summary.outcomes => Ok(summary),
        Ok(_) => depends("what it observes depends on what stands there"),
        Err(error) => depends(&format!("with another value than zero there: {error}")),
    }
}

/// Whether a scenario ended with an error because of a limit of the checker or of this machine, which is no violation.
fn is_unanswered(error: &Error) -> bool {
    if let ErrorKind::QueueStopped { first } = error.kind() {
        return is_unanswered(first);
    }
    match error.kind().class() {
        ErrorClass::Lacking | ErrorClass::Interrupted => true,
        // `unwrap` has turned the error into text; an error about this device begins with its name.
        ErrorClass::Wrong => {
            matches!(error.kind(), ErrorKind::Panic { message, .. } if message.contains("device `checker"))
        }
        ErrorClass::Refused => false,
    }
}

/// What devices may compute with other bits than the host, of whose bits the verdict is.
fn of_other_bits(kernel: &Kernel) -> Vec<String> {
    let name = &kernel.name;
    let short = kernel.first_short_form().map(|site| {
        format!(
            "{site} computes with a short form (`…_fast`), of which each device has its own bits within the stated bound; the \
             verdict is of the host's"
        )
    });
    let reordered = kernel.reassociates.then(|| {
        format!(
            "kernel `{name}` permits to add its sums in another order (`reassociate`); the verdict is of sums in the order in \
             which they are written"
        )
    });
    short.into_iter().chain(reordered).collect()
}
