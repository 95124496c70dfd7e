//! The results of launches.

use std::sync::atomic::Ordering;

use wattle_core::Error;
use wattle_gpu::{Reason, cannot};

use crate::executor::Executor;
use crate::in_flight::Launched;

impl Executor {
    /// The error of a launch that has ended, if any; a `reason` says that it was asked to end.
    pub(crate) fn outcome(&self, slot: usize, launch: &Launched, reason: Option<Reason>) -> Option<Error> {
        let word = |word| self.slots.word(slot, word).load(Ordering::Acquire);
        let report = launch.report(&launch.code.kernel, &launch.code.sites);
        let Some(site) = report.loop_cut(word) else { return report.outcome(word, reason) };
        let most = self.context.physical.features.workarounds.loops_end_after.unwrap_or(u32::MAX);
        let what = format!(
            "run more than {most} loop iterations in one thread (its driver ends loops silently; kernel `{}` at {site})",
            launch.name()
        );
        Some(cannot(self.context.name(), what, "wait for less, or use another device"))
    }
}
