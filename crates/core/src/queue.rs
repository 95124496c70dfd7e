//! Queues: what is enqueued on one is done in order.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wattle_ir::{Access, Element, Site};

use crate::buffer::{Destination, Part, RawBuffer, Source};
use crate::clock::{QueueClock, Region, Stamp, User};
use crate::device::{BackendQueue, Device, LaunchRequest};
use crate::domain::Sharing;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventState};
use crate::kernel::{Argument, Kernel, KernelInfo, Launch, known};
use crate::memory::{self, MemoryKind};
use crate::operation::{HostBytes, Operation, Runs, Transfer, TransferEnd};
use crate::spec::{LaunchOptions, Shape, ShapeKind, Spec, ThreadSpec};

/// A queue of a device.
///
/// Operations on one queue are done in order; two queues of a device run at the same time. Every operation is checked
/// when it is enqueued: shapes, owners, and conflicts with other uses of its buffers (see [`crate::clock`]).
pub struct Queue {
    device: Device,
    backend: Arc<dyn BackendQueue>,
    clock: Arc<QueueClock>,
    blocking: bool,
    /// Held from the moment an operation has its number until it is handed over, so that several threads' operations
    /// are handed over in the order of their numbers, which the clocks take for the order in which they are done.
    turns: Mutex<()>,
}

impl Queue {
    pub(crate) fn new(device: &Device, blocking: bool) -> Result<Queue> {
        let backend = device.backend().queue(blocking)?.into();
        Ok(Queue { device: device.clone(), backend, clock: Arc::default(), blocking, turns: Mutex::default() })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches a kernel with its arguments: `queue.launch(spec, kernel(&x, &mut y))`.
    ///
    /// # Errors
    /// A shape that is empty, too large, or that the device cannot keep; a buffer of another device; a use of a buffer
    /// that conflicts with another one. If the queue is blocking, also what went wrong in the launch: a fault, a
    /// failed assertion, a time limit.
    #[track_caller]
    #[inline(always)]
    pub fn launch<const D: usize>(&self, spec: impl Spec<D>, kernel: impl Launch<D>) -> Result<()> {
        self.launch_with(LaunchOptions::default(), spec, kernel)
    }

    /// [`Queue::launch`], with options.
    ///
    /// # Errors
    /// As for [`Queue::launch`].
    #[track_caller]
    #[inline(always)]
    pub fn launch_with<const D: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: impl Launch<D>,
    ) -> Result<()> {
        self.launch_checked(LaunchRequest { kernel: &kernel, host_part: None, shape: spec.shape()?, options })
    }

    /// Launches a kernel, and beside it a host part: a kernel too, run by one host thread at the same time. What they
    /// share is host-mapped or unified memory, with atomics of system scope.
    ///
    /// # Errors
    /// As for [`Queue::launch`]; memory of the host part that the host cannot reach.
    #[track_caller]
    pub fn launch_with_host<const D: usize, const H: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: impl Launch<D>,
        host_part: impl Launch<H>,
    ) -> Result<()> {
        let shape = spec.shape()?;
        self.launch_checked(LaunchRequest { kernel: &kernel, host_part: Some(&host_part), shape, options })
    }

    /// Makes ready what such a launch needs, and launches nothing. A driver compiles and loads a kernel when it first
    /// meets it, and may wait then for all that its device does: before the first of several launches that **wait for
    /// each other**, prepare all of them. It also takes the first launch's time out of a measurement.
    ///
    /// # Errors
    /// As for a launch: a shape that the device cannot keep, something that it lacks.
    pub fn prepare<const D: usize>(&self, spec: impl Spec<D>, kernel: &impl Launch<D>) -> Result<()> {
        self.prepare_with(LaunchOptions::default(), spec, kernel)
    }

    /// [`Queue::prepare`], with the options that the launch will have.
    ///
    /// # Errors
    /// As for [`Queue::prepare`].
    pub fn prepare_with<const D: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: &impl Launch<D>,
    ) -> Result<()> {
        let shape = spec.shape()?;
        self.usable()?;
        self.has_domains(&options)?;
        has_shared_len(kernel.info(), known(kernel)?.sized_at_launch, &options)?;
        self.not_in_its_task()?;
        self.backend.prepare(&LaunchRequest { kernel, host_part: None, shape, options })
    }

    #[track_caller]
    fn launch_checked(&self, request: LaunchRequest<'_>) -> Result<()> {
        let site = Site::caller();
        self.usable()?;
        self.has_domains(&request.options)?;
        let (_turn, number) = self.turn()?;
        let stamp = Stamp { clock: &self.clock, number };
        let recorded =
            self.record_kernel(&stamp, &request, request.kernel, site).and_then(|()| match request.host_part {
                Some(kernel) => {
                    self.check_host_part(kernel).and_then(|()| self.record_kernel(&stamp, &request, kernel, site))
                }
                None => Ok(()),
            });
        if let Err(error) = recorded {
            self.forget(&stamp, &request);
            return Err(error);
        }
        // SAFETY: the uses have just been recorded.
        let launched = unsafe { self.backend.launch(&request) };
        self.done(number);
        launched
    }

    /// Refuses a map to domains that the device does not have. One that has no domains takes all names for its only one.
    fn has_domains(&self, options: &LaunchOptions) -> Result<()> {
        let (map, there) = (options.domain_map, self.device.properties().sync_domains);
        let domain = map.default.max(map.remote);
        if there <= 1 || u32::from(domain) < there {
            return Ok(());
        }
        let what = format!("launch with a map to memory synchronization domain {domain}: it has {there}, from 0");
        let instead = format!("let `LaunchOptions::sync_domain_map` name domains below {there}");
        Err(Error::capability(self.device.name(), what, instead).limited(domain + 1, there))
    }

    /// Records the uses of the buffers that the kernel's arguments name.
    fn record_kernel(
        &self,
        stamp: &Stamp<'_>,
        request: &LaunchRequest<'_>,
        kernel: &dyn Kernel,
        site: Site,
    ) -> Result<()> {
        let info = kernel.info();
        let domain = request.options.domain_map.domain(request.options.domain);
        let known = known(kernel)?;
        has_shared_len(info, known.sized_at_launch, &request.options)?;
        let mut number = 0;
        let mut names = info.parameters.iter();
        kernel.arguments(&mut |argument| {
            let parameter = names.next().copied();
            let below_system = known.below_system.contains(number);
            number += 1;
            match argument {
                Argument::Scalar(_) => Ok(()),
                Argument::View(view) => {
                    let user = User { what: info.name, parameter, site };
                    let sharing = Sharing { access: view.access, domain, below_system };
                    self.record_use(stamp, view.buffer, view.region, sharing, user)
                }
            }
        })
    }

    fn check_host_part(&self, kernel: &dyn Kernel) -> Result<()> {
        let parameters = kernel.info().parameters;
        let mut names = parameters.iter();
        kernel.arguments(&mut |argument| {
            let name = names.next().copied().unwrap_or_default();
            match argument {
                Argument::View(view) if view.buffer.kind == MemoryKind::Device && view.buffer.host.is_none() => {
                    let what = format!("let a host part use `{name}`, which is the device's own memory");
                    let instead = "allocate it with `alloc_host_mapped` or `alloc_unified`";
                    Err(Error::capability(self.device.name(), what, instead))
                }
                _ => Ok(()),
            }
        })
    }

    #[cold]
    fn forget(&self, stamp: &Stamp<'_>, request: &LaunchRequest<'_>) {
        for kernel in [Some(request.kernel), request.host_part].into_iter().flatten() {
            // Visiting cannot fail where the visitor does not.
            let _ = kernel.arguments(&mut |argument| {
                if let Argument::View(view) = argument {
                    view.buffer.uses.forget(stamp);
                }
                Ok(())
            });
        }
    }

    #[inline]
    fn record_use(
        &self,
        stamp: &Stamp<'_>,
        buffer: &Arc<RawBuffer>,
        region: Region,
        sharing: impl Into<Sharing>,
        user: User,
    ) -> Result<()> {
        if buffer.device != self.device {
            return Err(self.wrong_device(buffer, user));
        }
        buffer.uses.record(stamp, region, sharing, user)
    }

    #[cold]
    fn wrong_device(&self, buffer: &RawBuffer, user: User) -> Error {
        let what = match user.parameter {
            Some(parameter) => format!("parameter `{parameter}` of `{}`", user.what),
            None => user.what.to_owned(),
        };
        let (owner, device) = (buffer.device.name().to_owned(), self.device.name().to_owned());
        ErrorKind::WrongDevice { what, site: user.site, owner, device }.into()
    }

    /// Refuses to go on within a host task of this queue's.
    #[inline]
    fn not_in_its_task(&self) -> Result<()> {
        if TASK_OF.get() == Arc::as_ptr(&self.clock).addr() { Err(used_by_its_task()) } else { Ok(()) }
    }

    /// The next operation's number, and the turn to hand it over.
    #[inline]
    fn turn(&self) -> Result<(MutexGuard<'_, ()>, u64)> {
        self.not_in_its_task()?;
        let turn = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((turn, self.clock.tick()))
    }

    /// Refuses to go on after an error that nobody has taken.
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

    /// The operation has been handed over; on a blocking queue it is done, and the host has waited for it.
    #[inline]
    fn done(&self, number: u64) {
        if self.blocking {
            // Still in the operation's turn.
            self.clock.host_waited(number, &self.clock.known());
        }
    }

    fn submit(&self, number: u64, operation: Operation) -> Result<()> {
        let submitted = self.backend.submit(operation);
        self.done(number);
        submitted
    }

    /// Copies between buffers, also of two devices: `queue.copy(&mut to, &from)`.
    ///
    /// # Errors
    /// The extents differ; neither buffer is of the queue's device; a use that conflicts.
    #[track_caller]
    pub fn copy<T: Element, const D: usize>(&self, to: impl Destination<T, D>, from: impl Source<T, D>) -> Result<()> {
        let site = Site::caller();
        let (to, from) = (to.part(), from.part());
        if to.region.extent() != from.region.extent() {
            return Err(copy_shape(site, from.extent_text(), to.extent_text()));
        }
        self.usable()?;
        if from.raw.device != self.device && to.raw.device != self.device {
            return Err(self.wrong_device(&to.raw, User { what: "a copy", parameter: None, site }));
        }
        let (_turn, number) = self.turn()?;
        let stamp = Stamp { clock: &self.clock, number };
        let user = |what| User { what, parameter: None, site };
        from.raw.uses.record(&stamp, from.region, Access::Read, user("a copy (source)"))?;
        if let Err(error) = to.raw.uses.record(&stamp, to.region, Access::PerItem, user("a copy (destination)")) {
            from.raw.uses.forget(&stamp);
            return Err(error);
        }
        let end = |part: Part<T, D>| TransferEnd::Buffer(part.raw, Runs(part.region));
        self.submit(number, Operation::Copy(Transfer { from: end(from), to: end(to) }))
    }

    /// Copies values to a buffer, in row-major order.
    ///
    /// # Errors
    /// The lengths differ; the buffer is of another device; a use that conflicts.
    #[track_caller]
    pub fn copy_from_host<T: Element, const D: usize>(&self, to: impl Destination<T, D>, values: &[T]) -> Result<()> {
        let site = Site::caller();
        let part = to.part();
        if elements(&part) != values.len() {
            return Err(copy_shape(site, values.len().to_string(), part.extent_text()));
        }
        let user = User { what: "a copy from the host", parameter: None, site };
        if !self.blocking {
            return self.write_part(part, TransferEnd::Bytes(memory::copied(bytes(values))?), user);
        }
        let bytes = std::ptr::from_ref(bytes(values)).cast_mut();
        // SAFETY: a blocking queue is done with the copy when this returns, and it only reads.
        match unsafe { HostBytes::lend(bytes) } {
            Some(lent) => self.write_part(part, TransferEnd::Host(lent), user),
            None => Ok(()),
        }
    }

    /// Sets every element to `value`.
    ///
    /// # Errors
    /// The buffer is of another device; a use that conflicts.
    #[track_caller]
    pub fn fill<T: Element, const D: usize>(&self, to: impl Destination<T, D>, value: T) -> Result<()> {
        let user = User { what: "a fill", parameter: None, site: Site::caller() };
        self.write_part(to.part(), TransferEnd::Fill(bytes(&[value]).to_vec()), user)
    }

    fn write_part<T: Element, const D: usize>(&self, part: Part<T, D>, from: TransferEnd, user: User) -> Result<()> {
        self.usable()?;
        let (_turn, number) = self.turn()?;
        let stamp = Stamp { clock: &self.clock, number };
        self.record_use(&stamp, &part.raw, part.region, Access::PerItem, user)?;
        let to = TransferEnd::Buffer(part.raw, Runs(part.region));
        self.submit(number, Operation::Copy(Transfer { from, to }))
    }

    /// Copies a buffer to the host, in row-major order, once the queue's work so far is done.
    ///
    /// # Errors
    /// The lengths differ; the buffer is of another device; a use that conflicts; those of the queue's work so far.
    #[track_caller]
    pub fn copy_to_host<T: Element, const D: usize>(&self, to: &mut [T], from: impl Source<T, D>) -> Result<()> {
        let site = Site::caller();
        let part = from.part();
        if elements(&part) != to.len() {
            return Err(copy_shape(site, part.extent_text(), to.len().to_string()));
        }
        let (turn, number) = self.turn()?;
        let stamp = Stamp { clock: &self.clock, number };
        let user = User { what: "a copy to the host", parameter: None, site };
        self.record_use(&stamp, &part.raw, part.region, Access::Read, user)?;
        // SAFETY: `wait` returns when the queue has done the copy, or will never do it.
        let Some(lent) = (unsafe { HostBytes::lend(bytes_mut(to)) }) else { return Ok(()) };
        let done = lent.done();
        let from = TransferEnd::Buffer(part.raw, Runs(part.region));
        // The copy is one of the queue's operations, so that it overlaps with none that another thread enqueues.
        let submitted = self.backend.submit(Operation::Copy(Transfer { from, to: TransferEnd::Host(lent) }));
        let known = self.clock.known();
        drop(turn);
        let waited = self.backend.wait();
        self.clock.host_waited(number, &known);
        submitted.and(waited)?;
        if done.load(Ordering::Acquire) {
            return Ok(());
        }
        let message = "an error stopped the queue before it, and another thread has taken that error".to_owned();
        Err(ErrorKind::System { what: "a copy to the host was not done".to_owned(), message }.into())
    }

    /// Runs a function of the host's when the queue comes to it. It must not use this queue, which waits for it; it can
    /// use others.
    ///
    /// # Errors
    /// On a blocking queue, what the function returns, and its panic.
    pub fn host_task(&self, task: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        self.usable()?;
        let (_turn, number) = self.turn()?;
        // The clock is not the task's own: a number tells which queue it is of.
        let queue = Arc::as_ptr(&self.clock).addr();
        let task = move || {
            let _within = Within::enter(queue);
            task()
        };
        self.submit(number, Operation::Task(Box::new(task)))
    }

    /// A point after all that has been enqueued here.
    ///
    /// # Errors
    /// The queue stopped at an earlier error.
    pub fn record(&self) -> Result<Event> {
        self.usable()?;
        let state = Arc::new(EventState::default());
        let (_turn, number) = self.turn()?;
        let moment = self.clock.moment();
        self.submit(number, Operation::Record(state.clone()))?;
        Ok(Event { state, moment, queue: self.backend.clone() })
    }

    /// What is enqueued here from now on waits for `event`, and is ordered after it.
    ///
    /// # Errors
    /// The queue stopped at an earlier error.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.usable()?;
        let (_turn, number) = self.turn()?;
        self.clock.after(&event.moment);
        self.submit(number, Operation::WaitFor(event.clone()))
    }

    /// Waits until all is done. What comes later on the host is ordered after it.
    ///
    /// # Errors
    /// The first error of what was enqueued since the last wait; the queue can be used again.
    pub fn wait(&self) -> Result<()> {
        let (turn, number) = self.turn()?;
        // All operations with lesser numbers have been handed over.
        let known = self.clock.known();
        drop(turn);
        let waited = self.backend.wait();
        self.clock.host_waited(number, &known);
        waited
    }
}

thread_local! {
    /// The queue whose host task this thread is in, by the address of its clock; 0 for none.
    static TASK_OF: Cell<usize> = const { Cell::new(0) };
}

/// A thread in a host task.
struct Within {
    outer: usize,
}

impl Within {
    fn enter(queue: usize) -> Within {
        Within { outer: TASK_OF.replace(queue) }
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        TASK_OF.set(self.outer);
    }
}

#[cold]
fn used_by_its_task() -> Error {
    let message =
        "the queue waits for the task, and would wait for ever; enqueue what follows after the task".to_owned();
    ErrorKind::System { what: "a host task used its own queue".to_owned(), message }.into()
}

fn elements<T, const D: usize>(part: &Part<T, D>) -> usize {
    part.region.extent().iter().map(|&extent| extent as usize).product()
}

#[cold]
fn copy_shape(site: Site, source_extent: String, destination_extent: String) -> Error {
    ErrorKind::CopyShape { site, source_extent, destination_extent }.into()
}

fn bytes<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: elements are numbers without padding, so all their bytes are initialized.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_mut<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: elements are numbers without padding, and every bit pattern is a value, so any bytes may be written.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// Refuses a launch that does not say how long the kernel's shared array is.
fn has_shared_len(
    info: &KernelInfo,
    sized_at_launch: Option<(&'static str, Site)>,
    options: &LaunchOptions,
) -> Result<()> {
    match sized_at_launch {
        Some((array, site)) if options.get_shared_len() == 0 => {
            Err(ErrorKind::SharedLen { kernel: info.name.to_owned(), array: array.to_owned(), site }.into())
        }
        _ => Ok(()),
    }
}

/// The one-thread shape of a host part.
pub fn host_part_shape() -> Shape {
    ThreadSpec::<1>::new(1, 1).shape().unwrap_or(Shape {
        kind: ShapeKind::Threads,
        rank: 1,
        outer: [1; 4],
        inner: [1; 4],
    })
}
