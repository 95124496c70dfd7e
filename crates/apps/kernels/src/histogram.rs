#![doc = include_str!("histogram.md")]

use wattle::prelude::*;

use crate::data::noise;

/// Counts of bytes: atomics in block shared memory, then one addition per block and bin.
///
/// Small bytes come more often than large ones. Few of them are bits, two for each block.
#[scenario(
    name = "histogram",
    sizes = Sizes { full: 1 << 22, small: 1 << 12, proof: 4 },
    documentation = include_str!("histogram.md"),
)]
pub fn histogram(device: &Device, n: usize) -> Result<Summary> {
    device.needs_memory(n as u64, n as u64)?;
    let bins = if n < 16 { 2 } else { BINS };
    let values: Vec<_> = (0..n).map(|i| (noise(i) as usize & noise(i + n) as usize & (bins - 1)) as u8).collect();
    let found = match bins {
        2 => count_in::<2>(device, &values, FrameSpec::cover(n, 2))?,
        _ => count(device, &values)?,
    };
    let mut summary = Summary::new(format!("{n} bytes in {bins} bins"));
    summary.check(found == reference(&values)[..bins], "each count is right", || "some are not".into())?;
    Ok(summary)
}

/// How many bins there are: one for each byte.
pub const BINS: usize = 256;

/// Threads per block.
pub const THREADS: usize = 64;

/// Adds to `counts` how often each byte below `BINS` comes in `values`, which has no others.
#[kernel]
pub fn count_bytes<const BINS: usize>(acc: &Acc, values: Read<u8>, counts: Atomic<u32>) {
    let bins = acc.shared_atomic::<u32, BINS>();
    for bin in acc.indices(THREADS_IN_BLOCK, 0..BINS as u32) {
        bins.store_with(bin, 0, Scope::Block, Order::Relaxed);
    }
    acc.sync_block();
    for i in acc.indices(THREADS_IN_GRID, 0..values.len()) {
        bins.fetch_add_with(values[i] as u32, 1, Scope::Block, Order::Relaxed);
    }
    acc.sync_block();
    for bin in acc.indices(THREADS_IN_BLOCK, 0..BINS as u32) {
        let count = bins.load_with(bin, Scope::Block, Order::Relaxed);
        if count > 0 {
            counts.fetch_add(bin, count);
        }
    }
}

/// How often each byte comes in `values`.
pub fn count(device: &Device, values: &[u8]) -> Result<Vec<u32>> {
    let frames = values.len().div_ceil(1 << 10).min(256);
    count_in::<BINS>(device, values, FrameSpec::new(frames, THREADS))
}

/// How often each byte below `BINS` comes in `values`, which has no others.
fn count_in<const BINS: usize>(device: &Device, values: &[u8], spec: FrameSpec<1>) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let counts = device.alloc_zeroed::<u32>(BINS)?;
    let values = device.from_slice(values)?;
    queue.launch(spec, count_bytes::<BINS>(&values, &counts))?;
    counts.read(&queue)
}

/// The expected result of [`count`].
pub fn reference(values: &[u8]) -> Vec<u32> {
    let mut counts = vec![0; BINS];
    for &value in values {
        counts[usize::from(value)] += 1;
    }
    counts
}
