#![doc = include_str!("stencil.md")]

use wattle::DeviceKind;
use wattle::prelude::*;

use crate::data::{elements, fits, floats};
use crate::reduce::in_lock_step;

/// Heat that spreads over a plate: tiles in block shared memory, each with a rim of its neighbours.
#[scenario(
    name = "stencil-2d",
    sizes = Sizes { full: 512, small: 40, proof: 2 },
    documentation = include_str!("stencil.md"),
)]
pub fn stencil_2d(device: &Device, n: usize) -> Result<Summary> {
    let extent = [n, n.saturating_add(n / 3)];
    let points = elements(extent);
    fits(device, points.saturating_mul(2), points.saturating_mul(4))?;
    let (side, steps) = if n < MAX_TILE { ([1, 2], 2) } else { ([8, MAX_TILE], 4) };
    let values = floats(extent[0] * extent[1]);
    let found = spread(device, extent, &values, side, steps)?;
    let mut summary = Summary::new(format!("{steps} steps on {} × {} f32", extent[0], extent[1]));
    let exact = reference(extent, &values, steps);
    summary.check(found == exact, "each point is as plain Rust finds it", || "some are not".into())?;
    Ok(summary)
}

/// The most rows and columns of a tile, without its rim.
pub const MAX_TILE: usize = 16;

/// Rows and columns of a tile with its rim.
const PITCH: usize = MAX_TILE + 2;

/// How much of the difference to the four neighbours a point takes over in a step.
const FLOW: f32 = 0.125;

/// One step from `from` to `to`. Beyond the edge it is as warm as at the edge.
#[kernel]
pub fn step(acc: &Acc<2>, from: Read<f32, 2>, to: Shared<f32, 2>) {
    let tile = acc.shared::<f32, { PITCH * PITCH }>();
    let [rows, columns] = from.extent();
    let side = acc.frame_extent();
    let pitch = PITCH as u32;
    for [frame_y, frame_x] in acc.indices(BLOCKS_IN_GRID, [0, 0]..acc.frames()) {
        let (top, left) = (frame_y * side[0], frame_x * side[1]);
        // The tile and its rim, which begins one row above and one column to the left.
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..[side[0] + 2, side[1] + 2]) {
            let row = (top + y).max(1).min(rows) - 1;
            let column = (left + x).max(1).min(columns) - 1;
            tile[y * pitch + x] = from[[row, column]];
        }
        acc.sync_block();
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..side) {
            if top + y < rows && left + x < columns {
                let at = (y + 1) * pitch + x + 1;
                let here = tile[at];
                let around = tile[at - pitch] + tile[at + pitch] + tile[at - 1] + tile[at + 1];
                to[[top + y, left + x]] = here + FLOW * (around - 4.0 * here);
            }
        }
        acc.sync_block();
    }
}

/// Rows of a tile of [`step_together`], which has [`MAX_TILE`] columns.
pub const ROWS: usize = 8;

/// The same for threads in lock step: a tile has `ROWS` rows and `COLUMNS` columns, and a block exactly as many threads. With
/// its rim, a tile has `TILE` elements.
#[kernel]
pub fn step_together<const ROWS: usize, const COLUMNS: usize, const TILE: usize>(
    acc: &Acc<2>,
    from: Read<f32, 2>,
    to: Shared<f32, 2>,
) {
    let tile = acc.shared::<f32, TILE>();
    let ([rows, columns], [to_rows, to_columns]) = (from.extent(), to.extent());
    if rows == 0 || columns == 0 {
        return;
    }
    let (high, wide, pitch) = (ROWS as u32, COLUMNS as u32, COLUMNS as u32 + 2);
    let tiles = [(rows + high - 1) / high, (columns + wide - 1) / wide];
    let [y, x] = acc.thread_in_block();
    // As many as there are, which the compiler can tell from this alone.
    let (y, x) = (y % high, x % wide);
    for [tile_y, tile_x] in acc.indices(BLOCKS_IN_GRID, [0, 0]..tiles) {
        let (top, left) = (tile_y * high, tile_x * wide);
        for v in (y..high + 2).step_by(high) {
            for u in (x..pitch).step_by(wide) {
                let row = (top + v).max(1).min(rows) - 1;
                let column = (left + u).max(1).min(columns) - 1;
                tile[v * pitch + u] = from[[row, column]];
            }
        }
        acc.sync_block();
        if top + y < to_rows && left + x < to_columns {
            let at = (y + 1) * pitch + x + 1;
            let here = tile[at];
            let around = tile[at - pitch] + tile[at + pitch] + tile[at - 1] + tile[at + 1];
            to[[top + y, left + x]] = here + FLOW * (around - 4.0 * here);
        }
        acc.sync_block();
    }
}

/// `steps` steps from `values`, a plate of this extent, in tiles of `side`, which is [`MAX_TILE`] each at the most.
pub fn spread(device: &Device, extent: [usize; 2], values: &[f32], side: [usize; 2], steps: usize) -> Result<Vec<f32>> {
    let queue = device.queue()?;
    let mut from = device.alloc_nd::<f32, 2>(extent)?;
    from.write(&queue, values)?;
    let mut to = device.alloc_like(&from)?;
    let together = in_lock_step(device);
    for turn in 0..steps {
        let blocks = [extent[0].div_ceil(side[0]), extent[1].div_ceil(side[1])];
        // The checker proves both, in turns.
        if side == [1, 2] && device.properties().kind == DeviceKind::Checker && turn % 2 == 1 {
            queue.launch(ThreadSpec::new(blocks, side), step_together::<1, 2, 12>(&from, &to))?;
        } else if together && side == [ROWS, MAX_TILE] {
            let spec = ThreadSpec::new(blocks, side);
            let step = step_together::<ROWS, MAX_TILE, { (ROWS + 2) * (MAX_TILE + 2) }>(&from, &to);
            queue.launch(spec, step)?;
        } else {
            queue.launch(FrameSpec::cover(extent, side), step(&from, &to))?;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from.read(&queue)
}

/// The expected result of [`spread`].
pub fn reference([rows, columns]: [usize; 2], values: &[f32], steps: usize) -> Vec<f32> {
    let mut from = values.to_vec();
    for _ in 0..steps {
        let at = |y: usize, x: usize| from[y * columns + x];
        let next = |i: usize| {
            let (y, x) = (i / columns, i % columns);
            let (here, down, right) = (at(y, x), (y + 1).min(rows - 1), (x + 1).min(columns - 1));
            let around = at(y.saturating_sub(1), x) + at(down, x) + at(y, x.saturating_sub(1)) + at(y, right);
            here + FLOW * (around - 4.0 * here)
        };
        from = (0..rows * columns).map(next).collect();
    }
    from
}
