//! What runs of the simulated device show, where the search has found nothing and could not look at everything:
//! programs whose threads go round for ever have no execution that ends, and still a first iteration.

use std::time::{Duration, Instant};

use wattle_core::{Device, ErrorKind, Result, Summary, caught};
use wattle_memory::{Model, Target};

use super::Checker;
use crate::device::{Patience, simulated_within};
use crate::program::Edits;
use crate::report::{Progress, Report, Unknown, Verdict, Violation};

/// The most runs, each of another interleaving.
const RUNS: u64 = 50;

/// The most statements of a launch in a run, so that what is found does not depend on the time.
const STEPS: u64 = 20_000;

/// The longest that all runs take.
const TIME: Duration = Duration::from_secs(2);

/// Runs a scenario that has no answer on the simulated device, and adds the first race, fault or wait without end that
/// a run shows; what the scenario itself asserts is not looked at. What the simulated device does, the portable model
/// permits.
pub(super) fn look(checker: &Checker, scenario: &dyn Fn(&Device) -> Result<Summary>, report: &mut Report) {
    let is_bound = |unknown: &Unknown| matches!(unknown, Unknown::LoopBound(_) | Unknown::LoopsAtBound { .. });
    if !is_asked(checker) || report.verdict != Verdict::Unknown || !report.unknown.iter().any(is_bound) {
        return;
    }
    let begun = Instant::now();
    let until = begun + checker.time.map_or(TIME, |time| TIME.min(time.saturating_sub(report.elapsed)));
    for seed in 0..RUNS {
        if Instant::now() >= until || checker.limits(Some(until)).reached().is_some() {
            break;
        }
        let device = simulated_within(seed, Patience { steps: STEPS, until });
        let Err(error) = caught("the scenario", || scenario(&device)) else { continue };
        if let ErrorKind::Fault(_) | ErrorKind::Finding(_) = error.kind() {
            report.violations.push(Violation::Seen { seed, error });
            report.verdict = Verdict::Violated;
            break;
        }
    }
    report.elapsed += begun.elapsed();
}

/// Whether the program is the author's, under the portable model as it is, and all that is wrong with it is wanted.
/// Every field is named, so that a new one is thought about.
fn is_asked(checker: &Checker) -> bool {
    let Checker {
        target,
        model,
        progress,
        loop_bound: _,
        time: _,
        memory: _,
        cancelled: _,
        plain_as_relaxed,
        warp_size,
        symmetry: _,
        emitted,
        edits,
        module_variant,
        sample,
        count_orders,
        leaves_open: _,
        keeps_on,
        every_kind,
        meter: _,
        most_shapes,
        keeper: _,
    } = checker;
    (target, model, progress) == (&Target::Portable, &Model::Portable, &Progress::default())
        && *edits == Edits::default()
        && !(*plain_as_relaxed || *count_orders || *keeps_on || *every_kind)
        && warp_size.is_none()
        && emitted.is_none()
        && module_variant.is_none()
        && sample.is_none()
        && most_shapes.is_none()
}
