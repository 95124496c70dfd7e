//! Barriers of all blocks that can be used again: a counter of which threads see phases alone is proved by one execution, however
//! many blocks come.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle::{Checker, Model};

/// What a barrier counts, and what there is to find.
mod how {
    /// Tickets: a thread waits until all of its round have drawn one.
    pub const TICKETS: u32 = 0;
    /// The first block adds what turns the highest bit over once all have come, as CUDA's grids do.
    pub const HIGH_BIT: u32 = 1;
    /// Tickets, and the wait acquires nothing.
    pub const RELAXED: u32 = 2;
    /// Tickets, and the wait is for all but one.
    pub const TOO_EARLY: u32 = 3;
}

/// Waits for all blocks. Orders all memory that they share.
#[device_fn]
fn sync_grid<const HOW: u32>(acc: &Acc, arrived: Atomic<u32>) {
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        let blocks = acc.blocks_in_grid();
        acc.mem_fence(Scope::Device, Order::Release);
        if HOW == how::HIGH_BIT {
            let all = if acc.block_in_grid() == 0 { 0x8000_0000 - (blocks - 1) } else { 1 };
            let before = arrived.fetch_add(0, all);
            while (before ^ arrived.load(0)) & 0x8000_0000 == 0 {}
        } else {
            let ticket = arrived.fetch_add(0, 1);
            let mut last = (ticket / blocks + 1) * blocks;
            if HOW == how::TOO_EARLY {
                last -= 1;
            }
            while arrived.load(0) < last {}
        }
        if HOW != how::RELAXED {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
    }
    acc.sync_block();
}

/// Each thread takes its right neighbour's number of the round before, and adds one.
#[kernel]
fn pass_on<const HOW: u32>(acc: &Acc, rounds: u32, arrived: Atomic<u32>, cells: Shared<u32>) {
    let (i, n) = (acc.thread_in_grid(), acc.threads_in_grid());
    for round in 0..rounds {
        let (from, to) = (round % 2 * n, (round + 1) % 2 * n);
        cells[to + i] = cells[from + (i + 1) % n] + 1;
        sync_grid::<HOW>(acc, arrived);
    }
    assert!(cells[rounds % 2 * n + i] == rounds);
}

/// `unordered` is not treated.
const MODELS: [Model; 4] = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Sc];

fn checked<const HOW: u32>(model: Model, blocks: u32, threads: u32, rounds: u32) -> Report {
    let scenario = move |device: &Device| {
        let queue = device.queue()?;
        let arrived = device.alloc_zeroed::<u32>(1)?;
        let cells = device.alloc_zeroed::<u32>((2 * blocks * threads) as usize)?;
        let cooperative = LaunchOptions::new().cooperative();
        let kernel = pass_on::<HOW>(rounds, &arrived, &cells);
        queue.launch_with(cooperative, ThreadSpec::new(blocks, threads), kernel)?;
        queue.wait()
    };
    Checker::new(model).check(scenario).unwrap()
}

#[test]
fn one_execution_proves_barriers_of_many_blocks() {
    for model in MODELS {
        for report in [checked::<{ how::TICKETS }>(model, 12, 4, 3), checked::<{ how::HIGH_BIT }>(model, 12, 4, 3)] {
            assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 1), "{model:?}: {report}");
        }
    }
}

#[test]
fn what_is_wrong_with_them_is_found() {
    for model in MODELS {
        let early = checked::<{ how::TOO_EARLY }>(model, 3, 2, 2);
        assert_eq!(early.verdict, Verdict::Violated, "{model:?}: {early}");
        // What Vulkan's barrier of the block orders reaches the device where the kernel has wider scopes.
        let relaxed = checked::<{ how::RELAXED }>(model, 3, 2, 2);
        let holds = matches!(model, Model::Sc | Model::Vulkan);
        assert_eq!(relaxed.verdict == Verdict::Holds, holds, "{model:?}: {relaxed}");
    }
}
