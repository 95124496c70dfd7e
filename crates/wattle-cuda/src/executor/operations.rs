//! What queues ask of an executor.

use std::sync::Arc;
use std::time::Duration;

use wattle_core::{Event, EventState, Kernel, LaunchOptions, Result, Shape, Transfer};
use wattle_gpu::{Executor, FirstError, lock};

use super::flight::{Mark, Marked};
use super::{CudaExecutor, LOOK, Point};
use crate::transfer::transfer;

// SAFETY: the stream keeps the order of launches, and all else waits for what is in flight. What is not in flight any
// more has ended, was skipped by the gate, or belongs to a device that is refused until it has ended.
unsafe impl Executor for CudaExecutor {
    fn errors(&self) -> &FirstError {
        &self.error
    }

    unsafe fn launch(&mut self, kernel: Arc<dyn Kernel>, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.submit(kernel, shape, options)
    }

    fn admit_host_part(
        &mut self,
        kernel: &dyn Kernel,
        _host_part: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<()> {
        self.recover()?;
        self.plan(kernel, shape, options).map(drop)
    }

    fn record(&mut self, event: Arc<EventState>) {
        if self.recover().and_then(|()| self.context.stay()).is_err() {
            return event.reach();
        }
        let timed = self.timed.pop().map_or_else(|| self.context.event(true).map(Arc::new), Ok);
        let recorded = timed.and_then(|timed| {
            self.context.check("recording an event", timed.record(&self.stream))?;
            Ok(timed)
        });
        match recorded {
            Ok(timed) => {
                event.mark(Arc::new(Point { context: self.context.clone(), event: timed.clone() }));
                self.marked = self.submitted;
                self.marks.push_back(Mark { event: timed, behind: self.submitted, what: Marked::Record(event) });
            }
            Err(error) => {
                self.drain();
                self.error.keep(Err(error));
                event.reach();
            }
        }
    }

    fn wait_for(&mut self, event: Event) {
        if event.mark().is_none() {
            // What comes before it may wait for what is in flight here.
            self.drain();
            event.wait_for_mark();
        }
        let point = event.mark().and_then(|mark| mark.downcast_ref::<Point>());
        let Some(point) = point.filter(|point| Arc::ptr_eq(&point.context, &self.context) && !event.is_reached())
        else {
            self.drain();
            return event.wait_as_device();
        };
        // The stream waits, and an event behind that tells when it has: the host may wait for this queue alone.
        let waits = self.recover().and_then(|()| self.context.stay()).and_then(|()| {
            self.context.check("waiting for an event", self.stream.wait_for(&point.event))?;
            let behind = self.plain.pop().map_or_else(|| self.context.event(false).map(Arc::new), Ok)?;
            self.context.check("recording an event", behind.record(&self.stream))?;
            Ok(behind)
        });
        match waits {
            Ok(behind) => {
                self.marked = self.submitted;
                self.marks.push_back(Mark { event: behind, behind: self.submitted, what: Marked::Wait });
            }
            Err(error) => {
                self.drain();
                self.error.keep(Err(error));
                event.wait_as_device();
            }
        }
    }

    fn copy(&mut self, copy: Transfer) {
        self.drain();
        if !self.has_failed() {
            let copied = self.recover().and_then(|()| transfer(copy));
            self.error.keep(copied);
        }
    }

    fn in_flight(&self) -> u64 {
        let operations = self.marks.iter().filter(|mark| !matches!(mark.what, Marked::Launches)).count();
        (self.flights.len() + operations) as u64
    }

    fn advance(&mut self, patience: Duration) {
        if self.in_flight() > 0 {
            self.settle(patience.min(LOOK));
        }
    }

    fn drain(&mut self) {
        while self.in_flight() > 0 {
            self.settle(Duration::MAX);
        }
    }
}

impl Drop for CudaExecutor {
    fn drop(&mut self) {
        self.drain();
        if self.recover().is_err() {
            // What was given up still runs, and uses all this; or the device is gone, and all this with it.
            for flight in self.abandoned.drain(..) {
                std::mem::forget(flight);
            }
            for event in self.timed.drain(..).chain(self.plain.drain(..)) {
                std::mem::forget(event);
            }
            std::mem::forget(self.stream.clone());
            return;
        }
        let slot = self.slot.taken();
        lock(&self.context.slots).give_back(slot);
    }
}
