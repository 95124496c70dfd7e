//! Whether outcomes are missing only because a store depends on a read.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use wattle_core::{Result, system};
use wattle_ir::Site;

use super::judge::{Judge, last_memories};
use super::run::Memory;
use crate::search::{Dependencies, End, Execution, Setup, Visitor, search};

/// The time limit of the search for an outcome that only dependencies exclude.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a search found that takes no notice of dependencies.
#[derive(Default)]
pub(super) struct Rests {
    /// The dependencies, each by the line that reads and the one that stores, without which there would be one more
    /// outcome; those of the first such outcome found.
    pub on: Vec<(Site, Site)>,
    /// Whether a limit ended the search before it found any.
    pub unfinished: bool,
    /// Loops of a block's threads that other threads of the block let go, each by the line that reads there and the one that
    /// writes what it reads; empty where the target promises that all threads of a block run.
    pub waits: Vec<(Site, Site)>,
}

impl Judge<'_> {
    /// What the outcomes rest on.
    pub(super) fn rests_on(&self) -> Result<Rests> {
        let world = self.world.clone();
        let threads = world.threads().map_err(|error| system("launching", error))?;
        let mut limits = self.run.checker.limits(self.run.shared.deadline);
        let soon = Instant::now() + PATIENCE;
        limits.deadline = Some(limits.deadline.map_or(soon, |deadline| deadline.min(soon)));
        let setup = Setup {
            loop_bound: self.run.checker.loop_bound,
            assume_race_free: self.assume_race_free,
            dependencies: Dependencies::Ignored,
            limits,
            ..Setup::new(&*world, self.run.checker.model).with_threads(&*world, threads)
        };
        let mut more = More { known: self.outcomes.keys().collect(), found: Vec::new() };
        let (end, _) = search(&setup, &mut more);
        let sites = more.found.into_iter().filter_map(|(read, store)| Some((world.site(read)?, world.site(store)?)));
        let mut sites: Vec<(Site, Site)> = sites.collect();
        sites.dedup();
        let unfinished = match end {
            End::Exhausted | End::BrokenOff => false,
            End::Stopped(_) | End::Problem(_) => true,
        };
        Ok(Rests { on: sites, unfinished, waits: Vec::new() })
    }
}

/// A visitor that looks for an outcome that is not known yet.
struct More<'j> {
    known: BTreeSet<&'j Memory>,
    found: Vec<(u32, u32)>,
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
}
