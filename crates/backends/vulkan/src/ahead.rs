//! The runs of a copy together, where the host cannot reach the memory: a region is many runs, and each by itself would
//! be one more wait for the device.
//!
//! A copy is done run by run ([`wattle_core::Transfer::run`]). What is read is told here before, and fetched many runs
//! at a time; what is written is collected, and sent many runs at a time. All that is the thread's own, for as long as
//! [`with`] lasts.

use std::cell::RefCell;

use wattle_core::Result;

use crate::memory::VulkanMemory;
use crate::staging::{MOST_RUNS, PIECE, Run};

thread_local! {
    static READS: RefCell<Option<Reads>> = const { RefCell::new(None) };
    static WRITES: RefCell<Option<Writes>> = const { RefCell::new(None) };
}

/// What will be read of a memory.
struct Reads {
    memory: u64,
    runs: Vec<Run>,
    /// The next run.
    next: usize,
    /// The run behind those that were fetched.
    fetched: usize,
    /// What was fetched, and where in it the next run is.
    data: Vec<u8>,
    at: usize,
}

/// What has been written to a memory, and not sent.
struct Writes {
    memory: u64,
    runs: Vec<Run>,
    data: Vec<u8>,
}

/// Forgets what was told when a copy is over, however it ends.
struct Forget;

impl Drop for Forget {
    fn drop(&mut self) {
        READS.set(None);
        WRITES.set(None);
    }
}

/// Does a copy that reads these runs of one memory, in order, and writes another.
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

/// Reads a run that was told before; none if it was not.
pub(crate) fn read(memory: &VulkanMemory, run: Run, into: &mut [u8]) -> Option<Result<()>> {
    READS.with_borrow_mut(|reads| {
        let reads = reads.as_mut().filter(|reads| reads.memory == memory.id)?;
        if *reads.runs.get(reads.next)? != run {
            return None;
        }
        if reads.next == reads.fetched && !matches!(reads.fetch(memory), Ok(true)) {
            // One that is as long as many, or that failed, which it will again by itself.
            (reads.next, reads.fetched) = (reads.next + 1, reads.next + 1);
            return None;
        }
        into.copy_from_slice(reads.data.get(reads.at..reads.at + run.len)?);
        (reads.next, reads.at) = (reads.next + 1, reads.at + run.len);
        Some(Ok(()))
    })
}

impl Reads {
    /// Fetches the next runs, as many as there is room for; whether there is room for any.
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

/// Keeps a run that is written, to send it later; none if it has to be written at once.
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
