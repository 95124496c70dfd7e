//! Bitonic sort (Batcher 1968): a block sorts what fits its shared memory, and launches merge what is further apart.

use wattle::prelude::*;

use crate::noise;

/// The most elements that a block sorts in shared memory.
pub const RUN: usize = 256;

/// The lower place of pair `pair` among elements that are `distance` apart, a power of two.
#[device_fn]
pub fn lower(pair: u32, distance: u32) -> u32 {
    pair / distance * (2 * distance) + pair % distance
}

/// One step between elements that are `distance` apart, towards sorted runs of `length`.
#[kernel]
pub fn exchange(acc: &Acc, length: u32, distance: u32, values: Shared<u32>) {
    for pair in acc.indices(THREADS_IN_GRID, 0..values.len() / 2) {
        let i = lower(pair, distance);
        let j = i + distance;
        let ascending = i & length == 0;
        let (a, b) = (values[i], values[j]);
        if (a > b) == ascending {
            values[i] = b;
            values[j] = a;
        }
    }
}

/// All steps towards sorted runs of `first` up to `last` elements that are at most a block's share apart. A block has
/// half as many threads as its share has elements, and the launch as many shares as there are.
#[kernel]
pub fn exchange_near(acc: &Acc, first: u32, last: u32, values: Shared<u32>) {
    let tile = acc.shared::<u32, RUN>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let share = 2 * threads;
    let begin = acc.block_in_grid() * share;
    tile[thread] = values[begin + thread];
    tile[thread + threads] = values[begin + thread + threads];

    let mut length = first;
    while length <= last {
        let mut distance = (length / 2).min(threads);
        while distance > 0 {
            acc.sync_block();
            let i = lower(thread, distance);
            let j = i + distance;
            let ascending = (begin + i) & length == 0;
            let (a, b) = (tile[i], tile[j]);
            if (a > b) == ascending {
                tile[i] = b;
                tile[j] = a;
            }
            distance /= 2;
        }
        length *= 2;
    }
    acc.sync_block();
    values[begin + thread] = tile[thread];
    values[begin + thread + threads] = tile[thread + threads];
}

/// Sorts `values`, whose number is a power of two, and at least `share`, in shares of `share` elements, a power of two up
/// to [`RUN`].
///
/// # Errors
/// What the device says.
pub fn sorted(device: &Device, share: usize, values: &[u32]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let buffer = device.from_slice(values)?;
    let (n, run) = (values.len() as u32, share as u32);
    let shares = ThreadSpec::new(values.len() / share, share / 2);
    let pairs = FrameSpec::cover(values.len() / 2, share / 2);
    queue.launch(shares, exchange_near(2, run, &buffer))?;
    let mut length = 2 * run;
    while length <= n {
        let mut distance = length / 2;
        while distance >= run {
            queue.launch(pairs, exchange(length, distance, &buffer))?;
            distance /= 2;
        }
        queue.launch(shares, exchange_near(length, length, &buffer))?;
        length *= 2;
    }
    buffer.read(&queue)
}

/// Numbers, sorted.
#[scenario(sizes = Sizes { full: 1 << 14, small: 1 << 9, proof: 8 })]
pub fn bitonic_sort(device: &Device, n: usize) -> Result<Summary> {
    let values: Vec<u32> = (0..n).map(|i| noise(i) % 1000).collect();
    let found = sorted(device, if n < 16 { 4 } else { RUN }, &values)?;
    let mut expected = values;
    expected.sort_unstable();

    let mut summary = Summary::new(format!("{n} numbers"));
    summary.check(found == expected, "they are sorted", || "they are not".into())?;
    Ok(summary)
}
