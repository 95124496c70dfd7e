//! Compaction: the elements that pass a test, side by side. Each block asks for its place in the result once.

use wattle::prelude::*;

use crate::noise;

/// The most threads of a block.
pub const THREADS: usize = 256;

/// Writes the elements of `values` below `limit` to the beginning of `out`, and adds their number to `count`. Those of a
/// block keep their order; which block comes first is open.
#[kernel]
pub fn keep_below(acc: &Acc, limit: u32, values: Read<u32>, out: Shared<u32>, count: Atomic<u32>) {
    let places = acc.shared::<u32, THREADS>();
    let begin = acc.shared::<u32, 1>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let at = acc.thread_in_grid();
    let kept = at < values.len() && values[at] < limit;

    // How many elements up to this thread's are kept (Hillis and Steele).
    let mut sum = if kept { 1 } else { 0 };
    places[thread] = sum;
    acc.sync_block();
    let mut distance = 1;
    while distance < threads {
        if thread >= distance {
            sum += places[thread - distance];
        }
        acc.sync_block();
        places[thread] = sum;
        acc.sync_block();
        distance *= 2;
    }

    if thread == threads - 1 {
        begin[0] = count.fetch_add(0, sum);
    }
    acc.sync_block();
    if kept {
        out[begin[0] + sum - 1] = values[at];
    }
}

/// The elements of `values` below `limit`, by blocks of `threads` threads.
///
/// # Errors
/// What the device says.
pub fn below(device: &Device, threads: usize, limit: u32, values: &[u32]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let out = device.alloc::<u32>(values.len())?;
    let count = device.alloc_zeroed::<u32>(1)?;
    let values = device.from_slice(values)?;
    queue.launch(ThreadSpec::new(out.len().div_ceil(threads), threads), keep_below(limit, &values, &out, &count))?;
    let count = count.read(&queue)?[0] as usize;
    out.slice(0..count)?.read(&queue)
}

/// The elements below a limit, side by side.
#[scenario(sizes = Sizes { full: 1 << 18, small: 1 << 10, proof: 7 })]
pub fn compaction(device: &Device, n: usize) -> Result<Summary> {
    let values: Vec<u32> = (0..n).map(|i| noise(i) % 1000).collect();
    let mut found = below(device, if n < 16 { 4 } else { THREADS }, 300, &values)?;
    let mut expected: Vec<u32> = values.iter().copied().filter(|&x| x < 300).collect();
    found.sort_unstable();
    expected.sort_unstable();

    let mut summary = Summary::new(format!("{} of {n} elements", expected.len()));
    summary.check(found == expected, "those that pass are there, each once", || "they are not".into())?;
    Ok(summary)
}
