//! Runs of a scenario's function, one for each distinct outcome of its launches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use wattle_core::{Device, Error, ErrorKind, Result, Summary};

use super::device::{CheckedBackend, Frames, Path, Run, Shared, lock};
use super::queue::panicked;
use super::report::{Report, Unknown, Verdict, Violation};
use super::{Checker, Witness};
use crate::search::{Limits, Statistics, Stopped, Watch};

/// Checks a scenario's function.
pub(super) fn check(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<Report> {
    let began = Instant::now();
    let shared = Arc::new(Shared { deadline: checker.deadline(), ..Shared::default() });
    let mut report = Report {
        verdict: Verdict::Holds,
        target: checker.target,
        model: checker.model,
        progress: checker.progress,
        shapes: Vec::new(),
        loop_bound: checker.loop_bound,
        violations: Vec::new(),
        unknown: Vec::new(),
        outcomes: Default::default(),
        witnesses: Default::default(),
        example: None,
        executed: Default::default(),
        orders: Default::default(),
        checks: Vec::new(),
        statistics: Statistics::default(),
        symmetric: false,
        runs: 0,
        elapsed: Default::default(),
        launches: Vec::new(),
    };
    // A launch by frames must be right for any choice of blocks and threads; two are tried.
    let framed = explore(checker, Frames::AsBlocks, &shared, scenario, &mut report);
    let framed = match framed {
        // The host runs one thread per block, so the other choice is all that there is to try.
        Err(_) if checker.target == wattle_memory::Target::Host => true,
        other => other?,
    };
    if framed && report.violations.is_empty() {
        explore(checker, Frames::OneThreadEach, &shared, scenario, &mut report)?;
    }
    report.verdict = match (report.violations.is_empty(), report.unknown.is_empty()) {
        (false, _) => Verdict::Violated,
        (true, false) => Verdict::Unknown,
        (true, true) => Verdict::Holds,
    };
    report.elapsed = began.elapsed();
    Ok(report)
}

/// All runs with one choice of shapes; whether some launch was by frames of more than one thread.
fn explore(
    checker: &Checker,
    frames: Frames,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &mut Report,
) -> Result<bool> {
    let mut path = Path::default();
    let mut framed = false;
    loop {
        let known = path.phases.len();
        let (summary, after) = run(checker, frames, shared, scenario, path);
        path = after;
        framed |= path.framed;
        report.runs += 1;
        if let Some(text) = path.strayed.take() {
            return Err(ErrorKind::Capability {
                device: "checker".into(),
                what: format!("check this scenario: it is not deterministic apart from its launches; {text}"),
                instead: "let nothing but the launches' results decide what it does: no time, no random numbers, no \
                          state that outlives a run"
                    .into(),
            }
            .into());
        }
        if let Some(error) = path.refused.take() {
            return Err(error);
        }
        if path.overlaps {
            note(&mut report.unknown, Unknown::Overlap);
        }
        for phase in path.phases.iter().skip(known.min(path.phases.len())) {
            report.statistics.add(&phase.statistics);
            report.symmetric |= phase.symmetric;
            report.executed.extend(&phase.executed);
            phase.shapes.iter().for_each(|shape| note(&mut report.shapes, shape.clone()));
            phase.unknown.iter().for_each(|unknown| note(&mut report.unknown, unknown.clone()));
            report.violations.extend(phase.violations.iter().cloned());
            report.launches.push(phase.world.clone());
        }
        // A run that found what is wrong with its launches says nothing more; nor does one that was stopped.
        let last = path.phases.get(path.at.wrapping_sub(1)).filter(|_| path.at > 0);
        let witness: Option<Box<Witness>> = last.and_then(|phase| {
            let chosen = path.chosen.get(path.at - 1).copied().unwrap_or(0);
            phase.outcomes.get(chosen).map(|outcome| outcome.witness.clone())
        });
        let orders = last.and_then(|phase| {
            let chosen = path.chosen.get(path.at - 1).copied().unwrap_or(0);
            phase.outcomes.get(chosen).and_then(|outcome| outcome.orders.clone())
        });
        let done = path.phases.iter().take(path.at);
        let broken = done.clone().any(|phase| phase.outcomes.is_empty() || !phase.violations.is_empty());
        if broken {
            return Ok(framed);
        }
        match summary {
            Err(error) if is_unanswered(&error) => return Err(error),
            Ok(summary) => {
                if report.example.is_none() {
                    report.example.clone_from(&witness);
                }
                for (outcome, count) in &summary.outcomes {
                    *report.outcomes.entry(outcome.clone()).or_default() += count;
                    if let Some(orders) = &orders {
                        report.orders.entry(outcome.clone()).or_default().add(orders);
                    }
                    if let Some(witness) = &witness {
                        report.witnesses.entry(outcome.clone()).or_insert_with(|| witness.clone());
                    }
                }
                summary.checks.into_iter().for_each(|check| note(&mut report.checks, check));
            }
            // What is wanted is what can be observed, right or wrong.
            Err(error) if checker.keeps_on => {
                for (outcome, count) in error.observed().into_iter().flatten() {
                    *report.outcomes.entry(outcome.clone()).or_default() += count;
                    if let Some(orders) = &orders {
                        report.orders.entry(outcome.clone()).or_default().add(orders);
                    }
                }
            }
            Err(error) => report.violations.push(Violation::Assertion { witness, error }),
        }
        if !report.violations.is_empty() {
            return Ok(framed);
        }
        if let Some(stopped) = stopped(&checker.limits(shared.deadline)) {
            note(&mut report.unknown, Unknown::Stopped(stopped.to_string()));
            return Ok(framed);
        }
        // The next path: another outcome of the last search that has one.
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
            return Ok(framed);
        }
        path.at = 0;
    }
}

/// One run of the scenario's function along a path.
fn run(
    checker: &Checker,
    frames: Frames,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    path: Path,
) -> (Result<Summary>, Path) {
    let run = Arc::new(Run::new(checker, frames, shared.clone(), path));
    let device = CheckedBackend::device(&run);
    let summary = catch_unwind(AssertUnwindSafe(|| scenario(&device)))
        .unwrap_or_else(|panic| Err(panicked("the scenario", &*panic)));
    // What nobody waited for happens all the same.
    run.finish();
    let path = std::mem::take(&mut *lock(&run.path));
    (summary, path)
}

/// The limit that has been reached, if one has.
pub(super) fn stopped(limits: &Limits) -> Option<Stopped> {
    Watch::new(limits).check()
}

/// Whether a scenario ended so because of what the checker, or this machine, cannot do: that is no violation.
fn is_unanswered(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Capability { .. }
        | ErrorKind::DeviceUnusable { .. }
        | ErrorKind::OutOfMemory { .. }
        | ErrorKind::UnknownDevice { .. }
        | ErrorKind::Interrupted { .. }
        | ErrorKind::System { .. } => true,
        ErrorKind::QueueStopped { first } => is_unanswered(first),
        // `unwrap` has made a text of the error: what this device cannot do begins with its name.
        ErrorKind::Panic { message, .. } => message.contains("device `checker"),
        _ => false,
    }
}

fn note<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
