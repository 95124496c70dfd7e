//! Where a verdict rests on the progress of a workgroup's threads, which Vulkan does not promise within a subgroup.

use std::collections::BTreeSet;

use wattle_check::search::Execution;
use wattle_memory::Level;

use crate::world::World;

/// The most pairs of places that are named.
const MOST_NAMED: usize = 3;

/// What threads of one workgroup wait for from each other: pairs of statements of which the second has written what the
/// first has read atomically, in a loop that ends by what it reads.
#[derive(Default)]
pub(crate) struct Waits(BTreeSet<(u32, u32)>);

impl Waits {
    /// Adds the pairs of an execution.
    pub fn note(&mut self, world: &World, execution: &Execution<'_>) {
        if !world.parts.iter().any(|part| part.spirv.is_some() && part.flow.loops.waits()) {
            return;
        }
        let graph = execution.graph;
        for (read, event) in graph.events().iter().enumerate() {
            let Some(write) = graph.source(read).filter(|_| event.label.atomic) else { continue };
            let source = graph.event(write);
            let (Some(one), Some(other)) = (event.thread, source.thread) else { continue };
            let (part, at) = world.instruction_of(event.source as usize);
            if one != other && part.flow.loops.is_in_wait(at) && graph.share(read, write, Level::Block) {
                self.0.insert((event.source, source.source));
            }
        }
    }

    /// What the verdict rests on, in words.
    pub fn words(&self, world: &World) -> Option<String> {
        let places: BTreeSet<(String, String)> = self
            .0
            .iter()
            .map(|&(read, write)| (world.place_of(read as usize), world.place_of(write as usize)))
            .collect();
        let named: Vec<String> =
            places.iter().take(MOST_NAMED).map(|(read, write)| format!("{read} waits for {write}")).collect();
        (!named.is_empty()).then(|| {
            format!(
                "where {}, both threads are of one workgroup, and all threads of a workgroup are taken to run; Vulkan does not \
                 promise that one of a subgroup runs while another one waits",
                named.join(", and ")
            )
        })
    }
}
