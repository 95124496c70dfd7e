//! How many blocks and threads a launch has.

use std::sync::Arc;

use wattle_core::{LaunchOptions, Result, Shape, ShapeKind};
use wattle_gpu::{cannot, too_many_blocks, too_many_threads};
use wattle_ir::LaunchShape;

use crate::context::Context;
use crate::modules::{Built, Code};

/// How many times over the blocks of a launch by frames fill the device: a block that ends early makes room for
/// another, and each costs a little.
const FILLINGS: u32 = 4;

/// How a kernel is launched: its code, and the launch's shape.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) code: Arc<Code>,
    pub(crate) shape: LaunchShape,
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
        let threads = shape.threads(options, most_threads);
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
        let most_blocks = match shape.kind {
            ShapeKind::Threads => u32::MAX,
            ShapeKind::Frames => {
                let at_once = self.blocks_at_once(&code, thread_count, shared_bytes)?.max(1);
                if options.is_cooperative() { at_once } else { at_once.saturating_mul(FILLINGS) }
            }
        };
        let blocks = shape.blocks(options, most_blocks);
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
        // Wattle's own kernels know their dimensions by themselves; a module's last one is x.
        let axes = match &built.module {
            None => [[block_count, 1, 1], [thread_count, 1, 1]],
            Some(_) => [blocks, threads].map(|extent| {
                std::array::from_fn(|axis| (shape.rank - 1).checked_sub(axis).map_or(1, |dimension| extent[dimension]))
            }),
        };
        Ok(Plan { code, shape: shape.launched(blocks, threads, warp_size), axes, shared_bytes })
    }

    /// Whether there is code for such a launch already, so that nothing is loaded for it.
    pub(crate) fn is_loaded(&self, built: &Built, shape: &Shape, options: &LaunchOptions) -> bool {
        let threads = shape.threads(options, self.physical.properties.max_threads_per_block);
        self.has_code(built, threads.iter().product())
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
