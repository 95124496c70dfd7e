#![doc = include_str!("grid_barrier.md")]

use wattle::prelude::*;

use crate::data::{integers, word};

const PAGE: &str = include_str!("grid_barrier.md");

/// A barrier across all blocks, from a counter and fences, in a cooperative launch.
#[scenario(name = "grid-barrier", sizes = SIZES, documentation = PAGE)]
pub fn grid_barrier(device: &Device, rounds: usize) -> Result<Summary> {
    let (n, wrong) = wrong(device, rounds, 1, |queue, spec, rounds, arrived, cells| {
        queue.launch_with(LaunchOptions::new().cooperative(), spec, shift_and_count(rounds, arrived, cells))
    })?;
    let mut summary =
        Summary::new(format!("{rounds} rounds of {n} cells, with a barrier across the grid between each two"));
    summary.check(wrong == 0, "each round reads all of the round before", || format!("{wrong} of {n} are wrong"))?;
    Ok(summary)
}

/// As grid-barrier, without the fence before the counter.
#[scenario(name = "grid-barrier-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, 1, |queue, spec, rounds, arrived, cells| {
        let kernel = shift_and_count_one_fence::<false, true>(rounds, arrived, cells);
        queue.launch_with(LaunchOptions::new().cooperative(), spec, kernel)
    })
}

/// As grid-barrier, without the fence after the wait.
#[scenario(name = "grid-barrier-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, 1, |queue, spec, rounds, arrived, cells| {
        let kernel = shift_and_count_one_fence::<true, false>(rounds, arrived, cells);
        queue.launch_with(LaunchOptions::new().cooperative(), spec, kernel)
    })
}

/// As grid-barrier, with fences of block scope between blocks.
#[scenario(name = "grid-barrier-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, 1, |queue, spec, rounds, arrived, cells| {
        let kernel = shift_and_count_block_scope(rounds, arrived, cells);
        queue.launch_with(LaunchOptions::new().cooperative(), spec, kernel)
    })
}

/// As grid-barrier, with fences where the blocks' own barriers belong.
#[scenario(name = "grid-barrier-broken-no-barrier", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_barrier(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, 2, |queue, spec, rounds, arrived, cells| {
        let kernel = shift_and_count_no_barrier(rounds, arrived, cells);
        queue.launch_with(LaunchOptions::new().cooperative(), spec, kernel)
    })
}

const SIZES: Sizes = Sizes { full: 500, small: 20, proof: 2 };

/// Waits until all blocks have come here `times` times, counted by `arrived`. Orders all memory that they share.
#[device_fn]
pub fn sync_grid(acc: &Acc, arrived: Atomic<u32>, times: u32) {
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        acc.mem_fence(Scope::Device, Order::Release);
        arrived.fetch_add(0, 1);
        while arrived.load(0) < times * acc.blocks_in_grid() {}
        acc.mem_fence(Scope::Device, Order::Acquire);
    }
    acc.sync_block();
}

/// The same with a fence missing.
#[device_fn]
pub fn sync_grid_one_fence<const RELEASE: bool, const ACQUIRE: bool>(acc: &Acc, arrived: Atomic<u32>, times: u32) {
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        arrived.fetch_add(0, 1);
        while arrived.load(0) < times * acc.blocks_in_grid() {}
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
    }
    acc.sync_block();
}

/// The same with fences that do not reach the other blocks.
#[device_fn]
pub fn sync_grid_block_scope(acc: &Acc, arrived: Atomic<u32>, times: u32) {
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        acc.mem_fence(Scope::Block, Order::Release);
        arrived.fetch_add(0, 1);
        while arrived.load(0) < times * acc.blocks_in_grid() {}
        acc.mem_fence(Scope::Block, Order::Acquire);
    }
    acc.sync_block();
}

/// The same with fences, which wait for no thread, where the block's threads should come together.
#[device_fn]
pub fn sync_grid_no_barrier(acc: &Acc, arrived: Atomic<u32>, times: u32) {
    acc.mem_fence(Scope::Device, Order::AcqRel);
    if acc.thread_in_block() == 0 {
        acc.mem_fence(Scope::Device, Order::Release);
        arrived.fetch_add(0, 1);
        while arrived.load(0) < times * acc.blocks_in_grid() {}
        acc.mem_fence(Scope::Device, Order::Acquire);
    }
    acc.mem_fence(Scope::Device, Order::AcqRel);
}

/// A round: every element becomes its right neighbour plus 1. `cells` holds two generations.
#[device_fn]
pub fn shift(acc: &Acc, round: u32, cells: Shared<u32>) {
    let n = cells.len() / 2;
    let (from, to) = (round % 2 * n, (round + 1) % 2 * n);
    for i in acc.indices(THREADS_IN_GRID, 0..n) {
        cells[to + i] = cells[from + (i + 1) % n] + 1;
    }
}

/// Rounds of [`shift`], and between two of them the barrier across the grid.
#[kernel]
pub fn shift_and_count(acc: &Acc, rounds: u32, arrived: Atomic<u32>, cells: Shared<u32>) {
    for round in 0..rounds {
        if round > 0 {
            sync_grid(acc, arrived, round);
        }
        shift(acc, round, cells);
    }
}

/// The same with [`sync_grid_one_fence`].
#[kernel]
pub fn shift_and_count_one_fence<const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    rounds: u32,
    arrived: Atomic<u32>,
    cells: Shared<u32>,
) {
    for round in 0..rounds {
        if round > 0 {
            sync_grid_one_fence::<RELEASE, ACQUIRE>(acc, arrived, round);
        }
        shift(acc, round, cells);
    }
}

/// The same with [`sync_grid_block_scope`].
#[kernel]
pub fn shift_and_count_block_scope(acc: &Acc, rounds: u32, arrived: Atomic<u32>, cells: Shared<u32>) {
    for round in 0..rounds {
        if round > 0 {
            sync_grid_block_scope(acc, arrived, round);
        }
        shift(acc, round, cells);
    }
}

/// The same with [`sync_grid_no_barrier`].
#[kernel]
pub fn shift_and_count_no_barrier(acc: &Acc, rounds: u32, arrived: Atomic<u32>, cells: Shared<u32>) {
    for round in 0..rounds {
        if round > 0 {
            sync_grid_no_barrier(acc, arrived, round);
        }
        shift(acc, round, cells);
    }
}

/// `launch` is given a shape, the rounds, the counter and the cells; this gives how many cells there are, and how many
/// are not what they should be. In a proof a block has `threads` threads.
fn wrong(
    device: &Device,
    rounds: usize,
    threads: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<(usize, usize)> {
    let (queue, count) = (device.queue()?, word(device, "rounds", rounds)?);
    // Four blocks, so that there are more than most small machines have cores; for a proof, three of one thread or two
    // of two. That there are several blocks is the point, so it says how many.
    let (blocks, threads) = match rounds {
        0..=2 if threads == 1 => (3, 1),
        0..=2 => (2, threads),
        _ => (4, 8),
    };
    // As many as there can be at once: one alone on a device that promises nothing of several.
    let blocks = blocks.min(device.properties().max_cooperative_blocks.max(1) as usize);
    // The counter of arrivals is not set back.
    word(device, "arrivals", rounds.saturating_mul(blocks))?;
    let n = blocks * threads;
    let threads = threads.min(device.properties().max_threads_per_block as usize);
    let first = integers(n);
    let arrived = device.alloc_zeroed::<u32>(1)?;
    let mut cells = device.alloc_zeroed::<u32>(2 * n)?;
    queue.copy_from_host(cells.slice_mut(0..n)?, &first)?;
    launch(&queue, ThreadSpec::new(blocks, threads), count, &arrived, &cells)?;

    let cells = cells.read(&queue)?;
    let last = &cells[rounds % 2 * n..][..n];
    let wrong = (0..n).filter(|&i| last[i] != first[(i + rounds) % n].wrapping_add(count)).count();
    Ok((n, wrong))
}

/// Runs a barrier that is wrong; says what was seen.
fn observed(
    device: &Device,
    rounds: usize,
    threads: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let (n, wrong) = wrong(device, rounds, threads, launch)?;
    let mut summary = Summary::new(format!("{rounds} rounds of {n} cells; this device does not notice the race"));
    summary.observe(&[("wrong", wrong as i64)]);
    Ok(summary)
}
