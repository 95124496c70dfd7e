//! Release sequences, which are longer in OpenCL's model than in Vulkan's, under which its modules are judged.

use wattle_check::search::Execution;
use wattle_memory::{EventId, Kind};

use crate::world::{SpirvLaunch, World};

/// Why what an execution shows may be impossible in the OpenCL environment: there a later store of the thread that has
/// released continues what that released (OpenCL API 3.0, 3.3.6.1 "Release sequence"; C11 5.1.2.4), and in Vulkan's
/// model it does not.
pub(super) fn longer(world: &World, execution: &Execution<'_>) -> Option<String> {
    let graph = execution.graph;
    let is_opencl = world.parts.iter().any(|part| part.spirv.as_ref().is_some_and(SpirvLaunch::is_opencl));
    if !is_opencl {
        return None;
    }
    let is_read = |write: EventId| (0..graph.len()).any(|read| graph.source(read) == Some(write));
    let continues = |write: &EventId| {
        let event = graph.event(*write);
        let headed = (0..*write).find(|&head| {
            let known = graph.event(head);
            graph.same_thread(head, *write) && known.location == event.location && known.label.release
        });
        let is_store = event.label.kind == Kind::Write && event.label.atomic && !event.label.release;
        headed.filter(|_| is_store && event.location.is_some() && graph.other_half(*write).is_none() && is_read(*write))
    };
    let (head, write) = (0..graph.len()).find_map(|write| Some((continues(&write)?, write)))?;
    let at = |event: EventId| world.place_of(graph.event(event).source as usize);
    Some(format!(
        "what the store at {} releases, the later one at {} by the same thread passes on in OpenCL's model and not in Vulkan's, \
         under which something goes wrong; make that one release too",
        at(head),
        at(write)
    ))
}
