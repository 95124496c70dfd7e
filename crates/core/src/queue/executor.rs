//! What a device does for a queue whose operations it does in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::event::{Event, EventState};
use super::first_error::FirstError;
use super::operation::{Operation, Transfer};
use crate::backend::LaunchRequest;
use crate::error::Result;
use crate::host::run_beside;
use crate::kernel::Kernel;
use crate::panics::panicked;
use crate::spec::{LaunchOptions, Shape};

/// Does a queue's operations, on the thread that calls; a queue calls it from one thread at a time.
///
/// Launches, and whatever else a device can, may be submitted without waiting for those before: they are in flight
/// until [`advance`](Executor::advance) or [`drain`](Executor::drain) has seen their end. Queues skip operations that
/// follow an error; an executor skips those that were in flight when the error came.
///
/// # Safety
/// What is submitted takes effect in the order of submission, and what [`in_flight`](Executor::in_flight) does not
/// count has taken effect or never will: the clocks, and copies to the host's memory, rely on it.
pub unsafe trait Executor: Send + Sized + 'static {
    /// Whether preparing a launch does anything; if not, a queue's thread is not asked to.
    const PREPARES: bool = true;

    /// The queue's first error, which is kept until a wait takes it.
    ///
    /// An error is kept before a point behind it counts as reached and before its operation counts as done, so that
    /// the waiter finds it.
    fn errors(&self) -> &FirstError;

    /// Submits a launch. Does nothing, and succeeds, if something before it has failed.
    ///
    /// # Safety
    /// The requirements are those of [`BackendQueue::launch`](crate::BackendQueue::launch).
    ///
    /// # Errors
    /// The device cannot run it, and nothing was submitted; or the launch has ended already, and this went wrong in it.
    unsafe fn launch(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()>;

    /// Makes what such a launch needs and a driver makes when it first meets a kernel.
    ///
    /// # Errors
    /// The device cannot run such a launch.
    fn prepare(&mut self, _kernel: &dyn Kernel, _shape: &Shape, _options: &LaunchOptions) -> Result<()> {
        Ok(())
    }

    /// Whether a host part can run beside a launch of this kernel; nothing is in flight. What has to be made for the
    /// launch is best made here, so that the host part does not wait for it.
    ///
    /// # Errors
    /// The device cannot run such a launch.
    fn admit_host_part(
        &mut self,
        kernel: &dyn Kernel,
        host_part: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<()>;

    /// Records a point behind all that was submitted: it is reached when that is done. Errors are kept.
    fn record(&mut self, event: Arc<EventState>) {
        self.drain();
        event.reach();
    }

    /// Orders what is submitted later after a point of another queue. The point is waited for also after an error: the
    /// clocks count on it.
    fn wait_for(&mut self, event: Event) {
        self.drain();
        event.wait_as_device();
    }

    /// Does a copy or a fill behind all that was submitted, or submits it; skips it if something before it fails.
    /// Errors are kept.
    fn copy(&mut self, copy: Transfer) {
        self.alone(|_| copy.run());
    }

    /// How many operations are in flight, points behind them included. All others that were submitted are done, or were
    /// skipped.
    fn in_flight(&self) -> u64 {
        0
    }

    /// Records the end of operations that have ended, and waits for the first that has not, for at most `patience`.
    fn advance(&mut self, _patience: Duration) {}

    /// Waits until nothing is in flight.
    fn drain(&mut self) {}

    /// Submits what was held back to be submitted together, and marks what is to be marked: no further operation is
    /// waiting for now. Called again and again while something is in flight.
    fn flush(&mut self) {}

    /// Whether an operation is to be skipped because of an earlier one's error.
    fn has_failed(&self) -> bool {
        self.errors().is_some()
    }

    /// Keeps an error, if it is the first.
    fn keep(&self, outcome: Result<()>) {
        self.errors().keep(outcome);
    }

    /// Does `work` once nothing is in flight, unless an earlier operation has failed.
    fn alone(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) {
        self.drain();
        if !self.has_failed() {
            let outcome = work(self);
            self.keep(outcome);
        }
    }
}

/// Submits a launch, unless an earlier one has failed. A host part runs on a thread of the host's beside it, and both
/// are waited for.
///
/// # Safety
/// The requirements are those of [`Executor::launch`].
#[inline]
pub(super) unsafe fn launch<E: Executor>(executor: &mut E, request: &LaunchRequest<'_>) {
    let LaunchRequest { kernel, host_part, shape, options, stamp: _ } = request;
    let Some(host_part) = *host_part else {
        // SAFETY: the caller's promise.
        return unsafe { submit(executor, *kernel, shape, options) };
    };
    executor.alone(|executor| {
        executor.admit_host_part(*kernel, host_part, shape, options)?;
        let launch = || {
            // SAFETY: the caller's promise.
            unsafe { submit(executor, *kernel, shape, options) };
            executor.drain();
            executor.errors().get().map_or(Ok(()), Err)
        };
        // SAFETY: the caller's promise; `admit_host_part` and the queue refuse memory that the host cannot reach.
        unsafe { run_beside(host_part, options, launch) }
    });
}

/// # Safety
/// The requirements are those of [`Executor::launch`].
#[inline]
unsafe fn submit<E: Executor>(executor: &mut E, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) {
    // SAFETY: the caller's promise.
    if let Err(error) = unsafe { executor.launch(kernel, shape, options) } {
        // Operations in flight came first, and so do their errors.
        executor.drain();
        executor.keep(Err(error));
    }
}

/// Does an operation that is no launch, or skips it.
pub(super) fn operate<E: Executor>(executor: &mut E, operation: Operation, skip: bool) {
    match operation {
        Operation::Record(event) => executor.record(event),
        Operation::WaitFor(event) => executor.wait_for(event),
        Operation::Copy(_) | Operation::Task(_) if skip => {}
        Operation::Copy(copy) => executor.copy(copy),
        Operation::Task(task) => executor.alone(|_| run_task(task)),
    }
}

/// Runs a function of the host's; its panic is an error.
pub(super) fn run_task(task: Box<dyn FnOnce() -> Result<()> + Send>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| Err(panicked("a host task", panic)))
}
