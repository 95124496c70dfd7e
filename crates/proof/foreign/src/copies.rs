//! Copies that a thread begins and waits for later: the marks that they leave in memory, and whether a run has to be
//! looked at for them. `process::copies` says what events a copy has, and `judge::copies` what is wrong with one.

use std::sync::atomic::{AtomicBool, Ordering};

/// The byte of which a mark consists.
const MARK: u64 = 0xA5;

/// The mark that fills a cell of `bytes` bytes.
pub(crate) fn mark(bytes: u8) -> u64 {
    (0..bytes).fold(0, |mark, _| mark << 8 | MARK)
}

/// Whether a value may be that of a mark.
fn may_be_mark(value: u64) -> bool {
    [1, 2, 4, 8].into_iter().any(|bytes| value == mark(bytes))
}

/// Whether a run that no other can differ from has to be looked at event by event for its copies.
///
/// Such a run is not looked at where its values show that nobody touches a target early: nothing but looks reads a
/// value that may be a mark, every look reads one, and nothing but marks has such a value written.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    doubtful: AtomicBool,
}

impl Copies {
    /// Records what a thread of a launch with copies has read or written, if that is known: with `marks`, as the look
    /// or the mark of a copy.
    pub(crate) fn note(&self, value: Option<u64>, marks: bool) {
        if value.is_none_or(|value| may_be_mark(value) != marks) {
            self.doubt();
        }
    }

    /// Records that something was done whose value is not looked at.
    pub(crate) fn doubt(&self) {
        self.doubtful.store(true, Ordering::Relaxed);
    }

    /// Whether the values do not show it.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful.load(Ordering::Relaxed)
    }
}
