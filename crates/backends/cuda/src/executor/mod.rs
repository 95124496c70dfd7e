//! Executes a queue's operations, on the calling thread.
//!
//! Launches are submitted without waiting for earlier ones, a few hundred at most; the stream keeps their order. A
//! launch that succeeds is one call to the driver. The end of launches is seen from the stream, when nothing is behind
//! them, or from an event that is recorded now and then. After a launch that failed, the launches submitted behind it
//! do nothing, since the queue's gate is shut; it is opened again when they have ended.
//!
//! Fills, and copies within the device, are submitted to the stream too, where no launch is in flight that could fail.
//! All other operations wait for what is in flight.

mod in_flight;
mod operations;
mod ordered;
mod submit;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use wattle_core::queue::FirstError;
use wattle_core::{Error, KernelIdentity, LaunchOptions, Result, Shape, lock};

use crate::context::Context;
use crate::driver::{self, Refusal};
use crate::exit;
use crate::modules::Built;
use crate::shape::Plan;
use crate::slots::Slot;
use crate::watchdog::Watched;

use in_flight::{InFlight, Mark, Marked, Standing, Watch, grace};

/// How long one look at the stream lasts at most, so that operations enqueued meanwhile are not delayed.
const LOOK: Duration = Duration::from_micros(200);

/// The device's own record of an event, by which other queues of the device wait for it.
struct Point {
    context: Arc<Context>,
    event: Arc<driver::Event>,
}

/// How a launch is executed, kept for the next launch of the same kernel, shape and options.
struct Planned {
    of: (KernelIdentity, Shape, LaunchOptions),
    built: Arc<Built>,
    plan: Plan,
}

/// Executes a queue's operations.
pub(crate) struct CudaExecutor {
    context: Arc<Context>,
    slot: Slot,
    in_flight: VecDeque<InFlight>,
    marks: VecDeque<Mark>,
    watch: Watch,
    watched: Arc<Watched>,
    /// The time limit of the last launch; the outer `None` before the first one.
    limited: Option<Option<Duration>>,
    grace: Duration,
    plans: Vec<Planned>,
    /// The bytes of the last launch's arguments; the allocation is used again for the next launch.
    arguments: Vec<u8>,
    /// Operations that were given up, and may still run. Nothing else runs until they have ended.
    abandoned: Vec<InFlight>,
    /// How many operations have been submitted since the queue was made, and how many when the last event was recorded.
    submitted: u64,
    marked: u64,
    /// The number of the last launch.
    number: u32,
    /// Events that are not in use: those that record the time, and plain ones.
    timed: Vec<Arc<driver::Event>>,
    plain: Vec<Arc<driver::Event>>,
    error: FirstError,
}

impl CudaExecutor {
    pub(crate) fn new(context: &Arc<Context>) -> Result<CudaExecutor> {
        context.usable()?;
        context.enter()?;
        let slot = lock(&context.slots).take(&mut lock(&context.helper));
        let Some(slot) = context.check("making a queue", slot)? else {
            return Err(wattle_core::system("making a queue", "the device does not come to clearing its memory"));
        };
        let watched = Watched::new(slot.words);
        Ok(CudaExecutor {
            context: context.clone(),
            slot,
            watched,
            limited: None,
            in_flight: VecDeque::new(),
            marks: VecDeque::new(),
            watch: Watch::default(),
            grace: grace(),
            plans: Vec::new(),
            arguments: Vec::new(),
            abandoned: Vec::new(),
            submitted: 0,
            marked: 0,
            number: 0,
            timed: Vec::new(),
            plain: Vec::new(),
            error: FirstError::default(),
        })
    }

    /// Waits at most `patience` until the operations submitted first have ended, and handles their end.
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

    /// Completes the operations before the first mark, which have ended without an error.
    fn land(&mut self) {
        let mark = self.marks.pop_front();
        let behind = mark.as_ref().map_or(self.submitted, |mark| mark.behind);
        let first = self.submitted - self.in_flight.len() as u64;
        let ended = behind.saturating_sub(first) as usize;
        if ended > 0 {
            self.watch = Watch::default();
            self.context.in_flight.fetch_sub(ended as u64, Ordering::AcqRel);
            if let Some(number) = self.in_flight.range(..ended).rev().find_map(InFlight::number) {
                self.watched.end(number);
            }
            self.in_flight.drain(..ended).for_each(drop);
            self.context.free_deferred();
        }
        if let Some(mark) = mark {
            self.reach(mark);
        }
    }

    /// Reports the event of a mark as reached, at its time by the device's clock.
    fn reach(&mut self, mark: Mark) {
        let Marked::Record(record) = mark.what else { return self.plain.push(mark.event) };
        match self.context.clock.time(&mark.event) {
            Some(time) => record.reach_at(time),
            None => record.reach(),
        }
        drop(record);
        // The clock may hold the event, and so may a queue that waits for it.
        if Arc::strong_count(&mark.event) == 1 {
            self.timed.push(mark.event);
        }
    }

    /// Handles a failed launch: keeps its error, and waits for the launches behind it, which do nothing.
    fn fail(&mut self) {
        let mut passed = Vec::new();
        while let Some(mark) = self.marks.pop_front() {
            passed.push(mark);
        }
        loop {
            // Without marks the stream's end is waited for. Launches may still be requested to end.
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
        // All operations in flight have ended.
        while !self.in_flight.is_empty() || !self.marks.is_empty() {
            self.land();
        }
        self.watch = Watch::default();
    }

    /// Resets the control block and the alarm to those of a queue that has done nothing; nothing is in flight.
    fn clear_slot(&mut self) -> Result<()> {
        self.slot.words.calm();
        let cleared = lock(&self.context.helper).clear(self.slot.control);
        match self.context.check("clearing what launches reported", cleared)? {
            true => Ok(()),
            false => Err(wattle_core::system("clearing what launches reported", "the device does not come to it")),
        }
    }

    /// The error of a device that is lost, due to one of the launches in flight as far as is known.
    fn lost(&mut self, refusal: Refusal) -> Error {
        let names: Vec<_> =
            self.in_flight.iter().filter_map(InFlight::launch).map(|launched| launched.name()).collect();
        // An error that is not in the lists may come from anything that was in flight.
        let error = if self.context.is_lost() || refusal.ends_context() && !refusal.is_of_a_kernel() {
            self.context.ended_by(&[], refusal)
        } else {
            self.context.ended_by(&names, refusal)
        };
        let ended = self.in_flight.len() as u64;
        self.in_flight.clear();
        self.watched.end(self.number);
        self.context.in_flight.fetch_sub(ended, Ordering::AcqRel);
        // The error is kept before a waiter sees that an event was reached.
        self.error.keep(Err(error.clone()));
        self.land_all();
        error
    }

    /// Stops waiting for the operations in flight, which the device may still execute.
    fn give_up(&mut self, error: Error) {
        self.error.keep(Err(error));
        self.context.give_up(&self.slot.stream, self.name_of_stopped());
        self.abandoned.extend(self.in_flight.drain(..));
        self.watched.end(self.number);
        self.land_all();
        self.watch = Watch::default();
    }

    /// Reports all recorded events as reached, since nothing waits for them on the device any more.
    fn land_all(&mut self) {
        for mark in self.marks.drain(..) {
            if let Marked::Record(record) = &mark.what {
                record.reach();
            }
            // The device may still use the event.
            std::mem::forget(mark.event);
        }
    }

    /// Waits until no operation is in flight.
    fn finish(&mut self) {
        while self.count() > 0 {
            self.settle(Duration::MAX);
        }
    }

    /// How many operations are in flight.
    fn count(&self) -> usize {
        self.in_flight.len() + self.marks.iter().filter(|mark| !matches!(mark.what, Marked::Launches)).count()
    }

    /// Calls `work`, which calls the driver, on behalf of the queue. At the end of the process it does not return.
    fn within<T>(&mut self, work: impl FnOnce(&mut CudaExecutor) -> T) -> T {
        exit::enter(&self.watched.inside);
        let done = work(self);
        exit::leave(&self.watched.inside);
        done
    }

    /// Fails while the device cannot be used; otherwise releases what was given up and has ended after all.
    fn recover(&mut self) -> Result<()> {
        self.context.usable()?;
        if !self.abandoned.is_empty() {
            // The device can be used, so all operations that were given up have ended.
            self.context.enter()?;
            self.clear_slot()?;
            self.context.in_flight.fetch_sub(self.abandoned.len() as u64, Ordering::AcqRel);
            self.abandoned.clear();
            self.context.free_deferred();
        }
        Ok(())
    }
}
