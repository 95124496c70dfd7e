//! A matrix product in tiles of shared memory: 256 threads a block, each with one element of the result.

use wattle::prelude::*;

use crate::uniform;

/// The rows and columns of a tile.
pub const TILE: usize = 16;

/// `c = a · b`. A block has as many rows of threads as columns, [`TILE`] at the most; the barriers stand between the
/// writes of a tile and its reads, and between these and the next tile's writes.
#[kernel]
pub fn product(acc: &Acc<2>, a: Read<f32, 2>, b: Read<f32, 2>, c: Shared<f32, 2>) {
    let a_tile = acc.shared_nd::<f32, TILE, TILE>();
    let b_tile = acc.shared_nd::<f32, TILE, TILE>();
    let [rows, columns] = c.extent();
    let [_, depth] = a.extent();
    let [side, _] = acc.threads_in_block();
    let [y, x] = acc.thread_in_block();
    let [block_y, block_x] = acc.block_in_grid();
    let (row, column) = (block_y * side + y, block_x * side + x);

    let mut sum = 0.0f32;
    for begin in (0..depth).step_by(side) {
        let (left, below) = (begin + x, begin + y);
        a_tile[[y, x]] = if row < rows && left < depth { a[[row, left]] } else { 0.0 };
        b_tile[[y, x]] = if below < depth && column < columns { b[[below, column]] } else { 0.0 };
        acc.sync_block();
        for k in 0..side {
            sum += a_tile[[y, k]] * b_tile[[k, x]];
        }
        acc.sync_block();
    }
    if row < rows && column < columns {
        c[[row, column]] = sum;
    }
}

/// The product of `a`, of `rows` by `depth`, and `b`, of `depth` by `columns`, with tiles of `side` by `side`.
///
/// # Errors
/// What the device says: it may have fewer threads for each block.
pub fn multiply(
    device: &Device,
    side: usize,
    [rows, depth, columns]: [usize; 3],
    a: &[f32],
    b: &[f32],
) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut left = device.alloc_nd::<f32, 2>([rows, depth])?;
    let mut right = device.alloc_nd::<f32, 2>([depth, columns])?;
    left.write(&queue, a)?;
    right.write(&queue, b)?;
    let out = device.alloc_nd::<f32, 2>([rows, columns])?;
    let blocks = [rows.div_ceil(side), columns.div_ceil(side)];
    queue.launch(ThreadSpec::new(blocks, [side, side]), product(&left, &right, &out))?;
    out.read(&queue)
}

/// A matrix product in tiles of shared memory.
#[scenario(sizes = Sizes { full: 256, small: 20, proof: 2 })]
pub fn matrix_product(device: &Device, n: usize) -> Result<Summary> {
    // Neither square nor a multiple of the tile.
    let [rows, depth, columns] = [n, n + 1, n + n / 2];
    let side = if n < TILE { 2 } else { TILE };
    let a: Vec<f32> = (0..rows * depth).map(|i| uniform(i, -1.0, 1.0)).collect();
    let b: Vec<f32> = (0..depth * columns).map(|i| uniform(i + a.len(), -1.0, 1.0)).collect();
    let found = multiply(device, side, [rows, depth, columns], &a, &b)?;

    // Plain Rust adds in the same order, so the bits are equal; the zeros of the last tile do not change a sum.
    let element = |at| {
        let (row, column) = (at / columns, at % columns);
        (0..depth).fold(0.0, |sum, k| sum + a[row * depth + k] * b[k * columns + column])
    };
    let expected: Vec<f32> = (0..rows * columns).map(element).collect();
    let mut summary = Summary::new(format!("{rows} × {depth} by {depth} × {columns}, tiles of {side} × {side}"));
    summary.check(found == expected, "the bits are plain Rust's", || "they are not".into())?;
    Ok(summary)
}
