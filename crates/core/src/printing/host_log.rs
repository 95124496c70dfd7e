//! The log of a launch on the host: a list of lines, with as much room as a device's log.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use wattle_ir::message::{Text, words};
use wattle_ir::printing::{HEADER, RECORD};
use wattle_ir::{Site, Type};

use super::lines::PrintedLine;
use crate::sync::lock;

/// The log of a launch on the host.
pub(crate) struct HostLog {
    capacity: u32,
    taken: AtomicU32,
    lost: AtomicU64,
    lines: Mutex<Vec<PrintedLine>>,
}

impl HostLog {
    pub(super) fn new(words: u32) -> HostLog {
        HostLog {
            capacity: words.saturating_sub(HEADER),
            taken: AtomicU32::new(0),
            lost: AtomicU64::new(0),
            lines: Mutex::default(),
        }
    }

    /// Prints a line, with as much room for it as it has in a device's log.
    #[cold]
    pub(crate) fn print(&self, block: u32, thread: u32, site: Site, text: &Text, values: &[(Type, u64)]) {
        let size = RECORD + values.iter().map(|&(ty, _)| words(ty) as u32).sum::<u32>();
        let take = |taken: u32| taken.checked_add(size).filter(|&taken| taken <= self.capacity);
        if self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let text = text.with(|number| values.get(number).copied());
        lock(&self.lines).push(PrintedLine { block, thread, site, text });
    }

    pub(super) fn take(&self) -> (Vec<PrintedLine>, u64) {
        let mut lines = std::mem::take(&mut *lock(&self.lines));
        lines.sort_by_key(|line| (line.block, line.thread));
        (lines, self.lost.load(Ordering::Relaxed))
    }
}
