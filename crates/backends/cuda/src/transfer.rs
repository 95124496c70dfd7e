//! Copies and fills, in as few calls to the driver as possible.

use std::sync::Arc;

use wattle_core::{RawPart, Result, Transfer, TransferSource, paired};

use crate::context::Context;
use crate::driver::{Pattern, Said, Stream};
use crate::memory::CudaMemory;

/// Whether a stream of this device can execute the transfer in order ([`submit`]): fills, and copies within the device.
pub(crate) fn is_ordered(transfer: &Transfer, context: &Arc<Context>) -> bool {
    let is_ours = |part: &RawPart| of_cuda(part).is_some_and(|memory| Arc::ptr_eq(&memory.context, context));
    match transfer {
        Transfer::Write { from: TransferSource::Fill(value), to } => Pattern::of(value).is_some() && is_ours(to),
        Transfer::Write { from: TransferSource::Buffer(from), to } => is_ours(from) && is_ours(to),
        Transfer::Write { from: TransferSource::Bytes(_) | TransferSource::Host(_), .. } | Transfer::Read { .. } => {
            false
        }
    }
}

/// Submits what [`is_ordered`] to a stream of its device; the buffers are in use until the stream has executed it.
pub(crate) fn submit(transfer: &Transfer, stream: &Stream) -> Said {
    match transfer {
        Transfer::Write { from: TransferSource::Fill(value), to } => {
            let (Some(pattern), Some(memory)) = (Pattern::of(value), of_cuda(to)) else { return Ok(()) };
            // SAFETY: runs are within their buffer, and the queue has recorded the use.
            unsafe { memory.fill_on(to.runs(), pattern, stream) }
        }
        Transfer::Write { from: TransferSource::Buffer(from), to } => {
            let (Some(source), Some(memory)) = (of_cuda(from), of_cuda(to)) else { return Ok(()) };
            // SAFETY: as above, of both buffers.
            unsafe { memory.copy_on(source, paired(from.runs(), to.runs()), stream) }
        }
        Transfer::Write { from: TransferSource::Bytes(_) | TransferSource::Host(_), .. } | Transfer::Read { .. } => {
            unreachable!("a stream executes only what is_ordered")
        }
    }
}

/// Executes a copy or a fill, and waits for its end.
pub(crate) fn transfer(transfer: Transfer) -> Result<()> {
    match &transfer {
        Transfer::Write { from: TransferSource::Fill(value), to } => {
            if let Some(memory) = of_cuda(to)
                && let Some(filled) = memory.fill(to.runs(), value)
            {
                return filled;
            }
        }
        Transfer::Write { from: TransferSource::Buffer(from), to } => {
            if let (Some(source), Some(memory)) = (of_cuda(from), of_cuda(to)) {
                // SAFETY: runs are within their buffers, and the queue has recorded both uses.
                return unsafe { memory.copy_runs(source, paired(from.runs(), to.runs())) };
            }
        }
        Transfer::Write { from: TransferSource::Bytes(_) | TransferSource::Host(_), .. } | Transfer::Read { .. } => {}
    }
    transfer.run()
}

fn of_cuda(part: &RawPart) -> Option<&CudaMemory> {
    part.buffer.memory().as_any().downcast_ref()
}
