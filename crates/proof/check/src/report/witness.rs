//! An execution kept for its story.

use std::sync::Arc;

use wattle_memory::{Analysis, EventId, Graph, LocationId};

use crate::program::World;
use crate::search::{Address, Fault, Stuck};

/// An execution of some launches, with the data that its story needs.
#[derive(Clone)]
pub struct Witness {
    /// The world that its threads share.
    pub world: Arc<World>,
    /// The graph.
    pub graph: Graph,
    /// The model's analysis of the graph.
    pub analysis: Analysis,
    /// The cells, and their locations.
    pub cells: Vec<(Address, LocationId)>,
    /// The threads that are stuck.
    pub stuck: Vec<Stuck>,
    /// The faults within threads.
    pub faults: Vec<Fault>,
    /// Whether only what is wrong is in the graph, of an execution that is too long to be shown.
    pub excerpt: bool,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Witness({} events)", self.graph.len())
    }
}

impl Witness {
    /// The name that the kernel gives to the place of an access.
    pub fn place(&self, event: EventId) -> String {
        let launch = self.graph.event(event).thread.map_or(0, |thread| self.world.launch_of(thread));
        self.address(event).map_or_else(|| "memory".into(), |address| self.world.address_name(launch, address))
    }

    /// The cell that an access touches.
    pub fn address(&self, event: EventId) -> Option<Address> {
        let location = self.graph.event(event).location?;
        self.cells.iter().find(|(_, known)| *known == location).map(|(address, _)| *address)
    }

    /// The source line of an event, if it has one.
    pub fn line(&self, event: EventId) -> Option<u32> {
        self.world.site(self.graph.event(event).source).map(|site| site.line)
    }
}
