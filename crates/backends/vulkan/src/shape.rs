//! Blocks and threads for a launch.

use wattle_core::{LaunchOptions, Result, Shape, ShapeKind};
use wattle_gpu::{cannot, too_many_blocks, too_many_threads};
use wattle_ir::{LaunchShape, MAX_RANK};

use crate::context::Context;
use crate::pipeline::Compiled;

/// The number of blocks per core of a launch by frames on a software device: each block costs a little, and more make
/// nothing faster.
const BLOCKS_PER_CORE: u32 = 64;

/// The blocks and threads of a launch, and how they are dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) shape: LaunchShape,
    /// The number of groups in x and y; there may be more groups than blocks.
    pub(crate) groups: [u32; 2],
}

impl Context {
    /// Chooses blocks and threads for a shape.
    pub(crate) fn dispatch(&self, shape: &Shape, options: &LaunchOptions, compiled: &Compiled) -> Result<Dispatch> {
        let properties = &self.physical.properties;
        let warp_size = options.lanes(properties, |lanes| {
            let (least, most) = self.physical.subgroup_sizes.unwrap_or((properties.warp_width, properties.warp_width));
            (least..=most).contains(&lanes)
        })?;
        let one_subgroup = compiled.orders_in_loops && self.physical.features.workarounds.fences_in_loops_end_blocks;
        let most_threads = if one_subgroup { warp_size } else { properties.max_threads_per_block };
        let most_at_once = if options.is_cooperative() { properties.max_cooperative_blocks } else { u32::MAX };
        let per_core = if self.is_software() { BLOCKS_PER_CORE } else { u32::MAX };
        let blocks = shape.blocks(options, properties.workers.saturating_mul(per_core).min(most_at_once));
        let threads = shape.threads(options, most_threads);
        let threads = match shape.kind {
            ShapeKind::Threads => threads,
            ShapeKind::Frames => whole_warps(threads, shape.rank, compiled, warp_size),
        };
        let (block_count, thread_count): (u32, u32) = (blocks.iter().product(), threads.iter().product());
        if thread_count > most_threads {
            let why =
                if one_subgroup { " where fences stand in loops, since its driver loses threads else" } else { "" };
            return Err(too_many_threads(self.name(), thread_count, most_threads.into(), why));
        }
        if compiled.uses_warps && !thread_count.is_multiple_of(warp_size) {
            let what = format!(
                "run blocks of {thread_count} threads of kernel `{}`, which uses its warp, of {warp_size} lanes: Vulkan does not \
                 say how a block is divided that is no multiple of them",
                compiled.kernel.name
            );
            let instead =
                "launch blocks of a multiple of `device.properties().warp_width` threads, or with a `FrameSpec`";
            return Err(cannot(self.name(), what, instead));
        }
        if block_count > most_at_once {
            let what = format!(
                "run {block_count} blocks at once: Vulkan promises that of no number of blocks, and no more than \
                 {most_at_once} are tried on this device (one for each {})",
                if self.is_software() { "core" } else { "compute unit" }
            );
            let instead =
                "launch fewer blocks, give each more work, and set a time limit; or use a host or CUDA device";
            return Err(cannot(self.name(), what, instead).limited(block_count, most_at_once));
        }
        let [most_x, most_y, _] = self.physical.limits.max_compute_work_group_count;
        let groups = groups(block_count, most_x, most_y)
            .ok_or_else(|| too_many_blocks(self.name(), block_count, u64::from(most_x) * u64::from(most_y), ""))?;
        Ok(Dispatch { shape: shape.launched(blocks, threads, warp_size), groups })
    }

    /// The number of blocks of a launch that are dispatched together, each such part after the end of the one before;
    /// `None` if all are.
    ///
    /// A kernel that waits may count on lower blocks to run before higher ones. A software device has a thread for each
    /// core, which takes a block and runs it to its end, but does not take the lowest one that is left: SwiftShader's
    /// takes every 16th, and now and then two blocks are given to one thread in either order; lavapipe's takes a run of
    /// neighbours. So there blocks run one by one: nothing is left to wait for.
    ///
    /// # Errors
    /// The launch has too many blocks to be dispatched in parts.
    pub(crate) fn blocks_at_once(&self, waits: bool, dispatch: &Dispatch) -> Result<Option<u32>> {
        if !waits || !self.is_software() {
            return Ok(None);
        }
        if dispatch.groups[1] == 1 {
            return Ok(Some(1));
        }
        let most = self.physical.limits.max_compute_work_group_count[0];
        let blocks = dispatch.shape.blocks();
        let what = format!("keep {blocks} blocks in order that may wait for each other: {most} at the most");
        Err(cannot(self.name(), what, "launch fewer blocks, and give each more work").limited(blocks, most))
    }
}

/// The threads per block of a launch by frames: whole warps where the kernel uses them, else all of `threads`.
fn whole_warps(threads: [u32; MAX_RANK], rank: usize, compiled: &Compiled, warp_size: u32) -> [u32; MAX_RANK] {
    if !compiled.uses_warps || threads.iter().product::<u32>().is_multiple_of(warp_size) {
        return threads;
    }
    // A launch by frames is right for any threads: a block is a warp, in the dimension that varies fastest.
    let mut warp = [1; MAX_RANK];
    warp[rank - 1] = warp_size;
    warp
}

/// Numbers of groups in x and y that cover `blocks` blocks, or `None` if there is no such pair.
fn groups(blocks: u32, most_x: u32, most_y: u32) -> Option<[u32; 2]> {
    let rows = blocks.div_ceil(most_x.max(1));
    // Rows of about the same length leave few groups with nothing to do.
    let x = blocks.div_ceil(rows.max(1)).max(1);
    (rows <= most_y).then_some([x, rows.max(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_a_group() {
        for blocks in [1, 2, 65_535, 65_536, 65_537, 1 << 20, u32::MAX] {
            let [x, y] = groups(blocks, 65_535, 65_535 + 3).unwrap();
            assert!(x <= 65_535 && y <= 65_538 && u64::from(x) * u64::from(y) >= u64::from(blocks));
            assert!(u64::from(x) * u64::from(y) - u64::from(blocks) < u64::from(y));
        }
        assert_eq!(groups(100, 10, 9), None);
        assert_eq!(groups(100, 10, 10), Some([10, 10]));
    }
}
