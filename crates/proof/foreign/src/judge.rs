//! The verdict on a launch: all its executions under its model, by one run, a few counted ones, or a search.

mod execution;
mod memories;

use std::sync::Arc;

use wattle_check::checker::Progress;
use wattle_check::keep::Keeper;
use wattle_check::search::{
    Address, Execution, Limits, Meter, Setup, Statistics, always_faults, search, single_or_commuting_run,
};
use wattle_memory::{LocationId, Model};

use crate::condition::{Condition, Item};
use crate::copies;
use crate::ended::{self, Left};
use crate::gap::{gap_of_whole, loops_at};
use crate::unfair::{self, Found, Starved};
use crate::unsupported::Unsupported;
use crate::violation::{Step, Violation};
use crate::volatile;
use crate::world::World;
pub(crate) use execution::{Judge, LANES_HAVE_ENDED, MOST_ENDS};
use memories::{Memories, left_by_counted_runs};

/// The bounds of a judgement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The model: PTX's, unless another is asked for.
    pub model: Model,
    /// Whether a race is an error; otherwise its accesses mean what the model says.
    pub forbids_races: bool,
    /// The maximum number of iterations of a loop that changes something each time and whose exit depends on memory.
    pub loop_bound: u32,
    /// The progress model: the blocks that are promised to run where threads wait for one another.
    pub progress: Progress,
    /// The limits at which the search stops.
    pub limits: Limits,
    /// The meter on which the search shows how far it is.
    pub meter: Option<Arc<Meter>>,
    /// The keeper of the answers about a list for later runs, if they are kept ([`corpus::run`](crate::corpus::run)).
    pub keeper: Option<Arc<dyn Keeper>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::Ptx,
            forbids_races: true,
            loop_bound: 8,
            progress: Progress::Fair,
            limits: Limits::default(),
            meter: None,
            keeper: None,
        }
    }
}

/// The answer about a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every execution is right.
    Holds,
    /// Some execution is wrong: what is wrong with it, and the steps of the threads that take part, in program order.
    Violated(Violation, Vec<Step>),
    /// The search was not exhaustive: the reason.
    Unknown(String),
}

impl Verdict {
    /// How much it says: what is wrong in some execution is so, whatever is not known of others.
    fn rank(&self) -> u8 {
        match self {
            Verdict::Holds => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Violated(..) => 2,
        }
    }
}

/// A verdict with the counts of its search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The answer.
    pub verdict: Verdict,
    /// The counts of the search.
    pub statistics: Statistics,
    /// What the verdict rests on that the source's language does not promise.
    pub note: Option<String>,
}

/// Judges a launch: no race, no fault, no thread that waits for ever, and each of the assertions in every execution.
///
/// # Errors
/// A thread came to something that the checker has no meaning for.
pub fn judge(world: &mut World, asserted: &[Condition], options: &Options) -> Result<Report, Unsupported> {
    let mut all = Report { verdict: Verdict::Holds, statistics: Statistics::default(), note: None };
    world.active.restart();
    world.elected.restart();
    loop {
        let Report { verdict, statistics, note } = judge_choice(world, asserted, options)?;
        all.statistics.add(&statistics);
        if !matches!(verdict, Verdict::Violated(..)) {
            all.note = all.note.or_else(|| note.clone());
        }
        match verdict {
            Verdict::Holds => match unfair::search_all(world, options)? {
                Found::Starved(Starved { stuck, steps, schedule }) => {
                    let verdict = Verdict::Violated(Violation::Stuck(stuck), steps);
                    return Ok(Report { verdict, note: Some(schedule), ..all });
                }
                Found::Unknown(why) => all.verdict = Verdict::Unknown(why),
                Found::Nothing => {}
            },
            Verdict::Violated(..) => return Ok(Report { verdict, note, ..all }),
            Verdict::Unknown(_) if matches!(all.verdict, Verdict::Unknown(_)) => {}
            Verdict::Unknown(_) => all.verdict = verdict,
        }
        if !world.elected.next() && !world.active.next() {
            break;
        }
    }
    if all.verdict == Verdict::Holds {
        match ended::left_waiting(world, options) {
            Some(Left::Passed(stuck, steps)) => {
                return Ok(Report { verdict: Verdict::Violated(Violation::Stuck(stuck), steps), note: None, ..all });
            }
            Some(Left::Early(note)) => all.note = Some(note),
            None => all.note = world.promise().or(all.note),
        }
    }
    let notes =
        [world.same_stores_note(), world.compared_note(), world.without_value_note(), world.unknown_declarations()];
    let is_cut_short = matches!(all.verdict, Verdict::Unknown(_));
    if let (Verdict::Holds, Some(why)) = (&all.verdict, world.elected.left_open()) {
        all.verdict = Verdict::Unknown(why);
    }
    if let (Verdict::Holds, Some((statement, why))) = (&all.verdict, world.active.left_open()) {
        let at = world.place_of(statement as usize);
        all.verdict = Verdict::Unknown(format!("which lanes are together at {at} is left to the device: {why}"));
    }
    if let (Verdict::Unknown(why), Some(statement), true) = (&mut all.verdict, world.active.is_chosen(), is_cut_short) {
        let at = world.place_of(statement as usize);
        *why = format!(
            "{why}; which lanes are together at {at} is left to the device, and each way is a search of its own: launch it with \
             fewer lanes in a warp, or with fewer warps"
        );
    }
    if all.verdict == Verdict::Holds {
        // It searches once more, which must not change the verdict.
        let hidden = volatile::race_as_plain(world, options);
        for more in notes.into_iter().chain([hidden]).flatten() {
            all.note = Some(all.note.map_or(more.clone(), |note| format!("{note}; {more}")));
        }
    }
    Ok(all)
}

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

/// Why nothing can be said about an assertion.
fn left_open(world: &World, condition: &Condition, item: &dyn Fn(Item) -> Option<u64>) -> String {
    let (text, values) = (condition.text(), condition.show(world.ranges(), item));
    format!(
        "`{text}` looks at what nothing fixes ({values}): memory that nobody has written, or a result that the specification leaves \
         open, as of `sin` or of an undefined operation"
    )
}

fn failed(world: &World, condition: &Condition, item: &dyn Fn(Item) -> Option<u64>) -> Violation {
    Violation::Assertion { text: condition.text().to_owned(), values: condition.show(world.ranges(), item) }
}

/// The value of an item at the end, from the values of the cells that were written; `None` where nothing fixes it.
fn item_value(world: &World, item: Item, value: &dyn Fn(Address) -> Option<u64>) -> Option<u64> {
    let size = u64::from(item.ty.size());
    let byte = |offset: u64| world.final_byte(item.memory as u32, offset, value);
    (0..size).rev().try_fold(0, |bits, at| Some(bits << 8 | u64::from(byte(item.offset + at)?)))
}

/// The cells of an execution that an assertion looks at, in ascending order, and their locations.
fn cells_of(execution: &Execution<'_>, condition: &Condition) -> (Vec<Address>, Vec<LocationId>) {
    let memories: Vec<_> = condition.items().into_iter().map(|item| item.memory as u32).collect();
    let cells = execution.cells.iter().filter(|(address, _)| memories.contains(&address.memory));
    cells.copied().unzip()
}
