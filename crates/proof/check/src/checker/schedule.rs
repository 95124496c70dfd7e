//! The blocks that an unfair scheduler may stop scheduling.

use wattle_core::Result;

use crate::program::Scheduled;
use crate::report::Progress;
use crate::search::{Execution, Why};

/// For each launch and block the number of writes that its threads make before they are never scheduled again; `None`
/// for a block that is scheduled again and again. What a stopped block reads before that affects no other thread.
#[derive(Clone, Debug)]
pub struct Schedule(Vec<Vec<Option<u32>>>);

/// The maximum number of schedules that are searched.
const MOST: usize = 4096;

/// The unfair schedules that a progress model permits, to be searched for stuck threads.
///
/// `writes` holds the maximum number of writes by a thread of each block.
///
/// # Errors
/// They are too many.
pub fn schedules(progress: Progress, launches: &[Scheduled], writes: &[Vec<u32>]) -> Result<Vec<Schedule>> {
    let mut all: Vec<Vec<Vec<Option<u32>>>> = vec![Vec::new()];
    for (number, launch) in launches.iter().enumerate() {
        let (blocks, together) = (launch.blocks, launch.together);
        let of_writes = |block: usize| writes.get(number).and_then(|blocks| blocks.get(block)).copied().unwrap_or(0);
        let choices: Vec<Vec<Option<u32>>> = match progress {
            Progress::Fair => vec![vec![None; blocks]],
            // All blocks have begun, which is all that these models require.
            Progress::Lobe | Progress::Obe | Progress::HsaObe if together => vec![vec![None; blocks]],
            Progress::Lobe => {
                let first = |begun: usize| (0..blocks).map(move |block| (block >= begun).then_some(0)).collect();
                (1..=blocks).map(first).collect()
            }
            Progress::Obe | Progress::HsaObe => product(&vec![vec![None, Some(0)]; blocks])?,
            Progress::Hsa => {
                let halts = |block: usize| std::iter::once(None).chain((0..=of_writes(block)).map(Some)).collect();
                product(&(0..blocks).map(halts).collect::<Vec<_>>())?
            }
        };
        let mut next = Vec::new();
        for schedule in &all {
            for choice in &choices {
                let mut schedule = schedule.clone();
                schedule.push(choice.clone());
                next.push(schedule);
            }
        }
        all = next;
        if all.len() > MOST {
            return Err(too_many());
        }
    }
    all.retain(|schedule| schedule.iter().flatten().any(Option::is_some));
    Ok(all.into_iter().map(Schedule).collect())
}

/// All combinations of one choice for each block.
fn product(blocks: &[Vec<Option<u32>>]) -> Result<Vec<Vec<Option<u32>>>> {
    let mut all = vec![Vec::new()];
    for choices in blocks {
        all = all
            .into_iter()
            .flat_map(|chosen: Vec<Option<u32>>| {
                choices.iter().map(move |choice| {
                    let mut chosen = chosen.clone();
                    chosen.push(*choice);
                    chosen
                })
            })
            .collect();
        if all.len() > MOST {
            return Err(too_many());
        }
    }
    Ok(all)
}

fn too_many() -> wattle_core::Error {
    let what = format!("look at more than {MOST} unfair schedules");
    wattle_core::Error::capability("checker", what, "prove fewer blocks, or under lobe or fair progress")
}

impl Schedule {
    /// The stopped blocks: launch, block, and the number of writes before the stop.
    pub fn halts(&self) -> impl Iterator<Item = (usize, u64, u32)> + '_ {
        self.0.iter().enumerate().flat_map(|(launch, blocks)| {
            blocks.iter().enumerate().filter_map(move |(block, halt)| Some((launch, block as u64, (*halt)?)))
        })
    }

    /// Whether a scheduler under this progress model may end an execution with these stuck threads.
    pub fn permits(&self, progress: Progress, execution: &Execution<'_>, launches: &[Scheduled]) -> bool {
        (0..self.0.len()).all(|launch| {
            let halted = |block: u64| self.0[launch].get(block as usize).is_some_and(Option::is_some);
            if self.0[launch].iter().all(Option::is_none) {
                return true;
            }
            let spinning = execution.stuck.iter().filter(|stuck| matches!(stuck.why, Why::Spins(_)));
            let spinning: Vec<u64> = spinning.filter_map(|stuck| launches[launch].block_of(stuck.thread)).collect();
            // A launch whose scheduled blocks have all ended continues with another block: some member is promised to
            // run.
            let Some(&lowest) = spinning.iter().min() else { return false };
            // The lowest member that can run must not be a stopped one.
            let lowest_halted = (0..self.0[launch].len() as u64).find(|&block| halted(block));
            match progress {
                Progress::Hsa | Progress::HsaObe => lowest_halted.is_none_or(|block| block > lowest),
                Progress::Fair | Progress::Lobe | Progress::Obe => true,
            }
        })
    }
}
