//! The check of a scenario's function with each choice of what its launches leave to devices.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wattle_core::{Device, LaunchOptions, Result, Shape, Summary, lock};

use super::Checker;
use super::frames::{Choice, Frames, OpenWarps, text};
use super::run::{Path, Shared, note};
use super::runs::{Outcomes, Runs};
use super::seeds;
use super::variants::{Asked, variants};
use crate::report::{Report, Unknown, Verdict};
use crate::search::Statistics;

/// Checks a scenario's function. Where something is wrong and some search was an earlier run's, which has no execution
/// to show, all is searched.
pub(super) fn check(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<Report> {
    let began = Instant::now();
    let (mut report, mut shared) = check_once(checker, scenario)?;
    let looks = shared.looks_at_open.load(Ordering::Relaxed);
    let checker = &Checker { leaves_open: checker.leaves_open && !looks, ..checker.clone() };
    if looks {
        let time = checker.time.map(|time| time.saturating_sub(began.elapsed()));
        (report, shared) = check_once(&Checker { time, ..checker.clone() }, scenario)?;
        report.elapsed = began.elapsed();
    }
    if report.verdict == Verdict::Holds {
        for (key, result) in std::mem::take(&mut *lock(&shared.to_keep)) {
            checker.keeper.iter().for_each(|keeper| keeper.keep(&key, &result));
        }
    } else if report.kept > 0 {
        report = check_once(&Checker { keeper: None, ..checker.clone() }, scenario)?.0;
    }
    seeds::look(checker, scenario, &mut report);
    Ok(report)
}

fn check_once(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<(Report, Arc<Shared>)> {
    let began = Instant::now();
    let shared = Arc::new(Shared { deadline: checker.deadline(), ..Shared::default() });
    let mut report = begun(checker);
    try_shapes(checker, &shared, scenario, &mut report)?;
    report.reads_back = shared.reads_back.load(Ordering::Relaxed);
    // What the scenario has made of a value that others may stand for is no result.
    let is_known = report.unknown.is_empty() && !shared.looks_at_open.load(Ordering::Relaxed);
    report.verdict = match (report.violations.is_empty(), is_known) {
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
        summaries: Default::default(),
        statistics: Statistics::default(),
        events: 0,
        covered: None,
        rests_on: Vec::new(),
        may_rest_on: Vec::new(),
        rests_unfinished: false,
        rests_on_progress: Vec::new(),
        assumes: Vec::new(),
        notes: Vec::new(),
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
    let mut ended_early = None;
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
        // Each choice takes a run, which ends when the scenario does.
        ended_early = checker.limits(shared.deadline).reached().filter(|_| !tried.is_empty());
        if ended_early.is_some() {
            break;
        }
        let runs = Runs { checker, choice, shared, scenario };
        let (before, launches) = (std::mem::take(&mut report.shapes), report.launches.len());
        match runs.explore(report) {
            Ok(_) if shared.looks_at_open.load(Ordering::Relaxed) => break,
            Ok(found) => {
                warps = warps.and(found.warps);
                asked = asked.and(found.asked);
                let others = checker.warp_sizes().iter().filter(|size| **size != choice.warp_size);
                let apart = |(first, observed): &(Path, Outcomes)| {
                    others.clone().any(|&size| runs.tells_apart(size, first, observed))
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
    ended_early.into_iter().for_each(|limit| note(&mut report.unknown, Unknown::Stopped(limit.to_string())));
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
