//! Several threads in a block: their places, their barriers, their shared memory, their waits for each other, their end.

use std::time::Duration;

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::bad_input::still_works;
use crate::harness::{Case, Outcome, kind, not_possible, refused, refused_unless_lacking, says, size};
use crate::random::Random;

pub const CASES: &[Case] = &[
    ("each thread of each block has its place", places),
    ("each element has one thread of one block", items),
    ("a tree of sums over shared memory", tree),
    ("values stay in registers across barriers", registers),
    ("a bitonic sort in one block", sort),
    ("threads of a block wait for lower and for higher ones", both_ways),
    ("threads of a block take turns", turns),
    ("a wait that is given up after so many looks", bounded_waits),
    ("a lock within each block", lock),
    ("threads of a block wait for another block", between_blocks),
    ("a barrier of all blocks", grid_barrier),
    ("large arrays in each thread", large_arrays),
    ("a fault names the thread", fault),
    ("a time limit ends all threads of a block", time_limit),
    ("more threads than a block can have", too_many),
];

/// Ends a case on devices that promise nothing of threads which wait for others of their warp.
fn promises_each_thread(device: &Device) -> Outcome {
    let properties = device.properties();
    match properties.kind {
        DeviceKind::Host | DeviceKind::Simulated | DeviceKind::Checker => Ok(()),
        _ if properties.target.is_some_and(|target| target.promises_threads()) => {
            not_possible("these cases did not end within 40 s on an H100, though CUDA promises it; why is not known")
        }
        _ => not_possible("it promises nothing of threads that wait for others of their warp"),
    }
}

/// The threads of a block: `threads`, or the most that the device can have.
fn block(device: &Device, threads: usize) -> usize {
    threads.min(device.properties().max_threads_per_block as usize)
}

#[kernel]
fn leaves_places(acc: &Acc<2>, out: Shared<u32, 2>) {
    let at = acc.linear_thread_in_grid();
    let [rows, columns] = acc.threads_in_grid();
    let ([row, column], [height, width]) = (acc.thread_in_grid(), acc.threads_in_block());
    let ([block_row, block_column], [y, x]) = (acc.block_in_grid(), acc.thread_in_block());
    assert!(row == block_row * height + y && column == block_column * width + x, "the place in the grid");
    assert!(at == row * columns + column, "the number in the grid");
    assert!(acc.linear_thread_in_block() == y * width + x, "the number in the block");
    assert!(acc.linear_threads_in_block() == height * width, "the threads of a block");
    assert!(acc.linear_threads_in_grid() == rows * columns, "the threads of the grid");
    assert!(acc.linear_threads_in_grid() == acc.linear_blocks_in_grid() * height * width, "all threads");
    out[[row, column]] = 1 + at;
}

fn places(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for (blocks, threads) in [([1, 1], [2, 1]), ([2, 3], [4, 2]), ([3, 1], [1, 5]), ([1, 2], [8, 8])] {
        let [rows, columns] = [blocks[0] * threads[0], blocks[1] * threads[1]];
        let out = device.alloc_zeroed_nd::<u32, 2>([rows, columns])?;
        queue.launch(ThreadSpec::new(blocks, threads), leaves_places(&out))?;
        assert_eq!(out.read(&queue)?, Vec::from_iter(1..(rows * columns) as u32 + 1));
    }
    Ok(())
}

#[kernel]
fn numbers_items(acc: &Acc, x: PerItem<u32>) {
    let thread = acc.thread_in_grid();
    for (i, x) in acc.items(&mut x) {
        *x += 1000 * (i + 1) + thread;
    }
}

fn items(device: &Device) -> Outcome {
    let queue = device.queue()?;
    for (n, blocks, threads) in [(1000, 3, 8), (5, 2, 8), (640, 5, 64)] {
        let mut x = device.alloc_zeroed::<u32>(n)?;
        queue.launch(ThreadSpec::new(blocks, threads), numbers_items(&mut x))?;
        let found = x.read(&queue)?;
        let mut threads_seen: Vec<_> = found.iter().map(|x| x % 1000).collect();
        assert_eq!(Vec::from_iter(found.iter().map(|x| x / 1000)), Vec::from_iter(1..n as u32 + 1));
        threads_seen.sort_unstable();
        threads_seen.dedup();
        assert_eq!(threads_seen.len(), n.min(blocks * threads), "all threads take part");
    }
    Ok(())
}

#[kernel]
fn sums_as_tree(acc: &Acc, x: Read<u32>, sums: Shared<u32>) {
    let tile = acc.shared::<u32, 256>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    tile[thread] = x[acc.thread_in_grid()];
    acc.sync_block();
    let mut width = threads / 2;
    while width > 0 {
        if thread < width {
            tile[thread] += tile[thread + width];
        }
        acc.sync_block();
        width /= 2;
    }
    if thread == 0 {
        sums[acc.block_in_grid()] = tile[0];
    }
}

fn tree(device: &Device) -> Outcome {
    let (blocks, threads) = (8, block(device, 256));
    let x: Vec<u32> = (0..blocks * threads).map(|i| (i * i) as u32).collect();
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let input = device.from_slice(&x)?;
        for _ in 0..size(device, 20, 2) {
            let sums = device.alloc_zeroed::<u32>(blocks)?;
            queue.launch(ThreadSpec::new(blocks, threads), sums_as_tree(&input, &sums))?;
            let expected: Vec<u32> = x.chunks(threads).map(|chunk| chunk.iter().sum()).collect();
            assert_eq!(sums.read(&queue)?, expected);
        }
    }
    Ok(())
}

/// Each thread keeps floats, integers and an array of its own while it hands a word round the block.
#[kernel]
fn keeps_values(acc: &Acc, out: Shared<u32>, floats: Shared<f64>) {
    let tile = acc.shared::<u32, 64>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let (mut a, mut b, mut c) = (thread as f64 + 0.5, 1.0 / (thread as f64 + 1.0), thread as u64 * 3);
    let mut own = [thread; 5];
    let mut word = thread;
    for round in 0..10 {
        tile[thread] = word;
        acc.sync_block();
        word = tile[(thread + 1) % threads];
        acc.sync_block();
        a += b;
        b = b * 0.5 + 1.0;
        c = c * 5 + round as u64;
        own[round % 5] += word;
    }
    let mut sum = word + c as u32;
    for k in 0..5 {
        sum = sum * 31 + own[k];
    }
    out[acc.thread_in_grid()] = sum;
    floats[acc.thread_in_grid()] = a + b;
}

fn registers(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (blocks, threads) = (3, block(device, 64));
    let out = device.alloc_zeroed::<u32>(blocks * threads)?;
    let floats = device.alloc_zeroed::<f64>(blocks * threads)?;
    queue.launch(ThreadSpec::new(blocks, threads), keeps_values(&out, &floats))?;
    let (out, floats) = (out.read(&queue)?, floats.read(&queue)?);
    for (at, (&found, &float)) in out.iter().zip(&floats).enumerate() {
        let thread = at % threads;
        let (mut a, mut b, mut c) = (thread as f64 + 0.5, 1.0 / (thread as f64 + 1.0), thread as u64 * 3);
        let mut own = [thread as u32; 5];
        for round in 0..10 {
            a += b;
            b = b * 0.5 + 1.0;
            c = c * 5 + round as u64;
            own[round % 5] += ((thread + round + 1) % threads) as u32;
        }
        let word = ((thread + 10) % threads) as u32;
        let start = word.wrapping_add(c as u32);
        let sum = own.iter().fold(start, |sum: u32, own| sum.wrapping_mul(31).wrapping_add(*own));
        assert_eq!((found, float), (sum, a + b), "thread {thread}");
    }
    Ok(())
}

#[kernel]
fn sorts(acc: &Acc, x: Shared<u32>) {
    let tile = acc.shared::<u32, 256>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    tile[thread] = x[acc.thread_in_grid()];
    acc.sync_block();
    let mut size = 2;
    while size <= threads {
        let mut distance = size / 2;
        while distance > 0 {
            let other = thread ^ distance;
            if other > thread {
                let (low, high) = (tile[thread], tile[other]);
                if (low > high) == (thread & size == 0) {
                    tile[thread] = high;
                    tile[other] = low;
                }
            }
            acc.sync_block();
            distance /= 2;
        }
        size *= 2;
    }
    x[acc.thread_in_grid()] = tile[thread];
}

fn sort(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let threads = size(device, 256, 64);
    let mut random = Random(11);
    let mut values: Vec<u32> = (0..2 * threads).map(|_| random.below(10_000) as u32).collect();
    let x = device.from_slice(&values)?;
    queue.launch(ThreadSpec::new(2, threads), sorts(&x))?;
    values.chunks_mut(threads).for_each(<[u32]>::sort_unstable);
    assert_eq!(x.read(&queue)?, values);
    Ok(())
}

/// The flag goes from thread to thread, upwards and downwards, each waiting for the one before.
#[kernel]
fn hands_round(acc: &Acc, out: Shared<u32>) {
    let flag = acc.shared_atomic::<u32, 1>();
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    if thread == 0 {
        flag.store(0, 0);
    }
    acc.sync_block();
    while flag.load_with(0, Scope::Block, Order::Acquire) != thread {}
    flag.store_with(0, thread + 1, Scope::Block, Order::Release);
    while flag.load_with(0, Scope::Block, Order::Acquire) != 2 * threads - 1 - thread {}
    flag.store_with(0, 2 * threads - thread, Scope::Block, Order::Release);
    acc.sync_block();
    out[acc.thread_in_grid()] = flag.load(0);
}

fn both_ways(device: &Device) -> Outcome {
    promises_each_thread(device)?;
    let threads = size(device, 128, 8);
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let out = device.alloc_zeroed::<u32>(3 * threads)?;
        queue.launch(ThreadSpec::new(3, threads), hands_round(&out))?;
        assert_eq!(out.read(&queue)?, vec![2 * threads as u32; 3 * threads]);
    }
    Ok(())
}

/// Each thread goes round until the last one has gone round often enough, and counts.
#[kernel]
fn goes_round(acc: &Acc, counts: Atomic<u32>, most: u32) {
    let last = acc.threads_in_block() - 1;
    while counts.load(last) < most {
        counts.fetch_add(acc.thread_in_block(), 1);
    }
}

fn turns(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let counts = device.alloc_zeroed::<u32>(8)?;
    promises_each_thread(device)?;
    queue.launch(ThreadSpec::new(1, 8), goes_round(&counts, 1000))?;
    let counts = counts.read(&queue)?;
    assert_eq!(counts[7], 1000);
    if device.properties().kind == DeviceKind::Host {
        // Between two turns of a thread every other one has one, of four iterations.
        assert!(counts.iter().all(|&count| count.abs_diff(1000) <= 8), "{counts:?}");
    }
    Ok(())
}

/// The first thread looks `most` times, going up and down, for what the last one does.
#[kernel]
fn waits_a_while(acc: &Acc, flag: Atomic<u32>, seen: Shared<u32>, most: u32) {
    if acc.thread_in_block() > 0 {
        flag.fetch_add(0, 1);
        return;
    }
    for i in 0..most {
        if flag.load(0) > 0 {
            seen[0] = i + 1;
            break;
        }
    }
    for _ in (0..most).rev() {
        if flag.load(0) == acc.threads_in_block() - 1 {
            seen[1] = 1;
            return;
        }
    }
}

fn bounded_waits(device: &Device) -> Outcome {
    promises_each_thread(device)?;
    let queue = device.queue()?;
    let (flag, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, 3), waits_a_while(&flag, &seen, 10_000))?;
    let seen = seen.read(&queue)?;
    assert!(seen[0] > 0 && seen[1] == 1, "the other threads have had no turn: {seen:?}");
    Ok(())
}

/// A lock per block, taken in turns by spinning.
#[kernel]
fn locks(acc: &Acc, total: Shared<u32>) {
    let words = acc.shared_atomic::<u32, 1>();
    let sum = acc.shared::<u32, 1>();
    if acc.thread_in_block() == 0 {
        words.store(0, 0);
        sum[0] = 0;
    }
    acc.sync_block();
    for _ in 0..5 {
        while words.compare_exchange_with(0, 0, 1, Scope::Block, Order::Acquire) != 0 {}
        let old = sum[0];
        sum[0] = old + acc.thread_in_block() + 1;
        words.store_with(0, 0, Scope::Block, Order::Release);
    }
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        total[acc.block_in_grid()] = sum[0];
    }
}

fn lock(device: &Device) -> Outcome {
    promises_each_thread(device)?;
    let queue = device.queue()?;
    let threads = size(device, 64, 6);
    let total = device.alloc_zeroed::<u32>(4)?;
    queue.launch(ThreadSpec::new(4, threads), locks(&total))?;
    assert_eq!(total.read(&queue)?, [(5 * threads * (threads + 1) / 2) as u32; 4]);
    Ok(())
}

/// One thread of each block waits for the block before while the others wait at a barrier.
#[kernel]
fn chains(acc: &Acc, done: Atomic<u32>, out: Shared<u32>) {
    let seen = acc.shared::<u32, 1>();
    let block = acc.block_in_grid();
    if acc.thread_in_block() == acc.threads_in_block() - 1 {
        let mut before = 0;
        if block > 0 {
            while before == 0 {
                before = done.load_with(block - 1, Scope::Device, Order::Acquire);
            }
        }
        seen[0] = before + 1;
    }
    acc.sync_block();
    out[acc.thread_in_grid()] = seen[0];
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        done.store_with(block, seen[0], Scope::Device, Order::Release);
    }
}

fn between_blocks(device: &Device) -> Outcome {
    let (blocks, threads) = (size(device, 200, 10), 4);
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let done = device.alloc_zeroed::<u32>(blocks)?;
        let out = device.alloc_zeroed::<u32>(blocks * threads)?;
        queue.launch(ThreadSpec::new(blocks, threads), chains(&done, &out))?;
        assert_eq!(out.read(&queue)?, Vec::from_iter((0..blocks * threads).map(|i| (i / threads) as u32 + 1)));
    }
    Ok(())
}

/// Rounds of a barrier over the grid: each thread passes its number on to the next of the grid.
#[kernel]
fn passes_on(acc: &Acc, arrived: Atomic<u32>, cells: Shared<u32>, rounds: u32) {
    let (at, n) = (acc.thread_in_grid(), acc.threads_in_grid());
    let mut mine = at;
    for round in 0..rounds {
        let begin = (round % 2) * n;
        cells[begin + at] = mine;
        acc.sync_block();
        if acc.thread_in_block() == 0 {
            acc.mem_fence(Scope::Device, Order::Release);
            arrived.fetch_add(0, 1);
            while arrived.load(0) < (round + 1) * acc.blocks_in_grid() {}
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        acc.sync_block();
        mine = cells[begin + (at + 1) % n];
    }
    cells[2 * n + at] = mine;
}

fn grid_barrier(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let workers = device.properties().workers as usize;
    for (blocks, threads) in [(1, 16), (2, 4), (workers + 3, 8)] {
        let n = blocks * threads;
        let (arrived, cells) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(3 * n)?);
        let options = LaunchOptions::new().cooperative();
        queue.launch_with(options, ThreadSpec::new(blocks, threads), passes_on(&arrived, &cells, 6))?;
        let expected = Vec::from_iter((0..n).map(|at| ((at + 6) % n) as u32));
        assert_eq!(cells.read(&queue)?[2 * n..], expected);
    }
    Ok(())
}

#[device_fn]
fn largest(of: [u32; 512]) -> u32 {
    let mut most = 0;
    for i in 0..512 {
        most = most.max(of[i]);
    }
    most
}

/// Arrays of 10 KiB in all, given to a device function by value.
#[kernel]
fn fills_arrays(acc: &Acc, out: Shared<u32>) {
    let (mut a, mut b) = ([0; 512], [1u64; 1024]);
    let thread = acc.thread_in_grid();
    for i in 0..512 {
        a[i] = (i * 7 + thread) % 512;
        b[2 * i + 1] = i as u64;
    }
    acc.sync_block();
    let mut sum = largest(a);
    for i in 0..1024 {
        sum += b[i] as u32;
    }
    out[thread] = sum;
}

fn large_arrays(device: &Device) -> Outcome {
    if device.properties().kind == DeviceKind::Software {
        return not_possible("its compiler takes minutes for arrays of this size");
    }
    let queue = device.queue()?;
    let threads = size(device, 64, 4);
    let out = device.alloc_zeroed::<u32>(2 * threads)?;
    queue.launch(ThreadSpec::new(2, threads), fills_arrays(&out))?;
    assert_eq!(out.read(&queue)?, vec![511 + 512 + 511 * 512 / 2; 2 * threads]);
    Ok(())
}

#[kernel]
fn fails_in_one(acc: &Acc<2>, out: Shared<u32>) {
    acc.sync_block();
    if acc.linear_thread_in_grid() == 11 {
        out[100] = 1;
    }
    acc.sync_block();
    out[acc.linear_thread_in_grid()] = 1;
}

fn fault(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(16)?;
    let launched = queue.launch(ThreadSpec::new([1, 2], [2, 4]), fails_in_one(&out)).and_then(|()| queue.wait());
    let error = refused(launched);
    kind!(error, ErrorKind::Fault(_));
    says(&error, &["`fails_in_one`, block [0, 0], thread [1, 3]", "index 100 of `out`", "extent 16"]);
    assert_eq!(out.read(&queue)?, [1; 16], "the threads go on");
    still_works(&queue)
}

const STAYS: u32 = line!();
/// Half of the threads wait at a barrier, the others for a flag that nobody sets.
#[kernel]
fn stays(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>) {
    if acc.thread_in_block() % 2 == 0 {
        while flag.load(0) == 0 {
            turns.fetch_add(acc.thread_in_block(), 1);
        }
    }
    acc.sync_block();
}

fn time_limit(device: &Device) -> Outcome {
    promises_each_thread(device)?;
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        for options in [LaunchOptions::new(), LaunchOptions::new().cooperative()] {
            let (turns, flag) = (device.alloc_zeroed::<u32>(8)?, device.alloc_zeroed::<u32>(1)?);
            let options = options.time_limit(Duration::from_millis(200));
            let launched = queue.launch_with(options, ThreadSpec::new(3, 8), stays(&turns, &flag));
            let error = refused_unless_lacking(device, launched.and_then(|()| queue.wait()))?;
            kind!(error, ErrorKind::TimeLimit { .. });
            // The simulated device ends a thread wherever it is in its loop.
            let lines = [5, 6, 9].map(|line| format!("block 0 was at {}:{}:", file!(), STAYS + line));
            let looping = if error.to_string().contains(&lines[0]) { &lines[0] } else { &lines[1] };
            says(&error, &["kernel `stays` did not end within 200ms", looping, &lines[2]]);
            let counts = turns.read(&queue)?;
            assert!(counts.iter().step_by(2).all(|&count| count > 0), "each of those that wait had its turns");
            still_works(&queue)?;
        }
    }
    Ok(())
}

fn too_many(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let threads = device.properties().max_threads_per_block as usize + 1;
    let mut x = device.alloc_zeroed::<u32>(1)?;
    let error = refused(queue.launch(ThreadSpec::new(1, threads), numbers_items(&mut x)));
    kind!(error, ErrorKind::Capability { .. });
    says(&error, &[device.name(), &threads.to_string(), "launch"]);
    still_works(&queue)
}
