//! The verdict on a launch whose lanes are together as they are chosen to be: by one run, a few counted ones, or a
//! search.

use wattle_check::search::{Execution, Setup, Statistics, always_faults, search, single_or_commuting_run};

use super::assertion::MOST_ENDS;
use super::copies;
use super::execution::Judge;
use super::memories::{Memories, left_by_counted_runs};
use crate::condition::Condition;
use crate::gap::{gap_of_whole, loops_at};
use crate::unsupported::Unsupported;
use crate::verdict::{Options, Report, Verdict};
use crate::violation::{Step, Violation};
use crate::world::World;

/// Judges a launch whose lanes are together as they are chosen to be.
pub(crate) fn judge_choice(
    world: &mut World,
    asserted: &[Condition],
    options: &Options,
) -> Result<Report, Unsupported> {
    loop {
        let report = attempt(world, asserted, options, true);
        if !world.adapted()? {
            return Ok(match (report.verdict, world.why_unfixed(&|_| false)) {
                (Verdict::Holds, Some(why)) => Report { verdict: Verdict::Unknown(why), ..report },
                (verdict @ Verdict::Violated(..), why) => Report { verdict, note: report.note.or(why), ..report },
                (verdict @ (Verdict::Holds | Verdict::Unknown(_)), _) => Report { verdict, ..report },
            });
        }
    }
}

/// Whether a thread has a fault whatever the others do.
pub(crate) fn is_fault_of_one_thread(world: &World, options: &Options) -> bool {
    let setup = Setup { limits: options.limits.clone(), ..Setup::new(world, options.model) };
    always_faults(&setup.with_threads(world, world.threads()))
}

/// Searches once, with the cells as they are.
fn attempt(world: &World, asserted: &[Condition], options: &Options, assume_race_free: bool) -> Report {
    let setup = Setup {
        loop_bound: options.loop_bound,
        limits: options.limits.clone(),
        meter: options.meter.clone(),
        assume_race_free: assume_race_free && options.forbids_races,
        same_stores: world.same_stores(options.model),
        failed_iterations: true,
        ..Setup::new(world, options.model).with_threads(world, world.threads())
    };
    let single = single_or_commuting_run(&setup);
    world.turns.run_has_ended();
    if let Err(Some(run)) = &single
        && let Some((violation, steps)) = wrong_run(world, options, &run.execution(&setup))
    {
        let statistics = Statistics { complete: 1, ..Statistics::default() };
        return Report { verdict: Verdict::Violated(violation, steps), statistics, note: None };
    }
    if let Ok(run) = &single {
        run.alike.iter().for_each(|&source| world.has_same_stores(source));
    }
    let every_event = || world.read_only.is_written() || world.copies.is_doubtful() || copies::are_tracked(world);
    let left = match single {
        Ok(single) => Some(Memories::all(vec![single.memory])),
        Err(_) if world.is_outgrown() => None,
        Err(_) => left_by_counted_runs(&setup),
    };
    // A search with cells that are not as the program uses them would be for nothing.
    if left.is_none() && world.is_outgrown() {
        return Report { verdict: Verdict::Holds, statistics: Statistics::default(), note: None };
    }
    let left = left.filter(|_| !every_event());
    if let Some(left) = left.as_ref().filter(|left| left.is_large)
        && let Some(report) = left.report(world, asserted)
    {
        return report;
    }
    let mut judge = Judge::new(world, options.model, asserted).with_races(options.forbids_races);
    let (end, statistics) = search(&setup, &mut judge);
    if judge.unsure && judge.found.is_none() {
        return attempt(world, asserted, options, false);
    }
    let note = judge.waits.words(world);
    // Otherwise it has found something, of which it is not sure.
    let finds_nothing = judge.doubt.is_none() && judge.open.is_none();
    let verdict = match (judge.found, end) {
        (Some((violation, steps)), _) => Verdict::Violated(violation, steps),
        (None, _) if judge.doubt.is_some() => Verdict::Unknown(judge.doubt.unwrap_or_default()),
        (None, _) if judge.open.is_some() => Verdict::Unknown(judge.open.unwrap_or_default()),
        (None, _) if judge.too_many => Verdict::Unknown(format!("an execution has more than {MOST_ENDS} ends")),
        (None, end) => gap_of_whole(world, &end, &statistics, options.loop_bound, &loops_at(world, &judge.bounded))
            .map_or(Verdict::Holds, Verdict::Unknown),
    };
    // What a search does not come to the end of may be clear without one.
    if let (Verdict::Unknown(_), true, Some(left)) = (&verdict, finds_nothing, &left)
        && let Some(report) = left.report(world, asserted)
    {
        return report;
    }
    let note = note.filter(|_| verdict == Verdict::Holds);
    Report { verdict, statistics, note }
}

/// The race, if a race is an error, or the fault that a run shows beyond doubt. How memory that nobody has written
/// comes to matter is better seen in a search.
fn wrong_run(world: &World, options: &Options, execution: &Execution<'_>) -> Option<(Violation, Vec<Step>)> {
    let judge = Judge::new(world, options.model, &[]).with_races(options.forbids_races);
    let (violation, steps) = judge.wrong(execution)?;
    let is_certain = !world.is_spoilt() && judge.doubt(execution, &violation).is_none();
    let is_whole = match violation {
        Violation::Race { .. } => true,
        Violation::Fault { .. } => !execution.faults.iter().any(|fault| judge.carried(fault).is_some()),
        Violation::ReadOnly { .. }
        | Violation::Copying { .. }
        | Violation::Assertion { .. }
        | Violation::Unwritten { .. }
        | Violation::Unassigned { .. }
        | Violation::Stuck(_) => false,
    };
    (is_certain && is_whole).then_some((violation, steps))
}
