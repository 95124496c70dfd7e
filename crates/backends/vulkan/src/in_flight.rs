//! Launches in flight: how each ends, and what happens to those that do not end.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use wattle_core::{Error, EventState, Timestamp, interrupt};
use wattle_gpu::Reason;
use wattle_spirv::control;

use crate::executor::Executor;
use crate::pipeline::Compiled;

/// The duration of one wait between two checks of the device's progress.
const SLICE: Duration = Duration::from_millis(20);

/// How long a launch may take to end after it was asked to.
const GRACE: Duration = if cfg!(test) { Duration::from_millis(300) } else { wattle_gpu::GRACE };

/// A submission of a queue: a launch, or a timestamp alone.
pub(crate) struct InFlight {
    pub(crate) slot: usize,
    /// The value that the lane's timeline reaches when the submission is done.
    pub(crate) until: u64,
    /// The launch; `None` if the submission only records a timestamp.
    pub(crate) launch: Option<Launched>,
    /// When the launch became the first of its lane.
    pub(crate) began: Option<Instant>,
    /// The events recorded behind it.
    pub(crate) records: Vec<Arc<EventState>>,
    /// The number of the queue's operations that are done once it has ended.
    pub(crate) operations: u64,
}

impl InFlight {
    /// Marks the events behind it as reached, at the device's timestamp or now.
    pub(crate) fn land(&self, time: Option<Timestamp>) {
        for event in &self.records {
            match time {
                Some(time) => event.reach_at(time),
                None => event.reach(),
            }
        }
    }
}

/// A launch in flight, with its pipeline's kernel.
pub(crate) type Launched = wattle_gpu::Launched<Arc<Compiled>>;

/// The state of the first submission in flight.
pub(crate) enum Standing {
    Running,
    /// The submission has ended; if there is a reason, it was asked to.
    Ended(Option<Reason>),
    /// The submission was asked to end and does not.
    Hung(Error),
    /// The device is lost.
    Lost(Error),
}

impl Executor {
    /// Waits until the first submission in flight has ended or `patience` is over. A submission that is past its time
    /// limit, or interrupted, is asked to end.
    pub(crate) fn watch(&mut self, patience: Option<Duration>) -> Standing {
        let began = Instant::now();
        loop {
            let left = patience.map(|patience| patience.saturating_sub(began.elapsed()));
            match self.look(left) {
                Ok(Some(standing)) => return standing,
                Ok(None) if left.is_some_and(|left| left.is_zero()) => return Standing::Running,
                Ok(None) => {}
                Err(error) => return Standing::Lost(error),
            }
        }
    }

    /// Checks the first submission in flight, and waits briefly if it still runs.
    fn look(&mut self, patience: Option<Duration>) -> wattle_core::Result<Option<Standing>> {
        let Some(one) = self.in_flight.front_mut() else { return Ok(Some(Standing::Ended(None))) };
        let completed = self.context.completed(self.lane)?;
        if completed >= one.until {
            return Ok(Some(Standing::Ended(None)));
        }
        if one.began.is_none() && completed + 1 >= one.until {
            one.began = Some(Instant::now());
        }
        if one.began.is_none()
            && let Err(error) = self.context.usable()
        {
            // Another queue's launch still occupies the device, and this one would wait for it without a limit.
            return Ok(Some(Standing::Hung(error)));
        }
        let mut slice = patience.map_or(SLICE, |patience| patience.min(SLICE));
        if let Some(launch) = &one.launch {
            if interrupt::requested() {
                return self.stop(Reason::Interrupted).map(Some);
            }
            if let (Some(began), Some(limit)) = (one.began, launch.limit) {
                let left = limit.saturating_sub(began.elapsed());
                if left.is_zero() {
                    return self.stop(Reason::TimeLimit(limit)).map(Some);
                }
                slice = slice.min(left);
            }
        }
        let ended = self.context.wait(self.lane, one.until, slice)?;
        Ok(ended.then_some(Standing::Ended(None)))
    }

    /// Asks the first submission in flight to end, and waits for that. What was enqueued behind it does nothing.
    fn stop(&mut self, reason: Reason) -> wattle_core::Result<Standing> {
        let Some(one) = self.in_flight.front_mut() else { return Ok(Standing::Ended(None)) };
        let (slot, until) = (one.slot, one.until);
        let name = one.launch.as_ref().map_or("", |launch| launch.name()).to_owned();
        if let Some(launch) = &one.launch {
            // If the gate is shut already, a fault of this launch shut it, with the same number.
            self.slots.gate().store(launch.number, Ordering::Relaxed);
        }
        self.slots.word(slot, control::STOP).store(1, Ordering::Release);
        // In memory of the device, a processor may hold back combined writes until this fence.
        fence(Ordering::SeqCst);
        let (mut began, told) = (one.began, Instant::now());
        while !self.context.wait(self.lane, until, SLICE)? {
            if began.is_none() && self.context.completed(self.lane)? + 1 >= until {
                began = Some(Instant::now());
            }
            if began.is_some_and(|began| began.elapsed().min(told.elapsed()) > GRACE) {
                return Ok(Standing::Hung(reason.error(&name, Vec::new())));
            }
            if began.is_none()
                && let Err(error) = self.context.usable()
            {
                return Ok(Standing::Hung(error));
            }
        }
        Ok(Standing::Ended(Some(reason)))
    }

    /// Waits for the first submission in flight, which does nothing, since the gate is shut.
    pub(crate) fn watch_skipped(&mut self) -> Standing {
        let Some(one) = self.in_flight.front() else { return Standing::Ended(None) };
        let until = one.until;
        loop {
            match self.context.wait(self.lane, until, SLICE) {
                Ok(true) => return Standing::Ended(None),
                Ok(false) => {}
                Err(error) => return Standing::Lost(error),
            }
        }
    }
}
