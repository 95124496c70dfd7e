//! Copies and fills, in as few submissions as possible.

use std::sync::Arc;

use ash::vk;
use wattle_core::{RawPart, Result, Transfer, TransferSource, paired};

use crate::ahead;
use crate::memory::VulkanMemory;
use crate::staging::{MOST_RUNS, Run};

/// Does a copy or a fill.
pub(crate) fn transfer(transfer: Transfer) -> Result<()> {
    let (from, to) = match &transfer {
        Transfer::Write { from: TransferSource::Buffer(from), to } => (Some(from), Some(to)),
        Transfer::Write { from: TransferSource::Fill(value), to } => {
            if let Some(filled) = unmapped(to).and_then(|memory| memory.fill(&runs_of(to), value)) {
                return filled;
            }
            (None, Some(to))
        }
        Transfer::Write { from: TransferSource::Bytes(_) | TransferSource::Host(_), to } => (None, Some(to)),
        Transfer::Read { from, .. } => (Some(from), None),
    };
    if let (Some(from), Some(to)) = (from, to)
        && let (Some(source), Some(memory)) = (of_vulkan(from), of_vulkan(to))
        && Arc::ptr_eq(&source.context, &memory.context)
        && !(source.is_mapped() && memory.is_mapped())
    {
        return within(source, &runs_of(from), memory, &runs_of(to));
    }
    // A single run gains nothing from batching.
    let many = |part: &&RawPart| part.runs().nth(1).is_some();
    let (from, to) = (from.filter(many).cloned(), to.filter(many).cloned());
    let reads = from.as_ref().and_then(|from| Some((unmapped(from)?, runs_of(from))));
    let writes = to.as_ref().and_then(unmapped);
    if reads.is_none() && writes.is_none() {
        return transfer.run();
    }
    ahead::with(reads, writes, || transfer.run())
}

fn of_vulkan(part: &RawPart) -> Option<&VulkanMemory> {
    part.buffer.memory().as_any().downcast_ref()
}

/// The memory of a buffer of this crate that the host cannot copy to and from directly.
fn unmapped(part: &RawPart) -> Option<&VulkanMemory> {
    of_vulkan(part).filter(|memory| !memory.is_mapped())
}

fn runs_of(part: &RawPart) -> Vec<Run> {
    part.runs().map(|(offset, len)| Run { offset, len }).collect()
}

/// Copies runs of bytes from one buffer of a device to another.
fn within(from: &VulkanMemory, from_runs: &[Run], to: &VulkanMemory, to_runs: &[Run]) -> Result<()> {
    let parts = |runs: &[Run]| runs.iter().map(|run| (run.offset, run.len)).collect::<Vec<_>>();
    let copies: Vec<_> = paired(parts(from_runs).into_iter(), parts(to_runs).into_iter())
        .map(|(from, to, len)| vk::BufferCopy { src_offset: from as u64, dst_offset: to as u64, size: len as u64 })
        .collect();
    copies.chunks(MOST_RUNS).try_for_each(|copies| to.context.copy_staged(&to.block, &from.block, copies))
}
