//! The report of a launch, as the errors that all devices have.

use wattle_core::{Error, ErrorKind, FaultKind, Kernel, ThreadLine, system};
use wattle_ir::control;
use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::format_index;
use wattle_ir::message::Words;
use wattle_ir::{LaunchShape, MAX_RANK, Place, Site};

use crate::stop::Reason;

/// What is known of a launch that has ended; with the words of its control block ([`control`]) it yields the error.
///
/// Blocks and threads are numbered row-major, dimension 0 slowest.
#[derive(Clone, Copy)]
pub struct Report<'l> {
    /// The kernel with its arguments.
    pub kernel: &'l dyn Kernel,
    /// The kernel as it was built.
    pub ir: &'l wattle_ir::Kernel,
    /// The fault sites that the numbers in the control block refer to.
    pub sites: &'l [FaultSite],
    /// The launch's shape.
    pub shape: &'l LaunchShape,
    /// The length of the shared array that is sized at launch, in elements.
    pub shared_len: u32,
}

impl Report<'_> {
    /// The launch's error; `None` if nothing went wrong. `reason` is why the launch was requested to end, if it was,
    /// and `word` returns the words of its control block.
    pub fn outcome(&self, word: impl Fn(u32) -> u32, reason: Option<Reason>) -> Option<Error> {
        if word(control::CLAIMED) != 0 {
            return Some(self.fault(&word));
        }
        reason.map(|reason| reason.error(self.kernel.info().name, self.lines(&word)))
    }

    /// The loop that the driver ended before its end, if that is the fault that the launch reports.
    pub fn loop_cut(&self, word: impl Fn(u32) -> u32) -> Option<Site> {
        let FaultSite { site, fault } = self.site(&word)?;
        (word(control::CLAIMED) != 0 && *fault == Fault::LoopCut).then_some(*site)
    }

    fn site(&self, word: &impl Fn(u32) -> u32) -> Option<&FaultSite> {
        self.sites.get(word(control::SITE) as usize)
    }

    fn fault(&self, word: &impl Fn(u32) -> u32) -> Error {
        let kernel = self.kernel.info().name.to_owned();
        let found = self.site(word).and_then(|site| Some((site.site, self.fault_kind(&site.fault, word)?)));
        let Some((site, what)) = found else {
            let message = format!("kernel `{kernel}` reported a fault of number {}", word(control::SITE));
            return system("a fault that the kernel does not have", message);
        };
        let (block, thread) = (word(control::BLOCK), word(control::THREAD));
        let thread = self.index(self.shape.position(0, thread.into()).thread);
        let block = self.block(block);
        ErrorKind::Fault(Box::new(wattle_core::Fault { kernel, block, thread, site, what })).into()
    }

    fn fault_kind(&self, fault: &Fault, word: &impl Fn(u32) -> u32) -> Option<FaultKind> {
        Some(match fault {
            Fault::OutOfBounds { place, rank, wide } => {
                let word = |number: u32| u64::from(word(control::INDEX + number));
                let index: Vec<_> = (0..*rank as u32)
                    .map(|d| if *wide { word(2 * d) | word(2 * d + 1) << 32 } else { word(d) })
                    .collect();
                FaultKind::OutOfBounds {
                    view: self.ir.place_name(*place),
                    index: format_index(&index),
                    extent: format_index(&self.extent(*place)[..*rank]),
                }
            }
            Fault::DivisionByZero => FaultKind::DivisionByZero,
            Fault::Assertion { text, types } => {
                let words: Vec<_> = (0..control::INDEX_WORDS).map(|number| word(control::INDEX + number)).collect();
                let values = Words { types, words: &words };
                FaultKind::Assertion(text.with(|number| values.value(number)))
            }
            Fault::LoopCut | Fault::Loop => return None,
        })
    }

    /// The lines at which threads were stopped: an entry for each block and line, in order.
    fn lines(&self, word: &impl Fn(u32) -> u32) -> Vec<ThreadLine> {
        let told = word(control::STOPPED).min(control::MAX_STOPPED);
        let entry = |number| control::STOPPED_AT + 2 * number;
        let mut stopped: Vec<_> = (0..told).map(|number| (word(entry(number)), word(entry(number) + 1))).collect();
        stopped.sort_unstable();
        stopped.dedup();
        let line = |(block, site): (u32, u32)| {
            Some(ThreadLine { block: self.block(block), site: self.sites.get(site as usize)?.site })
        };
        stopped.into_iter().filter_map(line).collect()
    }

    /// The index of the block with this row-major number, formatted. The number may be anything, if the launch went
    /// astray.
    fn block(&self, number: u32) -> String {
        self.index(self.shape.position(number.into(), 0).block)
    }

    fn index(&self, index: [u32; MAX_RANK]) -> String {
        format_index(&index[..self.kernel.rank()])
    }

    /// The extent of a view or an array in this launch.
    fn extent(&self, place: Place) -> [u64; MAX_RANK] {
        let mut found = [1; MAX_RANK];
        match place {
            Place::Param(id) => found = self.kernel.view(id).map_or(found, |view| view.extent()),
            Place::Shared(id) => {
                let array = self.ir.shared.get(id.index());
                found = array.map_or([0; MAX_RANK], |array| array.len.extents(self.shared_len).map(u64::from));
            }
            Place::Local(id) => found[0] = self.ir.locals.get(id.index()).map_or(0, |array| array.len.into()),
        }
        found
    }
}
