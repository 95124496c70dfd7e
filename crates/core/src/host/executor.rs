//! What the host devices do for their queues.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::handover::Handover;
use super::run::{launch, launch_shape};
use crate::error::Result;
use crate::kernel::Kernel;
use crate::properties::Properties;
use crate::queue::{Executor, FirstError};
use crate::spec::{LaunchOptions, Shape};

/// A queue's own helpers, so that a launch which waits on one queue does not starve another's. They are started by the
/// first launch that can use them.
struct Team {
    handover: Arc<Handover>,
    helpers: Vec<JoinHandle<()>>,
}

impl Team {
    fn start(helpers: u32) -> Team {
        let handover = Arc::new(Handover::new());
        let start = |number: u32| {
            let handover = handover.clone();
            let name = format!("wattle-worker-{number}");
            // Without a helper the owner does all the work itself.
            std::thread::Builder::new().name(name).spawn(move || handover.help()).ok()
        };
        let helpers = (1..=helpers).filter_map(start).collect();
        Team { handover, helpers }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.handover.quit();
        for helper in self.helpers.drain(..) {
            // A helper cannot panic: jobs do not unwind.
            let _ = helper.join();
        }
    }
}

/// Does the operations of one queue of a host device, each to its end.
pub(super) struct HostExecutor {
    properties: Arc<Properties>,
    team: Option<Team>,
    errors: FirstError,
}

impl HostExecutor {
    pub(super) fn new(properties: Arc<Properties>) -> HostExecutor {
        HostExecutor { properties, team: None, errors: FirstError::default() }
    }
}

// SAFETY: each operation is done when its method returns.
unsafe impl Executor for HostExecutor {
    const PREPARES: bool = false;

    fn errors(&self) -> &FirstError {
        &self.errors
    }

    #[inline]
    unsafe fn launch(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        let helpers = self.properties.workers - 1;
        if self.team.is_none() && helpers > 0 {
            self.team = Some(Team::start(helpers));
        }
        // SAFETY: the caller's promise; the queue is a host device's, and so are its buffers.
        unsafe { launch(&self.properties, self.team.as_ref().map(|team| &*team.handover), kernel, shape, options) }
    }

    fn admit_host_part(
        &mut self,
        _: &dyn Kernel,
        _: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<()> {
        launch_shape(&self.properties, shape, options).map(drop)
    }
}
