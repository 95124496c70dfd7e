#![doc = include_str!("grid_barrier.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

use crate::data::integers;

/// `grid-barrier`.
pub const GRID_BARRIER: Scenario = Scenario {
    name: "grid-barrier",
    summary: "a barrier across all blocks, from a counter and fences, in a cooperative launch",
    documentation: include_str!("grid_barrier.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(grid_barrier, Sizes { full: 500, small: 20, proof: 1 }),
};

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

/// In each round every element becomes its right neighbour plus 1. `cells` holds two generations.
#[kernel]
pub fn shift_and_count(acc: &Acc, rounds: u32, arrived: Atomic<u32>, cells: Shared<u32>) {
    let n = cells.len() / 2;
    for round in 0..rounds {
        let (from, to) = (round % 2 * n, (round + 1) % 2 * n);
        for i in acc.indices(THREADS_IN_GRID, 0..n) {
            cells[to + i] = cells[from + (i + 1) % n] + 1;
        }
        sync_grid(acc, arrived, round + 1);
    }
}

/// Four blocks, so that there are more than most small machines have cores.
const BLOCKS: usize = 4;

/// Shifts through `rounds` generations.
pub fn grid_barrier(device: &Device, rounds: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let n = BLOCKS * 8;
    // That there are several blocks is the point, so it says how many.
    let threads = (device.properties().max_threads_per_block as usize).min(n / BLOCKS);
    let first = integers(n);
    let arrived = device.alloc_zeroed::<u32>(1)?;
    let mut cells = device.alloc_zeroed::<u32>(2 * n)?;
    queue.copy_from_host(cells.slice_mut(0..n)?, &first)?;
    let kernel = shift_and_count(rounds as u32, &arrived, &cells);
    queue.launch_with(LaunchOptions::new().cooperative(), ThreadSpec::new(BLOCKS, threads), kernel)?;

    let mut summary = Summary::new(format!("{rounds} barriers across the grid"));
    let cells = cells.read(&queue)?;
    let last = &cells[rounds % 2 * n..][..n];
    let wrong = (0..n).filter(|&i| last[i] != first[(i + rounds) % n].wrapping_add(rounds as u32)).count();
    summary.check(wrong == 0, "each round reads all of the round before", || format!("{wrong} of {n} are wrong"))?;
    Ok(summary)
}
