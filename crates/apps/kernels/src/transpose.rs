#![doc = include_str!("transpose.md")]

use wattle::prelude::*;

use crate::data::floats;

/// A matrix transposed in tiles of block shared memory.
#[scenario(
    name = "matrix-transpose",
    sizes = Sizes { full: 1024, small: 60, proof: 2 },
    documentation = include_str!("transpose.md"),
)]
pub fn matrix_transpose(device: &Device, n: usize) -> Result<Summary> {
    let extent = [n, n + n / 3];
    let side = if n < MAX_TILE { 2 } else { MAX_TILE };
    let values = floats(extent[0] * extent[1]);
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

/// `values`, a matrix of this extent, transposed in tiles of `side` by `side`, which is [`MAX_TILE`] at the most.
pub fn transposed(device: &Device, [rows, columns]: [usize; 2], values: &[f32], side: usize) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut input = device.alloc_nd::<f32, 2>([rows, columns])?;
    input.write(&queue, values)?;
    let out = device.alloc_nd::<f32, 2>([columns, rows])?;
    queue.launch(FrameSpec::cover([rows, columns], [side, side]), transpose(&input, &out))?;
    out.read(&queue)
}

/// The expected result of [`transposed`].
pub fn reference([rows, columns]: [usize; 2], values: &[f32]) -> Vec<f32> {
    (0..rows * columns).map(|i| values[i % rows * columns + i / rows]).collect()
}
