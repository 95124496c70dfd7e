//! What a launch told of itself, as the errors that all devices have.

use std::sync::atomic::Ordering;

use wattle_core::{Argument, Error, ErrorKind, FaultKind, ThreadLine, format_index};
use wattle_ir::{MAX_RANK, Place, SharedLen};
use wattle_spirv::{Fault, FaultSite, control};

use crate::error::cannot;
use crate::executor::Executor;
use crate::flight::{Launched, Reason};
use crate::shape::Grid;

impl Executor {
    /// What went wrong in a launch that has ended; it was told to, if there is a reason.
    pub(crate) fn outcome(&self, slot: usize, launch: &Launched, reason: Option<Reason>) -> Option<Error> {
        let word = |word| self.slots.word(slot, word).load(Ordering::Acquire);
        if word(control::CLAIMED) != 0 {
            return Some(self.fault(launch, word));
        }
        let kernel = launch.kernel.info().name.to_owned();
        let kind = match reason {
            Some(Reason::TimeLimit(limit)) => ErrorKind::TimeLimit { kernel, limit, lines: lines(launch, word) },
            Some(Reason::Interrupted) => ErrorKind::Interrupted { kernel, lines: lines(launch, word) },
            None => return None,
        };
        Some(kind.into())
    }

    fn fault(&self, launch: &Launched, word: impl Fn(u32) -> u32) -> Error {
        let kernel = launch.kernel.info().name.to_owned();
        let grid = &launch.grid;
        let Some(FaultSite { site, fault }) = launch.compiled.sites.get(word(control::SITE) as usize) else {
            let message = format!("kernel `{kernel}` reported a fault of number {}", word(control::SITE));
            return ErrorKind::System { what: "a fault that the kernel does not have".into(), message }.into();
        };
        let what = match fault {
            Fault::OutOfBounds { place, rank } => {
                let index: Vec<_> = (0..*rank as u32).map(|d| word(control::INDEX + d)).collect();
                FaultKind::OutOfBounds {
                    view: launch.compiled.kernel.place_name(*place),
                    index: format_index(&index),
                    extent: format_index(&extent(launch, *place)[..*rank]),
                }
            }
            Fault::DivisionByZero => FaultKind::DivisionByZero,
            Fault::Assertion(message) => FaultKind::Assertion(message.clone()),
            Fault::LoopCut | Fault::Loop => {
                let most = self.context.physical.features.workarounds.loops_end_after.unwrap_or(u32::MAX);
                let what = format!(
                    "run more than {most} loop iterations in one thread (its driver ends loops silently; kernel \
                     `{kernel}` at {site})"
                );
                return cannot(self.context.name(), what, "wait for less, or use another device");
            }
        };
        let index = |extent, number| format_index(&Grid::index(extent, number)[..grid.rank]);
        let (block, thread) = (index(&grid.blocks, word(control::BLOCK)), index(&grid.threads, word(control::THREAD)));
        ErrorKind::Fault(Box::new(wattle_core::Fault { kernel, block, thread, site: *site, what })).into()
    }
}

/// Where threads were when they were stopped: an entry for each block and line, in order.
fn lines(launch: &Launched, word: impl Fn(u32) -> u32) -> Vec<ThreadLine> {
    let told = word(control::STOPPED).min(control::MAX_STOPPED);
    let entry = |number| control::STOPPED_AT + 2 * number;
    let mut stopped: Vec<_> = (0..told).map(|number| (word(entry(number)), word(entry(number) + 1))).collect();
    stopped.sort_unstable();
    stopped.dedup();
    let line = |(block, site): (u32, u32)| {
        let block = format_index(&Grid::index(&launch.grid.blocks, block)[..launch.grid.rank]);
        Some(ThreadLine { block, site: launch.compiled.sites.get(site as usize)?.site })
    };
    stopped.into_iter().filter_map(line).collect()
}

/// The extent of a place in a launch.
fn extent(launch: &Launched, place: Place) -> [u32; MAX_RANK] {
    let kernel = &launch.compiled.kernel;
    let mut found = [1; MAX_RANK];
    match place {
        Place::Param(id) => {
            let mut number = 0;
            // Visiting cannot fail where the visitor does not.
            let _ = launch.kernel.arguments(&mut |argument| {
                if let (Argument::View(view), true) = (argument, number == id.index()) {
                    found = view.extent();
                }
                number += 1;
                Ok(())
            });
        }
        Place::Shared(id) => {
            found[0] = match kernel.shared.get(id.index()).map(|array| array.len) {
                Some(SharedLen::Static(len)) => len,
                Some(SharedLen::AtLaunch) => launch.shared_len,
                None => 0,
            };
        }
        Place::Local(id) => found[0] = kernel.locals.get(id.index()).map_or(0, |array| array.len),
    }
    found
}
