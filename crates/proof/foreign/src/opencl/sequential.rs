//! OpenCL's sequentially consistent operations, which stand in one order. Vulkan's model, under which its modules are
//! judged, has no such order: there they release and acquire, and more executions are possible.
//!
//! What goes wrong in an execution that is an interleaving goes wrong in OpenCL too, where the interleaving is that
//! order (OpenCL API 3.0, 3.3.6.4 "Memory ordering rules: sequential consistency").

use wattle_check::search::{Execution, last_values};
use wattle_memory::{LocationId, Model};

use crate::world::World;

/// The maximum number of events of an execution for which an interleaving is looked for.
const MOST_EVENTS: usize = 1000;

/// Why an execution that leaves these values may be impossible in OpenCL's model although Vulkan's permits it: a launch
/// has sequentially consistent operations, and no interleaving gives it.
pub(super) fn doubt(world: &World, execution: &Execution<'_>, left: &[(LocationId, u64)]) -> Option<String> {
    let at = world.parts.iter().find_map(|part| part.spirv.as_ref()?.sequential)?;
    if is_interleaving(execution, left) {
        return None;
    }
    Some(format!(
        "the order of sequentially consistent operations, such as the one at {}, is not known here: they are taken as ones \
         that release and acquire, for which something goes wrong, and in no interleaving of the threads' steps; write \
         memory_order_acq_rel, or what it needs, to see it",
        world.place_of(at)
    ))
}

/// Whether some interleaving gives an execution and leaves these values. Where it leaves open which writes of two cells
/// are the last, that is not decided: not every choice of them is that of one interleaving.
fn is_interleaving(execution: &Execution<'_>, left: &[(LocationId, u64)]) -> bool {
    let graph = execution.graph;
    if graph.len() > MOST_EVENTS {
        return false;
    }
    let Ok(order) = Model::Sc.analyse(graph) else { return false };
    let lasts: Vec<Vec<u64>> = left.iter().map(|&(cell, _)| last_values(graph, &order, cell)).collect();
    let is_possible = lasts.iter().zip(left).all(|(values, (_, value))| values.contains(value));
    is_possible && lasts.iter().filter(|values| values.len() > 1).count() <= 1
}
