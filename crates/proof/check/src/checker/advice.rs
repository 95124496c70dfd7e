//! Advice: which fence is missing, too strong or needless.
//!
//! Every piece of advice has been tried: the whole scenario is checked again with the instructions changed ([`Edits`]).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wattle_core::{Device, Result, Summary};

use super::changes::{self, Change};
use super::explore::stopped;
use super::report::{Report, Verdict};
use super::{Checker, explore};
use crate::program::Edits;

/// The changes that advice proposes for a scenario's kernels.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Advice {
    /// For a scenario that holds: the weakest orders and scopes found under which it still does, all together.
    pub weaker: Vec<Change>,
    /// Of the instructions that stay as they are, those that are needless alone: without one of them, and with all
    /// others as written, the scenario holds too.
    pub needless_alone: Vec<Change>,
    /// For a scenario that does not hold: the fewest changes that make it hold.
    pub fixes: Vec<Change>,
    /// How many variants were tried.
    pub tried: u64,
    /// Whether the time was up before all variants were tried.
    pub cut_short: bool,
}

/// The maximum number of changes that are tried together.
const MOST_TOGETHER: usize = 3;

struct Trials<'a> {
    checker: &'a Checker,
    scenario: &'a dyn Fn(&Device) -> Result<Summary>,
    deadline: Instant,
    /// The time limit of one trial: many times what the first check took.
    each: Duration,
    /// How many shapes of launches by frames the first pass of a trial checks.
    shapes: usize,
    advice: Advice,
}

impl Trials<'_> {
    /// Checks the scenario with these changes; returns whether it holds.
    fn holds(&mut self, changes: &[&Change]) -> bool {
        let mut edits = Edits::default();
        for change in changes {
            change.apply(&mut edits);
        }
        if self.time_is_up() {
            return false;
        }
        self.advice.tried += 1;
        let left = || self.deadline.saturating_duration_since(Instant::now());
        let holds = |checker: &Checker| {
            explore::check(checker, self.scenario).is_ok_and(|report| report.verdict == Verdict::Holds)
        };
        // The first pass covers the shapes up to the one in which something was wrong; what holds there is checked in
        // all shapes.
        let checker = self.checker.clone().edits(edits);
        let first = Checker { most_shapes: Some(self.shapes), ..checker.clone().time(self.each.min(left())) };
        holds(&first) && holds(&checker.time(left()))
    }

    fn time_is_up(&mut self) -> bool {
        let up = Instant::now() >= self.deadline || stopped(&self.checker.limits(None)).is_some();
        self.advice.cut_short |= up;
        up
    }
}

/// Finds advice on a scenario whose check gave this report.
pub(super) fn advise(
    checker: &Checker,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &Report,
    budget: Duration,
) -> Advice {
    let mut trials = Trials {
        checker,
        scenario,
        deadline: Instant::now() + budget,
        each: (report.elapsed * 20).max(Duration::from_millis(200)).min(budget),
        shapes: if report.verdict == Verdict::Violated { report.shapes_tried.max(1) } else { 1 },
        advice: Advice::default(),
    };
    match report.verdict {
        // Where nothing is asserted and races are no error, every instruction is needless.
        Verdict::Holds if asserts(checker, report) => weaken(&mut trials, report),
        Verdict::Holds => {}
        Verdict::Violated => mend(&mut trials, report),
        Verdict::Unknown => {}
    }
    trials.advice
}

/// Whether the scenario asserts anything that a weaker variant could break.
fn asserts(checker: &Checker, report: &Report) -> bool {
    !report.checks.is_empty() || (checker.model.forbids_races() && !checker.plain_as_relaxed)
}

/// The weakest variant of each instruction under which everything holds, one instruction after another, each with the
/// earlier ones already weakened: so the result holds as a whole.
fn weaken(trials: &mut Trials<'_>, report: &Report) {
    let mut kept: Vec<Change> = Vec::new();
    let mut alone: Vec<Change> = Vec::new();
    for variants in changes::weakenings(report) {
        if trials.time_is_up() {
            break;
        }
        let mut weakest = None;
        for variant in &variants {
            let mut together: Vec<&Change> = kept.iter().collect();
            together.push(variant);
            if trials.holds(&together) {
                weakest = Some(variant.clone());
                break;
            }
        }
        // What stays may still be needless as long as the others are as they were written.
        let removal = variants.first().filter(|variant| variant.removes() && !kept.is_empty());
        if let Some(removal) = removal.filter(|_| weakest.as_ref().is_none_or(|weakest: &Change| !weakest.removes()))
            && trials.holds(&[removal])
        {
            alone.push(removal.clone());
        }
        kept.extend(weakest);
    }
    trials.advice.weaker = kept;
    trials.advice.needless_alone = alone;
}

/// The smallest set of changes that makes the scenario hold. Orders and scopes come first: a race can always be
/// silenced by making it atomic, and the program may still be wrong.
fn mend(trials: &mut Trials<'_>, report: &Report) {
    let changes::Additions { orders, instead, others } = changes::additions(report);
    let all = [&orders[..], &instead, &others].concat();
    let _ = search(trials, &orders, 1)
        || search(trials, &instead, 1)
        || search(trials, &orders, 2)
        || search(trials, &others, 1)
        || search(trials, &all, 2)
        || search(trials, &orders, MOST_TOGETHER)
        || search(trials, &all, MOST_TOGETHER);
}

/// Tries all sets of `size` changes; returns whether one makes the scenario hold, or the time is up.
fn search(trials: &mut Trials<'_>, candidates: &[Change], size: usize) -> bool {
    let mut chosen: Vec<usize> = (0..size).collect();
    while chosen.last().is_some_and(|&last| last < candidates.len()) {
        if trials.time_is_up() {
            return true;
        }
        let together: Vec<&Change> = chosen.iter().map(|&number| &candidates[number]).collect();
        if !changes::clash(&together) && trials.holds(&together) {
            trials.advice.fixes = together.into_iter().cloned().collect();
            return true;
        }
        next_combination(&mut chosen, candidates.len());
    }
    false
}

/// Advances `chosen` to the next set of as many numbers, ordered by their sums: the earlier candidates are the likelier
/// and cheaper changes.
fn next_combination(chosen: &mut [usize], of: usize) {
    let size = chosen.len();
    for at in (0..size).rev() {
        if chosen[at] + (size - at) < of {
            chosen[at] += 1;
            for next in at + 1..size {
                chosen[next] = chosen[next - 1] + 1;
            }
            return;
        }
    }
    if let Some(last) = chosen.last_mut() {
        *last = of;
    }
}

impl Advice {
    /// Whether there is no advice.
    pub fn is_empty(&self) -> bool {
        self.weaker.is_empty() && self.needless_alone.is_empty() && self.fixes.is_empty()
    }

    /// Groups the changes by source line.
    pub fn by_line(changes: &[Change]) -> BTreeMap<(String, u32), Vec<&Change>> {
        let mut lines: BTreeMap<(String, u32), Vec<&Change>> = BTreeMap::new();
        for change in changes {
            lines.entry((change.site.file.to_owned(), change.site.line)).or_default().push(change);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::next_combination;

    #[test]
    fn every_combination_comes_once() {
        let mut chosen = vec![0, 1];
        let mut all = Vec::new();
        while chosen.last().is_some_and(|&last| last < 4) {
            all.push(chosen.clone());
            next_combination(&mut chosen, 4);
        }
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }
}
