//! The check of a scenario's function with each choice of what its launches leave to devices.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wattle_core::{Device, Error, LaunchOptions, Result, Shape, Summary, lock};

use super::Checker;
use super::frames::{Choice, Frames, OpenWarps, Resolved, text};
use super::run::{Shared, note};
use super::runs::{LeftToDevices, Runs};
use super::seeds;
use super::variants::{Asked, variants};
use crate::keep::Keeper;
use crate::report::{Report, Unknown, Verdict};
use crate::search::Statistics;

/// Checks a scenario's function. Where something is wrong and some search was an earlier run's, which has no execution
/// to show, all is searched.
pub(super) fn check(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>) -> Result<Report> {
    let began = Instant::now();
    let (mut report, mut shared) = check_once(checker, scenario)?;
    let looks = shared.looks_at_open.load(Ordering::Relaxed);
    let checker = &Checker { leaves_open: checker.leaves_open && !looks, ..checker.clone() };
    // What is explored once more has the time that is left.
    let again = |keeper: Option<Arc<dyn Keeper>>| {
        let time = checker.time.map(|time| time.saturating_sub(began.elapsed()));
        let (report, shared) = check_once(&Checker { keeper, time, ..checker.clone() }, scenario)?;
        Ok::<_, Error>((Report { elapsed: began.elapsed(), ..report }, shared))
    };
    if looks {
        (report, shared) = again(checker.keeper.clone())?;
    }
    if report.verdict == Verdict::Holds {
        for (key, result) in std::mem::take(&mut *lock(&shared.to_keep)) {
            checker.keeper.iter().for_each(|keeper| keeper.keep(&key, &result));
        }
    } else if report.kept > 0 {
        report = again(None)?.0;
    }
    seeds::look(checker, scenario, &mut report);
    Ok(report)
}

/// Explores a scenario's function with each choice once, and gives the verdict.
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
    let mut explored = Explored::new(checker);
    let mut ended_early = None;
    let variants = variants(checker.target);
    let choices = variants.iter().flat_map(|&variant| {
        let frames = Frames::CHOICES.into_iter().filter(move |frames| frames.are_of(variant.layout));
        let of_warps = move |&warp_size: &u32| frames.clone().map(move |frames| Choice { frames, warp_size, variant });
        checker.warp_sizes().iter().flat_map(of_warps)
    });
    for choice in choices {
        if checker.most_shapes.is_some_and(|most| explored.tried.len() >= most) {
            break;
        }
        if explored.covers(choice) {
            continue;
        }
        // Each choice takes a run, which ends when the scenario does.
        ended_early = checker.limits(shared.deadline).reached().filter(|_| !explored.tried.is_empty());
        if ended_early.is_some() {
            break;
        }
        if explored.explore(Runs { checker, choice, shared, scenario }, report)?.is_break() {
            break;
        }
    }
    if !report.violations.is_empty() {
        // One of them fails in a run, or a run did not come to them.
        report.checks.clear();
    }
    report.shapes_tried = explored.tried.len();
    report.unknown = unknown(&explored.tried);
    ended_early.into_iter().for_each(|limit| note(&mut report.unknown, Unknown::Stopped(limit.to_string())));
    Ok(())
}

/// The choices that were explored, and what the launches have been found to leave to devices.
struct Explored<'c> {
    checker: &'c Checker,
    tried: Vec<Tried>,
    framed: Vec<(Shape, LaunchOptions)>,
    warps: OpenWarps,
    asked: Asked,
}

impl<'c> Explored<'c> {
    fn new(checker: &'c Checker) -> Explored<'c> {
        let (warps, asked) = (OpenWarps::default(), Asked::default());
        Explored { checker, tried: Vec::new(), framed: Vec::new(), warps, asked }
    }

    /// The shapes of the launches by frames under a rule.
    fn resolve(&self, frames: Frames) -> Vec<Resolved> {
        let most_threads = self.checker.target.threads_by_frames();
        self.framed.iter().map(|(shape, options)| frames.resolve(shape, options, most_threads)).collect()
    }

    /// Whether a choice adds nothing: it resolves to the same shapes for all launches as an earlier one.
    fn covers(&self, choice: Choice) -> bool {
        let resolved = self.resolve(choice.frames);
        self.tried.iter().any(|Tried { choice: earlier, .. }| {
            self.warps.are_alike(earlier.warp_size, choice.warp_size)
                && self.asked.is_answered_alike(earlier.variant, choice.variant)
                && self.resolve(earlier.frames) == resolved
        })
    }

    /// Explores a choice, and adds what was found to the report. Breaks where no other choice is to be explored. Fails
    /// if the first choice cannot be explored.
    fn explore(&mut self, runs: Runs<'_>, report: &mut Report) -> Result<ControlFlow<()>> {
        let choice = runs.choice;
        let (before, launches) = (std::mem::take(&mut report.shapes), report.launches.len());
        match runs.explore(report) {
            Ok(_) if runs.shared.looks_at_open.load(Ordering::Relaxed) => return Ok(ControlFlow::Break(())),
            Ok(found) => self.take(runs, found, !report.violations.is_empty()),
            Err(error) if self.tried.is_empty() => return Err(error),
            // The other shapes are explored all the same.
            Err(error) => {
                note(&mut report.unknown, Unknown::Stopped(error.to_string()));
                self.resolve(choice.frames).into_iter().for_each(|shape| note(&mut report.shapes, text(shape)));
            }
        }
        let shapes = std::mem::replace(&mut report.shapes, before);
        shapes.iter().for_each(|shape| note(&mut report.shapes, shape.clone()));
        let is_violated = !report.violations.is_empty();
        if is_violated {
            report.violated_in.clone_from(&shapes);
        }
        // The other shapes' launches run the same programs.
        if !self.tried.is_empty() {
            report.launches.truncate(launches);
        }
        self.tried.push(Tried { choice, shapes, unknown: std::mem::take(&mut report.unknown) });
        Ok(if is_violated { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Takes what runs have found that launches leave to devices.
    fn take(&mut self, runs: Runs<'_>, found: LeftToDevices, is_violated: bool) {
        self.warps = self.warps.and(found.warps);
        self.asked = self.asked.and(found.asked);
        let mut others = self.checker.warp_sizes().iter().filter(|size| **size != runs.choice.warp_size);
        if self.tried.is_empty()
            && !is_violated
            && let Some((first, observed)) = &found.first_run
            && others.any(|&size| runs.tells_apart(size, first, observed))
        {
            self.warps = self.warps.and(OpenWarps::ASKED_BY_THE_HOST);
        }
        found.framed.into_iter().for_each(|launch| note(&mut self.framed, launch));
    }
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
