#![doc = include_str!("two_queues.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

/// `two-queues`.
pub const TWO_QUEUES: Scenario = Scenario {
    name: "two-queues",
    summary: "a writer and a reader, two launches that run at the same time on two queues",
    documentation: include_str!("two_queues.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(two_queues, Sizes { full: 10_000, small: 200, proof: 1 }),
};

/// In each round: data 10, fence, flag 20.
#[kernel]
pub fn writer(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>) {
    for round in 0..data.len() {
        data.store(round, 10);
        acc.mem_fence(Scope::Device, Order::Release);
        flag.store(round, 20);
    }
}

/// In each round: waits for the flag, fence, reads the data.
#[kernel]
pub fn reader(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..data.len() {
        while flag.load(round) != 20 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        seen[round] = data.load(round);
    }
}

/// Launches the reader, which waits, and then the writer, on another queue.
pub fn two_queues(device: &Device, rounds: usize) -> Result<Summary> {
    let data = device.alloc_zeroed::<u32>(rounds)?;
    let flag = device.alloc_zeroed::<u32>(rounds)?;
    let seen = device.alloc::<u32>(rounds)?;
    let (reading, writing) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    reading.launch(ThreadSpec::new(1, 1), reader(&data, &flag, &seen))?;
    writing.launch(ThreadSpec::new(1, 1), writer(&data, &flag))?;
    writing.wait()?;
    reading.wait()?;
    let mut summary = Summary::new(format!("{rounds} rounds between two launches"));
    let stale = seen.read(&reading)?.iter().filter(|&&value| value != 10).count();
    summary.check(stale == 0, "who sees the flag sees the data", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}
