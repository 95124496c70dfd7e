//! Where a verdict rests on the progress of a block's threads.

use std::collections::BTreeMap;

use wattle_ir::Site;
use wattle_memory::Level;

use crate::program::World;
use crate::search::Execution;

/// Pairs of statements of which the second has written what the first has read atomically, in threads of one block; and whether
/// the read is in a loop in which its thread may wait.
#[derive(Default)]
pub(super) struct WaitsInBlock(BTreeMap<(u32, u32), bool>);

impl WaitsInBlock {
    /// Adds the pairs of an execution.
    pub fn note(&mut self, execution: &Execution<'_>, world: &World) {
        let graph = execution.graph;
        for (read, event) in graph.events().iter().enumerate() {
            let Some(write) = graph.source(read).filter(|_| event.label.atomic) else { continue };
            let source = graph.event(write);
            let (Some(one), Some(other)) = (event.thread, source.thread) else { continue };
            if one != other && event.source != u32::MAX && graph.share(read, write, Level::Block) {
                let waits = || world.is_in_waiting_loop(event.source);
                self.0.entry((event.source, source.source)).or_insert_with(waits);
            }
        }
    }

    /// The lines of the pairs whose read may wait.
    pub fn lines(&self, world: &World) -> Vec<(Site, Site)> {
        let waiting = self.0.iter().filter(|(_, waits)| **waits).map(|(pair, _)| pair);
        let lines = waiting.filter_map(|&(read, write)| Some((world.site(read)?, world.site(write)?)));
        let mut lines: Vec<_> = lines.collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}
