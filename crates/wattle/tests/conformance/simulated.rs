//! What the simulated device reports, and of barriers the host devices.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::harness::{Case, Outcome, kind, not_possible, refused, says};
use crate::kernels::affine;

pub const CASES: &[Case] = &[
    ("a read of what nobody wrote", |device| only(device, unwritten)),
    ("a barrier that not all threads reach", |device| sees_barriers(device, barrier)),
    ("threads at different barriers", |device| sees_barriers(device, barriers)),
    ("a race", |device| only(device, race)),
    ("no race where a release is acquired", |device| only(device, no_race)),
    ("a launch that can never end", |device| only(device, stuck)),
    ("a launch whose end what would end it waits for", |device| only(device, waited_for_by_its_end)),
    ("threads that wait together for ever", |device| only(device, stuck_together)),
    ("threads that wait together for a while", |device| only(device, woken_together)),
    ("threads that wait for the clock", |device| only(device, clock)),
    ("the same seed gives the same run", |device| only(device, same_seed)),
    ("devices of a seed by name", |device| only(device, by_name)),
];

fn only(device: &Device, case: fn(&Device) -> Outcome) -> Outcome {
    if device.properties().kind != DeviceKind::Simulated {
        return not_possible("it does not tell");
    }
    case(device)
}

/// The host devices see which threads of a block are at which barrier too.
fn sees_barriers(device: &Device, case: fn(&Device) -> Outcome) -> Outcome {
    if device.properties().kind == DeviceKind::Host { case(device) } else { only(device, case) }
}

/// The error is a finding with these words, and the queue goes on.
fn finds(queue: &Queue, launched: wattle::Result<()>, words: &[&str]) -> Outcome {
    let error = refused(launched.and_then(|()| queue.wait()));
    kind!(error, ErrorKind::Finding(_));
    says(&error, words);
    let mut x = queue.device().from_slice(&[1u32, 2, 3])?;
    queue.launch(FrameSpec::cover(3, 2), affine(&mut x, 2, 1))?;
    assert_eq!(x.read(queue)?, [3, 5, 7]);
    Ok(())
}

/// `simulated.rs` with this line.
fn here(line: u32) -> String {
    format!("simulated.rs:{line}")
}

fn both(device: &Device) -> wattle::Result<[Queue; 2]> {
    Ok([device.queue()?, device.queue_non_blocking()?])
}

const UNWRITTEN: u32 = line!();
#[kernel]
fn copies(acc: &Acc, from: Read<u32>, to: PerItem<u32>) {
    for (i, to) in acc.items(&mut to) {
        *to = from[i];
    }
}
#[kernel]
fn reads_shared(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared::<u32, 4>();
    out[0] = tile[2];
}

fn unwritten(device: &Device) -> Outcome {
    for queue in both(device)? {
        let mut from = device.alloc::<u32>(4)?;
        let mut to = device.alloc::<u32>(4)?;
        // All elements but one are written.
        queue.fill(from.slice_mut(0..2)?, 1)?;
        queue.fill(from.slice_mut(3..4)?, 1)?;
        let launched = queue.launch(FrameSpec::new(1, 4), copies(&from, &mut to));
        let line = here(UNWRITTEN + 4);
        let words = ["`from` at index 2 was read, and nobody wrote it", "kernel `copies`", &line, "initialise"];
        finds(&queue, launched, &words)?;
        queue.fill(&mut from, 1)?;
        queue.launch(FrameSpec::new(1, 4), copies(&from, &mut to))?;
        assert_eq!(to.read(&queue)?, [1; 4]);
        let launched = queue.launch(ThreadSpec::new(1, 1), reads_shared(&to));
        finds(&queue, launched, &["`tile` at index 2", "nobody wrote it", "shared memory", &here(UNWRITTEN + 10)])?;
    }
    Ok(())
}

const BARRIER: u32 = line!();
#[kernel]
fn misses(acc: &Acc, x: Shared<u32>) {
    if acc.thread_in_block() != 1 {
        acc.sync_block();
    }
    x[acc.thread_in_grid()] = 1;
}
#[kernel]
fn parts_ways(acc: &Acc, x: Read<u32>) {
    if acc.thread_in_block() < x[0] {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

fn barrier(device: &Device) -> Outcome {
    for queue in both(device)? {
        let x = device.alloc_zeroed::<u32>(3)?;
        let launched = queue.launch(ThreadSpec::new(1, 3), misses(&x));
        let words =
            ["waits at the barrier", &here(BARRIER + 4), "thread 1 of block 0", "never reaches", "every thread"];
        finds(&queue, launched, &words)?;
    }
    Ok(())
}

fn barriers(device: &Device) -> Outcome {
    for queue in both(device)? {
        let x = device.from_slice(&[1u32])?;
        let launched = queue.launch(ThreadSpec::new(1, 2), parts_ways(&x));
        let words = ["different barriers", &here(BARRIER + 11), &here(BARRIER + 13), "every thread of a block"];
        finds(&queue, launched, &words)?;
    }
    Ok(())
}

const RACE: u32 = line!();
#[kernel]
fn races(acc: &Acc, data: Shared<u32>, flag: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        data[1] = 1;
        flag.store(0, 1);
    } else {
        while flag.load(0) == 0 {}
        flag.store(1, data[1]);
    }
}
#[kernel]
fn hands_over(acc: &Acc, data: Shared<u32>, flag: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        data[1] = 1;
        flag.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        flag.store(1, data[1]);
    }
}

fn race(device: &Device) -> Outcome {
    for queue in both(device)? {
        let (data, flag) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?);
        let launched = queue.launch(ThreadSpec::new(2, 1), races(&data, &flag));
        let words = [
            "data race on `data` at index 1",
            "plain write by thread 0 of block 0",
            "plain read by thread 0 of block 1",
            &here(RACE + 4),
            &here(RACE + 8),
            "nothing orders them",
        ];
        finds(&queue, launched, &words)?;
    }
    Ok(())
}

fn no_race(_: &Device) -> Outcome {
    for seed in 0..20 {
        let device = Device::simulated(seed);
        let queue = device.queue()?;
        let (data, flag) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(2, 1), hands_over(&data, &flag))?;
        assert_eq!(flag.read(&queue)?, [1, 1]);
    }
    Ok(())
}

const STUCK: u32 = line!();
#[kernel]
fn waits(acc: &Acc, flag: Atomic<u32>) {
    while flag.load(0) == 0 {}
}

fn stuck(device: &Device) -> Outcome {
    for queue in both(device)? {
        let flag = device.alloc_zeroed::<u32>(1)?;
        let launched = queue.launch(ThreadSpec::new(2, 1), waits(&flag));
        let words = ["launch `waits` can never end", "thread 0 of block 0", "thread 0 of block 1", &here(STUCK + 3)];
        finds(&queue, launched, &words)?;
    }
    Ok(())
}

#[kernel]
fn raises(acc: &Acc, flag: Atomic<u32>) {
    flag.store(0, 1);
}

/// What would end the launch waits for its end, by events of one queue or of several.
fn waited_for_by_its_end(device: &Device) -> Outcome {
    for between in 0..3 {
        let flag = device.alloc_zeroed::<u32>(1)?;
        let (first, last) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        first.launch(ThreadSpec::new(1, 1), waits(&flag))?;
        let mut event = first.record()?;
        for _ in 0..between {
            let queue = device.queue_non_blocking()?;
            queue.wait_for(&event)?;
            event = queue.record()?;
        }
        last.wait_for(&event)?;
        last.launch(ThreadSpec::new(1, 1), raises(&flag))?;
        finds(&first, Ok(()), &["launch `waits` can never end with what is enqueued"])?;
    }
    Ok(())
}

const STUCK_TOGETHER: u32 = line!();
#[kernel]
fn waits_at_barriers(acc: &Acc, flag: Atomic<u32>) {
    let seen = acc.shared::<u32, 1>();
    loop {
        if acc.thread_in_block() == 0 {
            seen[0] = flag.load(0);
        }
        acc.sync_block();
        if seen[0] != 0 {
            break;
        }
        acc.sync_block();
    }
}
#[kernel]
fn waits_in_warps(acc: &Acc, flag: Atomic<u32>) {
    let warp = acc.warp();
    while !warp.any(flag.load(0) != 0) {}
}
#[kernel]
fn waits_before_a_barrier(acc: &Acc, flag: Atomic<u32>) {
    loop {
        if flag.load(0) != 0 {
            acc.sync_block();
            break;
        }
    }
}

/// The threads of a block wait together for what nobody will do, though each of them goes on from one barrier to the next.
fn stuck_together(device: &Device) -> Outcome {
    for queue in both(device)? {
        let flag = device.alloc_zeroed::<u32>(1)?;
        let launched = queue.launch(ThreadSpec::new(2, 4), waits_at_barriers(&flag));
        let words = ["launch `waits_at_barriers` can never end", "thread 3 of block 1", &here(STUCK_TOGETHER + 8)];
        finds(&queue, launched, &words)?;
        let launched =
            queue.launch_with(LaunchOptions::new().warp_size(2), ThreadSpec::new(2, 4), waits_in_warps(&flag));
        let words = ["launch `waits_in_warps` can never end", "thread 3 of block 1", &here(STUCK_TOGETHER + 18)];
        finds(&queue, launched, &words)?;
        // A loop with a barrier in it counts its iterations, which is no progress.
        let launched = queue.launch(ThreadSpec::new(2, 2), waits_before_a_barrier(&flag));
        finds(&queue, launched, &["launch `waits_before_a_barrier` can never end", "thread 1 of block 1"])?;
    }
    Ok(())
}

/// The threads of block 0 wait together for another block, which works for long without a change of memory.
#[kernel]
fn waits_for_a_worker(acc: &Acc, flag: Atomic<u32>, warps: u32, out: Shared<u32>) {
    let seen = acc.shared::<u32, 1>();
    let warp = acc.warp();
    if acc.block_in_grid() == 1 {
        let mut steps = 0u32;
        for i in 0..20_000u32 {
            steps += i & 1;
            if i % 1000 == 0 {
                acc.sync_block();
            }
        }
        out[acc.thread_in_block()] = steps;
        flag.store(0, 1);
        return;
    }
    loop {
        if acc.thread_in_block() == 0 {
            seen[0] = flag.load(0);
        }
        acc.sync_block();
        if warps == 1 {
            while !warp.any(flag.load(0) != 0) {}
        }
        if seen[0] != 0 {
            break;
        }
        acc.sync_block();
    }
}

/// One warp of a block waits for each turn of another, which counts where no other thread sees it.
#[kernel]
fn waits_for_a_count(acc: &Acc, out: Shared<u32>) {
    let done = acc.shared::<u32, 1>();
    let warp = acc.warp();
    let (counts, mut left) = (acc.thread_in_block() < 2, 50u32);
    loop {
        if acc.thread_in_block() == 0 {
            done[0] = if left == 0 { 1 } else { 0 };
        }
        if counts {
            left -= 1;
        }
        warp.sync();
        acc.sync_block();
        if done[0] != 0 {
            break;
        }
        acc.sync_block();
    }
    out[acc.thread_in_block()] = left;
}

/// Threads that wait together go on when a value changes or when a thread among them makes progress.
fn woken_together(device: &Device) -> Outcome {
    for queue in both(device)? {
        for warps in [0, 1] {
            let (flag, out) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(4)?);
            queue.launch_with(
                LaunchOptions::new().warp_size(2),
                ThreadSpec::new(2, 4),
                waits_for_a_worker(&flag, warps, &out),
            )?;
            assert_eq!(out.read(&queue)?, [10_000; 4]);
        }
        let out = device.alloc_zeroed::<u32>(4)?;
        queue.launch_with(LaunchOptions::new().warp_size(2), ThreadSpec::new(1, 4), waits_for_a_count(&out))?;
        assert_eq!(out.read(&queue)?, [u32::MAX, u32::MAX, 50, 50]);
    }
    Ok(())
}

#[kernel]
fn waits_a_while(acc: &Acc, together: u32) {
    let end = acc.clock() + 2000;
    while acc.clock() < end {
        if together == 1 {
            acc.sync_block();
        }
    }
}

/// A thread that waits for the clock, alone or with its block, is not one that waits for ever.
fn clock(device: &Device) -> Outcome {
    for queue in both(device)? {
        queue.launch(ThreadSpec::new(2, 2), waits_a_while(0))?;
        queue.launch(ThreadSpec::new(2, 1), waits_a_while(1))?;
        queue.wait()?;
    }
    Ok(())
}

/// Records the order in which the threads come.
#[kernel]
fn order(acc: &Acc, next: Atomic<u32>, order: Shared<u32>) {
    let number = next.fetch_add(0, 1);
    order[number] = acc.thread_in_grid();
}

fn orders(device: &Device) -> wattle::Result<Vec<u32>> {
    let mut all = Vec::new();
    let queue = device.queue()?;
    for _ in 0..3 {
        let (next, places) = (device.alloc_zeroed::<u32>(1)?, device.alloc::<u32>(24)?);
        queue.launch(ThreadSpec::new(6, 4), order(&next, &places))?;
        all.extend(places.read(&queue)?);
    }
    Ok(all)
}

fn same_seed(_: &Device) -> Outcome {
    let mut seen = std::collections::BTreeSet::new();
    for seed in [0, 1, 7, 8, u64::MAX] {
        let first = orders(&Device::simulated(seed))?;
        assert_eq!(orders(&Device::simulated(seed))?, first, "seed {seed}");
        // Beside another device it is the same too.
        let other = Device::simulated(seed + u64::from(seed == 0));
        orders(&other)?;
        assert_eq!(orders(&Device::simulated(seed))?, first, "seed {seed}");
        seen.insert(first);
    }
    assert_eq!(seen.len(), 5, "another seed gives another run");
    Ok(())
}

fn by_name(_: &Device) -> Outcome {
    let named = Device::select("simulated:7")?;
    assert_eq!(named.name(), "simulated:7");
    assert_eq!(orders(&named)?, orders(&Device::simulated(7))?);
    assert_eq!(Device::simulated(7).name(), "simulated:7");
    assert_eq!(orders(&Device::select("simulated")?)?, orders(&Device::simulated(0))?);
    assert_eq!(orders(&Device::select("simulated:0")?)?, orders(&Device::simulated(0))?);
    assert_eq!(Device::select("simulated")?.name(), "simulated");
    for wrong in ["simulated:", "simulated:-1", "simulated:1.5", "simulated:99999999999999999999"] {
        kind!(refused(Device::select(wrong)), ErrorKind::UnknownDevice { .. });
    }
    Ok(())
}
