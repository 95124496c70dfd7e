//! The programs, at growing sizes: kernels as users write them, checked as users check them.

use wattle::prelude::*;
use wattle_kernels::{grid_barrier, last_block_sum, locks};

/// A scenario that runs in a given size.
pub type Work = fn(&Device, Size) -> Result<()>;

/// The size of a program.
#[derive(Clone, Copy)]
pub struct Size {
    pub blocks: usize,
    pub threads: usize,
    pub rounds: u32,
}

/// A program that is checked at growing sizes.
pub struct Family {
    pub name: &'static str,
    pub work: Work,
    pub sizes: &'static [(&'static str, Size)],
    pub symmetry: bool,
    /// The time limits of sizes, by their names, in seconds.
    pub bars: &'static [(&'static str, f64)],
    /// Whether at most three graphs may be abandoned for each complete one.
    pub thrifty: bool,
}

pub const fn size(blocks: usize, threads: usize, rounds: u32) -> Size {
    Size { blocks, threads, rounds }
}

const COUNTS: [(&str, Size); 7] = [
    ("2", size(2, 1, 1)),
    ("3", size(3, 1, 1)),
    ("4", size(4, 1, 1)),
    ("5", size(5, 1, 1)),
    ("6", size(6, 1, 1)),
    ("7", size(7, 1, 1)),
    ("8", size(8, 1, 1)),
];

const BARRIERS: [(&str, Size); 6] = [
    ("1", size(1, 64, 1)),
    ("2", size(1, 64, 2)),
    ("3", size(1, 64, 3)),
    ("4", size(1, 64, 4)),
    ("5", size(1, 64, 5)),
    ("6", size(1, 64, 6)),
];

pub const FAMILIES: [Family; 12] = [
    Family {
        name: "ticket lock",
        work: ticket_once,
        sizes: &COUNTS,
        symmetry: false,
        bars: &[("3", 0.005), ("8", 5.0)],
        thrifty: true,
    },
    Family {
        name: "ticket lock, symmetry",
        work: ticket_once,
        sizes: &COUNTS,
        symmetry: true,
        bars: &[("3", 0.005), ("8", 0.5)],
        thrifty: true,
    },
    Family {
        name: "ticket lock in a loop",
        work: ticket,
        sizes: &COUNTS,
        symmetry: false,
        bars: &[("3", 0.005)],
        thrifty: true,
    },
    Family {
        name: "ticket lock in a loop, symmetry",
        work: ticket,
        sizes: &COUNTS,
        symmetry: true,
        bars: &[("3", 0.005)],
        thrifty: true,
    },
    Family { name: "fetch_add", work: count, sizes: &COUNTS, symmetry: false, bars: &[], thrifty: true },
    Family { name: "fetch_add, symmetry", work: count, sizes: &COUNTS, symmetry: true, bars: &[], thrifty: true },
    Family {
        name: "IRIW",
        work: iriw,
        sizes: &[("4", size(4, 1, 1))],
        symmetry: false,
        bars: &[("4", 0.005)],
        thrifty: false,
    },
    Family {
        name: "test-and-set lock",
        work: test_and_set,
        sizes: COUNTS.split_at(4).0,
        symmetry: false,
        bars: &[],
        thrifty: true,
    },
    Family {
        name: "cross-block barrier",
        work: cross_block,
        sizes: &[
            ("2×2", size(2, 2, 2)),
            ("2×3", size(2, 3, 2)),
            ("3×2", size(3, 2, 2)),
            ("3×3", size(3, 3, 2)),
            ("4×2", size(4, 2, 2)),
            ("4×3", size(4, 3, 2)),
        ],
        symmetry: true,
        bars: &[("4×3", 1.0)],
        thrifty: false,
    },
    Family {
        name: "64 threads, barriers",
        work: barriers,
        sizes: &BARRIERS,
        symmetry: true,
        bars: &[("6", 0.2)],
        thrifty: false,
    },
    Family {
        name: "64 threads, exchange",
        work: exchange,
        sizes: &BARRIERS,
        symmetry: true,
        bars: &[],
        thrifty: false,
    },
    Family {
        name: "last-block sum",
        work: sum,
        sizes: &[("2×2", size(2, 2, 1)), ("3×2", size(3, 2, 1)), ("4×2", size(4, 2, 1))],
        symmetry: true,
        bars: &[("4×2", 2.0)],
        thrifty: false,
    },
];

/// A ticket lock that each block takes once.
#[kernel]
fn take_ticket(_acc: &Acc, lock: Atomic<u32>, counter: Shared<u32>) {
    let ticket = lock.fetch_add(0, 1);
    while lock.load_with(1, Scope::Device, Order::Acquire) != ticket {}
    counter[0] += 1;
    lock.store_with(1, ticket + 1, Scope::Device, Order::Release);
}

fn ticket_once(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let lock = device.alloc_zeroed::<u32>(2)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), take_ticket(&lock, &counter))?;
    assert_eq!(counter.read(&queue)?, [size.blocks as u32]);
    Ok(())
}

fn ticket(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let lock = device.alloc_zeroed::<u32>(2)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    let spec = ThreadSpec::new(size.blocks, size.threads);
    queue.launch(spec, locks::count_ticket(size.rounds, &lock, &counter))?;
    assert_eq!(counter.read(&queue)?, [size.blocks as u32]);
    Ok(())
}

fn test_and_set(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let lock = device.alloc_zeroed::<u32>(1)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    let spec = ThreadSpec::new(size.blocks, size.threads);
    queue.launch(spec, locks::count_test_and_set(size.rounds, &lock, &counter))?;
    assert_eq!(counter.read(&queue)?, [size.blocks as u32]);
    Ok(())
}

/// Each thread adds one to the counter, once.
#[kernel]
fn count_once(_acc: &Acc, counter: Atomic<u32>) {
    counter.fetch_add(0, 1);
}

pub fn count(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), count_once(&counter))?;
    assert_eq!(counter.read(&queue)?, [size.blocks as u32]);
    Ok(())
}

/// Two blocks write independently, and two others read both words in opposite orders.
#[kernel]
fn independent(acc: &Acc, cells: Atomic<u32>, seen: Shared<u32>) {
    let block = acc.block_in_grid();
    if block < 2 {
        cells.store(block, 1);
    } else {
        let first = block - 2;
        seen[first * 2] = cells.load(first);
        seen[first * 2 + 1] = cells.load(1 - first);
    }
}

fn iriw(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let cells = device.alloc_zeroed::<u32>(2)?;
    let seen = device.alloc_zeroed::<u32>(4)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), independent(&cells, &seen))?;
    assert_eq!(cells.read(&queue)?, [1, 1]);
    Ok(())
}

pub fn cross_block(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let n = size.blocks * size.threads;
    let arrived = device.alloc_zeroed::<u32>(1)?;
    let cells = device.alloc_zeroed::<u32>(2 * n)?;
    let spec = ThreadSpec::new(size.blocks, size.threads);
    let kernel = grid_barrier::shift_and_count(size.rounds, &arrived, &cells);
    queue.launch_with(LaunchOptions::new().cooperative(), spec, kernel)?;
    let last = size.rounds as usize % 2 * n;
    assert_eq!(cells.read(&queue)?[last..last + n], vec![size.rounds; n]);
    Ok(())
}

/// A kernel of nothing but barriers.
#[kernel]
fn meet(acc: &Acc, rounds: u32) {
    for _ in 0..rounds {
        acc.sync_block();
    }
}

fn barriers(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), meet(size.rounds))
}

/// Each thread hands a number to its left neighbour, once before each barrier.
#[kernel]
fn hand_on(acc: &Acc, rounds: u32, cells: Shared<u32>, totals: Shared<u32>) {
    let (thread, n) = (acc.thread_in_block(), acc.threads_in_block());
    let mut total = 0;
    for round in 0..rounds {
        let generation = round % 2 * n;
        cells[generation + thread] = thread + round;
        acc.sync_block();
        total += cells[generation + (thread + 1) % n];
    }
    totals[thread] = total;
}

fn exchange(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let cells = device.alloc_zeroed::<u32>(2 * size.threads)?;
    let totals = device.alloc_zeroed::<u32>(size.threads)?;
    queue.launch(ThreadSpec::new(size.blocks, size.threads), hand_on(size.rounds, &cells, &totals))?;
    let of_rounds = (0..size.rounds).sum::<u32>();
    assert_eq!(totals.read(&queue)?[0], size.rounds + of_rounds);
    Ok(())
}

pub fn sum(device: &Device, size: Size) -> Result<()> {
    let queue = device.queue()?;
    let n = size.blocks * size.threads;
    let values = device.from_slice(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let partials = device.alloc::<f32>(size.blocks)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    let totals = device.alloc::<f32>(1)?;
    let kernel = last_block_sum::sum::<true, false>(size.rounds, 0, &values, &partials, &counter, &totals);
    queue.launch(ThreadSpec::new(size.blocks, size.threads), kernel)?;
    assert_eq!(totals.read(&queue)?, [(n * (n - 1) / 2) as f32]);
    Ok(())
}
