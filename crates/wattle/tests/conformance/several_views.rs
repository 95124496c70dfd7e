//! Loops over the items of several views together.

use wattle::ErrorKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, kind, refused, says};

pub const CASES: &[Case] = &[
    ("items of several views", several_items),
    ("items of several views in 2 dimensions, by linear threads", several_planes),
    ("items of views of different extents", different_extents),
    ("two views of one buffer", one_buffer),
];

#[kernel]
fn split(acc: &Acc, from: Read<u32>, low: PerItem<u8>, high: PerItem<u32>, sums: PerItem<f32>) {
    for (i, (low, high, sum)) in acc.items((&mut low, &mut high, &mut sums)) {
        if i == 3 {
            continue;
        }
        *low = from[i] as u8;
        *high = from[i] >> 8;
        *sum += (*low as u32 + *high) as f32 + 0.5;
    }
}

fn several_items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for n in [1, 7, 1000, 70_000] {
        let n = if crate::harness::is_small() { 100.min(n) } else { n };
        let values: Vec<u32> = (0..n as u32).map(|i| 2_654_435_761u32.wrapping_mul(i) % 100_000).collect();
        let from = device.from_slice(&values)?;
        let (mut low, mut high) = (device.alloc_zeroed::<u8>(n)?, device.alloc_zeroed::<u32>(n)?);
        let mut sums = device.alloc_zeroed::<f32>(n)?;
        queue.fill(&mut sums, 1.0)?;
        queue.launch(FrameSpec::cover(n, 64u32), split(&from, &mut low, &mut high, &mut sums))?;
        let done = |(i, x): (usize, &u32)| {
            if i == 3 { (0, 0, 1.0) } else { (*x as u8, x >> 8, (x % 256 + x / 256) as f32 + 1.5) }
        };
        let expected: Vec<_> = values.iter().enumerate().map(done).collect();
        let (low, high, sums) = (low.read(&queue)?, high.read(&queue)?, sums.read(&queue)?);
        let found: Vec<_> = (0..n).map(|i| (low[i], high[i], sums[i])).collect();
        assert_eq!(found, expected, "for {n}");
    }
    Ok(())
}

#[kernel]
fn planes(acc: &Acc, x: PerItem<u32, 2>, y: PerItem<u32, 2>) {
    for ([i, j], (x, y)) in acc.items((&mut x, &mut y)) {
        (*x, *y) = (*y + i, *x + j);
    }
}

fn several_planes(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (mut x, mut y) = (device.alloc_zeroed_nd::<u32, 2>([5, 7])?, device.alloc_zeroed_nd::<u32, 2>([9, 8])?);
    queue.fill(&mut x, 100)?;
    queue.fill(&mut y, 1000)?;
    // A part of the second one, whose rows are longer.
    queue.launch(FrameSpec::new(3, 4), planes(&mut x, y.region_mut([2, 1], [7, 8])?))?;
    let (x, y) = (x.read(&queue)?, y.read(&queue)?);
    for i in 0..9 {
        for j in 0..8 {
            let inside = (2..7).contains(&i) && j >= 1;
            assert_eq!(y[i * 8 + j], if inside { 100 + j as u32 - 1 } else { 1000 });
            if inside {
                assert_eq!(x[(i - 2) * 7 + j - 1], 1000 + i as u32 - 2);
            }
        }
    }
    Ok(())
}

/// Reads and writes two buffers by two views of overlapping parts of each.
#[kernel]
fn both_ways(acc: &Acc, a: Shared<u32>, b: Shared<u32>, c: Atomic<u32>, d: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        a[0] = 5;
        b[0] = b[1] + 1;
        b[1] += a[0];
        b[2] = a[0];
        c.fetch_add(1, b[0]);
        d.fetch_add(0, c.load(1) * 2);
    }
}

#[kernel]
fn mixes(acc: &Acc, a: Shared<u32>, b: Atomic<u32>) {
    a[acc.thread_in_grid()] = b.load(0);
}

fn one_buffer(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let [x, y, z, other] = [(); 4].map(|()| device.alloc_zeroed::<u32>(4));
    let (x, y, z, other) = (x?, y?, z?, other?);
    queue.launch(ThreadSpec::new(1, 1), both_ways(x.region(1, 4)?, &x, &y, y.region(1, 4)?))?;
    assert_eq!((x.read(&queue)?, y.read(&queue)?), (vec![6, 10, 10, 0], vec![0, 18, 0, 0]));
    // The same kernel with buffers of their own: it is compiled for both.
    queue.launch(ThreadSpec::new(1, 1), both_ways(&x, &z, &y, &other))?;
    assert_eq!((x.read(&queue)?, z.read(&queue)?), (vec![5, 10, 10, 0], vec![1, 5, 5, 0]));
    assert_eq!((y.read(&queue)?, other.read(&queue)?), (vec![0, 19, 0, 0], vec![38, 0, 0, 0]));
    let error = refused(queue.launch(ThreadSpec::new(1, 1), mixes(&x, &x)));
    kind!(error, ErrorKind::Conflict { .. });
    says(
        &error,
        &["(parameter `b`: Atomic)", "conflicts with its own parameter `a`: Shared", "one view for both uses"],
    );
    Ok(())
}

fn different_extents(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed_nd::<u32, 2>([5, 7])?;
    for extent in [[5, 8], [4, 7], [7, 5], [5, 0]] {
        let mut y = device.alloc_zeroed_nd::<u32, 2>(extent)?;
        let error = refused(queue.launch(FrameSpec::new(3, 1), planes(&mut x, &mut y)));
        kind!(error, ErrorKind::ItemsExtent { .. });
        says(&error, &["planes", "`x` and `y`", "[5, 7]", &format!("{extent:?}"), "several_views.rs"]);
    }
    assert_eq!(x.read(&queue)?, [0; 35]);
    Ok(())
}
