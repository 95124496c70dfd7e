//! Sums within a thread and within a block, which several scenarios share.

use wattle::DeviceKind;
use wattle::prelude::*;

/// How many running sums a thread keeps: enough independent additions to fill a core's vector units.
const LANES: u32 = 16;

/// How many elements of each running sum a thread reads under one check.
const PARTS: u32 = 8; // as many as `tree` adds

/// How many elements a thread reads under one check: `PARTS` for each of its running sums.
pub const ROW: usize = 128;

const SUMS: usize = LANES as usize;
const _: () = assert!(ROW == (LANES * PARTS) as usize, "a row is the parts of all sums");

/// Whether a device's threads run in lock step, so that neighbours shall read what is side by side; elsewhere a thread
/// reads what is its own from beginning to end.
pub fn in_lock_step(device: &Device) -> bool {
    let properties = device.properties();
    matches!(properties.kind, DeviceKind::Gpu | DeviceKind::Software) && properties.warp_width > 1
}

/// The number of frames and their extent for sums of `n` elements on a device whose threads run in lock step.
pub fn shape_together(device: &Device, n: usize) -> (usize, usize) {
    let extent = if n < 1 << 14 { 16 } else { 256 };
    // The threads that run at the same time on a GPU: 2048 on each multiprocessor.
    let most = device.properties().workers.max(1) as usize * 8;
    (n.div_ceil(16 * extent).clamp(1, most), extent)
}

/// The most threads that a block of these kernels can have.
pub const MAX_THREADS: usize = 1024;

/// For sums of `n` elements: how many frames, of which extent, and how many rows of [`ROW`] elements a thread adds up
/// before it adds the result to its total. Sums of sums keep the rounding error small.
pub fn shape(n: usize) -> (usize, usize, u32) {
    let rows = (n / ROW / 256).clamp(1, 64);
    let extent = match n {
        0..=1023 => 2,
        1024..=65535 => 16,
        _ => 256,
    };
    // Few elements are still for a few blocks, since these sums are about blocks that meet.
    let least = n.div_ceil(extent).clamp(1, 4);
    let frames = (n / ROW / rows).div_ceil(extent).clamp(least, 256);
    (frames, extent, rows as u32)
}

/// The sum of `value` over the threads of the block, for each of them. `tile` has an element per thread; between two
/// calls there must be a barrier.
#[device_fn]
pub fn block_sum<T: Float>(acc: &Acc, tile: Shared<T>, value: T) -> T {
    let thread = acc.thread_in_block();
    tile[thread] = value;
    acc.sync_block();
    let mut count = acc.threads_in_block();
    while count > 1 {
        let half = count - count / 2;
        if thread + half < count {
            tile[thread] += tile[thread + half];
        }
        acc.sync_block();
        count = half;
    }
    tile[0]
}

/// The sum of eight numbers, in which no addition waits for many others.
#[device_fn]
fn tree<T: Float>(x: [T; 8]) -> T {
    ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
}

/// The sum of this thread's share of `x`, with as many rows at a time as [`shape`] says.
#[device_fn]
pub fn thread_sum<T: Float>(acc: &Acc, x: Read<T>, rows: u32) -> T {
    let chunk = rows * ROW as u32;
    let chunks = x.len() / chunk;
    let mut totals = [T::ZERO; SUMS];
    for number in acc.indices(THREADS_IN_GRID, 0..chunks) {
        let mut sums = [T::ZERO; SUMS];
        for row in 0..rows {
            let values = x.lanes::<ROW>(number * chunk + row * ROW as u32);
            for k in 0..LANES {
                let mut parts = [T::ZERO; 8];
                for part in 0..PARTS {
                    parts[part] = values[part * LANES + k];
                }
                sums[k] += tree(parts);
            }
        }
        for k in 0..LANES {
            totals[k] += sums[k];
        }
    }
    let mut total = T::ZERO;
    for k in 0..LANES {
        total += totals[k];
    }
    for i in acc.indices(THREADS_IN_GRID, chunks * chunk..x.len()) {
        total += x[i];
    }
    total
}

/// As [`thread_sum`], for threads that run in lock step: neighbours read what is side by side, 16 bytes each, and each
/// thread asks for four such parts before it needs the first, so that memory has enough to do.
#[device_fn]
pub fn thread_sum_together<T: Float>(acc: &Acc, x: Read<T>) -> T {
    let (thread, threads) = (acc.thread_in_grid(), acc.threads_in_grid());
    let quads = x.len() / 4;
    let group = 4 * threads;
    let steps = quads / group;
    let mut sums = [T::ZERO; 4];
    for step in 0..steps {
        let first = 4 * (step * group + thread);
        let (a, b) = (x.lanes::<4>(first), x.lanes::<4>(first + group));
        let (c, d) = (x.lanes::<4>(first + 2 * group), x.lanes::<4>(first + 3 * group));
        for k in 0..4 {
            sums[k] += (a[k] + b[k]) + (c[k] + d[k]);
        }
    }
    let mut total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for i in acc.indices(THREADS_IN_GRID, steps * threads * 16..x.len()) {
        total += x[i];
    }
    total
}

/// The scalar product of this thread's share of `x` and `y`, which have one length, in `SUMS` running sums, a divisor of
/// [`ROW`]; otherwise as [`thread_sum`].
#[device_fn]
pub fn thread_dot<T: Float, const SUMS: usize>(acc: &Acc, x: Read<T>, y: Read<T>, rows: u32) -> T {
    let chunk = rows * ROW as u32;
    let chunks = x.len() / chunk;
    let mut totals = [T::ZERO; SUMS];
    for number in acc.indices(THREADS_IN_GRID, 0..chunks) {
        let mut sums = [T::ZERO; SUMS];
        for group in 0..chunk / SUMS as u32 {
            let at = number * chunk + group * SUMS as u32;
            let (left, right) = (x.lanes::<SUMS>(at), y.lanes::<SUMS>(at));
            for k in 0..SUMS as u32 {
                sums[k] += left[k] * right[k];
            }
        }
        for k in 0..SUMS as u32 {
            totals[k] += sums[k];
        }
    }
    let mut total = T::ZERO;
    for k in 0..SUMS as u32 {
        total += totals[k];
    }
    for i in acc.indices(THREADS_IN_GRID, chunks * chunk..x.len()) {
        total += x[i] * y[i];
    }
    total
}
