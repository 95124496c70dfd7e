//! Views, shared memory, atomics, fences.
use wattle::prelude::*;

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

#[kernel]
fn shared_memory(acc: &Acc, out: PerItem<u32>, facts: Shared<u32>) {
    let tile = acc.shared::<u32, 16>();
    let counts = acc.shared_atomic::<u32, 4>();
    let rest = acc.shared_at_launch::<f32>();
    let n = tile.len();
    for i in acc.indices(LINEAR_THREADS_IN_BLOCK, 0..n) {
        tile[i] = i * 3;
        tile[i] += 1;
    }
    for i in acc.indices(THREADS_IN_BLOCK, 0..4) {
        counts.store(i, 0);
    }
    for i in acc.indices(THREADS_IN_BLOCK, 0..rest.len()) {
        rest[i] = 0.5;
    }
    acc.sync_block();
    for i in acc.indices(THREADS_IN_BLOCK, 0..n) {
        counts.fetch_add_with(i % 4, tile[n - 1 - i], Scope::Block, Order::Relaxed);
    }
    acc.sync_block();
    for (i, item) in acc.items(&mut out) {
        *item = counts.load(i % 4) + rest.len() + (rest[i % 5] * 2.0) as u32;
    }
    if acc.thread_in_grid() == 0 {
        facts[0] = counts.len();
    }
}

#[test]
fn block_shared_memory() {
    let sums: Vec<u32> =
        (0..8).map(|i| (0..16).filter(|k| k % 4 == i % 4).map(|k| (15 - k) * 3 + 1).sum::<u32>() + 6).collect();
    for device in Device::all() {
        let queue = device.queue().unwrap();
        let mut out = device.alloc_zeroed::<u32>(8).unwrap();
        let facts = device.alloc_zeroed::<u32>(1).unwrap();
        let kernel = shared_memory(&mut out, &facts);
        wattle::Kernel::build(&kernel).unwrap();
        queue.launch_with(LaunchOptions::new().shared_len(5), FrameSpec::cover(8, 4), kernel).unwrap();
        assert_eq!(out.read(&queue).unwrap(), sums);
        assert_eq!(facts.read(&queue).unwrap(), [4]);
    }
}

#[kernel]
fn atomics<T: AtomicInt>(acc: &Acc, x: T, y: T, place: Atomic<T>, out: Shared<T>) {
    place.store(0, x);
    out[0] = place.exchange(0, y);
    out[1] = place.fetch_add(0, x);
    out[2] = place.fetch_sub(0, y);
    out[3] = place.fetch_min_with(0, y, Scope::Device, Order::AcqRel);
    out[4] = place.fetch_max_with(0, x, Scope::System, Order::SeqCst);
    out[5] = place.fetch_and(0, y);
    out[6] = place.fetch_or_with(0, x, Scope::Block, Order::Acquire);
    out[7] = place.fetch_xor_with(0, y, Scope::Device, Order::Release);
    out[8] = place.fetch_inc(0, x);
    out[9] = place.fetch_dec(0, y);
    out[10] = place.compare_exchange(0, x, y);
    out[11] = place.load_with(0, Scope::Device, Order::Acquire);
    out[12] = place.compare_exchange_with(0, out[11], x, Scope::Device, Order::AcqRel);
    place.store_with(0, place.load_with(0, Scope::System, Order::SeqCst), Scope::Device, Order::Release);
    acc.mem_fence(Scope::Device, Order::SeqCst);
    acc.mem_fence(Scope::Block, Order::Acquire);
    acc.mem_fence(Scope::System, Order::Release);
    out[13] = place.load(0);
}

fn atomics_in_rust(x: u32, y: u32) -> [u32; 14] {
    let mut out = [0; 14];
    let mut place = x;
    let mut step = |at: usize, next: fn(u32, u32, u32) -> u32| {
        out[at] = place;
        place = next(place, x, y);
    };
    step(0, |_, _, y| y);
    step(1, |p, x, _| p.wrapping_add(x));
    step(2, |p, _, y| p.wrapping_sub(y));
    step(3, |p, _, y| p.min(y));
    step(4, |p, x, _| p.max(x));
    step(5, |p, _, y| p & y);
    step(6, |p, x, _| p | x);
    step(7, |p, _, y| p ^ y);
    step(8, |p, x, _| if p >= x { 0 } else { p + 1 });
    step(9, |p, _, y| if p == 0 || p > y { y } else { p - 1 });
    step(10, |p, x, y| if p == x { y } else { p });
    step(11, |p, _, _| p);
    step(12, |_, x, _| x);
    step(13, |p, _, _| p);
    out
}

#[test]
fn atomic_operations() {
    for (x, y) in [(5, 3), (3, 5), (0, u32::MAX), (u32::MAX, 1)] {
        expect!(one(), atomics_in_rust(x, y), |device, out| atomics(x, y, &device.alloc::<u32>(1).unwrap(), &out));
    }
    let expected = atomics_in_rust(9, 4).map(i64::from);
    expect!(one(), expected, |device, out| atomics(9i64, 4, &device.alloc::<i64>(1).unwrap(), &out));
}

#[kernel]
fn float_atomics<T: AtomicScalar>(acc: &Acc, x: T, place: Atomic<T>, out: Shared<T>) {
    place.store(0, x);
    out[0] = place.fetch_add(0, x);
    out[1] = place.exchange(0, x * x);
    out[2] = place.load(acc.thread_in_grid());
}

#[test]
fn atomic_operations_on_floats() {
    expect!(one(), [1.5f32, 3.0, 2.25], |device, out| float_atomics(1.5f32, &device.alloc::<f32>(1).unwrap(), &out));
    expect!(one(), [1.5f64, 3.0, 2.25], |device, out| float_atomics(1.5f64, &device.alloc::<f64>(1).unwrap(), &out));
}

#[kernel]
fn lanes(acc: &Acc, x: Read<u16>, out: Shared<u32>) {
    let four = x.lanes::<4>(2);
    let mut sum = acc.thread_in_grid();
    for i in 0..4 {
        sum = sum * 10 + four[i] as u32;
    }
    out[0] = sum;
    let [a, b] = x.lanes::<2>(0);
    out[1] = a as u32 * 10 + b as u32;
    out[2] = x.len() + x.is_empty() as u32 + x.extent();
    out[3] = x.lanes::<1>(7)[0] as u32;
}

#[test]
fn several_elements_at_once() {
    expect!(one(), [3456, 12, 16, 8], |device, out| lanes(
        &device.from_slice(&[1u16, 2, 3, 4, 5, 6, 7, 8]).unwrap(),
        &out
    ));
}

#[kernel]
fn narrow(acc: &Acc, bytes: Shared<u8>, words: Shared<i16>, out: Shared<i64>) {
    bytes[0] = 200 + acc.thread_in_grid() as u8;
    bytes[0] += 100;
    words[0] = i16::MIN;
    words[0] -= 1;
    out[0] = bytes[0] as i64;
    out[1] = words[0] as i64;
}

#[test]
fn narrow_elements() {
    expect!(one(), [44, 32767], |device, out| narrow(
        &device.alloc::<u8>(1).unwrap(),
        &device.alloc::<i16>(1).unwrap(),
        &out
    ));
}
