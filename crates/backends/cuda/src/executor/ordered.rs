//! Fills and copies, executed in the order of the stream where possible.

use std::sync::atomic::Ordering;
use std::time::Duration;

use wattle_core::queue::Executor as _;
use wattle_core::{LaunchOptions, Result, Transfer};

use super::CudaExecutor;
use super::in_flight::InFlight;
use crate::arguments::Setting;
use crate::builtin::Builtin;
use crate::driver::{Extras, Refusal};
use crate::transfer;

impl CudaExecutor {
    /// Executes a copy or a fill, or submits it to the stream; skips it if an operation before it fails.
    pub(super) fn transfer(&mut self, copy: Transfer) {
        let is_ordered = transfer::is_ordered(&copy, &self.context);
        if is_ordered && self.has_launches() {
            // The launches known to be in flight may have ended.
            self.settle(Duration::ZERO);
        }
        // The driver executes its fills and copies behind launches even if one of these fails.
        let builtin = if self.has_launches() { Builtin::of(&copy, &self.context) } else { None };
        if builtin.is_none() && (!is_ordered || self.has_launches()) {
            self.finish();
        }
        if self.has_failed() {
            return;
        }
        let done = match builtin {
            Some(builtin) => self.launch_builtin(builtin, copy),
            None if is_ordered => self.submit_transfer(copy),
            None => self.recover().and_then(|()| transfer::transfer(copy)),
        };
        self.error.keep(done);
    }

    /// Submits a fill or a copy to the stream as a launch, which does nothing if a launch before it has failed.
    fn launch_builtin(&mut self, builtin: Builtin, copy: Transfer) -> Result<()> {
        self.recover()?;
        let context = self.context.clone();
        context.stay()?;
        let built = builtin.built(&context.modules.builtins)?;
        let (shape, options) = (builtin.shape(), LaunchOptions::new());
        if !context.is_loaded(&built, &shape, &options) {
            self.finish();
            // Nothing before it can fail any more, so loading the kernel need not wait for other queues' launches.
            if self.has_failed() || context.in_flight.load(Ordering::Acquire) > 0 {
                return self.submit_transfer(copy);
            }
        }
        let plan = context.plan(&built, &shape, &options)?;
        self.make_room();
        let number = self.next_number()?;
        if self.has_failed() {
            return Ok(());
        }
        let setting = Setting { slot: &self.slot, number, shape: &plan.shape, shared_len: 0 };
        builtin.lay_out(&mut self.arguments, &plan.code.layout, &setting)?;
        // SAFETY: the arguments are laid out as the code's layout says; the entry in `in_flight` owns the buffers.
        unsafe { self.give_launch(&plan, Extras::default(), number, &built.kernel.name)? };
        self.take_off(InFlight::Transfer { number: Some(number), _keeps: copy });
        Ok(())
    }

    /// Whether launches are in flight, as far as the host has seen.
    fn has_launches(&self) -> bool {
        self.in_flight.iter().any(|one| one.launch().is_some())
    }

    fn submit_transfer(&mut self, copy: Transfer) -> Result<()> {
        self.recover()?;
        self.context.stay()?;
        self.make_room();
        if self.has_failed() {
            return Ok(());
        }
        let given = self.give(|slot| transfer::submit(&copy, &slot.stream))?;
        if given.is_err_and(Refusal::ends_context) {
            return given.map_err(|refusal| self.lost(refusal));
        }
        if given.is_err() {
            // A part of it may have been submitted, and may use the buffers.
            self.context.in_flight.fetch_add(1, Ordering::AcqRel);
        }
        self.take_off(InFlight::Transfer { number: None, _keeps: copy });
        self.context.check("a copy or a fill", given)
    }
}
