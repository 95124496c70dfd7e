//! Fills and copies, in the order of the stream where that can be.

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
    /// Does a copy or a fill, or gives it to the stream; skips it if something before it fails.
    pub(super) fn transfer(&mut self, copy: Transfer) {
        let is_ordered = transfer::is_ordered(&copy, &self.context);
        if is_ordered && self.has_launches() {
            // They may have ended.
            self.settle(Duration::ZERO);
        }
        // Behind launches the driver's fills and copies would be done also if one of them fails.
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

    /// Gives a fill or a copy to the stream as a launch, which does nothing if one before it has failed.
    fn launch_builtin(&mut self, builtin: Builtin, copy: Transfer) -> Result<()> {
        self.recover()?;
        let context = self.context.clone();
        context.stay()?;
        let built = builtin.built(&context.modules.builtins)?;
        let (shape, options) = (builtin.shape(), LaunchOptions::new());
        if !context.is_loaded(&built, &shape, &options) {
            self.finish();
            // Nothing before it can fail any more, and nobody need wait for others' launches so that it can be loaded.
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
        let setting = Setting { slot: &self.slot, number, grid: &plan.grid, shared_len: 0 };
        self.arguments.take_given(&plan.code.layout, |given| builtin.give(given), &setting);
        // SAFETY: the arguments are laid out as the code's layout says; what is in flight owns the buffers.
        unsafe { self.give_launch(&plan, Extras::default(), number, &built.kernel.name)? };
        self.take_off(InFlight::Transfer { number: Some(number), _keeps: copy });
        Ok(())
    }

    /// Whether launches are in flight, as far as is known.
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
            // A part of it may have been submitted, and uses the buffers.
            self.context.in_flight.fetch_add(1, Ordering::AcqRel);
        }
        self.take_off(InFlight::Transfer { number: None, _keeps: copy });
        self.context.check("a copy or a fill", given)
    }
}
