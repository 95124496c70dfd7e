//! Batches the runs of a copy where the host cannot reach the memory: a region has many runs, and copying each by
//! itself would cost one more wait for the device.
//!
//! A copy is done run by run ([`wattle_core::Transfer::run`]). The runs to be read are announced before it and fetched
//! many at a time; the runs written are collected and sent many at a time. This state belongs to the thread and lasts
//! as long as [`with`].

use std::cell::RefCell;

use wattle_core::Result;

use crate::memory::VulkanMemory;
use crate::staging::{MOST_RUNS, PIECE, Run};

thread_local! {
    static READS: RefCell<Option<Reads>> = const { RefCell::new(None) };
    static WRITES: RefCell<Option<Writes>> = const { RefCell::new(None) };
}

/// The announced reads of one memory.
struct Reads {
    memory: u64,
    runs: Vec<Run>,
    /// The index of the next run to be read.
    next: usize,
    /// The index after the last fetched run.
    fetched: usize,
    /// The fetched bytes; `at` is the offset of the next run in them.
    data: Vec<u8>,
    at: usize,
}

/// The runs written to one memory and not sent yet.
struct Writes {
    memory: u64,
    runs: Vec<Run>,
    data: Vec<u8>,
}

/// Clears the announced reads and the collected writes when a copy ends, also by an error.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        READS.set(None);
        WRITES.set(None);
    }
}

/// Does a copy that reads the given runs of one memory, in order, and writes another.
pub(crate) fn with(
    reads: Option<(&VulkanMemory, Vec<Run>)>,
    writes: Option<&VulkanMemory>,
    copy: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let _forget = Forget;
    READS.set(reads.map(|(memory, runs)| Reads {
        memory: memory.id,
        runs,
        next: 0,
        fetched: 0,
        data: Vec::new(),
        at: 0,
    }));
    WRITES.set(writes.map(|memory| Writes { memory: memory.id, runs: Vec::new(), data: Vec::new() }));
    copy()?;
    match (WRITES.take(), writes) {
        (Some(mut rest), Some(memory)) => rest.send(memory),
        _ => Ok(()),
    }
}

/// Reads a run that was announced; `None` if it was not.
pub(crate) fn read(memory: &VulkanMemory, run: Run, into: &mut [u8]) -> Option<Result<()>> {
    READS.with_borrow_mut(|reads| {
        let reads = reads.as_mut().filter(|reads| reads.memory == memory.id)?;
        if *reads.runs.get(reads.next)? != run {
            return None;
        }
        if reads.next == reads.fetched && !matches!(reads.fetch(memory), Ok(true)) {
            // A run too long for a batch, or one whose fetch failed; read by itself it reports the error again.
            (reads.next, reads.fetched) = (reads.next + 1, reads.next + 1);
            return None;
        }
        into.copy_from_slice(reads.data.get(reads.at..reads.at + run.len)?);
        (reads.next, reads.at) = (reads.next + 1, reads.at + run.len);
        Some(Ok(()))
    })
}

impl Reads {
    /// Fetches as many of the next runs as fit; returns whether any does.
    fn fetch(&mut self, memory: &VulkanMemory) -> Result<bool> {
        let (mut bytes, mut count) = (0, 0);
        for run in self.runs[self.next..].iter().take(MOST_RUNS) {
            if bytes + run.len > PIECE {
                break;
            }
            (bytes, count) = (bytes + run.len, count + 1);
        }
        if count == 0 {
            return Ok(false);
        }
        self.data.resize(bytes, 0);
        let runs = &self.runs[self.next..self.next + count];
        memory.context.gather(&memory.block, runs, &mut self.data)?;
        (self.fetched, self.at) = (self.next + count, 0);
        Ok(true)
    }
}

/// Keeps a written run to send it later; `None` if it has to be written at once.
pub(crate) fn write(memory: &VulkanMemory, run: Run, from: &[u8]) -> Option<Result<()>> {
    WRITES.with_borrow_mut(|writes| {
        let writes = writes.as_mut().filter(|writes| writes.memory == memory.id)?;
        if run.len > PIECE {
            return None;
        }
        let is_full = writes.data.len() + run.len > PIECE || writes.runs.len() >= MOST_RUNS;
        if is_full && let Err(error) = writes.send(memory) {
            return Some(Err(error));
        }
        writes.runs.push(run);
        writes.data.extend_from_slice(from);
        Some(Ok(()))
    })
}

impl Writes {
    fn send(&mut self, memory: &VulkanMemory) -> Result<()> {
        if self.runs.is_empty() {
            return Ok(());
        }
        memory.context.scatter(&memory.block, &self.runs, &self.data)?;
        self.runs.clear();
        self.data.clear();
        Ok(())
    }
}
