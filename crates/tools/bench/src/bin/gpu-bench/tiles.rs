//! Measures kernels with tiles in shared memory beside the same kernels in CUDA C++ (`peers/kernels.cu`).

use wattle::prelude::*;
use wattle_kernels::{histogram, product, stencil, transpose};

use crate::Wanted;
use crate::peers::Peers;
use crate::report::{Measurement, Report};
use crate::transfer::{expect, timed, turns};

const SAME: &str = "the same kernel by nvcc";
/// The rows and columns of the matrices that are multiplied.
const PRODUCT_SIDE: usize = 4096;

/// The rows and columns of a square with at most `elements` elements, all tiles of which are whole.
fn side(elements: usize) -> usize {
    (elements.isqrt() / 64 * 64).max(64)
}

pub fn transposition(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    const SIDE: usize = transpose::SIDE;
    let (queue, side) = (device.queue_non_blocking()?, side(wanted.elements));
    let mut from = device.alloc_nd::<f32, 2>([side, side])?;
    from.write(&queue, &(0..side * side).map(|i| (i % 1021) as f32).collect::<Vec<_>>())?;
    let to = device.alloc_nd::<f32, 2>([side, side])?;
    let spec = ThreadSpec::new([side / SIDE, side / SIDE], [SIDE / 4, SIDE]);
    let kernel = || transpose::transpose_together::<f32, SIDE, { SIDE / 4 }, { SIDE * (SIDE + 1) }>(&from, &to);
    let ours = || timed(&queue, || queue.launch(spec, kernel()));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.transposition(side))?;
    let found = to.read(&queue)?;
    let wrong = (0..side * side).find(|i| found[*i] != ((i % side * side + i / side) % 1021) as f32);
    expect(wrong.is_none(), "the transposition", wrong.unwrap_or(0) as f32)?;
    let measurement = Measurement::new(format!("transposition of {side} × {side} f32"), "seconds", ours);
    report.add(measurement.moving(8 * side * side).beside(SAME, theirs));
    Ok(())
}

pub fn spreading(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    const ROWS: usize = stencil::ROWS;
    const COLUMNS: usize = stencil::MAX_TILE;
    let (queue, side) = (device.queue_non_blocking()?, side(wanted.elements));
    let mut from = device.alloc_nd::<f32, 2>([side, side])?;
    from.write(&queue, &vec![1.5; side * side])?;
    let to = device.alloc_nd::<f32, 2>([side, side])?;
    let spec = ThreadSpec::new([side / ROWS, side / COLUMNS], [ROWS, COLUMNS]);
    let kernel = || stencil::step_together::<ROWS, COLUMNS, { (ROWS + 2) * (COLUMNS + 2) }>(&from, &to);
    let ours = || timed(&queue, || queue.launch(spec, kernel()));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.stencil(side))?;
    let wrong = to.read(&queue)?.into_iter().find(|&value| value != 1.5);
    expect(wrong.is_none(), "the stencil", wrong.unwrap_or(0.0))?;
    let measurement = Measurement::new(format!("stencil of {side} × {side} f32"), "seconds", ours);
    report.add(measurement.moving(8 * side * side).beside(SAME, theirs));
    Ok(())
}

pub fn counting(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, n) = (device.queue_non_blocking()?, wanted.elements);
    // As the peer's: each byte as often as any other, and not in order.
    let mut values = device.alloc::<u8>(n)?;
    values.write(&queue, &(0..n).map(|i| ((i as u32).wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<_>>())?;
    let mut counts = device.alloc_zeroed::<u32>(histogram::BINS)?;
    let blocks = 8 * device.properties().workers as usize;
    let spec = ThreadSpec::new(blocks, 256);
    let ours = || timed(&queue, || queue.launch(spec, histogram::count_bytes::<{ histogram::BINS }>(&values, &counts)));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.histogram(n, blocks))?;
    // Once more from zero, as a check.
    queue.fill(&mut counts, 0)?;
    queue.launch(spec, histogram::count_bytes::<{ histogram::BINS }>(&values, &counts))?;
    let sum: u64 = counts.read(&queue)?.into_iter().map(u64::from).sum();
    expect(sum == n as u64, "the histogram", sum as f32)?;
    let measurement = Measurement::new(format!("histogram of {n} bytes"), "seconds", ours);
    report.add(measurement.moving(n).beside(SAME, theirs));
    Ok(())
}

pub fn product(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, side) = (device.queue_non_blocking()?, side(wanted.elements).min(PRODUCT_SIDE));
    let matrix = |value: f32| -> Result<Buffer<f32, 2>> {
        let mut matrix = device.alloc_nd::<f32, 2>([side, side])?;
        matrix.write(&queue, &(0..side * side).map(|i| value + (i % 7) as f32).collect::<Vec<_>>())?;
        Ok(matrix)
    };
    let (left, right, out) = (matrix(0.25)?, matrix(-2.5)?, device.alloc_nd::<f32, 2>([side, side])?);
    let spec = ThreadSpec::new((side / 64) * (side / 64), 256);
    let ours = || timed(&queue, || queue.launch(spec, product::multiply::<64, 16, 4, 1024, 16>(&left, &right, &out)));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.product(side))?;
    // The sums are of quarters below 2^24 of them, so that none is rounded.
    let exact: f32 = (0..side).map(|k| (0.25 + (k % 7) as f32) * (-2.5 + (k * side % 7) as f32)).sum();
    let found = out.read(&queue)?[0];
    expect(found == exact, "the product", found)?;
    let name = format!("product of {side} × {side} f32, {:.1} Tflop/s", 2e-12 * (side as f64).powi(3) / ours);
    report.add(Measurement::new(name, "seconds", ours).beside(SAME, theirs));
    Ok(())
}
