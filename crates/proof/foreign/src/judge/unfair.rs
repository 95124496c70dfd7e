//! Threads that wait for ever where the scheduler is not fair: blocks that are never scheduled again, as a progress
//! model permits it, and those that wait for them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use wattle_check::checker::{Progress, Schedule, Scheduled, schedules};
use wattle_check::search::{Execution, Setup, Visitor, search};
use wattle_memory::Kind;

use super::execution::Judge;
use crate::gap::{gap, loops_at};
use crate::unsupported::Unsupported;
use crate::verdict::Options;
use crate::violation::{Step, StuckThread, Violation};
use crate::world::World;

/// Threads that wait for ever under a schedule: they, their story, and what the schedule does.
pub(crate) struct Starved {
    pub stuck: Vec<StuckThread>,
    pub steps: Vec<Step>,
    pub schedule: String,
}

/// The answer about all schedules of a progress model.
pub(crate) enum ScheduleAnswer {
    /// Under one of them threads wait for ever.
    Starved(Starved),
    /// Not all of them were searched: the reason.
    Unknown(String),
    /// Every thread that is scheduled ends under each.
    Nothing,
}

/// Searches the schedules of a launch, with the lanes chosen as they are, that is right where all blocks are scheduled
/// again and again.
pub(crate) fn search_all(world: &mut World, options: &Options) -> Result<ScheduleAnswer, Unsupported> {
    if options.progress == Progress::Fair || !world.parts.iter().any(|part| part.flow.loops.waits()) {
        return Ok(ScheduleAnswer::Nothing);
    }
    let scheduled: Vec<Scheduled> = world
        .parts
        .iter()
        .map(|part| Scheduled {
            blocks: part.launch.blocks() as usize,
            per_block: part.launch.block_len() as usize,
            // A cooperative launch has all its blocks on the device.
            together: part.workspace.is_some(),
            first: part.first,
        })
        .collect();
    let writes = match writes(world, options, &scheduled) {
        Ok(writes) => writes,
        Err(why) => return Ok(ScheduleAnswer::Unknown(why)),
    };
    let all = match schedules(options.progress, &scheduled, &writes) {
        Ok(all) => all,
        Err(error) => return Ok(ScheduleAnswer::Unknown(error.to_string())),
    };
    for schedule in all {
        loop {
            let (found, unknown) = search_one(world, options, &schedule, &scheduled);
            if world.adapted()? {
                continue;
            }
            if let Some((stuck, steps)) = found {
                return Ok(ScheduleAnswer::Starved(Starved {
                    stuck,
                    steps,
                    schedule: shown(&schedule, options.progress),
                }));
            }
            if let Some(why) = unknown {
                return Ok(ScheduleAnswer::Unknown(why));
            }
            break;
        }
    }
    Ok(ScheduleAnswer::Nothing)
}

type Stuck = (Vec<StuckThread>, Vec<Step>);

fn search_one(
    world: &World,
    options: &Options,
    schedule: &Schedule,
    scheduled: &[Scheduled],
) -> (Option<Stuck>, Option<String>) {
    let mut threads = world.threads();
    for (launch, block, writes) in schedule.halts() {
        let Scheduled { first, per_block, .. } = scheduled[launch];
        for thread in threads.iter_mut().skip(first + block as usize * per_block).take(per_block) {
            thread.process = thread.process.clone().halting_after(writes);
        }
    }
    let setup =
        Setup { loop_bound: options.loop_bound, limits: options.limits.clone(), ..Setup::new(world, options.model) };
    let setup = Setup { assume_race_free: options.forbids_races, ..setup.with_threads(world, threads) };
    let judge = Judge::new(world, options.model, &[]).with_races(options.forbids_races);
    let bounded = BTreeSet::new();
    let mut visitor =
        Unfair { judge, progress: options.progress, schedule, scheduled, bounded, found: None, doubt: None };
    let (end, statistics) = search(&setup, &mut visitor);
    let gap = || gap(world, &end, &statistics, options.loop_bound, &loops_at(world, &visitor.bounded));
    let unknown = visitor.doubt.clone().or_else(gap);
    (visitor.found, unknown)
}

/// The visitor that looks for threads that a schedule starves.
struct Unfair<'w> {
    judge: Judge<'w>,
    progress: Progress,
    schedule: &'w Schedule,
    scheduled: &'w [Scheduled],
    /// The jumps back of loops at whose bound some branch ended.
    bounded: BTreeSet<u32>,
    found: Option<Stuck>,
    /// Why threads that wait for ever in some execution may not do so.
    doubt: Option<String>,
}

impl Visitor for Unfair<'_> {
    fn at_bound(&mut self, source: u32) {
        self.bounded.insert(source);
    }

    fn complete(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.judge.world.is_spoilt() {
            return ControlFlow::Break(());
        }
        if !self.schedule.permits(self.progress, execution, self.scheduled) {
            return ControlFlow::Continue(());
        }
        let (stuck, steps) = self.judge.held_up(execution);
        if let Some(why) = self.judge.doubt(execution, &Violation::Stuck(stuck.clone())) {
            self.doubt.get_or_insert(why);
            return ControlFlow::Continue(());
        }
        self.found = Some((stuck, steps));
        ControlFlow::Break(())
    }
}

/// The most writes of a thread of each block, which only matter where a block may be stopped between them.
///
/// # Errors
/// Not all executions were searched: the reason.
fn writes(world: &World, options: &Options, scheduled: &[Scheduled]) -> Result<Vec<Vec<u32>>, String> {
    let most = scheduled.iter().map(|launch| vec![0; launch.blocks]).collect();
    let mut counted = Writes { scheduled, most };
    if options.progress == Progress::Hsa {
        let limits = options.limits.clone();
        let setup = Setup { loop_bound: options.loop_bound, limits, ..Setup::new(world, options.model) };
        let (end, statistics) = search(&setup.with_threads(world, world.threads()), &mut counted);
        let loops = loops_at(world, &BTreeSet::new());
        if let Some(why) = gap(world, &end, &statistics, options.loop_bound, &loops) {
            return Err(why);
        }
    }
    Ok(counted.most)
}

struct Writes<'s> {
    scheduled: &'s [Scheduled],
    most: Vec<Vec<u32>>,
}

impl Visitor for Writes<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        count_writes(execution, self.scheduled, &mut self.most);
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Raises the most writes of a thread of each block to those of an execution.
pub(crate) fn count_writes(execution: &Execution<'_>, scheduled: &[Scheduled], most: &mut [Vec<u32>]) {
    let mut counts = vec![0u32; execution.threads.len()];
    for event in execution.graph.events() {
        if let (Some(thread), Kind::Write, Some(_)) = (event.thread, event.label.kind, event.location) {
            counts[thread] += 1;
        }
    }
    for (launch, most) in scheduled.iter().zip(most) {
        let of_launch = &counts[launch.first..launch.first + launch.blocks * launch.per_block];
        for (most, block) in most.iter_mut().zip(of_launch.chunks(launch.per_block.max(1))) {
            *most = (*most).max(block.iter().copied().max().unwrap_or(0));
        }
    }
}

/// What a schedule does, in words.
fn shown(schedule: &Schedule, progress: Progress) -> String {
    let halt = |(_, block, writes): (usize, u64, u32)| match writes {
        0 => format!("block {block} is not scheduled"),
        1 => format!("block {block} is not scheduled again after its first write"),
        _ => format!("block {block} is not scheduled again after {writes} writes"),
    };
    let halts: Vec<String> = schedule.halts().map(halt).collect();
    format!("`--progress {progress}` permits that {}", halts.join(", and "))
}
