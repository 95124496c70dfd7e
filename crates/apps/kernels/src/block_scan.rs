#![doc = include_str!("block_scan.md")]

use wattle::prelude::*;

use crate::data::{fits, integers};

/// Running sums within each frame, in shared memory, with a barrier between the steps.
#[scenario(
    name = "block-scan",
    sizes = Sizes { full: 1 << 20, small: 1 << 11, proof: 4 },
    documentation = include_str!("block_scan.md"),
)]
pub fn block_scan(device: &Device, n: usize) -> Result<Summary> {
    let extent = match n {
        0..=4 => 2,
        5..=4096 => 64,
        _ => MAX_EXTENT,
    };
    fits(device, n.saturating_mul(2), n.saturating_mul(3))?;
    let values = integers(n);
    let found = scan(device, &values, extent)?;
    let mut summary = Summary::new(format!("{n} u32 in frames of {extent}"));
    summary.check(found == reference(&values, extent), "each is the sum up to there", || "some are not".into())?;
    Ok(summary)
}

/// The most elements of a frame.
pub const MAX_EXTENT: usize = 256;

/// Running sums of `input` within each frame (Hillis and Steele). The tile holds two generations.
#[kernel]
pub fn scan_frames(acc: &Acc, input: Read<u32>, out: Shared<u32>) {
    let tile = acc.shared::<u32, { 2 * MAX_EXTENT }>();
    let extent = acc.frame_extent();
    for frame in acc.indices(BLOCKS_IN_GRID, 0..acc.frames()) {
        let begin = frame * extent;
        for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
            tile[t] = if begin + t < input.len() { input[begin + t] } else { 0 };
        }
        acc.sync_block();
        let mut from = 0;
        let mut distance = 1;
        while distance < extent {
            let to = extent - from;
            for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
                let mut sum = tile[from + t];
                if t >= distance {
                    sum += tile[from + t - distance];
                }
                tile[to + t] = sum;
            }
            acc.sync_block();
            from = to;
            distance *= 2;
        }
        for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
            if begin + t < out.len() {
                out[begin + t] = tile[from + t];
            }
        }
        acc.sync_block();
    }
}

/// The running sums of `values` within each run of `extent` elements, which are [`MAX_EXTENT`] at the most.
pub fn scan(device: &Device, values: &[u32], extent: usize) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let input = device.from_slice(values)?;
    let out = device.alloc_like(&input)?;
    queue.launch(FrameSpec::cover(values.len(), extent), scan_frames(&input, &out))?;
    out.read(&queue)
}

/// The expected result of [`scan`].
pub fn reference(values: &[u32], extent: usize) -> Vec<u32> {
    let running = |run: &[u32]| -> Vec<u32> {
        let mut sum = 0u32;
        run.iter()
            .map(|&x| {
                sum = sum.wrapping_add(x);
                sum
            })
            .collect()
    };
    values.chunks(extent).flat_map(running).collect()
}
