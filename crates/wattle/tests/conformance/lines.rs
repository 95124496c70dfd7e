//! Accesses to shared memory that move along with a loop's index, and branches on that index: each gives what it would
//! where every access is checked and every branch taken by itself.

use wattle::prelude::*;

use crate::harness::{Case, Outcome};

pub const CASES: &[Case] = &[
    ("two generations in one tile", generations),
    ("an iteration reads what another wrote", carried),
    ("a line that ends within the loop", ends),
    ("branches on the index", branches),
    ("a number that wraps within a row", wraps),
    ("a bound that the loop moves", moved),
    ("constants of the body", constants),
];

const TILE: usize = 96;

/// Running sums in steps of doubled distance, between the halves of a tile.
#[kernel]
fn double(acc: &Acc, x: Read<u32>, first: u32, out: Shared<u32>) {
    let tile = acc.shared::<u32, { 2 * TILE }>();
    let extent = TILE as u32;
    for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
        tile[t] = if t + first < x.len() { x[t + first] } else { 5 };
    }
    acc.sync_block();
    let mut from = 0;
    let mut distance = 1;
    while distance < extent {
        let to = extent - from;
        for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
            let mut sum = tile[from + t];
            if t >= distance {
                sum += tile[from + t - distance];
            }
            tile[to + t] = sum;
        }
        acc.sync_block();
        from = to;
        distance *= 2;
    }
    for t in acc.indices(THREADS_IN_BLOCK, 0..extent) {
        out[t] = tile[from + t];
    }
}

fn generations(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x: Vec<u32> = (0..TILE as u32).map(|i| i * i % 31).collect();
    let (input, out) = (device.from_slice(&x)?, device.alloc_zeroed::<u32>(TILE)?);
    for first in [0, 1, 70, 200] {
        queue.launch(FrameSpec::new(1, TILE), double(&input, first as u32, &out))?;
        let mut sum = 0;
        let at = |i: usize| x.get(i + first).copied().unwrap_or(5);
        let expected = (0..TILE).map(|i| {
            sum += at(i);
            sum
        });
        assert_eq!(out.read(&queue)?, expected.collect::<Vec<_>>(), "from {first}");
    }
    Ok(())
}

/// Each element is one more than the one `back` before it, in the block's memory and in the device's.
#[kernel]
fn count(acc: &Acc, back: u32, out: Shared<u32>) {
    let tile = acc.shared::<u32, TILE>();
    let count = TILE as u32;
    for i in 0..count {
        tile[i] = i;
        out[i] = i;
    }
    for i in back..count {
        tile[i] = tile[i - back] + 1;
        out[i] = out[i - back] + 1;
    }
    for i in 0..count {
        out[i] += 1000 * tile[i];
    }
}

fn carried(device: &Device) -> Outcome {
    let (queue, out) = (device.queue()?, device.alloc_zeroed::<u32>(TILE)?);
    for back in [1, 2, 3, 8, 40] {
        queue.launch(ThreadSpec::new(1, 1), count(back, &out))?;
        let expected: Vec<u32> = (0..TILE as u32).map(|i| (i % back + i / back) * 1001).collect();
        assert_eq!(out.read(&queue)?, expected, "{back} back");
    }
    Ok(())
}

/// Writes and reads `by` further on, beyond the end too.
#[kernel]
fn along(acc: &Acc, by: u32, out: Shared<u32, 2>) {
    let tile = acc.shared_nd::<u32, 3, 16>();
    for row in 0..3 {
        for i in 0..TILE as u32 / 4 {
            tile[[row, i % 16]] = 100;
        }
    }
    let end = acc.frame_extent() + 19;
    for i in 0..end {
        tile[[1, i + by]] = i;
    }
    for row in 0..3 {
        for i in 0..end {
            out[[row, i]] = tile[[row, i]];
        }
    }
}

fn ends(device: &Device) -> Outcome {
    for by in [0, 7, 30, 0u32.wrapping_sub(3)] {
        let (queue, out) = (device.queue()?, device.alloc_zeroed_nd::<u32, 2>([3, 20])?);
        let error = queue.launch(ThreadSpec::new(1, 1), along(by, &out)).unwrap_err().to_string();
        // The first that is out of bounds.
        let index = match by {
            0 => "[1, 16]".to_owned(),
            7 => "[1, 16]".to_owned(),
            by => format!("[1, {by}]"),
        };
        assert!(error.contains("tile") && error.contains(&index), "{by}: {error}");
        let queue = device.queue()?;
        let expected = |row: usize, i: usize| match (row, i) {
            (_, 16..) => 0,
            (1, i) => match (i as u32).wrapping_sub(by) {
                from @ 0..20 => from,
                _ => 100,
            },
            _ => 100,
        };
        let expected: Vec<u32> = (0..60).map(|n| expected(n / 20, n % 20)).collect();
        assert_eq!(out.read(&queue)?, expected, "by {by}");
    }
    Ok(())
}

/// One number for each comparison that holds, and what is read where all do.
#[kernel]
fn compare(acc: &Acc, x: Read<u32>, low: u32, high: u32, way: u32, out: PerItem<u32>) {
    if way == 0 {
        for (i, out) in acc.items(&mut out) {
            *out = if i > low && i + 2 < high { x[i] } else { 1 };
        }
    } else if way == 1 {
        for (i, out) in acc.items(&mut out) {
            if low <= i && high >= i && low != 1_000 {
                *out = x[i - low];
            } else if i == 3 {
                *out = 2;
            }
        }
    } else if way == 2 {
        for (i, out) in acc.items(&mut out) {
            if i <= high && low < high && low < i {
                *out = x[i] + x[high - i];
                continue;
            }
            *out = i;
        }
    } else {
        for (i, out) in acc.items(&mut out) {
            let far = i * 2;
            *out = match far % 3 {
                0 => 7,
                _ => {
                    if high > i {
                        x[i]
                    } else {
                        x[0]
                    }
                }
            };
        }
    }
}

fn branches(device: &Device) -> Outcome {
    let n = 50;
    let x: Vec<u32> = (0..n).map(|i| 1000 + i).collect();
    for (low, high) in [(0, 50), (3, 20), (20, 3), (49, 49), (0, 0), (1_000, 30), (5, u32::MAX)] {
        for way in 0..4 {
            if way == 2 && high >= n {
                continue;
            }
            let at = |i: u32| x[i as usize];
            let expected: Vec<u32> = (0..n)
                .map(|i| match way {
                    0 if i > low && i + 2 < high => at(i),
                    0 => 1,
                    1 if low <= i && high >= i && low != 1_000 => at(i - low),
                    1 => 2 * u32::from(i == 3),
                    2 if i <= high && low < high && low < i => at(i) + at(high - i),
                    2 => i,
                    _ if i * 2 % 3 == 0 => 7,
                    _ => at(if high > i { i } else { 0 }),
                })
                .collect();
            for extent in [1, 8, 50] {
                let queue = device.queue()?;
                let (input, mut out) = (device.from_slice(&x)?, device.alloc_zeroed::<u32>(x.len())?);
                let spec = FrameSpec::cover(x.len(), extent);
                queue.launch(spec, compare(&input, low, high, way, &mut out))?;
                assert_eq!(out.read(&queue)?, expected, "way {way}, {low} and {high}");
            }
        }
    }
    Ok(())
}

/// What is compared goes from the greatest number to 0 within the loop.
#[kernel]
fn around(acc: &Acc, x: Read<u32>, first: u32, out: PerItem<u32>) {
    for (i, out) in acc.items(&mut out) {
        if i + first > 5 {
            *out = x[i];
        }
    }
}

fn wraps(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..40).map(|i| 1000 + i).collect();
    for first in [0, 6, u32::MAX, u32::MAX - 10, u32::MAX - 39, u32::MAX - 40] {
        let queue = device.queue()?;
        let (input, mut out) = (device.from_slice(&x)?, device.alloc_zeroed::<u32>(x.len())?);
        queue.launch(FrameSpec::cover(x.len(), 8), around(&input, first, &mut out))?;
        let expected: Vec<u32> = (0..40u32).map(|i| if i.wrapping_add(first) > 5 { 1000 + i } else { 0 }).collect();
        assert_eq!(out.read(&queue)?, expected, "from {first}");
    }
    Ok(())
}

/// The bound and the base of an access change as the loop goes on.
#[kernel]
fn advance(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let mut bound = 3;
    let mut base = 0;
    let tile = acc.shared::<u32, TILE>();
    for i in 0..x.len() {
        tile[i] = x[i];
    }
    for i in 0..x.len() {
        if i >= bound {
            bound += 4;
            base += 1;
            out[i] = tile[i - base] + 1000 * x[i - base];
        } else {
            out[i] = bound;
        }
    }
}

fn moved(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..40).collect();
    let (queue, input, out) = (device.queue()?, device.from_slice(&x)?, device.alloc_zeroed::<u32>(x.len())?);
    queue.launch(ThreadSpec::new(1, 1), advance(&input, &out))?;
    let (mut bound, mut base) = (3, 0);
    let expected = x.iter().map(|&i| {
        if i < bound {
            return bound;
        }
        (bound, base) = (bound + 4, base + 1);
        1001 * (i - base)
    });
    assert_eq!(out.read(&queue)?, expected.collect::<Vec<_>>());
    Ok(())
}

const DISTANCE: u32 = 0;
/// The name of a constant says nothing of the variables of a kernel.
#[allow(non_upper_case_globals)]
const v4: u32 = 5;
#[allow(non_upper_case_globals)]
const l1: u32 = 6;

/// What a constant means in the body of a loop it does not mean before the loop.
#[kernel]
fn shadow(acc: &Acc, x: Read<u32>, y: Shared<u32>, a: u32, b: u32, c: u32, d: u32) {
    for i in 0..acc.blocks_in_grid() * 8 {
        const DISTANCE: u32 = 2;
        let near = {
            const STEP: u32 = 1;
            x[i + STEP]
        };
        let far = {
            const STEP: u32 = 3;
            x[i + STEP]
        };
        y[i] = if i < DISTANCE { x[i + DISTANCE] } else { near + 100 * far };
    }
    for i in 0..acc.blocks_in_grid() * 8 {
        y[i + 8] = x[i + v4] + x[i + l1] * 100 + x[i + a] + x[i + b] + x[i + c] + x[i + d];
    }
}

fn constants(device: &Device) -> Outcome {
    let x: Vec<u32> = (0..40).map(|i| i % 11).collect();
    let (queue, input, out) = (device.queue()?, device.from_slice(&x)?, device.alloc_zeroed::<u32>(16)?);
    queue.launch(ThreadSpec::new(1, 1), shadow(&input, &out, 1, 2, 3, 4))?;
    let at = |i: u32| x[i as usize];
    let first = (0..8).map(|i| if i < 2 { at(i + 2 + DISTANCE) } else { at(i + 1) + 100 * at(i + 3) });
    let second = (0..8).map(|i| at(i + v4) + at(i + l1) * 100 + (1..=4).map(|by| at(i + by)).sum::<u32>());
    assert_eq!(out.read(&queue)?, first.chain(second).collect::<Vec<_>>());
    Ok(())
}
