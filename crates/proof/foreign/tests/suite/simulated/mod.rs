//! Modules on the simulated device: one interleaving of all threads for each seed.
//!
//! The checker is the oracle. Whatever a seed reports the checker reports too, and every outcome of a seed is among those of the
//! checker.

mod bytes;
mod known;
mod orders;
mod random;
mod spirv;
mod waits;

use std::collections::BTreeSet;
use std::sync::Mutex;

use wattle_check::Simulated as _;
use wattle_check::checker::{Checker, Report, Verdict};
use wattle_core::{Device, Result};
use wattle_memory::Model;

/// A scenario that returns what its launches have left.
pub type Scenario<'s> = &'s (dyn Fn(&Device) -> Result<String> + Sync);

/// What seeds and the checker have found.
pub struct Seen {
    /// What the launches have left, of the seeds that reported nothing.
    pub outcomes: BTreeSet<String>,
    /// What the other seeds reported.
    pub errors: Vec<String>,
    pub report: Report,
}

/// Says that nothing is known of a launch.
const UNJUDGED: &str = "cannot be judged";

/// Runs a scenario on seeds of the simulated device and under the checker, and compares what they find.
#[track_caller]
pub fn compared(model: Model, seeds: u64, scenario: Scenario<'_>) -> Seen {
    let permitted = Mutex::new(BTreeSet::new());
    let checker = Checker::new(model);
    let report = checker.check(|device| {
        let left = scenario(device)?;
        permitted.lock().expect("nobody panics").insert(left);
        Ok(())
    });
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    let permitted = permitted.into_inner().expect("nobody panics");
    let (mut outcomes, mut errors) = (BTreeSet::new(), Vec::new());
    for seed in 0..seeds {
        match scenario(&Device::simulated(seed)) {
            Ok(left) => {
                let is_permitted = report.verdict != Verdict::Holds || permitted.contains(&left);
                assert!(is_permitted, "seed {seed} leaves {left}, the checker {permitted:?}");
                outcomes.insert(left);
            }
            Err(error) => {
                let text = error.to_string();
                let is_known = report.verdict == Verdict::Violated || text.contains(UNJUDGED);
                assert!(is_known, "seed {seed} reports what the checker does not: {text}\n{report}");
                errors.push(text);
            }
        }
    }
    Seen { outcomes, errors, report }
}

/// Asserts that a scenario holds, and that all seeds leave the same.
#[track_caller]
pub fn holds(model: Model, seeds: u64, left: &str, scenario: Scenario<'_>) {
    let seen = compared(model, seeds, scenario);
    assert_eq!(seen.report.verdict, Verdict::Holds, "{}", seen.report);
    assert_eq!(seen.errors, Vec::<String>::new());
    assert_eq!(seen.outcomes, [left.to_owned()].into());
}

/// Asserts that the checker refutes a scenario, and that some seed reports each of these texts.
#[track_caller]
pub fn refuted(model: Model, seeds: u64, texts: &[&str], scenario: Scenario<'_>) -> Seen {
    let seen = compared(model, seeds, scenario);
    assert_eq!(seen.report.verdict, Verdict::Violated, "{}", seen.report);
    for text in texts {
        assert!(seen.errors.iter().any(|error| error.contains(text)), "no seed reports `{text}`: {:#?}", seen.errors);
    }
    seen
}
