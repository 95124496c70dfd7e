//! Does a queue's operations, on the thread that calls.
//!
//! Launches are submitted without waiting for those before them, a few hundred at the most; the stream keeps their
//! order. A launch that goes well is one call of the driver's. What tells that launches have ended is the stream itself,
//! when nothing is behind them, or an event, now and then. After a launch that failed, those that were submitted behind
//! it do nothing, since the queue's gate is shut; it is opened again when they are through.
//!
//! Fills, and copies within the device, are given to the stream too, where no launch is in flight that could fail. All
//! else waits for what is in flight.

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

use crate::arguments::Arguments;
use crate::context::Context;
use crate::driver::{self, Refusal};
use crate::exit;
use crate::modules::Built;
use crate::shape::Plan;
use crate::slots::Slot;
use crate::watchdog::Watched;

use in_flight::{InFlight, Mark, Marked, Standing, Watch, grace};

/// How long one look lasts at the most, so that what is enqueued meanwhile is not kept waiting.
const LOOK: Duration = Duration::from_micros(200);

/// What an event is known by on its device.
struct Point {
    context: Arc<Context>,
    event: Arc<driver::Event>,
}

/// How a launch is done, for the next one that is alike.
struct Planned {
    of: (KernelIdentity, Shape, LaunchOptions),
    built: Arc<Built>,
    plan: Plan,
}

/// Does a queue's operations.
pub(crate) struct CudaExecutor {
    context: Arc<Context>,
    slot: Slot,
    in_flight: VecDeque<InFlight>,
    marks: VecDeque<Mark>,
    watch: Watch,
    watched: Arc<Watched>,
    /// The limit of the last launch.
    limited: Option<Option<Duration>>,
    grace: Duration,
    plans: Vec<Planned>,
    arguments: Arguments,
    /// What was given up, and may still run. Nothing else does until it has ended.
    abandoned: Vec<InFlight>,
    /// How many operations were submitted, ever, and how many when the last event was recorded.
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
            // Without marks the stream's end is waited for. Launches may still be told to end.
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
        while !self.in_flight.is_empty() || !self.marks.is_empty() {
            self.land();
        }
        self.watch = Watch::default();
    }

    /// Makes the control block and the alarm as for a queue that has done nothing; nothing is in flight.
    fn clear_slot(&mut self) -> Result<()> {
        self.slot.words.calm();
        let cleared = lock(&self.context.helper).clear(self.slot.control);
        match self.context.check("clearing what launches told", cleared)? {
            true => Ok(()),
            false => Err(wattle_core::system("clearing what launches told", "the device does not come to it")),
        }
    }

    /// The device is lost, by one of the launches in flight as far as is known.
    fn lost(&mut self, refusal: Refusal) -> Error {
        let names: Vec<_> =
            self.in_flight.iter().filter_map(InFlight::launch).map(|launched| launched.name()).collect();
        // Errors that nobody knows may be of anything that was in flight.
        let error = if self.context.is_lost() || refusal.ends_context() && !refusal.is_of_a_kernel() {
            self.context.ended_by(&[], refusal)
        } else {
            self.context.ended_by(&names, refusal)
        };
        let ended = self.in_flight.len() as u64;
        self.in_flight.clear();
        self.watched.end(self.number);
        self.context.in_flight.fetch_sub(ended, Ordering::AcqRel);
        // Kept before anybody is told that a point was reached.
        self.error.keep(Err(error.clone()));
        self.land_all();
        error
    }

    /// Nothing that is in flight is waited for any more. The device may go on with it.
    fn give_up(&mut self, error: Error) {
        self.error.keep(Err(error));
        self.context.give_up(&self.slot.stream, self.name_of_told());
        self.abandoned.extend(self.in_flight.drain(..));
        self.watched.end(self.number);
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

    /// Waits until nothing is in flight.
    fn finish(&mut self) {
        while self.count() > 0 {
            self.settle(Duration::MAX);
        }
    }

    /// How many operations are in flight.
    fn count(&self) -> usize {
        self.in_flight.len() + self.marks.iter().filter(|mark| !matches!(mark.what, Marked::Launches)).count()
    }

    /// Does something that calls the driver, for the queue. At the end of the process it does not return.
    fn within<T>(&mut self, work: impl FnOnce(&mut CudaExecutor) -> T) -> T {
        exit::enter(&self.watched.inside);
        let done = work(self);
        exit::leave(&self.watched.inside);
        done
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
            self.context.free_deferred();
        }
        Ok(())
    }
}
