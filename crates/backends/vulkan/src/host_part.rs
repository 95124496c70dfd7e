//! A kernel that runs on a host thread beside a launch.

use wattle_core::{Kernel, Result};
use wattle_gpu::cannot;
use wattle_spirv::{Features, Lacking};

use crate::executor::Executor;

impl Executor {
    /// Refuses a host part with `Scope::System`, as such a kernel is refused on the device.
    ///
    /// The two share memory, and nothing orders their accesses: the Vulkan memory model knows no scope that includes
    /// the host.
    pub(crate) fn orders_nothing_with_host(&self, host_part: &dyn Kernel) -> Result<()> {
        match wattle_spirv::build(&host_part.build()?, &Features::all()) {
            Err(Lacking::Scope { kernel, site, .. }) => {
                let what = format!(
                    "let kernel `{kernel}` run beside a launch: it uses Scope::System at {site}, and the Vulkan memory \
                     model orders nothing with the host"
                );
                Err(cannot(self.context.name(), what, "use the host's or a CUDA device, or two launches and events"))
            }
            _ => Ok(()),
        }
    }
}
