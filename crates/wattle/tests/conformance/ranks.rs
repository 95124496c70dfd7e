//! Kernels that are generic in the number of dimensions, and arithmetic on their indices.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("fill in 1 to 4 dimensions", fills),
    ("copies and sums of neighbours in 1 to 3 dimensions", neighbours),
    ("row-major numbers and back", numbers),
    ("arithmetic on indices", arithmetic),
    ("views of fixed rank in kernels generic in rank", fixed_ranks),
];

#[kernel]
fn fill<T: Element, const D: usize>(acc: &Acc<D>, out: PerItem<T, D>, value: T) {
    for (_, out) in acc.items(&mut out) {
        *out = value;
    }
}

fn fills(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut out = device.alloc_zeroed::<u32>(5)?;
    queue.launch(FrameSpec::cover(5, 2), fill(&mut out, 7))?;
    assert_eq!(out.read(&queue)?, [7; 5]);
    let mut out = device.alloc_zeroed_nd::<f32, 2>([2, 3])?;
    queue.launch(FrameSpec::cover([2, 3], [1, 2]), fill(&mut out, 0.5))?;
    assert_eq!(out.read(&queue)?, [0.5; 6]);
    let mut out = device.alloc_zeroed_nd::<u32, 3>([2, 3, 2])?;
    queue.launch(FrameSpec::cover([2, 3, 2], [1, 2, 2]), fill(&mut out, 3))?;
    assert_eq!(out.read(&queue)?, [3; 12]);
    let mut out = device.alloc_zeroed_nd::<i32, 4>([2, 1, 3, 2])?;
    queue.launch(FrameSpec::cover([2, 1, 3, 2], [1, 1, 2, 2]), fill(&mut out, -3))?;
    assert_eq!(out.read(&queue)?, [-3; 12]);
    Ok(())
}

/// The sum of an element's neighbours along all axes.
#[kernel]
fn sum_neighbours<const D: usize>(acc: &Acc<D>, x: Read<u32, D>, out: Shared<u32, D>) {
    for i in acc.indices(THREADS_IN_GRID, x.extent()) {
        let mut sum = 0;
        for axis in 0..D as u32 {
            let at = i.axis(axis);
            if at > 0 {
                sum += x[i.with_axis(axis, at - 1)];
            }
            if at + 1 < x.extent().axis(axis) {
                sum += x[i.with_axis(axis, at + 1)];
            }
        }
        out[i] = sum;
    }
}

fn shaped<const D: usize>(device: &Device, values: &[u32], extent: [usize; D]) -> Result<Buffer<u32, D>> {
    let mut buffer = device.alloc_nd(extent)?;
    device.queue()?.copy_from_host(&mut buffer, values)?;
    Ok(buffer)
}

fn neighbours(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x: Vec<u32> = (1..=12).collect();
    let (line, out) = (device.from_slice(&x)?, device.alloc_zeroed::<u32>(12)?);
    queue.launch(FrameSpec::cover(12, 4), sum_neighbours(&line, &out))?;
    assert_eq!(out.read(&queue)?, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 11]);
    let (plane, out) = (shaped(device, &x, [3, 4])?, device.alloc_zeroed_nd::<u32, 2>([3, 4])?);
    queue.launch(FrameSpec::cover([3, 4], [2, 2]), sum_neighbours(&plane, &out))?;
    assert_eq!(out.read(&queue)?, [7, 10, 13, 11, 16, 24, 28, 23, 15, 26, 29, 19]);
    let (cube, out) = (shaped(device, &x, [2, 2, 3])?, device.alloc_zeroed_nd::<u32, 3>([2, 2, 3])?);
    queue.launch(FrameSpec::cover([2, 2, 3], [1, 2, 2]), sum_neighbours(&cube, &out))?;
    assert_eq!(out.read(&queue)?[..3], [2 + 4 + 7, 1 + 3 + 5 + 8, 2 + 6 + 9]);
    Ok(())
}

/// Each element's number, by threads of one dimension, and the element with that number.
#[kernel]
fn number<const D: usize>(acc: &Acc, out: Shared<u32, D>, back: Shared<u32>) {
    for i in acc.indices(LINEAR_THREADS_IN_GRID, out.extent()) {
        let n = i.linearize(out.extent());
        out[i] = n;
        let same = n.delinearize(out.extent());
        let mut differs = 0;
        for axis in 0..D as u32 {
            if same.axis(axis) != i.axis(axis) {
                differs += 1;
            }
        }
        back[n] = differs + 100;
    }
}

fn numbers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (out, back) = (device.alloc_zeroed_nd::<u32, 3>([2, 3, 2])?, device.alloc_zeroed::<u32>(12)?);
    queue.launch(FrameSpec::cover(12, 5), number(&out, &back))?;
    assert_eq!(out.read(&queue)?, (0..12).collect::<Vec<_>>());
    assert_eq!(back.read(&queue)?, [100; 12]);
    let (out, back) = (device.alloc_zeroed::<u32>(6)?, device.alloc_zeroed::<u32>(6)?);
    queue.launch(FrameSpec::cover(6, 5), number(&out, &back))?;
    assert_eq!(out.read(&queue)?, (0..6).collect::<Vec<_>>());
    Ok(())
}

/// Blocks of threads, counted from the corner of the launch, in any rank.
#[kernel]
fn corners<const D: usize>(acc: &Acc<D>, out: Shared<u32, D>) {
    let here = acc.block_in_grid() * acc.threads_in_block() + acc.thread_in_block();
    let same = here - acc.thread_in_grid();
    let block = here / acc.threads_in_block() - acc.block_in_grid();
    let thread = here % acc.threads_in_block() - acc.thread_in_block();
    let mut wrong = 0;
    for axis in 0..D as u32 {
        wrong += same.axis(axis) + block.axis(axis) + thread.axis(axis);
    }
    if here != acc.thread_in_grid() || acc.blocks_in_grid() == acc.threads_in_grid() {
        wrong += 1000;
    }
    out[here] = wrong + 1;
}

#[kernel]
fn by_element(acc: &Acc, out: Shared<u32>) {
    let mut a = [7, 8, 9] / [2, 3, 4] + [10, 20, 30] * [1, 2, 3];
    a -= [1, 1, 1];
    let b = [0.5f32, 1.5] * [2.0, 4.0];
    if acc.thread_in_grid() == 0 {
        for i in 0..3 {
            out[i] = a[i];
        }
        out[3] = (b[0] + b[1]) as u32;
        out[4] = ([17, 5] % [5, 3])[1];
    }
}

fn arithmetic(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(5)?;
    queue.launch(ThreadSpec::new(1, 1), by_element(&out))?;
    assert_eq!(out.read(&queue)?, [12, 41, 91, 7, 2]);
    let out = device.alloc_zeroed::<u32>(6)?;
    queue.launch(ThreadSpec::new(3, 2), corners(&out))?;
    assert_eq!(out.read(&queue)?, [1; 6]);
    let out = device.alloc_zeroed_nd::<u32, 2>([4, 6])?;
    queue.launch(ThreadSpec::new([2, 3], [2, 2]), corners(&out))?;
    assert_eq!(out.read(&queue)?, [1; 24]);
    Ok(())
}

/// Counts in views whose ranks are known beside one whose rank is not, and in memory of the block.
#[kernel]
fn tally<const D: usize>(acc: &Acc<D>, x: Read<u32, D>, line: Atomic<u32>, plane: Atomic<u32, 2>, any: Atomic<u32, D>) {
    let of_block = acc.shared_atomic::<u32, 2>();
    if acc.linear_thread_in_block() == 0 {
        of_block.store(1, 0);
    }
    acc.sync_block();
    let same = line;
    for i in acc.indices(THREADS_IN_GRID, x.extent()) {
        same.fetch_max(1, x[i]);
        plane.fetch_add([1, 0], x[i]);
        any.fetch_xor(i, x[i]);
        of_block.fetch_add(1, 1);
    }
    acc.sync_block();
    if acc.linear_thread_in_block() == 0 {
        line.fetch_add(0, of_block.load(1));
    }
}

/// As `tally`, with indices of `u64`.
#[kernel(wide)]
fn tally_wide<const D: usize>(acc: &Acc<D>, x: Read<u32, D>, line: Atomic<u32>, plane: Atomic<u32, 2>) {
    for i in acc.indices(THREADS_IN_GRID, x.extent()) {
        line.fetch_max(1, x[i]);
        plane.fetch_add([1, 0], x[i]);
    }
}

/// Each element's sum of its index, in views of three ranks, one at a time and together.
#[kernel]
fn places<const D: usize>(
    acc: &Acc<D>,
    line: PerItem<u32>,
    plane: PerItem<u32, 2>,
    other: PerItem<u32, 2>,
    any: PerItem<u32, D>,
) {
    for (i, x) in acc.items(&mut line) {
        *x = i;
    }
    for ([y, x], (one, two)) in acc.items((&mut plane, &mut other)) {
        *one = 10 * y + x;
        *two += *one;
    }
    for (i, x) in acc.items(&mut any) {
        *x = i.axis(0);
    }
}

/// As `places`, with indices of `u64`.
#[kernel(wide)]
fn places_wide<const D: usize>(acc: &Acc<D>, line: PerItem<u32>, plane: PerItem<u64, 2>, other: PerItem<u32, 2>) {
    for (i, x) in acc.items(&mut line) {
        *x = i as u32;
    }
    for ([y, x], (one, two)) in acc.items((&mut plane, &mut other)) {
        *one = 10 * y + x;
        *two += *one as u32;
    }
}

fn fixed_ranks(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = shaped(device, &[3, 1, 4, 1, 5, 9], [2, 3])?;
    let (line, plane) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed_nd::<u32, 2>([2, 2])?);
    let any = device.alloc_zeroed_nd::<u32, 2>([2, 3])?;
    queue.launch(FrameSpec::cover([2, 3], [1, 2]), tally(&x, &line, &plane, &any))?;
    assert_eq!(line.read(&queue)?, [6, 9]);
    assert_eq!(plane.read(&queue)?, [0, 0, 23, 0]);
    assert_eq!(any.read(&queue)?, [3, 1, 4, 1, 5, 9]);
    queue.launch(FrameSpec::cover([2, 3], [1, 2]), tally_wide(&x, &line, &plane))?;
    assert_eq!(line.read(&queue)?, [6, 9]);
    assert_eq!(plane.read(&queue)?, [0, 0, 46, 0]);
    let (mut line, mut plane) = (device.alloc_zeroed::<u32>(5)?, device.alloc_zeroed_nd::<u32, 2>([2, 2])?);
    let (mut other, mut any) =
        (device.alloc_zeroed_nd::<u32, 2>([2, 2])?, device.alloc_zeroed_nd::<u32, 3>([2, 1, 2])?);
    queue.launch(ThreadSpec::new([2, 1, 1], [1, 1, 2]), places(&mut line, &mut plane, &mut other, &mut any))?;
    assert_eq!(line.read(&queue)?, [0, 1, 2, 3, 4]);
    assert_eq!((plane.read(&queue)?, other.read(&queue)?), (vec![0, 1, 10, 11], vec![0, 1, 10, 11]));
    assert_eq!(any.read(&queue)?, [0, 0, 1, 1]);
    let mut long = device.alloc_zeroed_nd::<u64, 2>([2, 2])?;
    queue.launch(ThreadSpec::new(2, 1), places_wide(&mut line, &mut long, &mut other))?;
    assert_eq!(line.read(&queue)?, [0, 1, 2, 3, 4]);
    assert_eq!((long.read(&queue)?, other.read(&queue)?), (vec![0, 1, 10, 11], vec![0, 2, 20, 22]));
    Ok(())
}
