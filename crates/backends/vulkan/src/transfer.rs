//! Copies and fills, in as few submissions as possible.

use std::sync::Arc;

use ash::vk;
use wattle_core::{RawBuffer, Result, Runs, Transfer, TransferEnd};

use crate::ahead;
use crate::memory::VulkanMemory;
use crate::staging::{MOST_RUNS, Run};

/// Does a copy or a fill.
pub(crate) fn transfer(transfer: Transfer) -> Result<()> {
    let to = end(&transfer.to);
    if let (TransferEnd::Fill(value), Some((to, runs))) = (&transfer.from, &to)
        && let Some(memory) = unmapped(to)
        && let Some(filled) = memory.fill(&runs_of(to, runs), value)
    {
        return filled;
    }
    let from = end(&transfer.from);
    if let (Some((from, from_runs)), Some((to, to_runs))) = (&from, &to)
        && let (Some(source), Some(memory)) = (of_vulkan(from), of_vulkan(to))
        && Arc::ptr_eq(&source.context, &memory.context)
        && !(source.is_mapped() && memory.is_mapped())
    {
        return within(source, &runs_of(from, from_runs), memory, &runs_of(to, to_runs));
    }
    // A single run gains nothing from batching.
    let many = |(buffer, runs): &(Arc<RawBuffer>, Runs)| runs.of(buffer).nth(1).is_some();
    let (from, to) = (from.filter(many), to.filter(many));
    let reads = from.as_ref().and_then(|(from, runs)| Some((unmapped(from)?, runs_of(from, runs))));
    let writes = to.as_ref().and_then(|(to, _)| unmapped(to));
    if reads.is_none() && writes.is_none() {
        return transfer.run();
    }
    ahead::with(reads, writes, || transfer.run())
}

/// The buffer and its runs at one end of a transfer, if that end is a buffer.
fn end(end: &TransferEnd) -> Option<(Arc<RawBuffer>, Runs)> {
    match end {
        TransferEnd::Buffer(buffer, runs) => Some((buffer.clone(), *runs)),
        _ => None,
    }
}

fn of_vulkan(buffer: &RawBuffer) -> Option<&VulkanMemory> {
    buffer.memory().as_any().downcast_ref()
}

/// The memory of a buffer of this crate that the host cannot copy to and from directly.
fn unmapped(buffer: &RawBuffer) -> Option<&VulkanMemory> {
    of_vulkan(buffer).filter(|memory| !memory.is_mapped())
}

fn runs_of(buffer: &RawBuffer, runs: &Runs) -> Vec<Run> {
    runs.of(buffer).map(|(offset, len)| Run { offset, len }).collect()
}

/// Copies within a device.
fn within(from: &VulkanMemory, from_runs: &[Run], to: &VulkanMemory, to_runs: &[Run]) -> Result<()> {
    let copies = paired(from_runs, to_runs);
    copies.chunks(MOST_RUNS).try_for_each(|copies| to.context.copy_staged(&to.block, &from.block, copies))
}

/// Pairs the runs of two parts of equal length, cut into pieces that are consecutive in both.
fn paired(from: &[Run], to: &[Run]) -> Vec<vk::BufferCopy> {
    let (mut from, mut to) = (from.iter().copied(), to.iter().copied());
    let (mut source, mut target) = (from.next(), to.next());
    let mut copies = Vec::new();
    while let (Some(a), Some(b)) = (&mut source, &mut target) {
        let len = a.len.min(b.len);
        copies.push(vk::BufferCopy { src_offset: a.offset as u64, dst_offset: b.offset as u64, size: len as u64 });
        for run in [&mut *a, &mut *b] {
            (run.offset, run.len) = (run.offset + len, run.len - len);
        }
        let (a_is_done, b_is_done) = (a.len == 0, b.len == 0);
        if a_is_done {
            source = from.next();
        }
        if b_is_done {
            target = to.next();
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_paired() {
        let run = |offset, len| Run { offset, len };
        let pieces = |from: &[Run], to: &[Run]| -> Vec<_> {
            paired(from, to).iter().map(|copy| (copy.src_offset, copy.dst_offset, copy.size)).collect()
        };
        assert_eq!(pieces(&[run(3, 5)], &[run(7, 5)]), [(3, 7, 5)]);
        assert_eq!(
            pieces(&[run(0, 4), run(10, 4), run(20, 4)], &[run(0, 6), run(100, 6)]),
            [(0, 0, 4), (10, 4, 2), (12, 100, 2), (20, 102, 4)]
        );
        assert_eq!(pieces(&[], &[]), []);
    }
}
