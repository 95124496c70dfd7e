//! How launches are submitted to the stream.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use wattle_core::queue::Executor as _;
use wattle_core::{ErrorKind, Kernel, LaunchOptions, Result, Shape, SyncDomain, SyncDomainMap, interrupt};

use super::in_flight::{InFlight, Launched, Mark, Marked};
use super::{CudaExecutor, Planned};
use crate::arguments::{Setting, lay_out, lay_out_module};
use crate::context::Context;
use crate::driver::{Extras, Launch, Refusal, Said};
use crate::modules::Built;
use crate::shape::Plan;
use crate::slots::Slot;

/// How many operations are in flight at most: the driver waits by itself where it has no more room, and then no thread
/// could request the first launch to end.
const MOST: usize = 256;

/// After how many operations an event is recorded, to show how far the stream has come.
const MARK_EVERY: u64 = 32;

/// The launch number from which on numbering starts again, when nothing is in flight.
const LAST_NUMBER: u32 = u32::MAX / 2;

/// How many launch plans a queue keeps.
const PLANS: usize = 8;

impl CudaExecutor {
    pub(super) fn submit(&mut self, kernel: Arc<dyn Kernel>, shape: &Shape, options: &LaunchOptions) -> Result<()> {
        self.recover()?;
        if interrupt::requested() {
            let kernel = kernel.info().name.to_owned();
            return Err(ErrorKind::Interrupted { kernel, lines: Vec::new() }.into());
        }
        let context = self.context.clone();
        context.stay()?;
        let shared_len = options.get_shared_len();
        if kernel.module().is_some() {
            // Its code does not look whether an earlier launch has failed.
            self.finish();
        }
        let (built, plan) = self.plan(&*kernel, shape, options)?;
        self.make_room();
        let number = self.next_number()?;
        if self.has_failed() {
            return Ok(());
        }
        let setting = Setting { slot: &self.slot, number, shape: &plan.shape, shared_len };
        match kernel.module() {
            Some(call) => lay_out_module(&mut self.arguments, &context, &*kernel, call)?,
            None => lay_out(&mut self.arguments, &context, &plan.code.layout, &*kernel, &setting)?,
        }
        let limit = options.get_time_limit();
        if self.limited != Some(limit) {
            self.limited = Some(limit);
            self.watched.limit_from(number, limit);
        }
        let extras = extras(options, context.physical.properties.sync_domains);
        // SAFETY: the arguments are laid out as the code's layout says; the launch owns its buffers until it has ended.
        unsafe { self.give_launch(&plan, extras, number, kernel.info().name)? };
        let (code, shape) = ((built, plan.code), plan.shape);
        let launched = Launched { kernel, code, shape, number, limit, shared_len };
        self.take_off(InFlight::Launch(launched));
        Ok(())
    }

    /// Waits until there is room for one more operation in flight.
    pub(super) fn make_room(&mut self) {
        while self.in_flight.len() >= MOST {
            self.settle(Duration::MAX);
        }
    }

    /// Submits a launch to the stream, with the arguments that were taken last.
    ///
    /// # Safety
    /// The arguments are those of the plan's code, and what they point to is there until the launch has ended.
    ///
    /// # Errors
    /// The launch was not submitted.
    pub(super) unsafe fn give_launch(&mut self, plan: &Plan, extras: Extras, number: u32, name: &str) -> Result<()> {
        let launch = Launch {
            function: plan.code.function,
            blocks: plan.axes[0],
            threads: plan.axes[1],
            shared_bytes: plan.shared_bytes,
            arguments: &self.arguments,
            extras,
        };
        // SAFETY: the caller's promise.
        if let Err(refusal) = self.give(|slot| unsafe { launch.submit(&slot.stream) })? {
            if refusal.ends_context() {
                return Err(self.lost(refusal));
            }
            return self.context.check(&format!("launching kernel `{name}`"), Err(refusal));
        }
        self.number = number;
        self.watched.begin(number);
        Ok(())
    }

    /// Submits an operation to the stream with `submit`, which may be called twice, and counts it as in flight.
    ///
    /// # Errors
    /// The device is lost. Any other refusal of the driver's is the inner result.
    pub(super) fn give(&self, submit: impl Fn(&Slot) -> Said) -> Result<Said> {
        let launching = self.context.launching.read().unwrap_or_else(PoisonError::into_inner);
        let mut given = submit(&self.slot);
        if given.is_err_and(Refusal::is_wrong_context) {
            self.context.enter()?;
            given = submit(&self.slot);
        }
        if given.is_ok() {
            self.context.in_flight.fetch_add(1, Ordering::AcqRel);
        }
        drop(launching);
        Ok(given)
    }

    /// Records an operation that was submitted to the stream as in flight.
    pub(super) fn take_off(&mut self, one: InFlight) {
        self.in_flight.push_back(one);
        self.submitted += 1;
        if Context::is_synchronous() {
            self.finish();
        } else if self.submitted - self.marked >= MARK_EVERY {
            self.mark();
        }
    }

    /// The kernel built for a launch, and the launch's plan. The plans of the last few launches are kept, so that a
    /// launch in a loop is not planned again.
    pub(super) fn plan(
        &mut self,
        kernel: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) -> Result<(Arc<Built>, Plan)> {
        let wanted = (kernel.identity(), *shape, *options);
        if let Some(at) = self.plans.iter().position(|planned| planned.of == wanted) {
            if at > 0 {
                self.plans[..=at].rotate_right(1);
            }
            let planned = &self.plans[0];
            return Ok((planned.built.clone(), planned.plan.clone()));
        }
        let built = self.context.built(kernel, options.get_shared_len())?;
        if !self.context.is_loaded(&built, shape, options) {
            // The kernel is loaded when nothing is in flight.
            self.finish();
        }
        let plan = self.context.plan(&built, shape, options)?;
        self.plans.truncate(PLANS - 1);
        self.plans.insert(0, Planned { of: wanted, built: built.clone(), plan: plan.clone() });
        Ok((built, plan))
    }

    /// The number of the next launch.
    pub(super) fn next_number(&mut self) -> Result<u32> {
        if self.number >= LAST_NUMBER {
            self.finish();
            self.clear_slot()?;
            (self.number, self.limited) = (0, None);
            self.watched.restart();
        }
        Ok(self.number + 1)
    }

    /// Records an event behind what was submitted, to show how far the stream is; without one the stream's end does.
    pub(super) fn mark(&mut self) {
        self.marked = self.submitted;
        let event = match self.plain.pop() {
            Some(event) => event,
            None => match self.context.event(false) {
                Ok(event) => Arc::new(event),
                Err(_) => return,
            },
        };
        if event.record(&self.slot.stream).is_ok() {
            self.marks.push_back(Mark { event, behind: self.submitted, what: Marked::Launches });
        }
    }
}

/// The launch attributes in the options. A device with one memory synchronization domain has no choice of them.
fn extras(options: &LaunchOptions, domains: u32) -> Extras {
    let (domain, map) = (options.get_sync_domain(), options.get_sync_domain_map());
    let has_domains = domains > 1;
    Extras {
        cooperative: options.is_cooperative(),
        remote: has_domains && domain == SyncDomain::Remote,
        map: (has_domains && map != SyncDomainMap::default()).then_some((map.default, map.remote)),
    }
}
