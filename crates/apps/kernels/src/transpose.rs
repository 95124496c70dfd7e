#![doc = include_str!("transpose.md")]

use wattle::DeviceKind;
use wattle::prelude::*;

use crate::data::{elements, fits, floats};
use crate::reduce::in_lock_step;

/// A matrix transposed in tiles of block shared memory.
#[scenario(
    name = "matrix-transpose",
    sizes = Sizes { full: 1024, small: 60, proof: 2 },
    documentation = include_str!("transpose.md"),
)]
pub fn matrix_transpose(device: &Device, n: usize) -> Result<Summary> {
    let extent = [n, n.saturating_add(n / 3)];
    let all = elements(extent);
    fits(device, all.saturating_mul(2), all.saturating_mul(3))?;
    let side = if n < MAX_TILE { 2 } else { MAX_TILE };
    let values = floats(extent[0] * extent[1]);
    // The checker proves both.
    let proof = device.properties().kind == DeviceKind::Checker;
    if proof || in_lock_step(device) {
        let found = transposed_together(device, extent, &values)?;
        let mut summary = Summary::new(format!("{} × {} f32", extent[0], extent[1]));
        summary.check(found == reference(extent, &values), "each element is at its place", || "some are not".into())?;
        if !proof {
            return Ok(summary);
        }
    }
    let found = transposed(device, extent, &values, side)?;
    let mut summary = Summary::new(format!("{} × {} f32 in tiles of {side} × {side}", extent[0], extent[1]));
    summary.check(found == reference(extent, &values), "each element is at its place", || "some are not".into())?;
    Ok(summary)
}

/// The most rows and columns of a tile.
pub const MAX_TILE: usize = 16;

/// A row of the tile is longer by one than it must be, so that a column is spread over a GPU's banks.
const PITCH: usize = MAX_TILE + 1;

/// `out` becomes `input` transposed. A frame is a tile; it has as many rows as columns.
#[kernel]
pub fn transpose<T: Element>(acc: &Acc<2>, input: Read<T, 2>, out: Shared<T, 2>) {
    let tile = acc.shared::<T, { MAX_TILE * PITCH }>();
    let [rows, columns] = input.extent();
    let side = acc.frame_extent();
    for [frame_y, frame_x] in acc.indices(BLOCKS_IN_GRID, [0, 0]..acc.frames()) {
        let (top, left) = (frame_y * side[0], frame_x * side[1]);
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..side) {
            if top + y < rows && left + x < columns {
                tile[y * PITCH as u32 + x] = input[[top + y, left + x]];
            }
        }
        acc.sync_block();
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..side) {
            if left + y < columns && top + x < rows {
                out[[left + y, top + x]] = tile[x * PITCH as u32 + y];
            }
        }
        acc.sync_block();
    }
}

/// How many elements of a tile a thread of [`transpose_together`] has.
pub const PER_THREAD: u32 = 4;

/// The rows and columns of a tile of [`transpose_together`] on a GPU: a row is what a warp reads or writes at once.
pub const SIDE: usize = 32;

/// The same for threads in lock step: a tile has `SIDE` rows and columns, and `TILE` elements with one more in each row; a
/// block has exactly `STEP` by `SIDE` threads. A thread has four elements, `STEP` rows apart, and asks for all of them before
/// it needs the first.
#[kernel]
pub fn transpose_together<T: Element, const SIDE: usize, const STEP: usize, const TILE: usize>(
    acc: &Acc<2>,
    input: Read<T, 2>,
    out: Shared<T, 2>,
) {
    let tile = acc.shared::<T, TILE>();
    let ([rows, columns], [out_rows, out_columns]) = (input.extent(), out.extent());
    let (side, step, pitch) = (SIDE as u32, STEP as u32, SIDE as u32 + 1);
    let tiles = [(rows + side - 1) / side, (columns + side - 1) / side];
    let [y, x] = acc.thread_in_block();
    // As many as there are, which the compiler can tell from this alone.
    let (y, x) = (y % step, x % side);
    for [tile_y, tile_x] in acc.indices(BLOCKS_IN_GRID, [0, 0]..tiles) {
        let (top, left) = (tile_y * side, tile_x * side);
        for part in 0..4 {
            let row = y + part * step;
            if top + row < rows && left + x < columns {
                tile[row * pitch + x] = input[[top + row, left + x]];
            }
        }
        acc.sync_block();
        for part in 0..4 {
            let row = y + part * step;
            if left + row < out_rows && top + x < out_columns {
                out[[left + row, top + x]] = tile[x * pitch + row];
            }
        }
        acc.sync_block();
    }
}

/// `values`, a matrix of this extent, transposed in tiles of `side` by `side`, which is [`MAX_TILE`] at the most.
pub fn transposed(device: &Device, [rows, columns]: [usize; 2], values: &[f32], side: usize) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut input = device.alloc_nd::<f32, 2>([rows, columns])?;
    input.write(&queue, values)?;
    let out = device.alloc_nd::<f32, 2>([columns, rows])?;
    queue.launch(FrameSpec::cover([rows, columns], [side, side]), transpose(&input, &out))?;
    out.read(&queue)
}

/// The same for a device whose threads run in lock step; small tiles are for small matrices.
fn transposed_together(device: &Device, [rows, columns]: [usize; 2], values: &[f32]) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut input = device.alloc_nd::<f32, 2>([rows, columns])?;
    input.write(&queue, values)?;
    let out = device.alloc_nd::<f32, 2>([columns, rows])?;
    let blocks = |side: usize| [rows.div_ceil(side), columns.div_ceil(side)];
    if rows < SIDE {
        let spec = ThreadSpec::new(blocks(4), [1, 4]);
        queue.launch(spec, transpose_together::<f32, 4, 1, 20>(&input, &out))?;
    } else {
        let spec = ThreadSpec::new(blocks(SIDE), [SIDE / 4, SIDE]);
        queue.launch(spec, transpose_together::<f32, SIDE, { SIDE / 4 }, { SIDE * (SIDE + 1) }>(&input, &out))?;
    }
    out.read(&queue)
}

/// The expected result of [`transposed`].
pub fn reference([rows, columns]: [usize; 2], values: &[f32]) -> Vec<f32> {
    (0..rows * columns).map(|i| values[i % rows * columns + i / rows]).collect()
}
