//! What OpenCL's memory model permits or means otherwise than Vulkan's, under which its modules are judged. What holds
//! in all executions of Vulkan's model holds; what goes wrong in one of them is doubtful where OpenCL's may not have
//! it.

mod scopeless;
mod sequence;
mod sequential;

use wattle_check::search::Execution;
use wattle_memory::{EventId, LocationId};

use crate::world::World;

pub(crate) use scopeless::is_doubtful;

/// Why what goes wrong in an execution may be impossible in OpenCL's model, or may rest on what the module does not
/// show: its races, if that is what goes wrong, or that it leaves these values.
pub(crate) fn doubt(
    world: &World,
    execution: &Execution<'_>,
    races: &[(EventId, EventId)],
    left: &[(LocationId, u64)],
) -> Option<String> {
    sequence::longer(world, execution)
        .or_else(|| scopeless::doubt(world, execution, races))
        .or_else(|| sequential::doubt(world, execution, left))
}
