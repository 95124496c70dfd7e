//! `#[kernel(wide)]`: indices of `u64`, computed with 32 bits where the launch permits it and with 64 where it asks for it.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::harness::{Case, Outcome, has_driver, kind, not_possible, refused, refused_unless_lacking, says};
use crate::kernels::owns;

pub const CASES: &[Case] = &[
    ("wide: elements of each thread", items),
    ("wide: indices that move along", neighbours),
    ("wide: two dimensions", plane),
    ("wide: numbered indices", numbered),
    ("wide: lanes and atomics", lanes_and_atomics),
    ("wide: structs, arrays and functions", structs),
    ("wide: block shared memory", in_shared_memory),
    ("wide: places in the launch", places),
    ("wide: what is out of bounds", beyond),
    ("wide: what needs 64 bits and has 32", refusals),
    ("wide: 2^32 elements", many),
];

/// Both forms of the code.
fn forms() -> [LaunchOptions; 2] {
    [LaunchOptions::new(), LaunchOptions::new().long_indices()]
}

#[kernel(wide)]
fn triad(acc: &Acc, factor: f32, x: Read<f32>, mut out: PerItem<f32>) {
    for (i, out) in acc.items(&mut out) {
        *out = factor * x[i] + i as f32;
    }
}

#[kernel(wide)]
fn both(acc: &Acc, mut x: PerItem<u32>, mut y: PerItem<u64>) {
    for (i, (x, y)) in acc.items((&mut x, &mut y)) {
        *x = i as u32 + 1;
        *y = i * i;
    }
}

fn items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = device.from_slice(&all)?;
    for options in forms() {
        let mut out = device.alloc_zeroed::<f32>(1000)?;
        queue.launch_with(options, FrameSpec::cover(1000, 16), triad(2.0, &x, &mut out))?;
        assert_eq!(out.read(&queue)?, all.iter().map(|x| 3.0 * x).collect::<Vec<_>>());
        let (mut x, mut y) = (device.alloc_zeroed::<u32>(100)?, device.alloc_zeroed::<u64>(100)?);
        queue.launch_with(options, ThreadSpec::new(3, 4), both(&mut x, &mut y))?;
        assert_eq!(x.read(&queue)?, (1..101).collect::<Vec<u32>>());
        assert_eq!(y.read(&queue)?, (0..100).map(|i| i * i).collect::<Vec<u64>>());
    }
    Ok(())
}

#[kernel(wide)]
fn smooth(acc: &Acc, from: Read<u32>, to: Shared<u32>) {
    let n = from.len();
    for i in acc.indices(THREADS_IN_GRID, 1..n - 1) {
        to[i] = from[i - 1] + 2 * from[i] + from[i + 1];
    }
    for i in acc.indices(THREADS_IN_GRID, (0..n).step_by(n - 1)) {
        to[i] = from[i];
    }
}

#[kernel(wide)]
fn shifted(acc: &Acc, from: Read<u32>, to: Shared<u32>, distance: u64) {
    for i in 0..from.len() {
        if i >= distance {
            to[i] = from[i - distance];
        } else {
            to[i] = 7;
        }
    }
}

fn neighbours(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let n = 300;
    let all: Vec<u32> = (0..n).map(|i| i * i).collect();
    let (from, to) = (device.from_slice(&all)?, device.alloc_zeroed::<u32>(n as usize)?);
    let smoothed = |i: usize| match i {
        0 | 299 => all[i],
        _ => all[i - 1] + 2 * all[i] + all[i + 1],
    };
    for options in forms() {
        queue.launch_with(options, ThreadSpec::new(4, 1), smooth(&from, &to))?;
        assert_eq!(to.read(&queue)?, (0..300).map(smoothed).collect::<Vec<_>>());
        queue.launch_with(options, ThreadSpec::new(1, 1), shifted(&from, &to, 5))?;
        let expected: Vec<_> = (0..300).map(|i| if i >= 5 { all[i - 5] } else { 7 }).collect();
        assert_eq!(to.read(&queue)?, expected);
    }
    Ok(())
}

#[kernel(wide)]
fn turn(acc: &Acc<2>, from: Read<u32, 2>, mut to: PerItem<u32, 2>) {
    let [rows, columns] = from.extent();
    for ([y, x], to) in acc.items(&mut to) {
        *to = from[[x, y]] + (rows * columns) as u32;
    }
}

#[kernel(wide)]
fn turn_linear(acc: &Acc, from: Read<u32, 2>, mut to: PerItem<u32, 2>) {
    for ([y, x], to) in acc.items(&mut to) {
        *to = from[[x, y]] + from.len() as u32;
    }
}

fn plane(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut from = device.alloc_zeroed_nd::<u32, 2>([5, 7])?;
    from.write(&queue, &(0..35).collect::<Vec<_>>())?;
    let expected: Vec<u32> = (0..7).flat_map(|y| (0..5).map(move |x| 7 * x + y + 35)).collect();
    for options in forms() {
        let mut to = device.alloc_zeroed_nd::<u32, 2>([7, 5])?;
        queue.launch_with(options, FrameSpec::cover([7, 5], [2, 2]), turn(&from, &mut to))?;
        assert_eq!(to.read(&queue)?, expected);
        let mut to = device.alloc_zeroed_nd::<u32, 2>([7, 5])?;
        queue.launch_with(options, ThreadSpec::new(3, 1), turn_linear(&from, &mut to))?;
        assert_eq!(to.read(&queue)?, expected);
        // A part of it, whose rows are apart.
        let part = from.region([1, 2], [4, 6])?;
        let mut to = device.alloc_zeroed_nd::<u32, 2>([4, 3])?;
        queue.launch_with(options, FrameSpec::cover([4, 3], [2, 2]), turn(&part, &mut to))?;
        let expected: Vec<u32> = (0..4).flat_map(|y| (0..3).map(move |x| 7 * (x + 1) + y + 2 + 12)).collect();
        assert_eq!(to.read(&queue)?, expected);
    }
    Ok(())
}

#[kernel(wide)]
fn number(acc: &Acc, extent: [u64; 3], out: Shared<u64>) {
    for i in acc.indices(LINEAR_THREADS_IN_GRID, extent) {
        let n = i.linearize(extent);
        let again = n.delinearize(extent);
        out[n] = again.axis(2) + 10 * again.axis(1) + 100 * again.axis(0);
    }
    for i in acc.indices(THREADS_IN_GRID, 0..out.len()).contiguous() {
        out[i] += 1000;
    }
}

/// There are more than 2^32 indices, of which the first few are gone over.
#[kernel(wide)]
fn many_numbers(acc: &Acc, extent: [u64; 2], out: Shared<u64>) {
    let mut count = 0;
    for [y, x] in acc.indices(LINEAR_THREADS_IN_GRID, extent) {
        count += 1;
        if count == 100 {
            out[0] = y * 1000 + x;
            break;
        }
    }
    // Each of these numbers has 32 bits, and their product has not.
    for [y, x] in acc.indices(ALL_THREADS, [1 << 20, 1 << 20]) {
        out[1] = y + x + 1;
        break;
    }
}

fn numbered(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for options in forms() {
        let out = device.alloc_zeroed::<u64>(2)?;
        queue.launch_with(options, ThreadSpec::new(1, 1), many_numbers([1 << 33, 3], &out))?;
        assert_eq!(out.read(&queue)?, [33000, 1]);
    }
    for options in forms() {
        let out = device.alloc_zeroed::<u64>(24)?;
        queue.launch_with(options, ThreadSpec::new(1, 1), number([2, 3, 4], &out))?;
        let expected = (0..24).map(|n| n % 4 + 10 * (n / 4 % 3) + 100 * (n / 12) + 1000);
        assert_eq!(out.read(&queue)?, expected.collect::<Vec<u64>>());
    }
    Ok(())
}

#[kernel(wide)]
fn fours(acc: &Acc, x: Read<u32>, out: Shared<u32>, counts: Atomic<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..x.len() / 4) {
        let four = x.lanes::<4>(4 * i);
        out.store_lanes(4 * i, four + [1; 4]);
        counts.fetch_add(i % 3, four[i % 4]);
        if counts.compare_exchange(3, 0, 1) == 0 {
            counts.store_with(4, 9, Scope::Device, Order::Release);
        }
    }
}

fn lanes_and_atomics(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<u32> = (0..48).collect();
    let x = device.from_slice(&all)?;
    for options in forms() {
        let (out, counts) = (device.alloc_zeroed::<u32>(48)?, device.alloc_zeroed::<u32>(5)?);
        queue.launch_with(options, FrameSpec::cover(12, 4), fours(&x, &out, &counts))?;
        assert_eq!(out.read(&queue)?, (1..49).collect::<Vec<u32>>());
        let mut expected = [0, 0, 0, 1, 9];
        (0..12).for_each(|i| expected[i % 3] += all[4 * i + i % 4]);
        assert_eq!(counts.read(&queue)?, expected);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Body {
    position: [f32; 3],
    mass: f32,
}

#[device_fn(wide)]
fn weight(bodies: Shared<Body>, i: u64) -> f32 {
    let near = if i + 1 < bodies.len() { bodies[i + 1].mass } else { 0.0 };
    bodies[i].mass + near
}

#[kernel(wide)]
fn fall(acc: &Acc, bodies: Shared<Body>, out: Shared<f32>) {
    let mut steps = [1.0, 2.0, 3.0];
    for i in acc.indices(THREADS_IN_GRID, 0..bodies.len()) {
        steps[i % 3] = 4.0;
        for d in 0..3 {
            bodies[i].position[d] += steps[d];
        }
        steps[i % 3] = (i % 3) as f32 + 1.0;
        out[i] = weight(bodies, i);
    }
}

#[kernel(wide)]
fn scale(acc: &Acc, mut bodies: PerItem<Body>) {
    for (i, body) in acc.items(&mut bodies) {
        body.position[i % 3] *= 2.0;
        body.mass += steps_of(acc, i);
    }
}

#[device_fn(wide)]
fn steps_of(acc: &Acc, i: u64) -> f32 {
    if i < acc.threads_in_grid() { 1.0 } else { 0.0 }
}

trait Weighs {
    #[device_fn(wide)]
    fn weighs(x: Read<f32>, i: u64) -> f32;
}

struct Twice;

impl Weighs for Twice {
    #[device_fn(wide)]
    fn weighs(x: Read<f32>, i: u64) -> f32 {
        2.0 * x[x.len() - 1 - i]
    }
}

#[kernel(wide)]
fn weigh<W: Weighs, F: DeviceFn<(u64, f32), Output = f32>>(acc: &Acc, x: Read<f32>, out: Shared<f32>, f: F) {
    for i in acc.indices(LINEAR_THREADS_IN_GRID, 0..x.len()).strided() {
        out[i] = f(i, W::weighs(x, i));
    }
}

#[kernel(wide)]
fn reversed<const D: usize>(acc: &Acc<D>, x: Read<f32, D>, mut out: PerItem<f32, D>) {
    let extent = x.extent();
    for (i, out) in acc.items(&mut out) {
        *out = x[i.with_axis(0, extent.axis(0) - 1 - i.axis(0))];
    }
}

fn structs(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[1.0f32, 2.0, 3.0])?;
    for options in forms() {
        let mut out = device.alloc_zeroed::<f32>(3)?;
        let add = device_closure!(|i, x| i as f32 + x);
        queue.launch_with(options, ThreadSpec::new(2, 1), weigh::<Twice, _>(&x, &out, add))?;
        assert_eq!(out.read(&queue)?, [6.0, 5.0, 4.0]);
        queue.launch_with(options, ThreadSpec::new(2, 1), reversed(&x, &mut out))?;
        assert_eq!(out.read(&queue)?, [3.0, 2.0, 1.0]);
    }
    let body = |i: usize| Body { position: [0.0; 3], mass: i as f32 };
    for options in forms() {
        let mut bodies = device.from_slice(&std::array::from_fn::<_, 9, _>(body))?;
        let out = device.alloc_zeroed::<f32>(9)?;
        queue.launch_with(options, ThreadSpec::new(1, 1), fall(&bodies, &out))?;
        let weights: Vec<_> = (0..9).map(|i| if i < 8 { (2 * i + 1) as f32 } else { 8.0 }).collect();
        assert_eq!(out.read(&queue)?, weights);
        queue.launch_with(options, ThreadSpec::new(3, 1), scale(&mut bodies))?;
        let expected: Vec<_> = (0..9)
            .map(|i| {
                let mut position = [1.0, 2.0, 3.0];
                position[i % 3] = 8.0;
                Body { position, mass: i as f32 + if i < 3 { 1.0 } else { 0.0 } }
            })
            .collect();
        assert_eq!(bodies.read(&queue)?, expected);
    }
    Ok(())
}

#[kernel(wide)]
fn turned_in_block(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let tile = acc.shared::<u32, 64>();
    let squares = acc.shared_nd::<u32, 8, 8>();
    let t = acc.thread_in_block();
    let at = acc.block_in_grid() * acc.threads_in_block() + t;
    tile[t] = x[at];
    squares[[t / 8, t % 8]] = 1;
    acc.sync_block();
    let last = acc.threads_in_block() - 1;
    out[at] = tile[last - t] + squares[[t % 8, t / 8]] + tile.len() as u32;
}

fn in_shared_memory(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let all: Vec<u32> = (0..128).collect();
    let x = device.from_slice(&all)?;
    for options in forms() {
        let out = device.alloc_zeroed::<u32>(128)?;
        queue.launch_with(options, ThreadSpec::new(2, 64), turned_in_block(&x, &out))?;
        assert_eq!(out.read(&queue)?, (0..128).map(|i| i / 64 * 64 + 63 - i % 64 + 65).collect::<Vec<u32>>());
    }
    Ok(())
}

#[kernel(wide)]
fn place(acc: &Acc<2>, out: Shared<u64>) {
    let at = 12 * acc.linear_thread_in_grid();
    let ([y, x], [rows, columns]) = (acc.thread_in_grid(), acc.threads_in_grid());
    out[at] = y;
    out[at + 1] = x;
    out[at + 2] = rows;
    out[at + 3] = columns;
    out[at + 4] = acc.linear_thread_in_block();
    out[at + 5] = acc.linear_block_in_grid();
    out[at + 6] = acc.linear_threads_in_grid();
    out[at + 7] = acc.linear_threads_in_block();
    out[at + 8] = acc.linear_blocks_in_grid();
    out[at + 9] = acc.frames()[0];
    out[at + 10] = acc.frame_extent()[1];
    out[at + 11] = acc.thread_in_block()[1] + 10 * acc.block_in_grid()[0] + 100 * acc.blocks_in_grid()[1];
}

fn places(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for options in forms() {
        let out = device.alloc_zeroed::<u64>(12 * 24)?;
        queue.launch_with(options, ThreadSpec::new([2, 3], [2, 2]), place(&out))?;
        let mut expected = vec![0; 12 * 24];
        for (y, x) in (0..4u64).flat_map(|y| (0..6u64).map(move |x| (y, x))) {
            let all = [y, x, 4, 6, y % 2 * 2 + x % 2, y / 2 * 3 + x / 2, 24, 4, 6, 2, 2, x % 2 + 10 * (y / 2) + 300];
            expected[12 * (6 * y + x) as usize..][..12].copy_from_slice(&all);
        }
        assert_eq!(out.read(&queue)?, expected);
    }
    Ok(())
}

#[kernel(wide)]
fn reads(acc: &Acc, x: Read<u32>, out: Shared<u32>, i: u64) {
    out[0] = x[i] + 1;
}

#[kernel(wide)]
fn reads_lanes(acc: &Acc, x: Read<u32>, out: Shared<u32>, i: u64) {
    let pair = x.lanes::<2>(i);
    out[0] = pair[0] + pair[1] + 1;
}

fn beyond(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[5u32; 6])?;
    for options in forms() {
        for i in [6, (1 << 32) + 3, u64::MAX] {
            let out = device.alloc_zeroed::<u32>(1)?;
            let error = refused_unless_lacking(
                device,
                queue.launch_with(options, ThreadSpec::new(1, 1), reads(&x, &out, i)).and_then(|()| queue.wait()),
            )?;
            kind!(error, ErrorKind::Fault(_));
            says(&error, &["`x`", &i.to_string(), "6"]);
            assert_eq!(out.read(&queue)?, [1]);
            let error = refused_unless_lacking(
                device,
                queue.launch_with(options, ThreadSpec::new(1, 1), reads_lanes(&x, &out, i)).and_then(|()| queue.wait()),
            )?;
            says(&error, &["`x`", &i.saturating_add(1).to_string(), "6"]);
            assert_eq!(out.read(&queue)?, [1]);
        }
    }
    Ok(())
}

#[kernel]
fn narrow(acc: &Acc, mut out: PerItem<u32>) {
    for (i, out) in acc.items(&mut out) {
        *out = i;
    }
}

#[device_fn]
fn how_many(x: Read<u32>) -> u32 {
    x.len()
}

#[device_fn]
fn first_of(acc: &Acc) -> u32 {
    acc.thread_in_grid()
}

#[device_fn]
fn half(acc: &Acc, x: f32) -> f32 {
    if acc.thread_in_block() == 0 { x / 2.0 } else { x }
}

#[kernel(wide)]
fn asks_where(acc: &Acc, out: Shared<f32>) {
    out[0] = first_of(acc) as f32;
}

#[kernel(wide)]
fn halves(acc: &Acc, out: Shared<f32>) {
    out[1] = half(acc, 3.0);
}

#[kernel(wide)]
fn asks(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    out[0] = how_many(x);
}

fn refusals(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let long = LaunchOptions::new().long_indices();
    let mut out = device.alloc_zeroed::<u32>(3)?;
    let error = refused(queue.launch_with(long, ThreadSpec::new(1, 1), narrow(&mut out)));
    kind!(error, ErrorKind::LongLaunch { .. });
    says(&error, &["`narrow`", "#[kernel(wide)]", "u64"]);
    // There are 2^33 threads; nobody counts them.
    let error = refused(queue.launch(FrameSpec::new(1 << 20, 1 << 13), narrow(&mut out)));
    says(&error, &["`narrow`", "2^32 threads or more", "#[kernel(wide)]"]);
    let x = device.from_slice(&[1u32; 3])?;
    queue.launch(ThreadSpec::new(1, 1), asks(&x, &out))?;
    assert_eq!(out.read(&queue)?[0], 3);
    let error = refused(queue.launch_with(long, ThreadSpec::new(1, 1), asks(&x, &out)));
    says(&error, &["counts the elements of a view with `u32`", "#[device_fn(wide)]", "wide.rs"]);
    let out = device.alloc_zeroed::<f32>(2)?;
    queue.launch(ThreadSpec::new(1, 1), asks_where(&out))?;
    let error = refused(queue.launch_with(long, ThreadSpec::new(1, 1), asks_where(&out)));
    says(&error, &["counts the grid's threads or warps with `u32`", "#[device_fn(wide)]", "wide.rs"]);
    // What has no such numbers may be called.
    queue.launch(ThreadSpec::new(1, 1), halves(&out))?;
    match queue.launch_with(long, ThreadSpec::new(1, 1), halves(&out)) {
        Err(error) if has_driver(device) => kind!(error, ErrorKind::Capability { .. }),
        launched => launched?,
    }
    assert_eq!(out.read(&queue)?[1], 1.5);
    Ok(())
}

#[kernel(wide)]
fn ends(acc: &Acc, x: Shared<u8>, seen: Shared<u64>) {
    let n = x.len();
    for i in acc.indices(THREADS_IN_GRID, n - 5..n) {
        x[i] = (n - i) as u8;
    }
    for i in acc.indices(ALL_THREADS, (0..n).step_by(1 << 28)) {
        seen[i >> 28] = i + x[i] as u64;
    }
}

#[kernel(wide)]
fn corner(acc: &Acc<2>, x: Shared<u8, 2>) {
    let [rows, columns] = x.extent();
    for i in acc.indices(THREADS_IN_GRID, [rows - 1, columns - 2]..[rows, columns]) {
        x[i] = i[1] as u8;
    }
    if x.len() == rows * columns {
        x[[0, 0]] = 3;
    }
}

/// Memory of the host is there when it is touched, so that this has few bytes there. The stand-in of a CUDA driver has enough
/// with `SOFT_CUDA_MEMORY=10000000000`.
fn many(device: &Device) -> Outcome {
    const MANY: usize = (1 << 32) + 10;
    let properties = device.properties();
    match properties.kind {
        DeviceKind::Host => {}
        DeviceKind::Gpu | DeviceKind::Software if properties.memory > 9 << 30 && device.name().starts_with("cuda") => {}
        kind => {
            return not_possible(format!(
                "a device of kind {kind:?} has too little memory, or reaches too little of it"
            ));
        }
    }
    let queue = device.queue()?;
    let mut x = device.alloc_zeroed::<u8>(MANY)?;
    assert_eq!((x.len(), x.extent().get()), (MANY, [MANY]));
    let error = refused(queue.launch(ThreadSpec::new(1, 1), reads_bytes(&x)));
    kind!(error, ErrorKind::LongLaunch { .. });
    says(&error, &["`reads_bytes`", "`x`", "4294967306", "#[kernel(wide)]"]);
    let seen = device.alloc_zeroed::<u64>(17)?;
    queue.launch(ThreadSpec::new(2, 1), ends(&x, &seen))?;
    assert_eq!(seen.read(&queue)?, (0..17).map(|i| i << 28).collect::<Vec<u64>>());
    assert_eq!(x.slice(MANY - 7..MANY)?.read(&queue)?, [0, 0, 5, 4, 3, 2, 1]);
    // What is 2^32 before them has not changed.
    assert_eq!(x.slice(0..10)?.read(&queue)?, [0; 10]);
    // A part of it has fewer, wherever it begins.
    queue.launch(FrameSpec::cover(10, 4), reads_bytes(x.slice(1 << 32..MANY)?))?;
    x.slice_mut(1 << 32..(1 << 32) + 2)?.write(&queue, &[8, 9])?;
    queue.fill(x.slice_mut((1 << 32) - 1..1 << 32)?, 7)?;
    let mut copy = device.alloc_zeroed::<u8>(4)?;
    queue.copy(&mut copy, x.slice((1 << 32) - 1..(1 << 32) + 3)?)?;
    assert_eq!(copy.read(&queue)?, [7, 8, 9, 0]);
    let error = refused(
        queue
            .launch(ThreadSpec::new(1, 1), reads(&device.from_slice(&[1u32])?, &device.alloc(1)?, MANY as u64))
            .and_then(|()| queue.wait()),
    );
    says(&error, &["`x`", "4294967306"]);
    drop(x);
    // No dimension has as many, and all together have.
    let plane = device.alloc_zeroed_nd::<u8, 2>([1 << 17, 1 << 16])?;
    queue.launch(ThreadSpec::new([2, 2], [1, 1]), corner(&plane))?;
    let last = plane.region([(1 << 17) - 1, (1 << 16) - 3], [1 << 17, 1 << 16])?;
    assert_eq!(last.read(&queue)?, [0, 254, 255]);
    assert_eq!(plane.region([0, 0], [1, 3])?.read(&queue)?, [3, 0, 0]);
    let mut one = device.alloc_zeroed::<u32>(1)?;
    queue.launch(FrameSpec::new(1, 1), owns(&mut one))?;
    Ok(())
}

#[kernel]
fn reads_bytes(acc: &Acc, x: Read<u8>) {
    assert!(x.len() == 10);
}
