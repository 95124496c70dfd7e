//! Queues: what is enqueued on one is done in order.
//!
//! [`Queue`] is what users have: it checks and numbers operations, and records what they use ([`crate::clock`]). A
//! device does them, as one of three engines: `Blocking` on the thread that enqueues, `Threaded` on a thread of the
//! queue's own, both over the device's [`Executor`]; and [`Stepped`] for devices on which nothing runs until a thread
//! waits.

mod blocking;
mod event;
mod executor;
mod first_error;
mod launching;
mod lent;
mod lines;
mod operation;
mod place;
mod stepped;
mod task;
mod threaded;
mod transfers;

use std::sync::{Arc, Mutex, MutexGuard};

use smallvec::SmallVec;
use wattle_ir::Site;

use crate::backend::{BackendQueue, Decided, LaunchRequest};
use crate::clock::{QueueClock, QueueName, Refused, Stamp, Wanted, record};
use crate::device::Device;
use crate::domain::{SyncDomain, SyncDomainMap};
use crate::error::{ErrorKind, Result};
use crate::kernel::Launch;
use crate::printing::{Printed, QueueLogs};
use crate::spec::{LaunchOptions, Spec};
use crate::sync::lock;

use blocking::Blocking;
pub(crate) use event::LastPoint;
pub use event::{Event, EventState, Timestamp};
pub use executor::Executor;
pub use first_error::FirstError;
pub use launching::host_part_shape;
pub use lent::{HostSource, HostTarget};
pub use lines::{Goal, Lines};
pub use operation::{Operation, RawPart, Transfer, TransferSource, paired};
pub(crate) use place::before_this_task;
pub use stepped::{Stepped, SteppedQueue, Stepper};
pub use task::QueuedLaunch;
use threaded::Threaded;

use place::{TaskPlace, Waiting, begin_to_wait, is_in_task, is_in_task_of, used_by_its_task};

/// A queue of a device.
///
/// Operations on one queue are done in order; two queues of a device run at the same time. Every operation is checked
/// when it is enqueued: shapes, owners, and conflicts with other uses of its buffers. Two uses of one part of a buffer
/// conflict if nothing orders them, and they are of different kinds, such as `Read` and `Shared`, or of a kind that has
/// the part for itself, such as `PerItem`.
///
/// Dropping a queue that is not blocking waits for nothing. What was enqueued on it is done all the same, on the
/// simulated device once a thread waits for something there; its errors are those of the [`Event`]s that are left, or
/// lost. A later use of its buffers that conflicts with that work waits for it; but if the queue's last event stands
/// behind the work and is still owned, such a use is refused, and the program has to wait for the event. At the end of
/// the process the host's work is cut off, and GPUs are asked to end theirs.
///
/// The [`Executor`] of a queue is dropped with the last of its queue and its events: on the thread that drops it where
/// the queue is blocking, else on the queue's own thread, once all that was enqueued is done.
#[doc(alias("cudaStream_t", "cudaStreamCreate"))]
pub struct Queue {
    device: Device,
    backend: Arc<dyn BackendQueue>,
    clock: Arc<QueueClock>,
    blocking: bool,
    /// The domain of launches that name none.
    domain: SyncDomain,
    domain_map: SyncDomainMap,
    /// Held from the moment an operation has its number until it is handed over, so that several threads' operations
    /// are handed over in the order of their numbers, which the clocks take for the order in which they are done.
    turns: Mutex<()>,
    /// What kernels print.
    logs: Mutex<QueueLogs>,
}

/// An operation's turn to be handed over.
struct Turn<'q> {
    number: u64,
    held: MutexGuard<'q, ()>,
    /// The wait of the host task that waits for the operation; `None` outside of host tasks.
    waiting: Option<Waiting>,
}

/// The uses that an operation is about to make of buffers.
type Uses<'u> = SmallVec<[Wanted<'u>; 4]>;

impl Queue {
    #[track_caller]
    pub(crate) fn new(device: &Device, blocking: bool) -> Result<Queue> {
        let name = QueueName { device: device.name().to_owned(), site: Site::caller() };
        let backend = device.backend().queue(blocking)?.into();
        let (device, clock) = (device.clone(), QueueClock::new(name));
        let (domain, domain_map) = (SyncDomain::default(), SyncDomainMap::default());
        let (turns, logs) = (Mutex::default(), Mutex::default());
        Ok(Queue { device, backend, clock, blocking, domain, domain_map, turns, logs })
    }

    /// Puts the launches that are enqueued here from now on into this memory synchronization domain, but for those that
    /// name one themselves ([`LaunchOptions::sync_domain`], where domains are explained): for a library whose queue
    /// moves data to other devices or the host.
    ///
    /// ```ignore
    /// let sends = device.queue_non_blocking()?.with_sync_domain(SyncDomain::Remote);
    /// ```
    #[doc(alias("cudaStreamSetAttribute", "cudaLaunchAttributeMemSyncDomain"))]
    pub fn with_sync_domain(mut self, domain: SyncDomain) -> Queue {
        self.domain = domain;
        self
    }

    /// Sets which of the device's domains each name means in the launches that are enqueued here from now on, but for
    /// those that have a map themselves ([`LaunchOptions::sync_domain_map`]).
    ///
    /// # Errors
    /// The map names a domain that the device does not have.
    #[doc(alias("cudaStreamSetAttribute", "cudaLaunchAttributeMemSyncDomainMap"))]
    pub fn with_sync_domain_map(mut self, map: SyncDomainMap) -> Result<Queue> {
        self.has_domains(map)?;
        self.domain_map = map;
        Ok(self)
    }

    /// The device that the queue is of.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches a kernel with its arguments: `queue.launch(spec, kernel(&x, &mut y))`.
    ///
    /// # Errors
    /// A shape that is too large, or that the device cannot keep; a buffer of another device; a use of a buffer
    /// that conflicts with another one. If the queue is blocking, also what went wrong in the launch: a fault, a
    /// failed assertion, a time limit.
    #[doc(alias("<<<>>>", "cudaLaunchKernel"))]
    #[track_caller]
    #[inline(always)]
    pub fn launch<const D: usize>(&self, spec: impl Spec<D>, kernel: impl Launch<D>) -> Result<()> {
        self.launch_with(LaunchOptions::default(), spec, kernel)
    }

    /// Launches a kernel as [`Queue::launch`] does, with options.
    ///
    /// # Errors
    /// It fails where [`Queue::launch`] does.
    #[track_caller]
    #[inline(always)]
    pub fn launch_with<const D: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: impl Launch<D>,
    ) -> Result<()> {
        self.launch_checked(LaunchRequest {
            kernel: &kernel,
            host_part: None,
            shape: spec.shape()?,
            options,
            stamp: None,
        })
    }

    /// Launches a kernel, and beside it a host part: a kernel too, run by one host thread at the same time. What they
    /// share is host-mapped or unified memory, with atomics of system scope.
    ///
    /// # Errors
    /// It fails where [`Queue::launch`] does, and where the host part has memory that the host cannot reach.
    #[track_caller]
    pub fn launch_with_host<const D: usize, const H: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: impl Launch<D>,
        host_part: impl Launch<H>,
    ) -> Result<()> {
        let shape = spec.shape()?;
        self.launch_checked(LaunchRequest { kernel: &kernel, host_part: Some(&host_part), shape, options, stamp: None })
    }

    /// The next operation's number, and the turn to hand it over. On a queue that is not blocking, `waits` says whether
    /// the thread is going to wait for the operation.
    #[inline]
    fn turn(&self, waits: bool) -> Result<Turn<'_>> {
        if is_in_task() {
            return self.turn_in_task(waits);
        }
        let held = lock(&self.turns);
        Ok(Turn { number: self.clock.tick(), held, waiting: None })
    }

    /// A turn of a host task's. What the task's own queue did before it comes before all that the task enqueues.
    ///
    /// # Errors
    /// It is a task of this queue's, or one that this queue waits for, and it waits in turn.
    #[cold]
    fn turn_in_task(&self, waits: bool) -> Result<Turn<'_>> {
        self.not_in_its_task()?;
        // Of a blocking queue even the turn is waited for.
        let waiting = if self.blocking { self.begin_to_wait()? } else { None };
        let held = lock(&self.turns);
        self.clock.after(&before_this_task());
        let number = self.clock.tick();
        let waiting = if waits && !self.blocking { self.begin_to_wait()? } else { waiting };
        Ok(Turn { number, held, waiting })
    }

    /// Fails in a host task of this queue's.
    fn not_in_its_task(&self) -> Result<()> {
        if is_in_task_of(&self.clock) { Err(used_by_its_task(&self.clock)) } else { Ok(()) }
    }

    /// Records that the thread is going to wait for all that has been enqueued here.
    fn begin_to_wait(&self) -> Result<Option<Waiting>> {
        begin_to_wait(|| self.clock.moment())
    }

    /// The turn of an operation whose uses of buffers have been recorded. Waits for the work of queues that were
    /// dropped.
    #[inline]
    fn turn_for(&self, uses: &[Wanted<'_>], waits: bool) -> Result<Turn<'_>> {
        loop {
            let turn = self.turn(waits)?;
            match record(&self.stamp(&turn), uses) {
                Ok(()) => return Ok(turn),
                Err(refused) => {
                    drop(turn);
                    resolve(refused)?;
                }
            }
        }
    }

    /// An operation as the clocks know it.
    #[inline]
    fn stamp(&self, turn: &Turn<'_>) -> Stamp<'_> {
        Stamp { clock: &self.clock, number: turn.number }
    }

    /// Fails after an error that no wait has taken.
    #[inline]
    fn usable(&self) -> Result<()> {
        if self.blocking {
            return Ok(());
        }
        match self.backend.pending_error() {
            Some(first) => Err(ErrorKind::QueueStopped { first: Box::new(first) }.into()),
            None => Ok(()),
        }
    }

    /// Ends the turn of an operation that was handed over; on a blocking queue the host has also waited for it.
    #[inline]
    fn done(&self, turn: Turn<'_>) {
        if self.blocking {
            // Still in the operation's turn.
            self.clock.host_waited_for_all(turn.number);
        }
    }

    fn submit(&self, turn: Turn<'_>, operation: Operation) -> Result<()> {
        let submitted = self.backend.submit(operation);
        self.done(turn);
        submitted
    }

    /// Hands over `operation`, if there is one, and waits until all operations are done.
    fn submit_and_wait(&self, turn: Turn<'_>, operation: Option<Operation>) -> Result<()> {
        let Turn { number, held, waiting } = turn;
        let submitted = operation.map_or(Ok(()), |operation| self.backend.submit(operation));
        // All operations with lesser numbers have been handed over.
        let known = self.clock.known();
        let logs = lock(&self.logs).take();
        drop(held);
        let waited = self.backend.wait();
        drop(waiting);
        self.clock.host_waited(number, &known);
        let delivered = if logs.is_empty() { Ok(()) } else { QueueLogs::deliver(&self.logs, logs) };
        submitted.and(waited).and(delivered)
    }

    /// Passes what kernels print to `sink`, in the place of the standard output: for each launch that printed
    /// something, in the order of the launches, once its end has been waited for (by [`Queue::wait`], or a copy to the
    /// host; on a blocking queue the launch itself waits). Launches that fail have their lines too. What nobody waits
    /// for is not shown, as with CUDA's `printf`. A launch here that prints is refused from within `sink`.
    ///
    /// Within a launch the lines are in the order of the threads: by block, then by thread, then as the thread printed
    /// them. The checker prints nothing, and does not judge a scenario that gives what kernels print to a `sink`.
    ///
    /// ```ignore
    /// use wattle::prelude::*;
    ///
    /// #[kernel]
    /// fn hello(acc: &Acc, x: Read<f32>) {
    ///     let i = acc.thread_in_grid();
    ///     println!("thread {i}: {:.2}", x[i]);
    /// }
    ///
    /// # fn main() -> wattle::Result<()> {
    /// let device = Device::host();
    /// let (queue, x) = (device.queue()?, device.from_slice(&[0.5f32, 1.0 / 3.0])?);
    /// let (send, lines) = std::sync::mpsc::channel();
    /// queue.print_to(move |printed| printed.lines.iter().for_each(|line| send.send(line.text.clone()).unwrap()));
    /// queue.launch(ThreadSpec::new(2, 1), hello(&x))?;
    /// assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["thread 0: 0.50", "thread 1: 0.33"]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "printf")]
    pub fn print_to(&self, sink: impl FnMut(&Printed) + Send + 'static) {
        lock(&self.logs).set_sink(sink);
    }

    /// Runs a function of the host's when the queue comes to it. It must not use this queue, which waits for it, nor
    /// wait for work that comes after it; it can use other queues, and what it enqueues there comes after all that this
    /// queue did before.
    ///
    /// # Errors
    /// The queue stopped at an earlier error; the function is dropped here, and does not run. On a blocking queue, what
    /// the function returns, and its panic.
    #[doc(alias("cudaLaunchHostFunc", "cudaStreamAddCallback"))]
    pub fn host_task(&self, task: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        self.usable()?;
        let turn = self.turn(false)?;
        let place = TaskPlace::new(&self.clock, turn.number);
        if let Some(mover) = self.backend.mover().filter(|mover| !place::is_ordered(&place, mover)) {
            mover.decided(Decided::TaskOrder);
        }
        self.submit(turn, Operation::Task(Box::new(move || place.run(task))))
    }

    /// Records a point after all that has been enqueued here.
    ///
    /// # Errors
    /// The queue stopped at an earlier error.
    #[doc(alias = "cudaEventRecord")]
    pub fn record(&self) -> Result<Event> {
        self.usable()?;
        let state = Arc::new(EventState::default());
        let turn = self.turn(false)?;
        let moment = self.clock.event();
        self.submit(turn, Operation::Record(state.clone()))?;
        Ok(Event { state, moment, queue: self.backend.clone() })
    }

    /// Makes what is enqueued here from now on wait for `event`, and orders it after that.
    ///
    /// # Errors
    /// The queue stopped at an earlier error.
    #[doc(alias = "cudaStreamWaitEvent")]
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.usable()?;
        let turn = self.turn(false)?;
        self.clock.after(&event.moment);
        // The device needs no moment, and to hold one would count as holding the event.
        self.submit(turn, Operation::WaitFor(Event { moment: Arc::default(), ..event.clone() }))
    }

    /// Waits until all operations are done. What comes later on the host is ordered after them.
    ///
    /// # Errors
    /// The first error of what was enqueued since the last wait; the queue can be used again.
    #[doc(alias("cudaStreamSynchronize", "cudaDeviceSynchronize"))]
    pub fn wait(&self) -> Result<()> {
        self.submit_and_wait(self.turn(true)?, None)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.blocking || self.clock.is_all_over() {
            return;
        }
        let state = Arc::new(EventState::default());
        if self.backend.submit(Operation::Record(state.clone())).is_err() {
            // What was enqueued will never be done.
            state.reach();
        }
        self.clock.leave(LastPoint { state, mover: self.backend.mover() });
    }
}

/// A queue over this executor: blocking, or with a thread of its own, named `thread`.
///
/// # Errors
/// The operating system does not start the thread.
pub fn with_executor<E: Executor>(executor: E, blocking: bool, thread: &str) -> Result<Box<dyn BackendQueue>> {
    Ok(if blocking { Box::new(Blocking::new(executor)) } else { Box::new(Threaded::new(executor, thread)?) })
}

/// Waits for what a use has to wait for before it can be recorded.
///
/// # Errors
/// The use conflicts with work that the program has to wait for.
#[cold]
pub(crate) fn resolve(refused: Refused) -> Result<()> {
    let clock = match refused {
        Refused::Conflict(error) => return Err(error),
        Refused::Gone(clock) => clock,
    };
    let _waiting = begin_to_wait(|| clock.moment())?;
    let moment = clock.moment();
    if let Some(last) = clock.last() {
        last.wait();
    }
    crate::clock::host_waited(&moment);
    Ok(())
}
