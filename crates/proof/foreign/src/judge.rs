//! The verdict on a launch: all its executions under its model, with each choice that is left to devices.

pub(crate) mod assertion;
pub(crate) mod choice;
mod copies;
pub(crate) mod ended;
pub(crate) mod execution;
mod memories;
mod read_only;
pub(crate) mod unfair;
mod unwritten;
mod volatile;
mod waits;

use wattle_check::search::Statistics;

use crate::condition::Condition;
use crate::unsupported::Unsupported;
use crate::verdict::{Options, Report, Verdict};
use crate::violation::Violation;
use crate::world::World;
use choice::judge_choice;
use ended::Left;
use unfair::{ScheduleAnswer, Starved};

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
                ScheduleAnswer::Starved(Starved { stuck, steps, schedule }) => {
                    let verdict = Verdict::Violated(Violation::Stuck(stuck), steps);
                    return Ok(Report { verdict, note: Some(schedule), ..all });
                }
                ScheduleAnswer::Unknown(why) => all.verdict = Verdict::Unknown(why),
                ScheduleAnswer::Nothing => {}
            },
            Verdict::Violated(..) => return Ok(Report { verdict, note, ..all }),
            Verdict::Unknown(_) if matches!(all.verdict, Verdict::Unknown(_)) => {}
            Verdict::Unknown(_) => all.verdict = verdict,
        }
        if !world.elected.next() && !world.active.next(all.statistics.complete) {
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
