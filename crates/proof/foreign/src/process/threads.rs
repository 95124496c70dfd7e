//! The threads of launches, before they run.

use wattle_check::search::Spawn;
use wattle_memory::Placement;

use super::ModuleThread;
use crate::world::{Part, World};

impl World {
    /// The threads before their first instruction.
    pub(crate) fn threads(&self) -> Vec<Spawn<ModuleThread>> {
        // PTX has no scope of a warp.
        let placement = |part: &Part, block, thread| match part.spirv {
            None => Placement::new(block, thread),
            Some(_) => Placement { subgroup: thread / part.warp(), ..Placement::new(block, thread % part.warp()) },
        };
        let mut all = Vec::new();
        for (number, part) in (0..).zip(&self.parts) {
            let per_block = part.launch.block_len() as u32;
            for block in 0..part.launch.blocks() as u32 {
                all.extend((0..per_block).map(|thread| Spawn {
                    placement: Placement { device: part.device, ..placement(part, part.first_block + block, thread) },
                    process: ModuleThread::new(self, number, block, thread),
                    after: [].into(),
                }));
            }
        }
        all
    }
}
