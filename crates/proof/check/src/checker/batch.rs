//! Launches that run at the same time, searched together: the memories that they can leave, and the errors in them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{Error, Result, lock, system};

use super::judge::judge;
use super::kept;
use super::launches::{Group, fingerprint, world};
use super::module_batch::Batch;
use super::modules;
use super::run::{Phase, Run, note, open_value};
use crate::keep::WORTH_KEEPING;
use crate::program::World;
use crate::report::{IS_STUCK, Unknown, Violation};
use crate::search::Stuck;

/// Whether threads of these groups, by their numbers, stay stuck if they are: nothing else goes on then.
pub(super) type IsFinal<'f> = &'f dyn Fn(&BTreeSet<usize>) -> bool;

/// Runs launches, a group for each queue, and continues with one of the memories that they can leave.
pub(super) fn run(run: &Run, groups: &[Group], is_final: IsFinal<'_>) -> Result<()> {
    // The refusal is recorded even if the scenario ignores the error: what was not searched is not known to hold.
    let refused = |error: &Error| {
        lock(&run.path).refused.get_or_insert(error.clone());
    };
    let work = work(run, groups).inspect_err(refused)?;
    if !lock(&run.open).is_empty() {
        lock(&run.path).looks_at_open = true;
        return Err(open_value());
    }
    let (fingerprint, what) = match &work {
        Work::Own(world) => fingerprint(world),
        Work::Modules(batch) => modules::fingerprint(batch),
    };
    let known = {
        let path = lock(&run.path);
        path.phases.get(path.at).cloned()
    };
    let phase = match known {
        Some(phase) if phase.fingerprint == fingerprint => phase,
        Some(phase) => {
            let text = format!("it launched {} and later, after the same outcomes, {what}", phase.what);
            lock(&run.path).strayed = Some(text.clone());
            return Err(system("checking", text));
        }
        None => {
            let key = match &work {
                Work::Own(world) => kept::key_of_world(run, world),
                Work::Modules(batch) => kept::key_of_batch(run, batch),
            };
            let found = key.and_then(|key| run.checker.keeper.as_ref()?.find(&key));
            let found = found.and_then(|found| kept::unpack(&found));
            let began = Instant::now();
            let judged = match work {
                Work::Own(world) => judge(run, world, found, fingerprint, what.clone()),
                Work::Modules(batch) => modules::judge(&batch, found, fingerprint, what.clone()),
            };
            let mut phase = judged.inspect_err(refused)?;
            forgive_waiting(&mut phase, groups, is_final);
            let phase = Arc::new(phase);
            if let (Some(key), false) = (key, phase.kept || began.elapsed() < WORTH_KEEPING)
                && let Some(packed) = kept::pack(&phase)
            {
                lock(&run.shared.to_keep).push((key, packed));
            }
            let mut path = lock(&run.path);
            path.phases.push(phase.clone());
            path.chosen.push(0);
            phase
        }
    };
    let chosen = {
        let mut path = lock(&run.path);
        path.at += 1;
        path.chosen.get(path.at - 1).copied().unwrap_or(0)
    };
    let outcome = phase.outcomes.get(chosen).filter(|_| !phase.is_broken(&run.checker));
    let Some(outcome) = outcome else {
        return Err(Error::check(format!("{what} cannot go on: the checker has found what is wrong")));
    };
    let (mut memories, mut open) = (lock(&run.memories), lock(&run.open));
    outcome.values.iter().for_each(|(address, _)| _ = open.remove(address));
    open.extend(&outcome.open);
    for &(address, value) in &outcome.values {
        let element =
            memories.get_mut(address.memory as usize).and_then(|memory| memory.get_mut(address.element as usize));
        if let Some(element) = element {
            *element = Some(value);
        }
    }
    Ok(())
}

/// Takes back that threads are stuck where something may still end their waiting: the launches of these groups are not
/// final. It is only not known then what the threads do.
fn forgive_waiting(phase: &mut Phase, groups: &[Group], is_final: IsFinal<'_>) {
    let parts = |launch: &QueuedLaunch| 1 + usize::from(launch.host_part.is_some());
    let of_group = |(number, group): (usize, &Group)| {
        let launches: usize = group.launches.iter().map(parts).sum();
        std::iter::repeat_n(number, launches)
    };
    let group_of: Vec<usize> = groups.iter().enumerate().flat_map(of_group).collect();
    let counts = |violation: &Violation| match violation {
        Violation::Stuck { witness, stuck, .. } => {
            let of_thread = |stuck: &Stuck| group_of.get(witness.world.launch_of(stuck.thread)).copied();
            is_final(&stuck.iter().filter_map(of_thread).collect())
        }
        // A module's violation does not say which threads are stuck: any group's may be.
        Violation::Module { kind, .. } => {
            *kind != IS_STUCK || (0..groups.len()).all(|group| is_final(&BTreeSet::from([group])))
        }
        Violation::Race { .. }
        | Violation::Fault { .. }
        | Violation::Unwritten { .. }
        | Violation::Assertion { .. }
        | Violation::Seen { .. } => true,
    };
    let before = phase.violations.len();
    phase.violations.retain(counts);
    if phase.violations.len() < before {
        note(&mut phase.unknown, Unknown::WaitedElsewhere);
    }
}

/// Launches that run at the same time, as they are searched.
enum Work {
    Own(World),
    /// Launches of which at least one is of a module.
    Modules(Batch),
}

/// The launches of these groups, as they are to be searched.
fn work(run: &Run, groups: &[Group]) -> Result<Work> {
    if modules::are_modules(run, groups) {
        modules::batch(run, groups).map(Work::Modules)
    } else {
        world(run, groups).map(Work::Own)
    }
}
