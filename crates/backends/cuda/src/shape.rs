//! How many blocks and threads a launch has.

use std::sync::Arc;

use wattle_core::{Grid, LaunchOptions, Result, Shape, ShapeKind};
use wattle_gpu::{cannot, too_many_blocks, too_many_threads};
use wattle_ir::MAX_RANK;

use crate::context::Context;
use crate::modules::{Built, Code};

/// How many times over the blocks of a launch by frames fill the device: a block that ends early makes room for
/// another, and each costs a little.
const FILLINGS: u32 = 4;

/// How a kernel is launched: its code, and the launch's shape.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) code: Arc<Code>,
    pub(crate) grid: Grid,
    /// The blocks, and the threads of a block, in x, y and z.
    pub(crate) axes: [[u32; 3]; 2],
    /// The bytes of shared memory that the launch gives.
    pub(crate) shared_bytes: u32,
}

impl Context {
    /// Chooses code, blocks and threads for a shape.
    ///
    /// # Errors
    /// The shape exceeds a limit of the device, which the error states.
    pub(crate) fn plan(&self, built: &Built, shape: &Shape, options: &LaunchOptions) -> Result<Plan> {
        let most_threads = self.physical.properties.max_threads_per_block;
        let threads = self.threads(shape, options);
        let thread_count = threads.iter().product::<u32>();
        if thread_count > most_threads {
            let of = format!(" of kernel `{}`", built.kernel.name);
            return Err(too_many_threads(self.name(), thread_count, most_threads.into(), &of));
        }
        let code = self.code(built, thread_count)?;
        if thread_count > code.most_threads {
            let why = format!(" of kernel `{}`, for which it has no more registers", built.kernel.name);
            return Err(too_many_threads(self.name(), thread_count, code.most_threads.into(), &why));
        }
        let shared_bytes = self.shared_bytes(built, &code, options.get_shared_len())?;
        let blocks = match shape.kind {
            ShapeKind::Threads => shape.outer,
            ShapeKind::Frames => {
                let at_once = self.blocks_at_once(&code, thread_count, shared_bytes)?.max(1);
                let most = if options.is_cooperative() { at_once } else { at_once.saturating_mul(FILLINGS) };
                Shape::at_most(shape.outer, most.min(options.get_blocks()))
            }
        };
        let block_count = blocks.iter().product::<u32>();
        if block_count > self.physical.most_blocks {
            let (of, most) = (format!(" of kernel `{}`", built.kernel.name), self.physical.most_blocks);
            return Err(too_many_blocks(self.name(), block_count, most.into(), &of));
        }
        if options.is_cooperative() {
            self.admit_cooperative(built, &code, (block_count, thread_count, shared_bytes))?;
        }
        let warp_size =
            options.lanes(&self.physical.properties, |lanes| lanes == self.physical.properties.warp_width)?;
        let grid =
            Grid { rank: shape.rank, blocks, threads, frames: shape.outer, frame_extent: shape.inner, warp_size };
        // Wattle's own kernels know their dimensions by themselves; a module's last one is x.
        let axes = match &built.module {
            None => [[block_count, 1, 1], [thread_count, 1, 1]],
            Some(_) => [blocks, threads].map(|extent| {
                std::array::from_fn(|axis| (shape.rank - 1).checked_sub(axis).map_or(1, |dimension| extent[dimension]))
            }),
        };
        Ok(Plan { code, grid, axes, shared_bytes })
    }

    /// The threads per block, in each dimension.
    fn threads(&self, shape: &Shape, options: &LaunchOptions) -> [u32; MAX_RANK] {
        match shape.kind {
            ShapeKind::Threads => shape.inner,
            ShapeKind::Frames => {
                let most = self.physical.properties.max_threads_per_block;
                Shape::at_most(shape.inner, most.min(options.get_threads()))
            }
        }
    }

    /// Whether there is code for such a launch already, so that nothing is loaded for it.
    pub(crate) fn is_loaded(&self, built: &Built, shape: &Shape, options: &LaunchOptions) -> bool {
        self.has_code(built, self.threads(shape, options).iter().product())
    }

    fn admit_cooperative(
        &self,
        built: &Built,
        code: &Code,
        (blocks, threads, shared_bytes): (u32, u32, u32),
    ) -> Result<()> {
        if !self.physical.is_cooperative {
            return Err(cannot(self.name(), "run all blocks of a launch at once", "use another device"));
        }
        let most = self.blocks_at_once(code, threads, shared_bytes)?;
        if blocks <= most {
            return Ok(());
        }
        let what = format!(
            "run {blocks} blocks of kernel `{}` at once: {most} at the most, with {threads} threads and {} bytes of \
             shared memory each",
            built.kernel.name,
            code.layout.shared_bytes.max(shared_bytes)
        );
        let instead = "launch fewer blocks, and give each more work; or with a `FrameSpec`";
        Err(cannot(self.name(), what, instead).limited(blocks, most))
    }
}
