//! The traits that every kind of device implements, and what a queue hands to them.

use std::sync::Arc;

use crate::clock::Stamp;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::memory::{Allocation, Memory};
use crate::properties::Properties;
use crate::queue::{EventState, Operation};
use crate::spec::{LaunchOptions, Shape};

/// A launch, as a queue passes it to its device.
pub struct LaunchRequest<'k> {
    /// The kernel with its arguments.
    pub kernel: &'k dyn Kernel,
    /// A kernel that runs on a host thread at the same time, if there is one.
    pub host_part: Option<&'k dyn Kernel>,
    /// The shape: frames, or blocks and threads.
    pub shape: Shape,
    /// What the launch asks for beyond its shape.
    pub options: LaunchOptions,
    /// The launch's place in the order of what is enqueued; `None` for one that is only prepared.
    pub stamp: Option<Stamp<'k>>,
}

/// A kind of device.
///
/// # Safety
/// `allocate` gives memory of as many bytes as were asked for ([`Allocation::bytes`]), or an error: views and copies
/// are checked against the extent that was asked for, and against nothing else.
pub unsafe trait Backend: Send + Sync + 'static {
    /// What the device is and can do.
    fn properties(&self) -> &Properties;
    /// Allocates memory: all the bytes of the request.
    ///
    /// # Errors
    /// The device has too little memory, or none of this kind.
    fn allocate(&self, request: &Allocation) -> Result<Box<dyn Memory>>;
    /// Makes a queue; the operations of one that is blocking are done when its methods return.
    ///
    /// # Errors
    /// The operating system or the driver refuses.
    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>>;
    /// The devices whose memory this device's kernels can use, once that is enabled.
    ///
    /// # Errors
    /// There is none; the error says why.
    fn peers(&self) -> Result<Vec<Device>> {
        Err(no_peer(self.properties()))
    }
    /// Lets kernels of this device use the memory of another one, from now on.
    ///
    /// # Errors
    /// They cannot.
    fn enable_peer_access(&self, _other: &Device) -> Result<()> {
        Err(no_peer(self.properties()))
    }
    /// Whether kernels of this device may use the memory of another one.
    fn reaches(&self, _other: &Device) -> bool {
        false
    }
    /// The backend as a value of its own type, to be downcast.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// The error of a device whose kernels use no memory but its own.
#[cold]
fn no_peer(properties: &Properties) -> Error {
    let instead = "copy between the devices (`Queue::copy`), or let the host hand the values on";
    Error::capability(&properties.name, "use another device's memory in kernels: it reaches none", instead)
}

/// A queue of a device: does the operations that it is given in order.
///
/// What is given has been checked: shapes, owners, and conflicts with other uses of the buffers.
///
/// # Safety
/// Operations are done in the order in which they were given, also one that waits for an event after an error; `wait`
/// returns when all are done or will never be. The clocks, and copies to the host's memory, rely on it.
pub unsafe trait BackendQueue: Send + Sync {
    /// Launches a kernel; waits for its end if the queue is blocking.
    ///
    /// # Safety
    /// The uses of the kernel's arguments have been recorded, and none conflicts with another that is not ordered.
    ///
    /// # Errors
    /// The device cannot run the launch; if the queue is blocking, whatever went wrong in it.
    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Result<()>;
    /// Makes what a launch needs that a driver makes when it first meets the kernel, and returns when it is there.
    ///
    /// # Errors
    /// The device cannot run the launch.
    fn prepare(&self, _request: &LaunchRequest<'_>) -> Result<()> {
        Ok(())
    }
    /// Does an operation that is no launch; waits for its end if the queue is blocking.
    ///
    /// # Errors
    /// As for a launch.
    fn submit(&self, operation: Operation) -> Result<()>;
    /// Waits until all operations are done; takes the first error since the last wait.
    ///
    /// # Errors
    /// The error that is taken.
    fn wait(&self) -> Result<()>;
    /// The first error that no wait has taken yet, if there is one.
    fn pending_error(&self) -> Option<crate::Error>;
    /// The mover of a device whose work moves only while a thread waits; `None` for all others.
    fn mover(&self) -> Option<Arc<dyn Mover>> {
        None
    }
}

/// Moves on the work of a device that does not run by itself.
pub trait Mover: Send + Sync {
    /// Moves the work on until `event` is reached.
    fn progress(&self, event: &EventState);
    /// Moves the work on a little and returns.
    fn nudge(&self);
    /// Says that the host sees one of several answers, that of a device whose work moves only while a thread waits.
    fn decided(&self, what: Decided);
}

/// What a device whose work moves only while a thread waits decides for the host, and others may decide otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decided {
    /// An event is complete when it is asked for, though the host has not waited for it.
    EventIsComplete,
    /// Host tasks of two queues, which nothing orders, run in the order in which they were enqueued.
    TaskOrder,
}
