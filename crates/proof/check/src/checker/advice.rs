//! Advice: which fence is missing, too strong or needless.
//!
//! Every piece of advice has been tried: the whole scenario is checked again with the instructions changed ([`Edits`]).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use wattle_core::{Device, Result, Summary};

use super::changes::{self, Advice, Change};
use super::module_batch::ModuleVariant;
use super::modules::{MODULE_JUDGES, ModuleTrials};
use super::strongest::{self, ChangeKind, Variants};
use super::{Checker, additions, explore, weaker};
use crate::program::Edits;
use crate::report::{Report, Verdict, Violation};
use crate::search::{Setup, always_faults};

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
    /// Whether the time limit has been reached.
    is_up: bool,
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
        let left = || self.left();
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
        self.is_up |= Instant::now() >= self.deadline || self.checker.limits(None).reached().is_some();
        self.is_up
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

/// Finds advice on a scenario whose check gave this report.
pub(super) fn advise(
    checker: &Checker,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &Report,
    budget: Duration,
) -> Advice {
    // What is emitted is not written by anybody who could change it.
    if checker.emitted.is_some() {
        return Advice::default();
    }
    if report.launches.iter().any(|world| world.launches.is_empty()) {
        return on_modules(checker, scenario, report, budget);
    }
    let mut trials = Trials {
        checker,
        scenario,
        deadline: Instant::now() + budget,
        each: (report.elapsed * 20).max(Duration::from_millis(200)).min(budget),
        shapes: if report.verdict == Verdict::Violated { report.shapes_tried.max(1) } else { 1 },
        is_up: false,
        advice: Advice::default(),
    };
    match report.verdict {
        // Where nothing is asserted and races are no error, every instruction is needless.
        Verdict::Holds if asserts(checker, report) => weaken(&mut trials, report),
        Verdict::Holds => {}
        Verdict::Violated if is_fault_of_one_thread(checker, report) => return Advice::default(),
        Verdict::Violated => mend(&mut trials, report),
        Verdict::Unknown => {}
    }
    // What was found is complete; only its being the smallest is not known.
    trials.advice.cut_short = trials.is_up;
    if !trials.advice.fixes.is_empty() {
        trials.advice.how_far.clear();
    }
    trials.advice
}

/// Whether a thread of the only launch has a fault whatever the others do: no change of what orders them mends that.
fn is_fault_of_one_thread(checker: &Checker, report: &Report) -> bool {
    let ([_], [Violation::Fault { witness, .. }]) = (report.launches.as_slice(), report.violations.as_slice()) else {
        return false;
    };
    let world = &*witness.world;
    let setup = Setup { limits: checker.limits(None), ..Setup::new(world, checker.model) };
    world.threads().is_ok_and(|threads| always_faults(&setup.with_threads(world, threads)))
}

/// Advice on a scenario that launches modules' kernels: changes of these, of which their judge knows.
fn on_modules(
    checker: &Checker,
    scenario: &dyn Fn(&Device) -> Result<Summary>,
    report: &Report,
    budget: Duration,
) -> Advice {
    let Some(judge) = MODULE_JUDGES.first().filter(|_| report.verdict == Verdict::Violated) else {
        return Advice::default();
    };
    let mut check = |variant: ModuleVariant, time: Duration| {
        let checker = Checker { module_variant: Some(variant), keeper: None, ..checker.clone() };
        explore::check(&checker.time(time), scenario).ok().map(|report| report.verdict)
    };
    judge.advise(ModuleTrials { check: &mut check, limits: checker.limits(None), took: report.elapsed, budget })
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
    for variants in weaker::weakenings(report) {
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
    let additions::Additions { orders, instead, others } = additions::additions(report);
    let all = [&orders[..], &instead, &others].concat();
    let _ = search(trials, "a fence, an order or a scope", &orders, 1)
        || search(trials, "a barrier instead of a fence", &instead, 1)
        || mend_together(trials, report, &orders)
        || search(trials, "an atomic or a barrier", &others, 1)
        || search(trials, "pairs of all these", &all, 2)
        || search(trials, "three fences, orders or scopes", &orders, MOST_TOGETHER)
        || search(trials, "three of all these", &all, MOST_TOGETHER);
}

/// Finds the orders, scopes and fences that are needed together: from the strongest form of all of them, if that holds,
/// by taking away what is not needed. More than two changes may be more than are necessary, so then pairs are tried for
/// part of the time.
fn mend_together(trials: &mut Trials<'_>, report: &Report, orders: &[Change]) -> bool {
    let gentle = |variants: &Variants, inserts: bool| if inserts { 0 } else { variants.len() - 1 };
    let strong = |variants: &Variants, _: bool| variants.len() - 1;
    // Fences that acquire and release are searched faster than SeqCst ones, and mostly enough.
    let kinds = strongest::strongest(report);
    let Some(found) = weakest_of(trials, &kinds, &gentle).or_else(|| weakest_of(trials, &kinds, &strong)) else {
        trials.advice.how_far.push(match trials.is_up {
            true => "began with all orders at their strongest and a fence at every access".into(),
            false => "all orders at their strongest with a fence at every access do not mend it".into(),
        });
        return trials.is_up;
    };
    if found.len() > 2 && !trials.is_up {
        let part = Instant::now() + trials.left() / 4;
        let end = std::mem::replace(&mut trials.deadline, part);
        let fewer = search(trials, "pairs of fences, orders and scopes", orders, 2) && !trials.advice.fixes.is_empty();
        (trials.deadline, trials.is_up) = (end, false);
        if fewer {
            return true;
        }
    }
    trials.advice.fixes = found;
    true
}

/// The weakest variant of each change that is needed, if all of them together make the scenario hold.
fn weakest_of(
    trials: &mut Trials<'_>,
    kinds: &[ChangeKind],
    begin: &dyn Fn(&Variants, bool) -> usize,
) -> Option<Vec<Change>> {
    // The variant chosen for each place; `None` where the place is left as it is.
    let begins = |kind: &ChangeKind| kind.places.iter().map(|variants| Some(begin(variants, kind.inserts))).collect();
    let mut chosen: Vec<Vec<Option<usize>>> = kinds.iter().map(begins).collect();
    fn together<'k>(kinds: &'k [ChangeKind], chosen: &[Vec<Option<usize>>]) -> Vec<&'k Change> {
        let places = kinds.iter().zip(chosen).flat_map(|(kind, chosen)| kind.places.iter().zip(chosen));
        places.filter_map(|(variants, chosen)| variants.get((*chosen)?)).collect()
    }
    if !trials.holds(&together(kinds, &chosen)) {
        return None;
    }
    for kind in 0..kinds.len() {
        // The whole kind at once, then one place after another.
        let before = chosen[kind].clone();
        chosen[kind].fill(None);
        if trials.holds(&together(kinds, &chosen)) {
            continue;
        }
        chosen[kind].clone_from(&before);
        for place in 0..before.len() {
            for weaker in std::iter::once(None).chain((0..before[place].unwrap_or(0)).map(Some)) {
                chosen[kind][place] = weaker;
                if trials.holds(&together(kinds, &chosen)) {
                    break;
                }
                chosen[kind][place] = before[place];
            }
        }
    }
    Some(together(kinds, &chosen).into_iter().cloned().collect())
}

/// Makes added `SeqCst` fences weaker where that is enough.
fn ease(trials: &mut Trials<'_>) {
    for at in 0..trials.advice.fixes.len() {
        let Some(weaker) = trials.advice.fixes[at].with_less_than_seq_cst() else { continue };
        let before = std::mem::replace(&mut trials.advice.fixes[at], weaker);
        let all = trials.advice.fixes.clone();
        if !trials.holds(&all.iter().collect::<Vec<_>>()) {
            trials.advice.fixes[at] = before;
        }
    }
}

/// Tries all sets of `size` changes, which are called `what`; returns whether one makes the scenario hold, or the time
/// is up.
fn search(trials: &mut Trials<'_>, what: &str, candidates: &[Change], size: usize) -> bool {
    let mut chosen: Vec<usize> = (0..size).collect();
    let tried = trials.advice.tried;
    while chosen.last().is_some_and(|&last| last < candidates.len()) {
        if trials.time_is_up() {
            trials.advice.how_far.push(format!("{what}: {} were tried, not all", trials.advice.tried - tried));
            return true;
        }
        let together: Vec<&Change> = chosen.iter().map(|&number| &candidates[number]).collect();
        if !changes::clash(&together) && trials.holds(&together) {
            trials.advice.fixes = together.into_iter().cloned().collect();
            ease(trials);
            return true;
        }
        next_combination(&mut chosen, candidates.len());
    }
    trials.advice.how_far.push(format!("{what}: all {} were tried", trials.advice.tried - tried));
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
