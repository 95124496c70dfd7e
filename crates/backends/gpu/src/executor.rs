//! What a driver does for a queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use wattle_core::{Event, EventState, Kernel, LaunchOptions, Operation, Result, Shape, Transfer, run_beside};

use crate::error::panicked;
use crate::first_error::FirstError;

/// Does a queue's operations, on the thread that calls; a queue calls it from one thread at a time.
///
/// Launches, and what else a driver can, may be submitted without waiting for those before: they are in flight until
/// [`advance`](Executor::advance) or [`drain`](Executor::drain) has seen their end. Queues skip operations behind an
/// error; what was in flight when the error came, an executor skips.
///
/// # Safety
/// What is submitted takes effect in the order of submission, and what [`in_flight`](Executor::in_flight) does not count
/// has taken effect or never will: the clocks, and copies to the host's memory, rely on it.
pub unsafe trait Executor: Send + 'static {
    /// Where the first error is kept until somebody takes it.
    ///
    /// An error is kept before a point behind it counts as reached and before its operation counts as done, so that who
    /// waits finds it.
    fn errors(&self) -> &FirstError;

    /// Submits a launch. Does nothing, and that well, if something before it has failed.
    ///
    /// # Safety
    /// As for [`wattle_core::BackendQueue::launch`].
    ///
    /// # Errors
    /// The device cannot, and nothing was submitted.
    unsafe fn launch(&mut self, kernel: Arc<dyn Kernel>, shape: &Shape, options: &LaunchOptions) -> Result<()>;

    /// Makes what such a launch needs: what the driver makes when it first meets a kernel.
    ///
    /// # Errors
    /// The device cannot.
    fn prepare(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()>;

    /// Whether a host part can run beside a launch of this kernel; nothing is in flight. What has to be made for the
    /// launch is best made here, so that the host part does not wait for it.
    ///
    /// # Errors
    /// The device cannot.
    fn admit_host_part(
        &mut self,
        kernel: &dyn Kernel,
        host_part: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<()>;

    /// A point behind all that was submitted: it is reached when that is done. Errors are kept.
    fn record(&mut self, event: Arc<EventState>);

    /// What is submitted later comes after a point of another queue. The queue has promised to wait also after an error:
    /// the clocks count on it.
    fn wait_for(&mut self, event: Event) {
        self.drain();
        event.wait_as_device();
    }

    /// Does a copy or a fill behind all that was submitted, or submits it; skips it if something before it fails. Errors
    /// are kept.
    fn copy(&mut self, copy: Transfer);

    /// How many operations are in flight, points behind them included. All others that this was given are done, or were
    /// skipped.
    fn in_flight(&self) -> u64;

    /// Moves on: ends what has ended, and waits for the first that has not, for `patience` at the most.
    fn advance(&mut self, patience: Duration);

    /// Waits until nothing is in flight.
    fn drain(&mut self);

    /// No further operation is waiting for now: what was held back to be submitted together, or to be marked, is. Called
    /// again and again while something is in flight.
    fn flush(&mut self) {}

    /// Whether an operation is to be skipped because of an earlier one's error.
    fn has_failed(&self) -> bool {
        self.errors().is_some()
    }

    /// Keeps an error, if it is the first.
    fn keep(&self, outcome: Result<()>) {
        self.errors().keep(outcome);
    }

    /// Does something once nothing is in flight, unless that has failed.
    fn alone(&mut self, work: impl FnOnce(&mut Self) -> Result<()>)
    where
        Self: Sized,
    {
        self.drain();
        if !self.has_failed() {
            let outcome = work(self);
            self.keep(outcome);
        }
    }
}

/// Submits a launch, unless an earlier one has failed.
///
/// # Safety
/// As for [`Executor::launch`].
pub(crate) unsafe fn launch<E: Executor>(
    executor: &mut E,
    kernel: Arc<dyn Kernel>,
    shape: &Shape,
    options: &LaunchOptions,
) {
    // SAFETY: the caller's promise.
    if let Err(error) = unsafe { executor.launch(kernel, shape, options) } {
        // What is in flight came first, and its errors too.
        executor.drain();
        executor.keep(Err(error));
    }
}

/// Launches a kernel, runs the other one on a thread of the host's, and waits for both.
///
/// # Safety
/// As for [`Executor::launch`].
pub(crate) unsafe fn launch_with_host<E: Executor>(
    executor: &mut E,
    kernel: Arc<dyn Kernel>,
    host_part: &dyn Kernel,
    shape: &Shape,
    options: &LaunchOptions,
) {
    executor.alone(|executor| {
        executor.admit_host_part(&*kernel, host_part, shape, options)?;
        let launch = || {
            // SAFETY: the caller's promise.
            unsafe { launch(executor, kernel, shape, options) };
            executor.drain();
            executor.errors().get().map_or(Ok(()), Err)
        };
        // SAFETY: the caller's promise; `admit_host_part` and the queue refuse memory that the host cannot reach.
        unsafe { run_beside(host_part, options, launch) }
    });
}

/// Does what is no launch, or skips it.
pub(crate) fn operate<E: Executor>(executor: &mut E, operation: Operation, skip: bool) {
    match operation {
        Operation::Record(event) => executor.record(event),
        Operation::WaitFor(event) => executor.wait_for(event),
        _ if skip => {}
        Operation::Copy(copy) => executor.copy(copy),
        Operation::Task(task) => executor.alone(|_| {
            catch_unwind(AssertUnwindSafe(task)).unwrap_or_else(|panic| Err(panicked("a host task", panic)))
        }),
    }
}
