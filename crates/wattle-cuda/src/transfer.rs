//! Copies and fills, in as few calls of the driver's as can be.

use wattle_core::{RawBuffer, Result, Transfer, TransferEnd, paired};

use crate::memory::CudaMemory;

/// Does a copy or a fill, and waits for its end.
pub(crate) fn transfer(transfer: Transfer) -> Result<()> {
    match (&transfer.from, &transfer.to) {
        (TransferEnd::Fill(value), TransferEnd::Buffer(to, runs)) => {
            if let Some(memory) = of_cuda(to)
                && let Some(filled) = memory.fill(runs.of(to), value)
            {
                return filled;
            }
            transfer.run()
        }
        (TransferEnd::Buffer(from, from_runs), TransferEnd::Buffer(to, to_runs)) => {
            if let (Some(source), Some(memory)) = (of_cuda(from), of_cuda(to)) {
                let runs = paired(from_runs.of(from), to_runs.of(to));
                // SAFETY: runs are within their buffers, and the queue has recorded both uses.
                return unsafe { memory.copy_runs(source, runs) };
            }
            transfer.run()
        }
        _ => transfer.run(),
    }
}

fn of_cuda(buffer: &RawBuffer) -> Option<&CudaMemory> {
    buffer.memory().as_any().downcast_ref()
}
