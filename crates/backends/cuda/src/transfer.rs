//! Copies and fills, in as few calls to the driver as possible.

use std::sync::Arc;

use wattle_core::{RawBuffer, Result, Transfer, TransferEnd, paired};

use crate::context::Context;
use crate::driver::{Pattern, Said, Stream};
use crate::memory::CudaMemory;

/// Whether a stream of this device can execute the transfer in order ([`submit`]): fills, and copies within the device.
pub(crate) fn is_ordered(transfer: &Transfer, context: &Arc<Context>) -> bool {
    let is_ours = |buffer| of_cuda(buffer).is_some_and(|memory| Arc::ptr_eq(&memory.context, context));
    match (&transfer.from, &transfer.to) {
        (TransferEnd::Fill(value), TransferEnd::Buffer(to, _)) => Pattern::of(value).is_some() && is_ours(to),
        (TransferEnd::Buffer(from, _), TransferEnd::Buffer(to, _)) => is_ours(from) && is_ours(to),
        _ => false,
    }
}

/// Submits what [`is_ordered`] to a stream of its device; the buffers are in use until the stream has executed it.
pub(crate) fn submit(transfer: &Transfer, stream: &Stream) -> Said {
    match (&transfer.from, &transfer.to) {
        (TransferEnd::Fill(value), TransferEnd::Buffer(to, runs)) => {
            let (Some(pattern), Some(memory)) = (Pattern::of(value), of_cuda(to)) else { return Ok(()) };
            // SAFETY: runs are within their buffer, and the queue has recorded the use.
            unsafe { memory.fill_on(runs.of(to), pattern, stream) }
        }
        (TransferEnd::Buffer(from, from_runs), TransferEnd::Buffer(to, to_runs)) => {
            let (Some(source), Some(memory)) = (of_cuda(from), of_cuda(to)) else { return Ok(()) };
            let runs = paired(from_runs.of(from), to_runs.of(to));
            // SAFETY: as above, of both buffers.
            unsafe { memory.copy_on(source, runs, stream) }
        }
        _ => Ok(()),
    }
}

/// Executes a copy or a fill, and waits for its end.
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
