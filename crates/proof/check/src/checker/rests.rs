//! Whether outcomes are missing only because a store depends on a read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use wattle_core::{Result, system};
use wattle_ir::{Place, Site};
use wattle_machine::Action;

use super::outcomes::last_memories;
use super::run::{FinalValues, Rests, Run};
use crate::program::{LaunchWorld, World};
use crate::search::{Dependencies, End, Execution, Setup, Visitor, search};

/// The time limit of the search for an outcome that only dependencies exclude.
pub(super) const PATIENCE: Duration = Duration::from_secs(1);

/// The time limit of the attempts in which values are tried that may justify themselves.
const PATIENCE_WITH_VALUES: Duration = Duration::from_millis(200);

/// The maximum number of values that are tried for a read though nothing writes them without it.
const MOST_TRIED: usize = 12;

/// Whether an atomic store that was never made is to memory that threads load atomically: perhaps it is missing only
/// since the read that it depends on never returns what nothing but the store's own consequences would give.
pub(super) fn leaves_stores_out(world: &World, executed: &BTreeSet<(u32, u32)>) -> bool {
    let memory = |launch: &LaunchWorld, place: Place| match place {
        Place::Param(id) => Some(launch.environment.arguments.get(id.index())?.view()?.memory),
        // Blocks have memory of their own, which launches do not share.
        Place::Shared(_) | Place::Local(_) => None,
    };
    let (mut loaded, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for launch in &world.launches {
        for instruction in launch.program.instructions() {
            match instruction.action {
                Action::Load { place, .. } => loaded.extend(memory(launch, place)),
                Action::Store { place, .. } if !executed.contains(&(launch.number, instruction.at)) => {
                    left_out.extend(memory(launch, place));
                }
                Action::Store { .. }
                | Action::Plain { .. }
                | Action::Update { .. }
                | Action::Fence { .. }
                | Action::Barrier
                | Action::WarpBarrier => {}
            }
        }
    }
    !loaded.is_disjoint(&left_out)
}

/// Values that might justify themselves: `y = x` beside `x = y` leaves any. Small numbers, and what stands in the
/// kernels.
fn tried_values(world: &World) -> Vec<u64> {
    let constants = world.launches.iter().flat_map(|launch| launch.program.written_constants());
    let mut values: Vec<u64> = Vec::new();
    for value in (0..=3).chain(constants) {
        if values.len() < MOST_TRIED && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// What it rests on that there are no outcomes but those that are known.
pub(super) fn rests_on(
    run: &Run,
    world: &World,
    assume_race_free: bool,
    known: BTreeSet<&FinalValues>,
) -> Result<Rests> {
    let without = |tried_values: Vec<u64>, patience: Duration| -> Result<Rests> {
        let threads = world.threads().map_err(|error| system("launching", error))?;
        let mut limits = run.checker.limits(run.shared.deadline);
        let soon = Instant::now() + patience;
        limits.deadline = Some(limits.deadline.map_or(soon, |deadline| deadline.min(soon)));
        let setup = Setup {
            loop_bound: run.checker.loop_bound,
            assume_race_free,
            dependencies: Dependencies::Ignored,
            tried_values,
            limits,
            ..Setup::new(world, run.checker.model).with_threads(world, threads)
        };
        let mut more = More { known: &known, found: Vec::new(), ignored: None, looked_at: None };
        let (end, statistics) = search(&setup, &mut more);
        let unfinished = match end {
            End::Exhausted => !statistics.is_exhaustive(),
            End::BrokenOff => false,
            End::Stopped(_) | End::Problem(_) => true,
        };
        let sites = |(read, store)| Some((world.site(read)?, world.site(store)?));
        let mut on: Vec<(Site, Site)> = more.found.into_iter().filter_map(sites).collect();
        on.dedup();
        let perhaps_on = more.ignored.or(more.looked_at).filter(|_| unfinished).and_then(sites);
        Ok(Rests { on, perhaps_on, unfinished, waits: Vec::new() })
    };
    let rests = without(Vec::new(), PATIENCE)?;
    if !rests.on.is_empty() {
        return Ok(rests);
    }
    // There are always values that have not been tried, so that an end of this search says nothing.
    let with_values = without(tried_values(world), PATIENCE_WITH_VALUES)?;
    Ok(if with_values.on.is_empty() { rests } else { with_values })
}

/// A visitor that looks for an outcome that is not known yet.
struct More<'j> {
    known: &'j BTreeSet<&'j FinalValues>,
    found: Vec<(u32, u32)>,
    /// The first dependency that was ignored.
    ignored: Option<(u32, u32)>,
    /// The first that was to be looked at.
    looked_at: Option<(u32, u32)>,
}

impl Visitor for More<'_> {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        let new = || {
            let memories = last_memories(execution);
            memories.is_some_and(|memories| memories.iter().any(|memory| !self.known.contains(memory)))
        };
        if !execution.ignored.is_empty() && new() {
            self.found.clone_from(&execution.ignored);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, _: &Execution<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn ignores(&mut self, read: u32, store: u32) {
        self.ignored.get_or_insert((read, store));
    }

    fn may_ignore(&mut self, read: u32, store: u32) {
        self.looked_at.get_or_insert((read, store));
    }
}
