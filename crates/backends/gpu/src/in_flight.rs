//! Launches that were submitted, and have not ended as far as the host has seen.

use std::sync::Arc;
use std::time::Duration;

use wattle_core::Kernel;
use wattle_ir::LaunchShape;
use wattle_ir::fault::FaultSite;

use crate::report::Report;

/// A launch that was submitted, with what it needs while it runs and what its report needs afterwards. `C` is what the
/// driver made of the kernel.
pub struct Launched<C> {
    /// The kernel with its arguments, and through them the buffers.
    pub kernel: Arc<dyn Kernel>,
    /// What the driver made of the kernel.
    pub code: C,
    /// The launch's shape.
    pub shape: LaunchShape,
    /// The launch's number on its queue.
    pub number: u32,
    /// The time limit of the launch, if it has one.
    pub limit: Option<Duration>,
    /// The length of the shared array that is sized at launch, in elements.
    pub shared_len: u32,
}

impl<C> Launched<C> {
    /// Returns the name of the launch's kernel.
    pub fn name(&self) -> &'static str {
        self.kernel.info().name
    }

    /// The report of the launch once it has ended, for a kernel built as `ir` with these fault sites.
    pub fn report<'l>(&'l self, ir: &'l wattle_ir::Kernel, sites: &'l [FaultSite]) -> Report<'l> {
        Report { kernel: &*self.kernel, ir, sites, shape: &self.shape, shared_len: self.shared_len }
    }
}
