//! Launches whose executions differ by the orders of additions to counters alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use wattle_core::{Result, system};

use super::super::run::{Memory, Outcome, Phase, Run};
use super::super::schedule::schedules;
use super::{MAX_OUTCOMES, MOST_EVENTS, statements, visible};
use crate::program::World;
use crate::search::{Answers, Dependencies, Setup, counted_runs};

/// Whether a few runs stand for all executions of the launches, which then are the result of the search. Small launches
/// are searched, so that what they do can be shown.
pub(super) fn has_counted_runs(run: &Run, world: &Arc<World>, phase: &mut Phase) -> Result<bool> {
    let checker = &run.checker;
    // Without symmetry all orders are counted.
    if checker.sample.is_some() || checker.count_orders || !checker.symmetry {
        return Ok(false);
    }
    let threads = world.threads().map_err(|error| system("launching", error))?;
    let limits = checker.limits(run.shared.deadline);
    let dependencies = Dependencies::AsCompiled;
    let setup = Setup { limits, dependencies, ..Setup::new(&**world, checker.model).with_threads(&**world, threads) };
    let counted = Answers::ALL.into_iter().find_map(|answers| counted_runs(&setup, answers));
    let Some(counted) = counted else { return Ok(false) };
    // Where threads wait for others, it matters which blocks begin.
    if counted.waits
        && !schedules(checker.progress, &world.scheduled(), &[]).is_ok_and(|schedules| schedules.is_empty())
    {
        return Ok(false);
    }
    let runs = counted.memories.len();
    if counted.events <= (MOST_EVENTS * runs) as u64 {
        return Ok(false);
    }
    let memories: BTreeSet<Memory> = counted.memories.into_iter().map(visible).collect();
    if memories.len() > MAX_OUTCOMES {
        return Ok(false);
    }
    (phase.statistics.complete, phase.events, phase.symmetric) = (runs as u64, counted.events, true);
    if let Some(meter) = &checker.meter {
        meter.begin();
        (0..runs).for_each(|_| meter.count_execution(counted.events as usize / runs));
        meter.count_share(1.0);
    }
    phase.executed.extend(statements(world, &counted.executed));
    phase.outcomes = memories.into_iter().map(|values| Outcome { values, witness: None, orders: None }).collect();
    Ok(true)
}
