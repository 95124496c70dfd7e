#![doc = include_str!("chained_scan.md")]

use wattle::prelude::*;
use wattle::{DeviceKind, Expectation, Sizes, Work};

use crate::block_scan::reference;
use crate::data::integers;
use crate::reduce::MAX_THREADS;

/// `chained-scan`.
pub const CHAINED_SCAN: Scenario = Scenario {
    name: "chained-scan",
    summary: "running sums of everything in one pass: each block looks back at those before it",
    documentation: include_str!("chained_scan.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(chained_scan, Sizes { full: 1 << 21, small: 1 << 12, proof: 3 }),
};

/// `chained`.
pub const CHAINED: Scenario = Scenario {
    name: "chained",
    summary: "each block waits for the block before it, adds its number to the sum, and hands it on",
    documentation: include_str!("chained_scan.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(chained, CHAIN),
};

const fn broken(name: &'static str, summary: &'static str, work: fn(&Device, usize) -> Result<Summary>) -> Scenario {
    let documentation = include_str!("chained_scan.md");
    Scenario { name, summary, documentation, expectation: Expectation::Refuted, work: Work::Sized(work, CHAIN) }
}

/// `chained-broken-no-acquire`.
pub const BROKEN_NO_ACQUIRE: Scenario = broken(
    "chained-broken-no-acquire",
    "as chained, with a relaxed load of what the block before told",
    |device, n| {
        observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_no_acquire(status, prefixes)))
    },
);

/// `chained-broken-no-release`.
pub const BROKEN_NO_RELEASE: Scenario =
    broken("chained-broken-no-release", "as chained, with a relaxed store of what the block tells", |device, n| {
        observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_no_release(status, prefixes)))
    });

/// `chained-broken-block-scope`.
pub const BROKEN_BLOCK_SCOPE: Scenario =
    broken("chained-broken-block-scope", "as chained, with status words of block scope between blocks", |device, n| {
        observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_block_scope(status, prefixes)))
    });

/// `chained-broken-plain-status`.
pub const BROKEN_PLAIN_STATUS: Scenario =
    broken("chained-broken-plain-status", "as chained, with status words that are not atomic", |device, n| {
        observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_plain_status(status, prefixes)))
    });

/// How many blocks a chain has.
const CHAIN: Sizes = Sizes { full: 1000, small: 100, proof: 3 };

/// What a block has told, which is nothing before: the sum of its own tile.
const AGGREGATE: u32 = 1;
/// The sum of everything up to the end of its tile.
const PREFIX: u32 = 2;

/// The sum of all tiles before tile `number`: walks back until one has told its prefix, and waits for those that have
/// told nothing. They are lower blocks, so they have started.
#[device_fn]
pub fn look_back(number: u32, status: Atomic<u32>, aggregates: Shared<u32>, prefixes: Shared<u32>) -> u32 {
    let mut before = 0;
    let mut at = number;
    while at > 0 {
        let told = status.load_with(at - 1, Scope::Device, Order::Acquire);
        if told == PREFIX {
            before += prefixes[at - 1];
            at = 0;
        } else if told == AGGREGATE {
            before += aggregates[at - 1];
            at = at - 1;
        }
    }
    before
}

/// Running sums of `input`. Each block takes one tile of `TILE` elements; each thread one run of it.
#[kernel]
pub fn scan_tiles<const TILE: usize>(
    acc: &Acc,
    input: Read<u32>,
    out: Shared<u32>,
    status: Atomic<u32>,
    aggregates: Shared<u32>,
    prefixes: Shared<u32>,
) {
    let tile = acc.shared::<u32, TILE>();
    let sums = acc.shared::<u32, MAX_THREADS>();
    let (thread, block) = (acc.thread_in_block(), acc.block_in_grid());
    let begin = block * TILE as u32;

    // Each thread scans its run, and tells the run's sum.
    let mut sum = 0;
    for t in acc.indices(THREADS_IN_BLOCK, 0..TILE as u32).contiguous() {
        if begin + t < input.len() {
            sum += input[begin + t];
        }
        tile[t] = sum;
    }
    sums[thread] = sum;
    acc.sync_block();

    // One thread tells the tile's sum, looks back, and makes `sums` what comes before each run.
    if thread == 0 {
        let mut aggregate = 0;
        for run in 0..acc.threads_in_block() {
            aggregate += sums[run];
        }
        aggregates[block] = aggregate;
        status.store_with(block, AGGREGATE, Scope::Device, Order::Release);
        let mut before = look_back(block, status, aggregates, prefixes);
        prefixes[block] = before + aggregate;
        status.store_with(block, PREFIX, Scope::Device, Order::Release);
        for run in 0..acc.threads_in_block() {
            let of_run = sums[run];
            sums[run] = before;
            before += of_run;
        }
    }
    acc.sync_block();

    let before = sums[thread];
    for t in acc.indices(THREADS_IN_BLOCK, 0..TILE as u32).contiguous() {
        if begin + t < out.len() {
            out[begin + t] = before + tile[t];
        }
    }
}

/// Each block adds its number, which is one more than its index, to the sum of the blocks before, and tells it.
#[kernel]
pub fn hand_on(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Release);
}

/// The same with a load that acquires nothing.
#[kernel]
pub fn hand_on_no_acquire(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Relaxed) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Release);
}

/// The same with a store that releases nothing.
#[kernel]
pub fn hand_on_no_release(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Relaxed);
}

/// The same with accesses that do not reach the other blocks.
#[kernel]
pub fn hand_on_block_scope(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Block, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Block, Order::Release);
}

/// The same with fences, and a status that is not atomic.
#[kernel]
pub fn hand_on_plain_status(acc: &Acc, status: Shared<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status[block - 1] == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    acc.mem_fence(Scope::Device, Order::Release);
    status[block] = PREFIX;
}

/// The running sums of `values`, in tiles of `TILE`.
pub fn scan<const TILE: usize>(device: &Device, values: &[u32]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let blocks = values.len().div_ceil(TILE);
    // A block is one tile, on every device, so its threads must be as many as the device can give. More than run in lock
    // step make nothing faster on a software device.
    let properties = device.properties();
    let most =
        if properties.kind == DeviceKind::Software { properties.warp_width } else { properties.max_threads_per_block };
    let threads = (most as usize).min(TILE.div_ceil(8));
    let input = device.from_slice(values)?;
    let out = device.alloc_like(&input)?;
    let status = device.alloc_zeroed::<u32>(blocks)?;
    let aggregates = device.alloc::<u32>(blocks)?;
    let prefixes = device.alloc::<u32>(blocks)?;
    let kernel = scan_tiles::<TILE>(&input, &out, &status, &aggregates, &prefixes);
    queue.launch(ThreadSpec::new(blocks, threads), kernel)?;
    out.read(&queue)
}

/// Scans `n` integers.
pub fn chained_scan(device: &Device, n: usize) -> Result<Summary> {
    let values = integers(n);
    let found = match n {
        0..=16 => scan::<1>(device, &values)?,
        17..=65536 => scan::<128>(device, &values)?,
        _ => scan::<2048>(device, &values)?,
    };
    let mut summary = Summary::new(format!("{n} u32 in one pass"));
    summary.check(found == reference(&values, n), "each is the sum of all up to there", || "some are not".into())?;
    Ok(summary)
}

/// Hands a sum on through `n` blocks.
pub fn chained(device: &Device, n: usize) -> Result<Summary> {
    let wrong = wrong(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on(status, prefixes)))?;
    let mut summary = Summary::new(format!("a sum handed on through {n} blocks"));
    summary.check(wrong == 0, "each is the sum of all up to there", || format!("{wrong} of {n} are not"))?;
    Ok(summary)
}

/// `launch` is given a shape, the blocks' status words and their sums; this gives how many of those are wrong.
fn wrong(
    device: &Device,
    n: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<usize> {
    let queue = device.queue()?;
    let status = device.alloc_zeroed::<u32>(n)?;
    let prefixes = device.alloc_zeroed::<u32>(n)?;
    launch(&queue, ThreadSpec::new(n, 1), &status, &prefixes)?;
    let prefixes = prefixes.read(&queue)?;
    Ok(prefixes.iter().enumerate().filter(|&(i, &sum)| sum as usize != (i + 1) * (i + 2) / 2).count())
}

/// A chain that is wrong; says what was seen.
fn observed(
    device: &Device,
    n: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let wrong = wrong(device, n, launch)?;
    let mut summary = Summary::new(format!("a sum through {n} blocks; this device does not notice the race"));
    summary.observe(&[("wrong", wrong as i64)]);
    Ok(summary)
}
