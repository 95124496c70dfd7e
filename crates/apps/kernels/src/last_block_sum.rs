#![doc = include_str!("last_block_sum.md")]

use wattle::prelude::*;

use crate::data::{fits, floats, kahan_sum};
use crate::reduce::{MAX_THREADS, block_sum, in_lock_step, shape, shape_together, thread_sum, thread_sum_together};

const PAGE: &str = include_str!("last_block_sum.md");

/// A sum in one launch: the block that is last adds up what all have left.
#[scenario(name = "last-block-sum", sizes = SIZES, documentation = PAGE)]
pub fn last_block_sum(device: &Device, n: usize) -> Result<Summary> {
    fits(device, n, n)?;
    let values = floats(n);
    let found = sums::<true>(device, &values, launches(n))?;
    let exact = kahan_sum(&values);
    let mut summary = Summary::new(format!("{} sums of {n} f32 in a row", found.len()));
    let near = found.iter().all(|sum| (sum - exact).abs() <= 1e-5 * exact.abs());
    summary.check(near, "each is Kahan's sum to 1e-5", || format!("{found:?} and not {exact}"))?;
    summary.check(found.iter().all(|sum| *sum == found[0]), "all launches give one sum", || format!("{found:?}"))?;
    Ok(summary)
}

/// As last-block-sum, with no fence after the counter: nothing orders the last block's reads.
#[scenario(name = "last-block-sum-textbook", expect = refuted, sizes = SIZES, documentation = PAGE)]
pub fn textbook(device: &Device, n: usize) -> Result<Summary> {
    fits(device, n, n)?;
    let values = floats(n);
    let found = sums::<false>(device, &values, launches(n))?;
    let exact = kahan_sum(&values);
    let mut summary = Summary::new(format!("{} sums of {n} f32; this device does not notice the race", found.len()));
    for sum in found {
        summary.observe(&[("wrong", ((sum - exact).abs() > 1e-5 * exact.abs()).into())]);
    }
    Ok(summary)
}

/// A number left by each block as in last-block-sum, without the fence before the counter.
#[scenario(name = "last-block-sum-broken-no-release", expect = refuted, documentation = PAGE)]
fn broken_no_release(device: &Device) -> Result<Summary> {
    observed(device, |queue, partials, counter, stale| {
        queue.launch(ThreadSpec::new(BLOCKS, 1), collect_no_release(partials, counter, stale))
    })
}

/// A number left by each block as in last-block-sum, with fences of block scope between blocks.
#[scenario(name = "last-block-sum-broken-block-scope", expect = refuted, documentation = PAGE)]
fn broken_block_scope(device: &Device) -> Result<Summary> {
    observed(device, |queue, partials, counter, stale| {
        queue.launch(ThreadSpec::new(BLOCKS, 1), collect_block_scope(partials, counter, stale))
    })
}

/// A number left by each block as in last-block-sum, with a fence where the block's barrier belongs.
#[scenario(name = "last-block-sum-broken-no-barrier", expect = refuted, documentation = PAGE)]
fn broken_no_barrier(device: &Device) -> Result<Summary> {
    observed(device, |queue, partials, counter, stale| {
        queue.launch(FrameSpec::new(BLOCKS, 2), collect_no_barrier(partials, counter, stale))
    })
}

const SIZES: Sizes = Sizes { full: 1 << 24, small: 1 << 14, proof: 8 };

/// `totals[launch]` becomes the sum of `values`. `partials` has an element per frame; `counter` is 0 before and after.
#[kernel]
pub fn sum<const ACQUIRE: bool, const TOGETHER: bool>(
    acc: &Acc,
    rows: u32,
    launch: u32,
    values: Read<f32>,
    partials: Shared<f32>,
    counter: Atomic<u32>,
    totals: Shared<f32>,
) {
    let tile = acc.shared::<f32, MAX_THREADS>();
    let is_last = acc.shared::<u32, 1>();
    let (thread, blocks) = (acc.thread_in_block(), acc.blocks_in_grid());

    let share = if TOGETHER { thread_sum_together(acc, values) } else { thread_sum(acc, values, rows) };
    let partial = block_sum(acc, tile, share);
    if thread == 0 {
        partials[acc.block_in_grid()] = partial;
        acc.mem_fence(Scope::Device, Order::Release);
        let before = counter.fetch_inc(0, blocks);
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        is_last[0] = (before + 1 == blocks) as u32;
    }
    acc.sync_block();

    if is_last[0] == 1 {
        let mut share = 0.0;
        for block in acc.indices(THREADS_IN_BLOCK, 0..blocks) {
            share += partials[block];
        }
        let total = block_sum(acc, tile, share);
        if thread == 0 {
            totals[launch] = total;
            counter.store(0, 0);
        }
    }
}

/// Each block leaves a number; the last one counts those that it does not see. Without the release fence.
#[kernel]
pub fn collect_no_release(acc: &Acc, partials: Shared<u32>, counter: Atomic<u32>, stale: Atomic<u32>) {
    let (block, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    partials[block] = 1;
    let before = counter.fetch_inc(0, blocks);
    acc.mem_fence(Scope::Device, Order::Acquire);
    if before + 1 == blocks {
        for other in 0..blocks {
            stale.fetch_add(0, (partials[other] != 1) as u32);
        }
    }
}

/// The same with fences that do not reach the other blocks.
#[kernel]
pub fn collect_block_scope(acc: &Acc, partials: Shared<u32>, counter: Atomic<u32>, stale: Atomic<u32>) {
    let (block, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    partials[block] = 1;
    acc.mem_fence(Scope::Block, Order::Release);
    let before = counter.fetch_inc(0, blocks);
    acc.mem_fence(Scope::Block, Order::Acquire);
    if before + 1 == blocks {
        for other in 0..blocks {
            stale.fetch_add(0, (partials[other] != 1) as u32);
        }
    }
}

/// The same in blocks of several threads, with a mere fence between the thread that counts and the others.
#[kernel]
pub fn collect_no_barrier(acc: &Acc, partials: Shared<u32>, counter: Atomic<u32>, stale: Atomic<u32>) {
    let is_last = acc.shared::<u32, 1>();
    let (block, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    if acc.thread_in_block() == 0 {
        partials[block] = 1;
        acc.mem_fence(Scope::Device, Order::Release);
        let before = counter.fetch_inc(0, blocks);
        acc.mem_fence(Scope::Device, Order::Acquire);
        is_last[0] = (before + 1 == blocks) as u32;
    }
    acc.mem_fence(Scope::Block, Order::AcqRel); // where a barrier belongs
    if is_last[0] == 1 {
        for other in acc.indices(THREADS_IN_BLOCK, 0..blocks) {
            stale.fetch_add(0, (partials[other] != 1) as u32);
        }
    }
}

/// The memory that sums of `n` numbers on a device need.
pub struct Sum {
    frames: usize,
    extent: usize,
    rows: u32,
    together: bool,
    partials: Buffer<f32>,
    counter: Buffer<u32>,
    totals: Buffer<f32>,
}

impl Sum {
    /// Allocates the memory for sums of `n` numbers, of which `totals` are kept.
    ///
    /// # Errors
    /// The device has no memory left; all functions here return the device's errors.
    pub fn new(device: &Device, n: usize, totals: usize) -> Result<Sum> {
        let together = in_lock_step(device);
        let (frames, extent, rows) = if together {
            let (frames, extent) = shape_together(device, n);
            (frames, extent, 0)
        } else {
            shape(n)
        };
        let (partials, counter) = (device.alloc::<f32>(frames)?, device.alloc_zeroed::<u32>(1)?);
        Ok(Sum { frames, extent, rows, together, partials, counter, totals: device.alloc(totals)? })
    }

    /// Launches the sum of `values`, which will be the total of that number. Without the acquire fence it is the textbook's.
    pub fn launch<const ACQUIRE: bool>(&self, queue: &Queue, values: &Buffer<f32>, total: u32) -> Result<()> {
        let Sum { rows, partials, counter, totals, .. } = self;
        let spec = FrameSpec::new(self.frames, self.extent);
        if self.together {
            queue.launch(spec, sum::<ACQUIRE, true>(*rows, total, values, partials, counter, totals))
        } else {
            queue.launch(spec, sum::<ACQUIRE, false>(*rows, total, values, partials, counter, totals))
        }
    }

    /// Reads the totals of all sums so far.
    pub fn totals(&self, queue: &Queue) -> Result<Vec<f32>> {
        self.totals.read(queue)
    }
}

/// The sums of `values` that `launches` launches in a row find.
pub fn sums<const ACQUIRE: bool>(device: &Device, values: &[f32], launches: usize) -> Result<Vec<f32>> {
    let queue = device.queue_non_blocking()?;
    let sum = Sum::new(device, values.len(), launches)?;
    let values = device.from_slice(values)?;
    for launch in 0..launches as u32 {
        sum.launch::<ACQUIRE>(&queue, &values, launch)?;
    }
    sum.totals(&queue)
}

/// The number of launches in a row. A proof has enough to do with the orders in which the blocks of one can come.
fn launches(n: usize) -> usize {
    if n < 64 { 1 } else { 3 }
}

/// The number of blocks of the kernels that are wrong.
const BLOCKS: usize = 4;

/// Runs a kernel that is wrong, with a number from each block; says what was seen.
fn observed(
    device: &Device,
    launch: impl FnOnce(&Queue, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let partials = device.alloc_zeroed::<u32>(BLOCKS)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    let stale = device.alloc_zeroed::<u32>(1)?;
    launch(&queue, &partials, &counter, &stale)?;
    let mut summary = Summary::new("a number from each block to the last; this device does not notice the race");
    summary.observe(&[("stale", stale.read(&queue)?[0].into())]);
    Ok(summary)
}
