//! Two dimensions, shared memory and phases between barriers, each beside the loop that one would write by hand.

use std::hint::black_box;

use wattle::prelude::*;
use wattle_bench::in_turns;
use wattle_bench::peers::{self, Threads};
use wattle_kernels::block_scan::{MAX_EXTENT, scan_frames};
use wattle_kernels::histogram::{BINS, count_bytes};

/// One step of heat over a plate, whose edge stays as it is.
#[kernel]
fn stencil(acc: &Acc<2>, from: Read<f32, 2>, to: PerItem<f32, 2>) {
    let [rows, columns] = from.extent();
    for ([y, x], to) in acc.items(&mut to) {
        let here = from[[y, x]];
        if y > 0 && x > 0 && y + 1 < rows && x + 1 < columns {
            let around = from[[y - 1, x]] + from[[y + 1, x]] + from[[y, x - 1]] + from[[y, x + 1]];
            *to = here + 0.125 * (around - 4.0 * here);
        } else {
            *to = here;
        }
    }
}

/// Rows become columns.
#[kernel]
fn transposition(acc: &Acc<2>, from: Read<f32, 2>, to: PerItem<f32, 2>) {
    for ([y, x], to) in acc.items(&mut to) {
        *to = from[[x, y]];
    }
}

/// Rows and columns of a tile of the product.
const TILE: usize = 64;

/// The square of a matrix whose side is a multiple of `TILE`, by tiles in shared memory.
#[kernel]
fn product(acc: &Acc<2>, from: Read<f32, 2>, to: Shared<f32, 2>) {
    let left = acc.shared_nd::<f32, TILE, TILE>();
    let right = acc.shared_nd::<f32, TILE, TILE>();
    let sums = acc.shared_nd::<f32, TILE, TILE>();
    let tile = TILE as u32;
    let [side, _] = from.extent();
    for [frame_y, frame_x] in acc.indices(BLOCKS_IN_GRID, [0, 0]..acc.frames()) {
        let (top, across) = (frame_y * tile, frame_x * tile);
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..[tile, tile]) {
            sums[[y, x]] = 0.0;
        }
        for step in 0..side / tile {
            for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..[tile, tile]) {
                left[[y, x]] = from[[top + y, step * tile + x]];
                right[[y, x]] = from[[step * tile + y, across + x]];
            }
            acc.sync_block();
            for y in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..tile) {
                for k in 0..tile {
                    let factor = left[[y, k]];
                    for x in 0..tile {
                        sums[[y, x]] += factor * right[[k, x]];
                    }
                }
            }
            acc.sync_block();
        }
        for [y, x] in acc.indices(THREADS_IN_BLOCK, [0, 0]..[tile, tile]) {
            to[[top + y, across + x]] = sums[[y, x]];
        }
    }
}

/// The pull of all bodies on each, along the first axis; the rows of `at` are their coordinates.
#[kernel]
fn bodies(acc: &Acc, xs: Read<f32>, ys: Read<f32>, zs: Read<f32>, pull: PerItem<f32>) {
    for (i, pull) in acc.items(&mut pull) {
        let (x, y, z) = (xs[i], ys[i], zs[i]);
        let mut sum = 0.0;
        for j in 0..xs.len() {
            let (dx, dy, dz) = (xs[j] - x, ys[j] - y, zs[j] - z);
            let square = dx * dx + dy * dy + dz * dz + 1e-3;
            sum += dx / (square * square.sqrt());
        }
        *pull = sum;
    }
}

/// The same data for a kernel and for its peer.
struct Case<T: Element, U: Element, const D: usize> {
    queue: Queue,
    input: Buffer<T, D>,
    output: Buffer<U, D>,
    from: Vec<T>,
    to: Vec<U>,
}

/// Runs a kernel and its peer in turns, after they have given the same result.
fn measure<T: Element, U: Element + PartialEq, const D: usize>(
    (device, threads, turns): (&Device, Threads, usize),
    what: &str,
    (from, extent, out): (Vec<T>, [usize; D], [usize; D]),
    launch: fn(&mut Case<T, U, D>) -> Result<()>,
    peer: impl Fn(Threads, &[T], &mut [U]),
) -> Result<()> {
    let queue = device.queue()?;
    let mut input = device.alloc_nd::<T, D>(extent)?;
    input.write(&queue, &from)?;
    let output = device.alloc_nd::<U, D>(out)?;
    let to = output.read(&queue)?;
    let mut case = Case { queue, input, output, from, to };
    launch(&mut case)?;
    if turns == 0 {
        return Ok(());
    }
    peer(threads, &case.from, &mut case.to);
    assert!(case.output.read(&case.queue)? == case.to, "{what} gives what its peer does");
    let (from, mut to) = (std::mem::take(&mut case.from), std::mem::take(&mut case.to));
    let pair = in_turns(
        turns,
        1,
        || launch(&mut case).unwrap_or_else(|error| panic!("{error}")),
        || peer(threads, black_box(&from), black_box(&mut to)),
    );
    super::row(device, what.to_owned(), pair);
    Ok(())
}

fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7 % 64) as f32 * 0.25).collect()
}

/// The table's rows for one device, of sizes divided by `shrink`. No turns run each kernel once, for a profiler.
pub fn all(device: &Device, threads: Threads, turns: usize, shrink: usize) -> Result<()> {
    let on = (device, threads, turns);
    let chosen: Vec<_> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|part| name.contains(part.as_str()));
    let side = 4096 / shrink;
    if is_chosen("stencil") {
        let of = (floats(side * side), [side, side], [side, side]);
        let launch = |case: &mut Case<f32, f32, 2>| {
            let spec = FrameSpec::cover(case.output.extent(), [16, 16]);
            case.queue.launch(spec, stencil(&case.input, &mut case.output))
        };
        measure(on, &format!("stencil {side}²"), of, launch, |threads, from, to| {
            peers::stencil(threads, side, from, to)
        })?;
    }
    if is_chosen("transposition") {
        let of = (floats(side * side), [side, side], [side, side]);
        let launch = |case: &mut Case<f32, f32, 2>| {
            let spec = FrameSpec::cover(case.output.extent(), [16, 16]);
            case.queue.launch(spec, transposition(&case.input, &mut case.output))
        };
        measure(on, &format!("transposition {side}²"), of, launch, |threads, from, to| {
            peers::transposition(threads, side, from, to)
        })?;
    }
    if is_chosen("histogram") {
        let n = (1 << 24) / shrink;
        let bytes = (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let launch = |case: &mut Case<u8, u32, 1>| {
            case.queue.fill(&mut case.output, 0)?;
            case.queue.launch(FrameSpec::new(256, 64), count_bytes::<BINS>(&case.input, &case.output))
        };
        measure(on, &format!("histogram 2^{}", n.ilog2()), (bytes, [n], [BINS]), launch, peers::histogram)?;
    }
    if is_chosen("phases") {
        let n = (1 << 22) / shrink;
        let values = (0..n as u32).map(|i| i % 61).collect();
        let launch = |case: &mut Case<u32, u32, 1>| {
            let spec = FrameSpec::cover(case.input.len(), MAX_EXTENT);
            case.queue.launch(spec, scan_frames(&case.input, &case.output))
        };
        measure(on, &format!("phases 2^{}", n.ilog2()), (values, [n], [n]), launch, peers::phases::<MAX_EXTENT>)?;
    }
    if is_chosen("product") {
        let side = 1024 / shrink;
        let of = (floats(side * side), [side, side], [side, side]);
        let launch = |case: &mut Case<f32, f32, 2>| {
            let spec = FrameSpec::cover(case.output.extent(), [TILE, TILE]);
            case.queue.launch(spec, product(&case.input, &case.output))
        };
        measure(on, &format!("product {side}³"), of, launch, |threads, from, to| {
            peers::product(threads, side, from, to)
        })?;
    }
    if is_chosen("n-body") {
        let n = (1 << 13) / shrink;
        let launch = |case: &mut Case<f32, f32, 1>| {
            let n = case.output.len();
            let [xs, ys, zs] = [0, n, 2 * n].map(|first| case.input.slice(first..first + n));
            case.queue.launch(FrameSpec::cover(n, 64), bodies(&xs?, &ys?, &zs?, &mut case.output))
        };
        measure(on, &format!("n-body 2^{}", n.ilog2()), (floats(3 * n), [3 * n], [n]), launch, peers::bodies)?;
    }
    Ok(())
}
