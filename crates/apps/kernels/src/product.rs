#![doc = include_str!("product.md")]

use wattle::prelude::*;

use crate::data::{elements, fits, noise};
use crate::reduce::in_lock_step;

/// The product of two matrices in tiles of block shared memory, with a small tile of sums in each thread's registers.
#[scenario(
    name = "matrix-product",
    sizes = Sizes { full: 512, small: 40, proof: 2 },
    documentation = include_str!("product.md"),
)]
pub fn matrix_product(device: &Device, n: usize) -> Result<Summary> {
    let sizes = [n, n.saturating_add(n / 3), n.saturating_add(n / 5)];
    let [rows, depth, columns] = sizes;
    let factors = elements([rows, depth]).saturating_add(elements([depth, columns]));
    let results = elements([rows, columns]);
    fits(device, factors.saturating_add(results), factors.saturating_add(results.saturating_mul(2)))?;
    // Quarters, so that no sum is rounded and all devices give the same.
    let quarters = |len: usize, from: usize| -> Vec<f32> {
        (0..len).map(|i| (noise(from + i) % 16) as f32 * 0.25 - 2.0).collect()
    };
    let (left, right) = (quarters(rows * depth, 0), quarters(depth * columns, rows * depth));
    let found = product(device, sizes, &left, &right)?;
    let mut summary = Summary::new(format!("{rows} × {depth} times {depth} × {columns} f32"));
    let exact = reference(sizes, &left, &right);
    summary.check(found == exact, "each element is as plain Rust finds it", || "some are not".into())?;
    Ok(summary)
}

/// `out` becomes `left` times `right`. A block computes a tile of `SIDE` rows and columns, `DEPTH` products at a time; each
/// of its `(SIDE / PART)²` threads has `PART` rows and columns of it in registers. `TILE` is `SIDE * DEPTH`, and `PARTS` is
/// `PART * PART`.
#[kernel]
pub fn multiply<const SIDE: usize, const DEPTH: usize, const PART: usize, const TILE: usize, const PARTS: usize>(
    acc: &Acc,
    left: Read<f32, 2>,
    right: Read<f32, 2>,
    out: Shared<f32, 2>,
) {
    // Of the left matrix the tile is turned around, so that a thread reads neighbours in both.
    let left_tile = acc.shared::<f32, TILE>();
    let right_tile = acc.shared::<f32, TILE>();
    let (side, count, part) = (SIDE as u32, DEPTH as u32, PART as u32);
    let threads = (side / part) * (side / part);
    // What is read is compared with the extents of what it is read from: then nothing else need be.
    let ([rows, depth], [right_depth, columns]) = (left.extent(), right.extent());
    let [out_rows, out_columns] = out.extent();
    let tiles = (columns + side - 1) / side;
    let (top, across) = (acc.block_in_grid() / tiles * side, acc.block_in_grid() % tiles * side);
    let thread = acc.thread_in_block();
    let (y, x) = (thread / (side / part) * part, thread % (side / part) * part);
    let mut sums = [0.0f32; PARTS];
    let mut first = 0;
    while first < depth {
        for number in 0..side * count / threads {
            let at = number * threads + thread;
            let (row, k) = (at / count, at % count);
            let mut value = 0.0;
            if top + row < rows && first + k < depth {
                value = left[[top + row, first + k]];
            }
            left_tile[k * side + row] = value;
        }
        for number in 0..side * count / threads {
            let at = number * threads + thread;
            let (k, column) = (at / side, at % side);
            let mut value = 0.0;
            if first + k < right_depth && across + column < columns {
                value = right[[first + k, across + column]];
            }
            right_tile[k * side + column] = value;
        }
        acc.sync_block();
        for k in 0..count {
            let down = left_tile.lanes::<PART>(k * side + y);
            let along = right_tile.lanes::<PART>(k * side + x);
            for row in 0..part {
                for column in 0..part {
                    let sum = sums[row * part + column];
                    sums[row * part + column] = down[row].fma(along[column], sum);
                }
            }
        }
        acc.sync_block();
        first += count;
    }
    for row in 0..part {
        for column in 0..part {
            if top + y + row < out_rows && across + x + column < out_columns {
                out[[top + y + row, across + x + column]] = sums[row * part + column];
            }
        }
    }
}

/// `left`, of `rows` times `depth`, times `right`, of `depth` times `columns`.
///
/// # Errors
/// What the device says.
pub fn product(device: &Device, [rows, depth, columns]: [usize; 3], left: &[f32], right: &[f32]) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let (mut first, mut second) =
        (device.alloc_nd::<f32, 2>([rows, depth])?, device.alloc_nd::<f32, 2>([depth, columns])?);
    first.write(&queue, left)?;
    second.write(&queue, right)?;
    let out = device.alloc_nd::<f32, 2>([rows, columns])?;
    let blocks = |side: usize| rows.div_ceil(side) * columns.div_ceil(side);
    if rows < 16 {
        let spec = ThreadSpec::new(blocks(2), 4);
        queue.launch(spec, multiply::<2, 2, 1, 4, 1>(&first, &second, &out))?;
    } else if in_lock_step(device) {
        let spec = ThreadSpec::new(blocks(64), 256);
        queue.launch(spec, multiply::<64, 16, 4, 1024, 16>(&first, &second, &out))?;
    } else {
        let spec = ThreadSpec::new(blocks(16), 1);
        queue.launch(spec, multiply::<16, 16, 16, 256, 256>(&first, &second, &out))?;
    }
    out.read(&queue)
}

/// The expected result of [`product`].
pub fn reference([rows, depth, columns]: [usize; 3], left: &[f32], right: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; rows * columns];
    for (row, out) in out.chunks_exact_mut(columns).enumerate() {
        for k in 0..depth {
            let factor = left[row * depth + k];
            for (sum, &value) in out.iter_mut().zip(&right[k * columns..]) {
                *sum += factor * value;
            }
        }
    }
    out
}
