//! Softmax over the rows of a matrix: a block a row, with a maximum and a sum over its threads.

use wattle::prelude::*;

use crate::uniform;

/// The most threads of a block.
pub const THREADS: usize = 128;

/// The maximum of `value` over the threads of the block, for each of them.
#[device_fn]
pub fn block_max(acc: &Acc, tile: Shared<f32>, value: f32) -> f32 {
    let thread = acc.thread_in_block();
    tile[thread] = value;
    acc.sync_block();
    let mut half = acc.threads_in_block() / 2;
    while half > 0 {
        if thread < half {
            tile[thread] = tile[thread].max(tile[thread + half]);
        }
        acc.sync_block();
        half /= 2;
    }
    let result = tile[0];
    acc.sync_block(); // before the tile is used again
    result
}

/// The sum of `value` over the threads of the block, for each of them.
#[device_fn]
pub fn block_sum(acc: &Acc, tile: Shared<f32>, value: f32) -> f32 {
    let thread = acc.thread_in_block();
    tile[thread] = value;
    acc.sync_block();
    let mut half = acc.threads_in_block() / 2;
    while half > 0 {
        if thread < half {
            tile[thread] += tile[thread + half];
        }
        acc.sync_block();
        half /= 2;
    }
    let result = tile[0];
    acc.sync_block(); // before the tile is used again
    result
}

/// Each row of `out` becomes `exp(x - max) / Σ exp(x - max)` of that row of `x`. A block has a power of two of threads.
#[kernel]
pub fn softmax_rows(acc: &Acc, x: Read<f32, 2>, out: Shared<f32, 2>) {
    let tile = acc.shared::<f32, THREADS>();
    let [_, columns] = x.extent();
    let row = acc.block_in_grid();

    let mut greatest = f32::NEG_INFINITY;
    for column in acc.indices(THREADS_IN_BLOCK, 0..columns) {
        greatest = greatest.max(x[[row, column]]);
    }
    greatest = block_max(acc, tile, greatest);

    let mut sum = 0.0f32;
    for column in acc.indices(THREADS_IN_BLOCK, 0..columns) {
        sum += (x[[row, column]] - greatest).exp();
    }
    sum = block_sum(acc, tile, sum);

    for column in acc.indices(THREADS_IN_BLOCK, 0..columns) {
        out[[row, column]] = (x[[row, column]] - greatest).exp() / sum;
    }
}

/// The softmax of each of `rows` rows of `values`, by blocks of `threads` threads, a power of two.
///
/// # Errors
/// What the device says.
pub fn of_rows(device: &Device, threads: usize, rows: usize, values: &[f32]) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut x = device.alloc_nd::<f32, 2>([rows, values.len() / rows])?;
    x.write(&queue, values)?;
    let out = device.alloc_like(&x)?;
    queue.launch(ThreadSpec::new(rows, threads), softmax_rows(&x, &out))?;
    out.read(&queue)
}

/// Softmax over the rows of a matrix.
#[scenario(sizes = Sizes { full: 256, small: 24, proof: 2 })]
pub fn softmax(device: &Device, n: usize) -> Result<Summary> {
    let (rows, columns) = (n, n + n / 2);
    let values: Vec<f32> = (0..rows * columns).map(|i| uniform(i, -10.0, 10.0)).collect();
    let found = of_rows(device, if n < 16 { 2 } else { THREADS }, rows, &values)?;

    let mut worst = 0.0f64;
    for (found, row) in found.chunks(columns).zip(values.chunks(columns)) {
        let greatest = row.iter().copied().fold(f64::NEG_INFINITY, |greatest, x| greatest.max(x.into()));
        let sum: f64 = row.iter().map(|&x| (f64::from(x) - greatest).exp()).sum();
        for (&found, &x) in found.iter().zip(row) {
            let expected = (f64::from(x) - greatest).exp() / sum;
            worst = worst.max((f64::from(found) / expected - 1.0).abs());
        }
    }
    let mut summary = Summary::new(format!("{rows} rows of {columns}"));
    summary.check(worst < 1e-5, "each is right to 1e-5", || format!("the worst is off by {worst:e} of its value"))?;
    Ok(summary)
}
