//! Launches whose executions differ by the orders of additions to counters alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use wattle_core::{Result, system};

use super::super::outcomes::MAX_OUTCOMES;
use super::super::run::{FinalValues, Outcome, Phase, Run};
use super::super::schedule::schedules;
use super::{MOST_EVENTS, is_visible, statements, visible};
use crate::program::World;
use crate::search::{Address, Answers, Dependencies, Setup, counted_runs};

/// The size of launches for which a few runs stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    /// The launches are large, or have many executions.
    Large,
    /// The launches are searched first, so that what they do can be shown.
    Small,
}

/// The size of launches for whose executions a few runs stand, which are the result in `phase` then; `None` where a
/// search is needed.
pub(super) fn counted_runs_of(run: &Run, world: &Arc<World>, phase: &mut Phase) -> Result<Option<Size>> {
    let checker = &run.checker;
    // Without symmetry all orders are counted.
    if checker.sample.is_some() || checker.count_orders || !checker.symmetry {
        return Ok(None);
    }
    let threads = world.threads().map_err(|error| system("launching", error))?;
    let limits = checker.limits(run.shared.deadline);
    let dependencies = Dependencies::AsCompiled;
    let setup = Setup { limits, dependencies, ..Setup::new(&**world, checker.model).with_threads(&**world, threads) };
    let counted = Answers::ALL.into_iter().find_map(|answers| counted_runs(&setup, answers));
    let Some(counted) = counted else { return Ok(None) };
    // Where threads wait for others, it matters which blocks begin.
    if counted.waits
        && !schedules(checker.progress, &world.scheduled(), &[]).is_ok_and(|schedules| schedules.is_empty())
    {
        return Ok(None);
    }
    let runs = counted.memories.len();
    let size = if counted.is_large(MOST_EVENTS as u64) { Size::Large } else { Size::Small };
    let open: Vec<Address> = counted.varying.into_keys().filter(is_visible).collect();
    if !open.is_empty() && !checker.leaves_open {
        return Ok(None);
    }
    let memories: BTreeSet<FinalValues> = counted.memories.into_iter().map(visible).collect();
    if memories.len() > MAX_OUTCOMES {
        return Ok(None);
    }
    (phase.statistics.complete, phase.events, phase.symmetric) = (runs as u64, counted.events, true);
    // A search shows on it how far it is.
    if let (Size::Large, Some(meter)) = (size, &checker.meter) {
        meter.begin();
        (0..runs).for_each(|_| meter.count_execution(counted.events as usize / runs));
        meter.count_share(1.0);
    }
    phase.executed.extend(statements(world, &counted.executed));
    phase.outcomes = memories.into_iter().map(|values| Outcome { open: open.clone(), ..Outcome::of(values) }).collect();
    Ok(Some(size))
}
