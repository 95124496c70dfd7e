//! A histogram of bytes: counters in shared memory, and one addition for each block and counter.

use wattle::prelude::*;

use crate::noise;

/// Adds to `counts` how often each number below `BINS` comes in `values`, which has no others.
#[kernel]
pub fn count<const BINS: usize>(acc: &Acc, values: Read<u8>, counts: Atomic<u32>) {
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
        counts.fetch_add(bin, bins.load_with(bin, Scope::Block, Order::Relaxed));
    }
}

/// How often each number below `BINS` comes in `values`, with launches of this shape.
///
/// # Errors
/// What the device says.
pub fn counts<const BINS: usize>(device: &Device, spec: ThreadSpec<1>, values: &[u8]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let counts = device.alloc_zeroed::<u32>(BINS)?;
    let values = device.from_slice(values)?;
    queue.launch(spec, count::<BINS>(&values, &counts))?;
    counts.read(&queue)
}

/// How often each byte comes.
#[scenario(sizes = Sizes { full: 1 << 20, small: 1 << 11, proof: 2 })]
pub fn histogram(device: &Device, n: usize) -> Result<Summary> {
    let proof = n < 16;
    let bins = if proof { 2 } else { 256 };
    let values: Vec<u8> = (0..n).map(|i| (noise(i) % bins) as u8).collect();
    let found = match proof {
        true => counts::<2>(device, ThreadSpec::new(1, 2), &values)?,
        false => counts::<256>(device, ThreadSpec::new(n.div_ceil(1 << 12), 256), &values)?,
    };
    let mut expected = vec![0; found.len()];
    values.iter().for_each(|&value| expected[usize::from(value)] += 1);

    let mut summary = Summary::new(format!("{n} bytes in {bins} bins"));
    summary.check(found == expected, "each count is right", || "some are not".into())?;
    Ok(summary)
}
