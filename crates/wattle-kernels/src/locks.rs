#![doc = include_str!("locks.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

/// `lock-test-and-set`.
pub const TEST_AND_SET: Scenario = Scenario {
    name: "lock-test-and-set",
    summary: "a plain counter under a lock of one word, with fences",
    documentation: include_str!("locks.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(test_and_set, SIZES),
};

/// `lock-ticket`.
pub const TICKET: Scenario = Scenario {
    name: "lock-ticket",
    summary: "a plain counter under a lock that is fair, with release and acquire",
    documentation: include_str!("locks.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(ticket, SIZES),
};

const SIZES: Sizes = Sizes { full: 5_000, small: 50, proof: 1 };

/// Each block counts `rounds` times, each time under the lock: 1 while somebody has it.
#[kernel]
pub fn count_test_and_set(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        while lock.exchange(0, 1) == 1 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        counter[0] += 1;
        acc.mem_fence(Scope::Device, Order::Release);
        lock.store(0, 0);
    }
}

/// Each block counts `rounds` times, each time when its ticket is called: `lock[0]` is the next ticket, `lock[1]` the
/// one that is served.
#[kernel]
pub fn count_ticket(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        let ticket = lock.fetch_add(0, 1);
        while lock.load_with(1, Scope::Device, Order::Acquire) != ticket {}
        counter[0] += 1;
        lock.store_with(1, ticket + 1, Scope::Device, Order::Release);
    }
}

const BLOCKS: usize = 4;

fn summary(device: &Device, rounds: usize, counter: &Buffer<u32>) -> Result<Summary> {
    let mut summary = Summary::new(format!("{BLOCKS} blocks count to {}", BLOCKS * rounds));
    let counted = counter.read(&device.queue()?)?[0] as usize;
    summary.check(counted == BLOCKS * rounds, "no count is lost", || format!("counted {counted}"))?;
    Ok(summary)
}

/// The lock of one word.
pub fn test_and_set(device: &Device, rounds: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let lock = device.alloc_zeroed::<u32>(1)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(BLOCKS, 1), count_test_and_set(rounds as u32, &lock, &counter))?;
    summary(device, rounds, &counter)
}

/// The lock with tickets.
pub fn ticket(device: &Device, rounds: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let lock = device.alloc_zeroed::<u32>(2)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(BLOCKS, 1), count_ticket(rounds as u32, &lock, &counter))?;
    summary(device, rounds, &counter)
}
