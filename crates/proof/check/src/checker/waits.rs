//! Where a verdict rests on the progress of a block's threads.

use std::collections::BTreeSet;

use wattle_ir::Site;
use wattle_memory::Level;

use crate::program::World;
use crate::search::Execution;

/// What threads of one block pass to each other, and where they may wait for it.
#[derive(Default)]
pub(super) struct WaitsInBlock {
    /// Pairs of statements of which the second has written what the first has read atomically, in threads of one block.
    passed: BTreeSet<(u32, u32)>,
    /// The reads in loops of which an iteration may leave its thread as it was.
    waiting: BTreeSet<u32>,
}

impl WaitsInBlock {
    /// Adds the pairs of an execution.
    pub fn note(&mut self, execution: &Execution<'_>) {
        let graph = execution.graph;
        for (read, event) in graph.events().iter().enumerate() {
            let Some(write) = graph.source(read).filter(|_| event.label.atomic) else { continue };
            let source = graph.event(write);
            let (Some(one), Some(other)) = (event.thread, source.thread) else { continue };
            if one != other && event.source != u32::MAX && graph.share(read, write, Level::Block) {
                self.passed.insert((event.source, source.source));
            }
        }
    }

    /// Adds a read where a thread may wait.
    pub fn may_wait_at(&mut self, read: u32) {
        self.waiting.insert(read);
    }

    /// The lines of the pairs whose read may wait.
    pub fn lines(&self, world: &World) -> Vec<(Site, Site)> {
        let waiting = self.passed.iter().filter(|(read, _)| self.waiting.contains(read));
        let lines = waiting.filter_map(|&(read, write)| Some((world.site(read)?, world.site(write)?)));
        let mut lines: Vec<_> = lines.collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
