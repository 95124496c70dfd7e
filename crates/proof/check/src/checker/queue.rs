//! The launches at the heads of the checker's queues, which a search looks at together.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use wattle_core::queue::{Lines, QueuedLaunch, Stepper};
use wattle_core::{Decided, Error, Result, lock};

use super::batch::{self, Group};
use super::run::Run;

/// The launches that have begun, of each queue.
pub(super) struct Launches {
    run: Arc<Run>,
    begun: Mutex<BTreeMap<usize, Vec<QueuedLaunch>>>,
    /// The errors of launches that are done, by their queue.
    failed: Mutex<BTreeMap<usize, Error>>,
}

impl Launches {
    pub fn of(run: &Arc<Run>) -> Launches {
        Launches { run: run.clone(), begun: Mutex::default(), failed: Mutex::default() }
    }

    /// Searches launches, a group for each queue.
    fn search(&self, numbers: &[usize], groups: &[Group]) -> Result<()> {
        let done = batch::run(&self.run, groups);
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

    /// Searches the launches at the heads of all queues together, once nothing else moves; of one queue alone, one after
    /// another.
    fn step(&self, moved: bool, lines: &Lines) -> bool {
        let begun = if moved { BTreeMap::new() } else { lock(&self.begun).clone() };
        let group = |(number, launches)| (number, Group { device: self.run.devices.of(number), launches });
        let (numbers, groups): (Vec<usize>, Vec<Group>) = begun.into_iter().map(group).unzip();
        match &groups[..] {
            [] => return false,
            [one] => {
                for launch in &one.launches {
                    // Launches enqueued behind a failed one are discarded.
                    let alone = Group { device: one.device, launches: vec![launch.clone()] };
                    if self.search(&numbers, &[alone]).is_err() {
                        break;
                    }
                }
            }
            several => {
                if numbers.iter().any(|&number| lines.has_later_launches(number)) {
                    lock(&self.run.path).overlaps = true;
                }
                // Each of the queues reports the error.
                let _ = self.search(&numbers, several);
            }
        }
        // No other thread begins launches meanwhile.
        lock(&self.begun).clear();
        true
    }
}
