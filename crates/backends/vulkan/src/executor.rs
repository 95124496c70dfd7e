//! Runs a queue's operations on the calling thread.
//!
//! Launches are submitted without waiting for those before them, [`SLOTS`] at most; barriers keep their order on the
//! device. Every other operation waits for the launches in flight. Launches submitted behind a failed one do nothing,
//! since the queue's gate is shut; it is opened again when they have finished.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use wattle_core::queue::{Executor as _, FirstError};
use wattle_core::{Error, EventState, Kernel, LaunchOptions, Result, Shape, Timestamp, Transfer, interrupt};
use wattle_gpu::Reason;
use wattle_spirv::control;

use crate::arguments::Arguments;
use crate::context::Context;
use crate::descriptors::Descriptors;
use crate::in_flight::{InFlight, Launched, Standing};
use crate::pipeline::Variant;
use crate::record::{Recorded, SLOTS, Slots};
use crate::transfer::transfer;

/// Runs a queue's operations.
pub(crate) struct Executor {
    pub(crate) context: Arc<Context>,
    pub(crate) lane: usize,
    pub(crate) slots: ManuallyDrop<Slots>,
    pub(crate) descriptors: Descriptors,
    arguments: Arguments,
    pub(crate) in_flight: VecDeque<InFlight>,
    /// Abandoned submissions that may still run. Nothing else runs until they have ended.
    abandoned: Vec<InFlight>,
    next_slot: usize,
    /// The number of the last launch.
    number: u32,
    /// The first error since the errors were last collected. A thread that has waited for an event finds the errors
    /// before it.
    error: FirstError,
}

impl Executor {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Executor> {
        context.usable()?;
        let slots = Slots::new(context)?;
        Ok(Executor {
            lane: context.join_lane(),
            slots: ManuallyDrop::new(slots),
            context: context.clone(),
            descriptors: Descriptors::default(),
            arguments: Arguments::default(),
            in_flight: VecDeque::with_capacity(SLOTS),
            abandoned: Vec::new(),
            next_slot: 0,
            number: 0,
            error: FirstError::default(),
        })
    }

    fn try_launch(&mut self, kernel: Arc<dyn Kernel>, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.recover()?;
        if interrupt::requested() {
            return Err(Reason::Interrupted.error(kernel.info().name, Vec::new()));
        }
        let context = self.context.clone();
        let shared_len = options.get_shared_len();
        let compiled = context.compiled(&*kernel, shared_len)?;
        let dispatch = context.dispatch(shape, options, &compiled)?;
        let (shape, groups) = (dispatch.shape, dispatch.groups);
        let pipeline = context
            .pipeline(&compiled, Variant { threads: shape.block_extent, shared_len, warp_size: shape.warp_size })?;
        let slot = self.free_slot();
        if self.has_failed() {
            return Ok(());
        }
        let number = if self.in_flight.is_empty() { 1 } else { self.number + 1 };
        self.arguments.take(&context, &compiled, &*kernel, &shape, number)?;
        let views = if self.arguments.bindings.is_empty() {
            None
        } else {
            if self.descriptors.is_full() {
                self.drain();
                // SAFETY: nothing of this queue is in flight, and other queues have sets of their own.
                unsafe { self.descriptors.clear(&context) };
            }
            Some(self.descriptors.set(&context, &self.arguments.bindings)?)
        };
        let words = &self.arguments.words;
        let at_once = context.blocks_at_once(compiled.waits, &dispatch)?;
        let launch = Recorded { compiled: &compiled, pipeline, views, words, groups, at_once };
        let commands = self.slots.record(&context, slot, Some(&launch))?;
        let until = context.submit(self.lane, commands)?;
        self.number = number;
        self.next_slot = (slot + 1) % SLOTS;
        let limit = options.get_time_limit();
        let launch = Some(Launched { kernel, code: compiled, shape, number, limit, shared_len });
        self.in_flight.push_back(InFlight { slot, until, launch, began: None, records: Vec::new(), operations: 1 });
        Ok(())
    }

    /// Returns the next slot, after waiting until it is free.
    fn free_slot(&mut self) -> usize {
        while self.in_flight.len() >= SLOTS {
            self.settle();
        }
        self.next_slot
    }

    /// Submits a timestamp on its own for an event.
    fn stamp(&mut self, event: Arc<EventState>) -> Result<(), Arc<EventState>> {
        if !self.slots.has_time() || self.recover().is_err() {
            return Err(event);
        }
        let slot = self.next_slot;
        let submitted = self.slots.record(&self.context, slot, None);
        match submitted.and_then(|commands| self.context.submit(self.lane, commands)) {
            Ok(until) => {
                self.next_slot = (slot + 1) % SLOTS;
                let records = vec![event];
                self.in_flight.push_back(InFlight { slot, until, launch: None, began: None, records, operations: 1 });
                Ok(())
            }
            Err(_) => Err(event),
        }
    }

    /// Waits for the first submission in flight and removes it.
    fn settle(&mut self) {
        let standing = self.watch(None);
        self.settle_as(standing);
    }

    fn settle_as(&mut self, standing: Standing) {
        match standing {
            Standing::Running => {}
            Standing::Ended(reason) => {
                let Some(one) = self.in_flight.pop_front() else { return };
                let failed = one.launch.as_ref().and_then(|launch| self.outcome(one.slot, launch, reason));
                let time = self.time(&one);
                if let Some(error) = failed {
                    self.keep(Err(error));
                    self.slots.clear(one.slot);
                    one.land(time);
                    self.skip_rest();
                } else {
                    one.land(time);
                }
            }
            Standing::Lost(error) => self.give_up(error, false),
            Standing::Hung(error) => self.give_up(error, true),
        }
    }

    /// The time at which a submission ended; `None` if no event asks for it.
    fn time(&self, one: &InFlight) -> Option<Timestamp> {
        if one.records.is_empty() {
            return None;
        }
        self.slots.time(&self.context, one.slot, self.lane)
    }

    /// Waits for the submissions behind a failed launch, which do nothing, and opens the gate.
    fn skip_rest(&mut self) {
        while !self.in_flight.is_empty() {
            match self.watch_skipped() {
                Standing::Ended(_) | Standing::Running => {
                    let Some(one) = self.in_flight.pop_front() else { break };
                    let time = self.time(&one);
                    one.land(time);
                }
                Standing::Lost(error) => return self.give_up(error, false),
                Standing::Hung(error) => return self.give_up(error, true),
            }
        }
        self.slots.gate().store(control::OPEN, Ordering::Relaxed);
    }

    /// Abandons all submissions in flight. The device may go on with them.
    fn give_up(&mut self, error: Error, runs: bool) {
        self.keep(Err(error));
        let in_flight = std::mem::take(&mut self.in_flight);
        if let (Some(last), true) = (in_flight.back(), runs) {
            let first = in_flight.front().and_then(|one| one.launch.as_ref());
            let name = first.map_or("", |launch| launch.name());
            self.context.give_up(self.lane, last.until, name);
        }
        for one in &in_flight {
            one.land(None);
        }
        if runs {
            self.abandoned.extend(in_flight);
        }
    }

    /// Fails while the device cannot be used; once it can, frees the abandoned submissions, which have ended.
    fn recover(&mut self) -> Result<()> {
        self.context.usable()?;
        if !self.abandoned.is_empty() {
            // The device can be used, so all that was given up has ended.
            self.abandoned.clear();
            for slot in 0..SLOTS {
                self.slots.clear(slot);
            }
            self.slots.gate().store(control::OPEN, Ordering::Relaxed);
        }
        Ok(())
    }
}

// SAFETY: barriers on the device order launches that are in flight together, and every other operation waits for them.
unsafe impl wattle_core::queue::Executor for Executor {
    fn errors(&self) -> &FirstError {
        &self.error
    }

    unsafe fn launch(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.try_launch(kernel.to_arc(), shape, options)
    }

    fn prepare(&mut self, kernel: &dyn Kernel, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.recover()?;
        let (context, shared_len) = (self.context.clone(), options.get_shared_len());
        let compiled = context.compiled(kernel, shared_len)?;
        let shape = context.dispatch(shape, options, &compiled)?.shape;
        context
            .pipeline(&compiled, Variant { threads: shape.block_extent, shared_len, warp_size: shape.warp_size })
            .map(drop)
    }

    fn admit_host_part(
        &mut self,
        kernel: &dyn Kernel,
        host_part: &dyn Kernel,
        _: &Shape,
        options: &LaunchOptions,
    ) -> Result<()> {
        self.context.compiled(kernel, options.get_shared_len())?;
        self.orders_nothing_with_host(host_part)
    }

    fn record(&mut self, event: Arc<EventState>) {
        if let Some(last) = self.in_flight.back_mut() {
            last.records.push(event);
            last.operations += 1;
            return;
        }
        // The device records the time when it reaches the event; if it cannot, the host does.
        if let Err(event) = self.stamp(event) {
            event.reach();
        }
    }

    fn copy(&mut self, copy: Transfer) {
        self.alone(|_| transfer(copy));
    }

    fn in_flight(&self) -> u64 {
        self.in_flight.iter().map(|one| one.operations).sum()
    }

    fn advance(&mut self, patience: Duration) {
        let mut patience = Some(patience);
        while !self.in_flight.is_empty() {
            let standing = self.watch(patience);
            if matches!(standing, Standing::Running) {
                return;
            }
            self.settle_as(standing);
            patience = Some(Duration::ZERO);
        }
    }

    fn drain(&mut self) {
        while !self.in_flight.is_empty() {
            self.settle();
        }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.drain();
        self.context.leave_lane(self.lane);
        self.context.save_pipelines(false);
        if self.context.alive().is_ok() && self.recover().is_err() {
            // The abandoned launches still run and use these objects.
            for one in self.abandoned.drain(..) {
                std::mem::forget(one);
            }
            return;
        }
        // SAFETY: nothing of this queue is in flight, or the device is gone. They are taken nowhere else.
        unsafe {
            self.descriptors.clear(&self.context);
            ManuallyDrop::take(&mut self.slots).free(&self.context);
        }
    }
}
