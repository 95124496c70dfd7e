//! Compares the search with brute force on many programs.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use wattle_check::search::{End, search};
use wattle_memory::Model;

use super::random::{Case, Random, for_vulkan, show, shrink};
use super::{Verdict, judge};
use crate::script::{Found, Op, setup};

/// The most differences that are made small and described.
const ENOUGH: usize = 6;

/// What a comparison has found.
#[derive(Default)]
pub struct Compared {
    pub programs: u64,
    /// The executions of all of them under all models.
    pub executions: u64,
    /// The pairs of a program and a model with a data race.
    pub racy: u64,
    pub differences: Vec<String>,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { programs, executions, racy, differences } = self;
        write!(
            f,
            "{programs} programs under {} models: {executions} executions, {racy} times a race, {} differences",
            Model::ALL.len(),
            differences.len()
        )
    }
}

fn searched(case: &Case, model: Model, assume_race_free: bool) -> Verdict {
    let mut found = Found { model: Some(model), ..Found::default() };
    let setup = setup(&case.program, case.places.clone(), model);
    let (end, statistics) = search(&wattle_check::search::Setup { assume_race_free, ..setup }, &mut found);
    assert_eq!(end, End::Exhausted);
    let mut outcomes = BTreeMap::new();
    for outcome in found.outcomes {
        *outcomes.entry(outcome).or_default() += 1;
    }
    let verdict = Verdict { outcomes, racy: found.races > 0 };
    assert_eq!(verdict.count() as u64, statistics.complete);
    verdict
}

/// Whether a thread reads a cell twice, so that a compiler may make one read of both. Brute force merges none, so that it
/// knows of fewer stores that come early.
fn may_merge(case: &Case) -> bool {
    let cell = |op: &Op| if let Op::Load { cell, .. } = op { Some(*cell) } else { None };
    case.program.iter().any(|ops| {
        let cells: Vec<u64> = ops.iter().filter_map(cell).collect();
        cells.iter().enumerate().any(|(at, cell)| cells[..at].contains(cell))
    })
}

/// The verdict of the search that does not fit that of brute force, if one does not. The search that takes programs to be
/// free of races only has to find the executions of those that are.
fn differs(case: &Case, model: Model, brute: &Verdict) -> Option<(&'static str, Verdict)> {
    let full = searched(case, model, false);
    let has = |(outcome, &count): (&Vec<Vec<u64>>, &usize)| full.outcomes.get(outcome).is_some_and(|&all| all >= count);
    let has_more = may_merge(case) && full.racy >= brute.racy && brute.outcomes.iter().all(has);
    if full != *brute && !has_more {
        return Some(("search", full));
    }
    if full.racy || !model.forbids_races() {
        return None;
    }
    let pruned = searched(case, model, true);
    (pruned != full).then_some(("search for races", pruned))
}

/// Describes how the two differ on a program, if they do.
pub fn difference_on(case: &Case, model: Model) -> Option<String> {
    let brute = judge(&case.program, &case.places, model);
    differs(case, model, &brute).map(|(_, search)| format!("{brute:?}\n{search:?}"))
}

/// Describes a smallest program on which the two differ.
fn difference(case: &Case, model: Model) -> String {
    let both = |case: &Case| {
        let brute = judge(&case.program, &case.places, model);
        let found = differs(case, model, &brute)?;
        Some((brute, found))
    };
    let least = shrink(case, |case| both(case).is_some());
    let Some((brute, (name, search))) = both(&least) else { return show(&least) };
    let mut text = format!("{model}: brute force {} executions, {name} {}; ", brute.count(), search.count());
    text += &format!("races {} and {}\n{}", brute.racy, search.racy, show(&least));
    for outcome in brute.set().union(&search.set()) {
        let counts = [&brute, &search].map(|verdict| verdict.outcomes.get(outcome).copied().unwrap_or(0));
        if counts[0] != counts[1] {
            text += &format!("  {outcome:?}: brute force {}, {name} {}\n", counts[0], counts[1]);
        }
    }
    text
}

/// Compares the two on the programs with these numbers, on as many threads as there are cores; `looks` is called with each
/// number before.
pub fn compare(
    numbers: Range<u64>,
    draw: &(impl Fn(&mut Random) -> Case + Sync),
    looks: &(dyn Fn(u64) + Sync),
) -> Compared {
    let (next, compared) = (AtomicU64::new(numbers.start), Mutex::new(Compared::default()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            looks(number);
            let case = draw(&mut Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0061_6772_6565));
            let (mut executions, mut racy, mut differing) = (0, 0, Vec::new());
            for model in Model::ALL {
                let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
                let brute = judge(&case.program, &case.places, model);
                executions += brute.count() as u64;
                racy += u64::from(brute.racy);
                if differs(&case, model, &brute).is_some() {
                    differing.push((case, model));
                }
            }
            let mut compared = compared.lock().unwrap();
            compared.programs += 1;
            compared.executions += executions;
            compared.racy += racy;
            for (case, model) in differing {
                let described = compared.differences.len() < ENOUGH;
                let text = if described { difference(&case, model) } else { model.name().to_owned() };
                compared.differences.push(format!("program {number}, {text}"));
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..threads).for_each(|_| {
            scope.spawn(work);
        });
    });
    compared.into_inner().unwrap()
}
