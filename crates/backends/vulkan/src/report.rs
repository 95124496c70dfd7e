//! What a launch told of itself.

use std::sync::atomic::Ordering;

use wattle_core::Error;
use wattle_gpu::{Reason, Told, cannot};

use crate::executor::Executor;
use crate::flight::Launched;

impl Executor {
    /// What went wrong in a launch that has ended; it was told to, if there is a reason.
    pub(crate) fn outcome(&self, slot: usize, launch: &Launched, reason: Option<Reason>) -> Option<Error> {
        let word = |word| self.slots.word(slot, word).load(Ordering::Acquire);
        let told = Told {
            kernel: &*launch.kernel,
            ir: &launch.compiled.kernel,
            sites: &launch.compiled.sites,
            grid: &launch.grid,
            shared_len: launch.shared_len,
        };
        let Some(site) = told.loop_cut(word) else { return told.outcome(word, reason) };
        let most = self.context.physical.features.workarounds.loops_end_after.unwrap_or(u32::MAX);
        let what = format!(
            "run more than {most} loop iterations in one thread (its driver ends loops silently; kernel `{}` at {site})",
            launch.kernel.info().name
        );
        Some(cannot(self.context.name(), what, "wait for less, or use another device"))
    }
}
