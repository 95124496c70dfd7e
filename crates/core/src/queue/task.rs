//! What is enqueued, with all that it needs while it waits for its turn.

use std::sync::Arc;

use super::operation::Operation;
use crate::backend::LaunchRequest;
use crate::clock::Point;
use crate::kernel::Kernel;
use crate::spec::{LaunchOptions, Shape};

/// A launch that owns its kernels, and through them the buffers that they use.
///
/// The code that makes one has promised what [`BackendQueue::launch`](crate::BackendQueue::launch) asks for.
#[derive(Clone)]
pub struct QueuedLaunch {
    /// The kernel with its arguments.
    pub kernel: Arc<dyn Kernel>,
    /// The kernel that runs on a host thread at the same time, if there is one.
    pub host_part: Option<Arc<dyn Kernel>>,
    /// The shape: frames, or blocks and threads.
    pub shape: Shape,
    /// What the launch asks for beyond its shape.
    pub options: LaunchOptions,
    /// The launch's place in the order of what is enqueued, where the device asks for it.
    pub point: Option<Point>,
}

impl QueuedLaunch {
    pub(super) fn of(request: &LaunchRequest<'_>) -> QueuedLaunch {
        QueuedLaunch {
            kernel: request.kernel.to_arc(),
            host_part: request.host_part.map(Kernel::to_arc),
            shape: request.shape,
            options: request.options,
            point: None,
        }
    }

    /// The launch as a device takes it.
    pub(super) fn request(&self) -> LaunchRequest<'_> {
        LaunchRequest {
            kernel: &self.kernel,
            host_part: self.host_part.as_ref().map(|part| part as &dyn Kernel),
            shape: self.shape,
            options: self.options,
            stamp: None,
        }
    }
}

/// What waits for its turn on a queue.
pub(super) enum Task {
    Launch(QueuedLaunch),
    Other(Operation),
}
