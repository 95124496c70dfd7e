#![doc = include_str!("last_block_sum.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

use crate::data::{floats, kahan_sum};
use crate::reduce::{MAX_THREADS, block_sum, shape, thread_sum};

/// `last-block-sum`.
pub const LAST_BLOCK_SUM: Scenario = Scenario {
    name: "last-block-sum",
    summary: "a sum in one launch: the block that is last adds up what all have left",
    documentation: include_str!("last_block_sum.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(last_block_sum, SIZES),
};

/// `last-block-sum-textbook`.
pub const TEXTBOOK: Scenario = Scenario {
    name: "last-block-sum-textbook",
    summary: "as last-block-sum, with no fence after the counter: nothing orders the last block's reads",
    documentation: include_str!("last_block_sum.md"),
    expectation: Expectation::Refuted,
    work: Work::Sized(textbook, SIZES),
};

const SIZES: Sizes = Sizes { full: 1 << 24, small: 1 << 14, proof: 64 };

/// `totals[launch]` becomes the sum of `values`. `partials` has an element per frame; `counter` is 0 before and after.
#[kernel]
pub fn sum<const ACQUIRE: bool>(
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

    let share = thread_sum(acc, values, rows);
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

/// The sums of `values` that `launches` launches in a row find.
pub fn sums<const ACQUIRE: bool>(device: &Device, values: &[f32], launches: usize) -> Result<Vec<f32>> {
    let (frames, extent, rows) = shape(values.len());
    let queue = device.queue_non_blocking()?;
    let values = device.from_slice(values)?;
    let partials = device.alloc::<f32>(frames)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    let totals = device.alloc::<f32>(launches)?;
    for launch in 0..launches as u32 {
        let kernel = sum::<ACQUIRE>(rows, launch, &values, &partials, &counter, &totals);
        queue.launch(FrameSpec::new(frames, extent), kernel)?;
    }
    totals.read(&queue)
}

const LAUNCHES: usize = 3;

/// Adds up `n` floats, three times in a row.
pub fn last_block_sum(device: &Device, n: usize) -> Result<Summary> {
    let values = floats(n);
    let found = sums::<true>(device, &values, LAUNCHES)?;
    let exact = kahan_sum(&values);
    let mut summary = Summary::new(format!("{LAUNCHES} sums of {n} f32 in a row"));
    let near = found.iter().all(|sum| (sum - exact).abs() <= 1e-5 * exact.abs());
    summary.check(near, "each is Kahan's sum to 1e-5", || format!("{found:?} and not {exact}"))?;
    summary.check(found.iter().all(|sum| *sum == found[0]), "all launches give one sum", || format!("{found:?}"))?;
    Ok(summary)
}

/// Adds up `n` floats, three times in a row, without the acquire fence; says what was seen.
pub fn textbook(device: &Device, n: usize) -> Result<Summary> {
    let values = floats(n);
    let found = sums::<false>(device, &values, LAUNCHES)?;
    let exact = kahan_sum(&values);
    let mut summary = Summary::new(format!("{LAUNCHES} sums of {n} f32; this device does not notice the race"));
    for sum in found {
        summary.observe(&[("wrong", ((sum - exact).abs() > 1e-5 * exact.abs()).into())]);
    }
    Ok(summary)
}
