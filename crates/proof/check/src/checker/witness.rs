//! An execution that shows something, kept for its story.

use std::sync::Arc;

use wattle_memory::{Analysis, EventId, Graph, LocationId};

use crate::program::World;
use crate::search::{Address, Fault, Stuck};

/// An execution of some launches, with what it takes to tell of it.
#[derive(Clone)]
pub struct Witness {
    /// What its threads share.
    pub world: Arc<World>,
    /// The graph.
    pub graph: Graph,
    /// What the model says of it.
    pub analysis: Analysis,
    /// The cells, and their locations.
    pub cells: Vec<(Address, LocationId)>,
    /// The threads that are stuck.
    pub stuck: Vec<Stuck>,
    /// What went wrong within threads.
    pub faults: Vec<Fault>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Witness({} events)", self.graph.len())
    }
}

impl Witness {
    /// The name of what an access touches, as its kernel calls it.
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
