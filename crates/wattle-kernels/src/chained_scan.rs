#![doc = include_str!("chained_scan.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

use crate::block_scan::reference;
use crate::data::integers;
use crate::reduce::MAX_THREADS;

/// `chained-scan`.
pub const CHAINED_SCAN: Scenario = Scenario {
    name: "chained-scan",
    summary: "running sums of everything in one pass: each block looks back at those before it",
    documentation: include_str!("chained_scan.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(chained_scan, Sizes { full: 1 << 21, small: 1 << 12, proof: 4 }),
};

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

/// The running sums of `values`, in tiles of `TILE`.
pub fn scan<const TILE: usize>(device: &Device, values: &[u32]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let blocks = values.len().div_ceil(TILE);
    // A block is one tile, on every device, so its threads must be as many as the device can give.
    let threads = (device.properties().max_threads_per_block as usize).min(TILE.div_ceil(8));
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
        0..=16 => scan::<2>(device, &values)?,
        17..=65536 => scan::<128>(device, &values)?,
        _ => scan::<2048>(device, &values)?,
    };
    let mut summary = Summary::new(format!("{n} u32 in one pass"));
    summary.check(found == reference(&values, n), "each is the sum of all up to there", || "some are not".into())?;
    Ok(summary)
}
