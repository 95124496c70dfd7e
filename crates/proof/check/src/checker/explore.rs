//! Runs of a scenario's function, one for each distinct outcome of its launches.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wattle_core::{Device, Error, ErrorKind, LaunchOptions, Result, Shape, Summary, caught, lock};

use super::Checker;
use super::device::CheckedBackend;
use super::frames::{Choice, Frames, OpenWarps, text};
use super::run::{Path, Run, Shared, note};
use super::variants::{Asked, variants};
use crate::report::{Report, Unknown, Verdict, Violation, Witness};
use crate::search::{Limits, Statistics, Stopped, Watch};

/// Checks a scenario's function. Where something is wrong and some search was an earlier run's, which has no execution to
/// show, all is searched.
pub(super) fn check(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<Report> {
    let (report, shared) = check_once(checker, scenario)?;
    if report.verdict == Verdict::Holds {
        for (key, result) in std::mem::take(&mut *lock(&shared.to_keep)) {
            checker.keeper.iter().for_each(|keeper| keeper.keep(&key, &result));
        }
    } else if report.kept > 0 {
        return Ok(check_once(&Checker { keeper: None, ..checker.clone() }, scenario)?.0);
    }
    Ok(report)
}

fn check_once(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<(Report, Arc<Shared>)> {
    let began = Instant::now();
    let shared = Arc::new(Shared { deadline: checker.deadline(), ..Shared::default() });
    let mut report = begun(checker);
    try_shapes(checker, &shared, scenario, &mut report)?;
    report.reads_back = shared.reads_back.load(Ordering::Relaxed);
    report.verdict = match (report.violations.is_empty(), report.unknown.is_empty()) {
        (false, _) => Verdict::Violated,
        (true, false) => Verdict::Unknown,
        (true, true) => Verdict::Holds,
    };
    report.elapsed = began.elapsed();
    Ok((report, shared))
}

/// The report of a check that has found nothing yet.
pub(super) fn begun(checker: &Checker) -> Report {
    Report {
        verdict: Verdict::Holds,
        target: checker.target,
        model: checker.model,
        emitted: checker.emitted.is_some(),
        progress: checker.progress,
        shapes: Vec::new(),
        violated_in: Vec::new(),
        loop_bound: checker.loop_bound,
        violations: Vec::new(),
        unknown: Vec::new(),
        outcomes: Default::default(),
        witnesses: Default::default(),
        example: None,
        executed: Default::default(),
        orders: Default::default(),
        checks: Vec::new(),
        reads_back: false,
        statistics: Statistics::default(),
        events: 0,
        covered: None,
        rests_on: Vec::new(),
        rests_unfinished: false,
        assumes: Vec::new(),
        shapes_tried: 0,
        symmetric: false,
        kept: 0,
        searches: 0,
        runs: 0,
        elapsed: Default::default(),
        launches: Vec::new(),
    }
}

/// Explores each choice of shapes that the launches leave to devices, until something is wrong.
fn try_shapes(
    checker: &Checker,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &mut Report,
) -> Result<()> {
    let mut framed: Vec<(Shape, LaunchOptions)> = Vec::new();
    let mut tried: Vec<Tried> = Vec::new();
    let mut warps = OpenWarps::default();
    let mut asked = Asked::default();
    let variants = variants(checker.target);
    let choices = variants.iter().flat_map(|&variant| {
        let frames = Frames::CHOICES.into_iter().filter(move |frames| frames.are_of(variant.layout));
        let of_warps = move |&warp_size: &u32| frames.clone().map(move |frames| Choice { frames, warp_size, variant });
        checker.warp_sizes().iter().flat_map(of_warps)
    });
    for choice in choices {
        let resolve = |frames: Frames| {
            let resolve = move |(shape, options): &(Shape, LaunchOptions)| {
                frames.resolve(shape, options, checker.target.threads_by_frames())
            };
            framed.iter().map(resolve).collect::<Vec<_>>()
        };
        let resolved = resolve(choice.frames);
        if checker.most_shapes.is_some_and(|most| tried.len() >= most) {
            break;
        }
        // A choice that resolves to the same shapes for all launches as an earlier one adds nothing.
        let is_same = |Tried { choice: earlier, .. }: &Tried| {
            warps.are_alike(earlier.warp_size, choice.warp_size)
                && asked.is_answered_alike(earlier.variant, choice.variant)
                && resolve(earlier.frames) == resolved
        };
        if tried.iter().any(is_same) {
            continue;
        }
        let (before, launches) = (std::mem::take(&mut report.shapes), report.launches.len());
        match explore(checker, choice, shared, scenario, report) {
            Ok(found) => {
                warps = warps.and(found.warps);
                asked = asked.and(found.asked);
                let others = checker.warp_sizes().iter().filter(|size| **size != choice.warp_size);
                let apart = |(first, observed): &(Path, Outcomes)| {
                    others.clone().any(|&size| tells_apart(checker, choice, size, shared, scenario, first, observed))
                };
                if tried.is_empty() && report.violations.is_empty() && found.first_run.as_ref().is_some_and(apart) {
                    warps = warps.and(OpenWarps::ASKED_BY_THE_HOST);
                }
                found.framed.into_iter().for_each(|launch| note(&mut framed, launch));
            }
            Err(error) if tried.is_empty() => return Err(error),
            // The other shapes are explored all the same.
            Err(error) => {
                note(&mut report.unknown, Unknown::Stopped(error.to_string()));
                resolved.into_iter().for_each(|shape| note(&mut report.shapes, text(shape)));
            }
        }
        let shapes = std::mem::replace(&mut report.shapes, before);
        shapes.iter().for_each(|shape| note(&mut report.shapes, shape.clone()));
        if !report.violations.is_empty() {
            report.violated_in.clone_from(&shapes);
        }
        // The other shapes' launches run the same programs.
        if !tried.is_empty() {
            report.launches.truncate(launches);
        }
        tried.push(Tried { choice, shapes, unknown: std::mem::take(&mut report.unknown) });
        if !report.violations.is_empty() {
            break;
        }
    }
    if !report.violations.is_empty() {
        // One of them fails in a run, or a run did not come to them.
        report.checks.clear();
    }
    report.shapes_tried = tried.len();
    report.unknown = unknown(&tried);
    Ok(())
}

/// A choice that was explored, with the launches' shapes and the reasons why the search is incomplete.
struct Tried {
    choice: Choice,
    shapes: Vec<String>,
    unknown: Vec<Unknown>,
}

/// The reasons why the search is incomplete, with the shapes where they apply to some only.
fn unknown(tried: &[Tried]) -> Vec<Unknown> {
    let mut all = Vec::new();
    for why in tried.iter().flat_map(|tried| &tried.unknown) {
        let such: Vec<&Vec<String>> =
            tried.iter().filter(|tried| tried.unknown.contains(why)).map(|tried| &tried.shapes).collect();
        if such.len() == tried.len() {
            note(&mut all, why.clone());
        } else {
            let shapes = such.into_iter().map(|shapes| shapes.join(", ")).collect();
            note(&mut all, Unknown::InShapes { shapes, why: Box::new(why.clone()) });
        }
    }
    all
}

/// What runs observed, each with how often.
type Outcomes = BTreeMap<String, u64>;

/// What the launches of a scenario leave to devices.
#[derive(Default)]
struct LeftToDevices {
    /// The launches by frames.
    framed: Vec<(Shape, LaunchOptions)>,
    /// The warps of kernels whose launch does not say how many lanes they have.
    warps: OpenWarps,
    /// What kernels ask of their device.
    asked: Asked,
    /// The first run, and what it observed.
    first_run: Option<(Path, Outcomes)>,
}

/// Makes all runs with one choice of shapes.
fn explore(
    checker: &Checker,
    choice: Choice,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &mut Report,
) -> Result<LeftToDevices> {
    let mut path = Path::default();
    let mut left = LeftToDevices::default();
    loop {
        let known = path.phases.len();
        let (summary, after) = run(checker, choice, shared, scenario, path);
        path = after;
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
            report.rests_unfinished |= phase.rests.unfinished;
            phase.assumes.iter().for_each(|site| note(&mut report.assumes, *site));
            report.symmetric |= phase.symmetric;
            report.kept += u32::from(phase.kept);
            report.searches += 1;
            report.executed.extend(&phase.executed);
            phase.shapes.iter().for_each(|shape| note(&mut report.shapes, shape.clone()));
            phase.unknown.iter().for_each(|unknown| note(&mut report.unknown, unknown.clone()));
            report.violations.extend(phase.violations.iter().cloned());
            report.launches.push(phase.world.clone());
        }
        // A run whose launches had an error, or that was stopped, observes nothing.
        let last = path.phases.get(path.at.wrapping_sub(1)).filter(|_| path.at > 0);
        let witness: Option<Box<Witness>> = last.and_then(|phase| {
            let chosen = path.chosen.get(path.at - 1).copied().unwrap_or(0);
            phase.outcomes.get(chosen).and_then(|outcome| outcome.witness.clone())
        });
        let orders = last.and_then(|phase| {
            let chosen = path.chosen.get(path.at - 1).copied().unwrap_or(0);
            phase.outcomes.get(chosen).and_then(|outcome| outcome.orders.clone())
        });
        let done = path.phases.iter().take(path.at);
        let broken = done.clone().any(|phase| phase.outcomes.is_empty() || !phase.violations.is_empty());
        if broken {
            return Ok(left);
        }
        let summary = match path.unwritten.take() {
            Some(element) if !checker.keeps_on => {
                let (other, after) = run_with(checker, true, choice, shared, scenario, path.again());
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
            // With `keeps_on` only the observations matter, whether the check holds or not.
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
            return Ok(left);
        }
        if let Some(stopped) = stopped(&checker.limits(shared.deadline)) {
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

/// Runs the scenario's function once along a path.
fn run(
    checker: &Checker,
    choice: Choice,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    path: Path,
) -> (Result<Summary>, Path) {
    run_with(checker, false, choice, shared, scenario, path)
}

/// Runs it so; `fills` says that the host reads something else than zeros where nobody has written.
fn run_with(
    checker: &Checker,
    fills: bool,
    choice: Choice,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    path: Path,
) -> (Result<Summary>, Path) {
    run_as(Run { fills, ..Run::new(checker, choice, shared.clone(), path) }, scenario)
}

/// Whether the scenario's host part does otherwise where the device says that its warps have `size` lanes: its launches differ
/// from those of the first run, or what it observes does.
fn tells_apart(
    checker: &Checker,
    choice: Choice,
    size: u32,
    shared: &Arc<Shared>,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    first: &Path,
    observed: &Outcomes,
) -> bool {
    let mut run = Run::new(checker, choice, shared.clone(), first.again());
    run.properties.warp_width = size;
    let (summary, after) = run_as(run, scenario);
    let is_same = after.strayed.is_none() && after.refused.is_none() && after.at == first.phases.len();
    !is_same || summary.map_or(true, |summary| summary.outcomes != *observed)
}

fn run_as(run: Run, scenario: &dyn Fn(&Device) -> Result<Summary>) -> (Result<Summary>, Path) {
    let run = Arc::new(run);
    let backend = CheckedBackend::new(&run);
    let device = Device::new(backend.clone());
    let summary = caught("the scenario", || scenario(&device));
    // Launches that the scenario did not wait for run too.
    backend.finish();
    let path = std::mem::take(&mut *lock(&run.path));
    (summary, path)
}

/// The result of a run in which the host read an element that nobody has written: it must be that of another run, in which
/// other values stood there.
fn without_unwritten(
    summary: Result<Summary>,
    other: Result<Summary>,
    after: &Path,
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

/// The limit that has been reached, if one has.
pub(super) fn stopped(limits: &Limits) -> Option<Stopped> {
    Watch::new(limits).check()
}

/// Whether a scenario ended with an error because of a limit of the checker or of this machine, which is no violation.
fn is_unanswered(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Capability { .. }
        | ErrorKind::DeviceUnusable { .. }
        | ErrorKind::OutOfMemory { .. }
        | ErrorKind::UnknownDevice { .. }
        | ErrorKind::Interrupted { .. }
        | ErrorKind::System { .. } => true,
        ErrorKind::QueueStopped { first } => is_unanswered(first),
        // `unwrap` has turned the error into text; an error about this device begins with its name.
        ErrorKind::Panic { message, .. } => message.contains("device `checker"),
        // The enumeration may grow (`non_exhaustive`); any other error is the scenario's.
        _ => false,
    }
}
