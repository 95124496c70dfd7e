//! One kernel, and the scenario that checks it.

use wattle::prelude::*;

/// Adds up the parts of a dot product: each block sums its share in shared memory, and its first thread adds that to
/// the total.
#[kernel]
pub fn dot(acc: &Acc, x: Read<u32>, y: Read<u32>, total: Atomic<u32>) {
    let sum = acc.shared_atomic::<u32, 1>();
    for i in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..1) {
        sum.store_with(i, 0, Scope::Block, Order::Relaxed);
    }
    acc.sync_block();

    let mut part = 0;
    for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
        part += x[i] * y[i];
    }
    sum.fetch_add_with(0, part, Scope::Block, Order::Relaxed);
    acc.sync_block();

    for i in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..1) {
        total.fetch_add(i, sum.load_with(i, Scope::Block, Order::Relaxed));
    }
}

/// The dot product of two arrays, on any device.
pub fn dot_product(device: &Device, x: &[u32], y: &[u32]) -> Result<u32> {
    let queue = device.queue()?;
    let (x, y) = (device.from_slice(x)?, device.from_slice(y)?);
    let total = device.alloc_zeroed::<u32>(1)?;
    let frame = x.len().min(64); // small work has small frames, and so few executions to look at
    queue.launch(FrameSpec::cover(x.len(), frame), dot(&x, &y, &total))?;
    Ok(total.read(&queue)?[0])
}

/// A dot product, summed per block in shared memory.
///
/// Over arrays of `n` elements, and compared with plain Rust. Integers wrap, so the order in which the blocks add does
/// not matter.
#[scenario(name = "dot", sizes = Sizes { full: 1 << 20, small: 1 << 10, proof: 4 })]
pub fn scenario(device: &Device, n: usize) -> Result<Summary> {
    let x: Vec<u32> = (0..n as u32).collect();
    let y: Vec<u32> = x.iter().map(|x| 3 * x + 1).collect();
    let expected = x.iter().zip(&y).fold(0u32, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)));
    let total = dot_product(device, &x, &y)?;

    let mut summary = Summary::new(format!("a dot product of {n} elements"));
    summary.check(total == expected, "it is plain Rust's", || format!("{total} is not {expected}"))?;
    Ok(summary)
}
