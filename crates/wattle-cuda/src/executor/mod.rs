//! Does a queue's operations, on the thread that calls.
//!
//! Launches are submitted without waiting for those before them, [`MOST`] at the most; the stream keeps their order. A
//! launch that goes well is one call of the driver's. What tells that launches have ended is the stream itself, when
//! nothing is behind them, or an event, now and then. All else waits for what is in flight. After a launch that failed,
//! those that were submitted behind it do nothing, since the queue's gate is shut; it is opened again when they are
//! through.

mod flight;
mod operations;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use wattle_core::{
    Error, ErrorKind, Kernel, KernelIdentity, LaunchOptions, Result, Shape, SyncDomain, SyncDomainMap, interrupt,
};
use wattle_gpu::{Executor, FirstError, lock};

use crate::arguments::{Arguments, Setting};
use crate::context::Context;
use crate::driver::{self, Extras, Launch, Refusal, Stream};
use crate::modules::Built;
use crate::shape::Plan;
use crate::slots::Slot;

use flight::{Launched, Mark, Marked, Standing, Watch, grace};

/// How many launches are in flight at the most: the driver waits by itself where it has no more room, and then nobody
/// could tell the first to end.
const MOST: usize = 256;

/// After how many launches an event tells how far they are.
const MARK_EVERY: u64 = 32;

/// The numbers of launches begin anew from here on, when nothing is in flight.
const LAST_NUMBER: u32 = u32::MAX / 2;

/// How long one look lasts at the most, so that what is enqueued meanwhile is not kept waiting.
const LOOK: Duration = Duration::from_micros(200);

/// What an event is known by on its device.
struct Point {
    context: Arc<Context>,
    event: Arc<driver::Event>,
}

/// How many plans are kept.
const PLANS: usize = 8;

/// How a launch is done, for the next one that is alike.
struct Planned {
    of: (KernelIdentity, Shape, LaunchOptions),
    built: Arc<Built>,
    plan: Plan,
}

/// Does a queue's operations.
pub(crate) struct CudaExecutor {
    context: Arc<Context>,
    stream: Arc<Stream>,
    slot: Slot,
    flights: VecDeque<Launched>,
    marks: VecDeque<Mark>,
    watch: Watch,
    grace: Duration,
    plans: Vec<Planned>,
    arguments: Arguments,
    /// What was given up, and may still run. Nothing else does until it has ended.
    abandoned: Vec<Launched>,
    /// How many launches were submitted, ever, and how many when the last event was recorded.
    submitted: u64,
    marked: u64,
    /// The number of the last launch.
    number: u32,
    /// Events that nobody uses: such that keep the time, and others.
    timed: Vec<Arc<driver::Event>>,
    plain: Vec<Arc<driver::Event>>,
    error: FirstError,
}

impl CudaExecutor {
    pub(crate) fn new(context: &Arc<Context>) -> Result<CudaExecutor> {
        context.usable()?;
        context.enter()?;
        let stream = context.check("making a stream", Stream::new())?;
        let slot = lock(&context.slots).take();
        let slot = context.check("making a queue", slot)?;
        Ok(CudaExecutor {
            context: context.clone(),
            stream: Arc::new(stream),
            slot,
            flights: VecDeque::with_capacity(MOST),
            marks: VecDeque::new(),
            watch: Watch::default(),
            grace: grace(),
            plans: Vec::with_capacity(PLANS),
            arguments: Arguments::default(),
            abandoned: Vec::new(),
            submitted: 0,
            marked: 0,
            number: 0,
            timed: Vec::new(),
            plain: Vec::new(),
            error: FirstError::default(),
        })
    }

    fn submit(&mut self, kernel: Arc<dyn Kernel>, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.recover()?;
        if interrupt::requested() {
            let kernel = kernel.info().name.to_owned();
            return Err(ErrorKind::Interrupted { kernel, lines: Vec::new() }.into());
        }
        let context = self.context.clone();
        context.stay()?;
        let shared_len = options.shared_elements();
        let (built, plan) = self.plan(&*kernel, shape, options)?;
        while self.flights.len() >= MOST {
            self.settle(Duration::MAX);
        }
        if self.has_failed() {
            return Ok(());
        }
        let number = self.next_number()?;
        let setting = Setting { slot: &self.slot, number, grid: &plan.grid, shared_len };
        self.arguments.take(&context, &plan.code.layout, &*kernel, &setting)?;
        let launch = Launch {
            function: plan.code.function,
            blocks: plan.blocks,
            threads: plan.threads,
            shared_bytes: plan.shared_bytes,
            arguments: &self.arguments.bytes,
            extras: extras(options, context.physical.properties.sync_domains),
        };
        let launching = context.launching.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the arguments are laid out as the code's layout says; the launch owns its buffers until it has ended.
        let mut submitted = unsafe { launch.submit(&self.stream) };
        if submitted.is_err_and(Refusal::is_wrong_context) {
            context.enter()?;
            // SAFETY: as above.
            submitted = unsafe { launch.submit(&self.stream) };
        }
        if submitted.is_ok() {
            context.in_flight.fetch_add(1, Ordering::AcqRel);
        }
        drop(launching);
        if let Err(refusal) = submitted {
            if refusal.ends_context() {
                return Err(self.lost(refusal));
            }
            return context.check(&format!("launching kernel `{}`", kernel.info().name), Err(refusal));
        }
        self.number = number;
        self.submitted += 1;
        let (limit, code, grid) = (options.limit(), plan.code, plan.grid);
        self.flights.push_back(Launched { kernel, built, code, grid, number, limit, shared_len });
        if Context::is_synchronous() {
            self.drain();
        } else if self.submitted - self.marked >= MARK_EVERY {
            self.mark();
        }
        Ok(())
    }

    /// What was built for a launch, and how it is launched. The plans of the last few launches are kept, so that a launch
    /// in a loop is not planned again.
    fn plan(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<(Arc<Built>, Plan)> {
        let wanted = (kernel.identity(), *shape, *options);
        if let Some(at) = self.plans.iter().position(|planned| planned.of == wanted) {
            if at > 0 {
                self.plans[..=at].rotate_right(1);
            }
            let planned = &self.plans[0];
            return Ok((planned.built.clone(), planned.plan.clone()));
        }
        let built = self.context.built(kernel, options.shared_elements())?;
        let plan = self.context.plan(&built, shape, options)?;
        self.plans.truncate(PLANS - 1);
        self.plans.insert(0, Planned { of: wanted, built: built.clone(), plan: plan.clone() });
        Ok((built, plan))
    }

    /// The next launch's number.
    fn next_number(&mut self) -> Result<u32> {
        if self.number >= LAST_NUMBER {
            self.drain();
            self.clear_slot()?;
            self.number = 0;
        }
        Ok(self.number + 1)
    }

    /// An event behind what was submitted, to tell how far it is. Without one the stream's end tells it.
    fn mark(&mut self) {
        self.marked = self.submitted;
        let event = match self.plain.pop() {
            Some(event) => event,
            None => match self.context.event(false) {
                Ok(event) => Arc::new(event),
                Err(_) => return,
            },
        };
        if event.record(&self.stream).is_ok() {
            self.marks.push_back(Mark { event, behind: self.submitted, what: Marked::Launches });
        }
    }

    /// Waits until what was submitted first has ended, but no longer than `patience`, and does what is to be done then.
    fn settle(&mut self, patience: Duration) {
        match self.watch(patience) {
            Standing::Running => {}
            Standing::Ended if self.is_failing() => self.fail(),
            Standing::Ended => self.land(),
            Standing::Hung(error) => self.give_up(error),
            Standing::Lost(refusal) => {
                let error = self.lost(refusal);
                self.error.keep(Err(error));
            }
        }
    }

    /// What is before the first mark has ended well.
    fn land(&mut self) {
        let mark = self.marks.pop_front();
        let behind = mark.as_ref().map_or(self.submitted, |mark| mark.behind);
        let first = self.submitted - self.flights.len() as u64;
        let ended = behind.saturating_sub(first) as usize;
        if ended > 0 {
            self.watch = Watch::default();
            self.context.in_flight.fetch_sub(ended as u64, Ordering::AcqRel);
            self.flights.drain(..ended).for_each(drop);
            self.context.clear_graves();
        }
        if let Some(mark) = mark {
            self.reach(mark);
        }
    }

    /// The point is reached, by the device's clock.
    fn reach(&mut self, mark: Mark) {
        let Marked::Record(record) = mark.what else { return self.plain.push(mark.event) };
        match self.context.clock.time(&mark.event) {
            Some(time) => record.reach_at(time),
            None => record.reach(),
        }
        drop(record);
        // The clock may have it, and who waits for it.
        if Arc::strong_count(&mark.event) == 1 {
            self.timed.push(mark.event);
        }
    }

    /// A launch has failed. What is in flight behind it does nothing, and is waited for.
    fn fail(&mut self) {
        let mut passed = Vec::new();
        while let Some(mark) = self.marks.pop_front() {
            passed.push(mark);
        }
        loop {
            // Without marks the stream's end is waited for. Its launches may still be told to end.
            match self.watch(Duration::MAX) {
                Standing::Running => {}
                Standing::Ended => break,
                Standing::Hung(error) => {
                    self.marks.extend(passed);
                    return self.give_up(error);
                }
                Standing::Lost(refusal) => {
                    self.marks.extend(passed);
                    let error = self.lost(refusal);
                    return self.error.keep(Err(error));
                }
            }
        }
        let error = self.failure();
        self.error.keep(Err(error));
        let cleared = self.clear_slot();
        self.error.keep(cleared);
        self.marks.extend(passed);
        // All of it has ended.
        while !self.flights.is_empty() || !self.marks.is_empty() {
            self.land();
        }
        self.watch = Watch::default();
    }

    /// Makes the control block and the alarm as for a queue that has done nothing; nothing is in flight.
    fn clear_slot(&mut self) -> Result<()> {
        self.slot.calm();
        let cleared = lock(&self.context.helper).clear(self.slot.control);
        match self.context.check("clearing what launches told", cleared)? {
            true => Ok(()),
            false => Err(wattle_gpu::system("clearing what launches told", "the device does not come to it")),
        }
    }

    /// The device is lost, by one of the launches in flight as far as is known.
    fn lost(&mut self, refusal: Refusal) -> Error {
        let names: Vec<_> = self.flights.iter().map(|flight| flight.kernel.info().name).collect();
        let error = if self.context.is_lost() || !refusal.is_of_a_kernel() {
            self.context.ended_by(&[], refusal)
        } else {
            self.context.ended_by(&names, refusal)
        };
        let ended = self.flights.len() as u64;
        self.flights.clear();
        self.context.in_flight.fetch_sub(ended, Ordering::AcqRel);
        // Kept before anybody is told that a point was reached.
        self.error.keep(Err(error.clone()));
        self.land_all();
        error
    }

    /// Nothing that is in flight is waited for any more. The device may go on with it.
    fn give_up(&mut self, error: Error) {
        self.error.keep(Err(error));
        self.context.give_up(&self.stream, self.name_of_told());
        self.abandoned.extend(self.flights.drain(..));
        self.land_all();
        self.watch = Watch::default();
    }

    /// Nobody waits for a point any more.
    fn land_all(&mut self) {
        for mark in self.marks.drain(..) {
            if let Marked::Record(record) = &mark.what {
                record.reach();
            }
            // The device may still use the event.
            std::mem::forget(mark.event);
        }
    }

    /// Refuses to go on while the device cannot be used; takes back what was given up and has ended after all.
    fn recover(&mut self) -> Result<()> {
        self.context.usable()?;
        if !self.abandoned.is_empty() {
            // The device can be used, so all that was given up has ended.
            self.context.enter()?;
            self.clear_slot()?;
            self.context.in_flight.fetch_sub(self.abandoned.len() as u64, Ordering::AcqRel);
            self.abandoned.clear();
            self.context.clear_graves();
        }
        Ok(())
    }
}

/// What a launch asks for. A device with one memory synchronization domain has nothing to choose.
fn extras(options: &LaunchOptions, domains: u32) -> Extras {
    let (domain, map) = (options.domain(), options.domain_map());
    let has_domains = domains > 1;
    Extras {
        cooperative: options.is_cooperative(),
        remote: has_domains && domain == SyncDomain::Remote,
        map: (has_domains && map != SyncDomainMap::default()).then_some((map.default, map.remote)),
    }
}
