//! The operations that a queue requests of its executor.

use std::sync::Arc;
use std::time::Duration;

use wattle_core::queue::{Executor, FirstError};
use wattle_core::{Event, EventState, Kernel, LaunchOptions, Result, Shape, Transfer, lock};

use super::in_flight::{Mark, Marked};
use super::{CudaExecutor, LOOK, Point};

// SAFETY: the stream keeps the order of what is submitted to it, and all else waits for what is in flight. What is not
// in flight any more has ended, was skipped by the gate, or belongs to a device that is refused until it has ended.
unsafe impl Executor for CudaExecutor {
    fn errors(&self) -> &FirstError {
        &self.error
    }

    unsafe fn launch(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.within(|executor| executor.submit(kernel.to_arc(), shape, options))
    }

    fn prepare(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.within(|executor| {
            executor.recover()?;
            executor.plan(kernel, shape, options).map(drop)
        })
    }

    fn admit_host_part(
        &mut self,
        kernel: &dyn Kernel,
        _host_part: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<()> {
        self.prepare(kernel, shape, options)
    }

    fn record(&mut self, event: Arc<EventState>) {
        self.within(|executor| executor.record_point(event));
    }

    fn wait_for(&mut self, event: Event) {
        self.within(|executor| executor.wait_for_point(event));
    }

    fn copy(&mut self, copy: Transfer) {
        self.within(|executor| executor.transfer(copy));
    }

    fn in_flight(&self) -> u64 {
        self.count() as u64
    }

    fn advance(&mut self, patience: Duration) {
        if self.count() > 0 {
            self.within(|executor| executor.settle(patience.min(LOOK)));
        }
    }

    fn drain(&mut self) {
        if self.count() > 0 {
            self.within(CudaExecutor::finish);
        }
    }
}

impl CudaExecutor {
    fn record_point(&mut self, event: Arc<EventState>) {
        if self.recover().and_then(|()| self.context.stay()).is_err() {
            return event.reach();
        }
        let timed = self.timed.pop().map_or_else(|| self.context.event(true).map(Arc::new), Ok);
        let recorded = timed.and_then(|timed| {
            self.context.check("recording an event", timed.record(&self.slot.stream))?;
            Ok(timed)
        });
        match recorded {
            Ok(timed) => {
                event.mark(Arc::new(Point { context: self.context.clone(), event: timed.clone() }));
                self.marked = self.submitted;
                self.marks.push_back(Mark { event: timed, behind: self.submitted, what: Marked::Record(event) });
            }
            Err(error) => {
                self.finish();
                self.error.keep(Err(error));
                event.reach();
            }
        }
    }

    fn wait_for_point(&mut self, event: Event) {
        if event.mark().is_none() {
            // The operations before the event may wait for what is in flight here.
            self.finish();
            event.wait_for_mark();
        }
        let point = event.mark().and_then(|mark| mark.downcast_ref::<Point>());
        let Some(point) = point.filter(|point| Arc::ptr_eq(&point.context, &self.context) && !event.is_reached())
        else {
            self.finish();
            return event.wait_as_device();
        };
        // The time that the stream waits does not count for the launches before the wait.
        if self.marked < self.submitted {
            self.mark();
        }
        // The stream waits, and an event behind that shows when it has: the host may wait for this queue alone.
        let waits = self.recover().and_then(|()| self.context.stay()).and_then(|()| {
            self.context.check("waiting for an event", self.slot.stream.wait_for(&point.event))?;
            let behind = self.plain.pop().map_or_else(|| self.context.event(false).map(Arc::new), Ok)?;
            self.context.check("recording an event", behind.record(&self.slot.stream))?;
            Ok(behind)
        });
        match waits {
            Ok(behind) => {
                self.marked = self.submitted;
                self.marks.push_back(Mark { event: behind, behind: self.submitted, what: Marked::Wait });
            }
            Err(error) => {
                self.finish();
                self.error.keep(Err(error));
                event.wait_as_device();
            }
        }
    }
}

impl Drop for CudaExecutor {
    fn drop(&mut self) {
        self.within(|executor| {
            executor.finish();
            if executor.recover().is_ok() {
                lock(&executor.context.slots).give_back(executor.slot.taken());
                executor.timed.clear();
                executor.plain.clear();
                return;
            }
            // Operations that were given up still run, and use all this; or the device is lost, and all this with it.
            for one in executor.abandoned.drain(..) {
                std::mem::forget(one);
            }
            for event in executor.timed.drain(..).chain(executor.plain.drain(..)) {
                std::mem::forget(event);
            }
            std::mem::forget(executor.slot.stream.clone());
        });
    }
}
