//! The launches at the heads of the checker's queues, which a search looks at together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use wattle_core::clock::Point;
use wattle_core::queue::{Goal, Lines, QueuedLaunch, Stepper};
use wattle_core::{Decided, Error, Kernel, Result, lock};
use wattle_machine::Argument;

use super::batch;
use super::launches::Group;
use super::memory::CheckedMemory;
use super::run::Run;
use crate::arguments::arguments;

/// The launches that have begun, of each queue.
pub(super) struct Launches {
    run: Arc<Run>,
    begun: Mutex<BTreeMap<usize, Vec<QueuedLaunch>>>,
    /// The errors of launches that are done, by their queue.
    failed: Mutex<BTreeMap<usize, Error>>,
    /// The launches that were searched and that the host has not waited for: whatever is enqueued meanwhile may overlap
    /// them.
    unawaited: Mutex<Vec<Reach>>,
}

/// A launch as far as it decides which others it overlaps: its place in the order of what is enqueued, and the memories
/// that it reaches; `None` where it may reach any, as a module's kernel does by the module's variables.
struct Reach {
    point: Point,
    memories: Option<BTreeSet<u64>>,
}

impl Reach {
    fn of(launch: &QueuedLaunch) -> Option<Reach> {
        let kernels = std::iter::once(&launch.kernel).chain(&launch.host_part);
        let memories = kernels.map(|kernel| memories(&**kernel)).collect::<Option<Vec<_>>>();
        let memories = memories.map(|all| all.into_iter().flatten().collect());
        Some(Reach { point: launch.point.clone()?, memories })
    }

    /// Whether a launch that is searched later may run at the same time, and share memory with this one.
    fn may_overlap(&self, later: &Reach) -> bool {
        let shares = match (&self.memories, &later.memories) {
            (Some(one), Some(other)) => !one.is_disjoint(other),
            (None, _) | (_, None) => true,
        };
        shares && !later.point.is_behind(&self.point)
    }
}

/// The memories that a kernel reaches, if they are known.
fn memories(kernel: &dyn Kernel) -> Option<BTreeSet<u64>> {
    if kernel.module().is_some() {
        return None;
    }
    let arguments = arguments(kernel, |memory: &CheckedMemory, number| Some(memory.of(number).into())).ok()?;
    let memory = |argument| match argument {
        Argument::View(view) => Some(view.memory),
        Argument::Scalar(_) => None,
    };
    Some(arguments.into_iter().filter_map(memory).collect())
}

impl Launches {
    pub fn of(run: &Arc<Run>) -> Launches {
        Launches { run: run.clone(), begun: Mutex::default(), failed: Mutex::default(), unawaited: Mutex::default() }
    }

    /// Notes that launches overlap that are not searched together.
    fn overlap(&self) {
        lock(&self.run.path).overlaps = true;
    }

    /// Searches launches, a group for each queue. Whatever is enqueued, and not ordered behind one of them, may overlap
    /// it.
    fn search(&self, numbers: &[usize], groups: &[Group], lines: &Lines, goal: &Goal<'_>) -> Result<()> {
        let mut unawaited = lock(&self.unawaited);
        unawaited.extend(groups.iter().flat_map(|group| &group.launches).filter_map(Reach::of));
        let later: Vec<Reach> = lines.later_launches().iter().filter_map(Reach::of).collect();
        if unawaited.iter().any(|searched| later.iter().any(|later| searched.may_overlap(later))) {
            self.overlap();
        }
        drop(unawaited);
        let is_final = |groups: &BTreeSet<usize>| {
            let stuck = groups.iter().filter_map(|&group| numbers.get(group).copied()).collect();
            !lines.needed(goal).is_disjoint(&stuck) && !lines.can_begin_beside(&stuck)
        };
        let done = batch::run(&self.run, groups, &is_final);
        if let Err(error) = &done {
            let mut failed = lock(&self.failed);
            for &number in numbers {
                failed.entry(number).or_insert_with(|| error.clone());
            }
        }
        done
    }
}

// SAFETY: launches are done when they have been searched, and taken out then.
unsafe impl Stepper for Launches {
    const GATHERS: bool = true;

    fn used(&self) {
        if std::thread::current().id() != self.run.thread {
            let what = "check a scenario that uses the device in several threads of the host: in which order they come is not \
                        searched";
            let instead =
                "use it in the scenario's own thread alone; several queues run side by side without more threads";
            lock(&self.run.path).refused.get_or_insert_with(|| Error::capability("checker", what, instead));
        }
    }

    fn enqueued(&self, launch: &QueuedLaunch) {
        let mut unawaited = lock(&self.unawaited);
        unawaited.retain(|searched| !searched.point.is_over());
        let later = Reach::of(launch);
        if later.is_some_and(|later| unawaited.iter().any(|searched| searched.may_overlap(&later))) {
            self.overlap();
        }
    }

    fn decided(&self, what: Decided) {
        lock(&self.run.path).decided.insert(what);
    }

    fn begin(&self, queue: usize, launch: &QueuedLaunch) -> Result<()> {
        lock(&self.begun).entry(queue).or_default().push(launch.clone());
        Ok(())
    }

    fn end(&self, queue: usize) -> Option<Result<()>> {
        let is_running = lock(&self.begun).contains_key(&queue);
        (!is_running).then(|| lock(&self.failed).remove(&queue).map_or(Ok(()), Err))
    }

    /// Searches the launches at the heads of all queues together, once nothing else moves; of one queue alone, one
    /// after another.
    fn step(&self, moved: bool, lines: &Lines, goal: &Goal<'_>) -> bool {
        let begun = if moved { BTreeMap::new() } else { lock(&self.begun).clone() };
        let group = |(number, launches)| (number, Group { device: self.run.devices.of(number), launches });
        let (numbers, groups): (Vec<usize>, Vec<Group>) = begun.into_iter().map(group).unzip();
        match &groups[..] {
            [] => return false,
            [one] => {
                for launch in &one.launches {
                    // Launches enqueued behind a failed one are discarded.
                    let alone = Group { device: one.device, launches: vec![launch.clone()] };
                    if self.search(&numbers, &[alone], lines, goal).is_err() {
                        break;
                    }
                }
            }
            several => {
                // Each of the queues reports the error.
                let _ = self.search(&numbers, several, lines, goal);
            }
        }
        // No other thread begins launches meanwhile.
        lock(&self.begun).clear();
        true
    }
}
