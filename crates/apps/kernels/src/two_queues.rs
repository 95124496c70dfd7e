#![doc = include_str!("two_queues.md")]

use wattle::Launch;
use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("two_queues.md");

/// A writer and a reader, two launches that run at the same time on two queues.
#[scenario(name = "two-queues", sizes = SIZES, documentation = PAGE)]
pub fn two_queues(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |reading, writing, data, flag, seen| {
        both(reading, writing, reader(data, flag, seen), writer(data, flag))
    })
}

/// As two-queues, without the writer's fence.
#[scenario(name = "two-queues-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |reading, writing, data, flag, seen| {
        both(reading, writing, reader(data, flag, seen), writer_no_fence(data, flag))
    })?;
    unseen(device, summary)
}

/// As two-queues, without the reader's fence.
#[scenario(name = "two-queues-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |reading, writing, data, flag, seen| {
        both(reading, writing, reader_no_fence(data, flag, seen), writer(data, flag))
    })?;
    unseen(device, summary)
}

/// As two-queues, with fences of block scope: two launches share no block.
#[scenario(name = "two-queues-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |reading, writing, data, flag, seen| {
        both(reading, writing, reader_block_scope(data, flag, seen), writer_block_scope(data, flag))
    })?;
    unseen(device, summary)
}

/// As two-queues, with a flag that is not atomic.
#[scenario(name = "two-queues-broken-plain-flag", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_plain_flag(device: &Device, rounds: usize) -> Result<Summary> {
    let stale = stale(device, rounds, |reading, writing, data, flag, seen| {
        both(reading, writing, reader_plain_flag(data, flag, seen), writer_plain_flag(data, flag))
    })?;
    let mut summary = Summary::new(format!("{rounds} rounds; this device does not notice the race"));
    summary.observe(&[("stale", stale as i64)]);
    Ok(summary)
}

const SIZES: Sizes = Sizes { full: 10_000, small: 200, proof: 1 };

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

/// The writer without its fence.
#[kernel]
pub fn writer_no_fence(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>) {
    for round in 0..data.len() {
        data.store(round, 10);
        flag.store(round, 20);
    }
}

/// The reader without its fence.
#[kernel]
pub fn reader_no_fence(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..data.len() {
        while flag.load(round) != 20 {}
        seen[round] = data.load(round);
    }
}

/// The writer with a fence that does not reach the other launch.
#[kernel]
pub fn writer_block_scope(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>) {
    for round in 0..data.len() {
        data.store(round, 10);
        acc.mem_fence(Scope::Block, Order::Release);
        flag.store(round, 20);
    }
}

/// The reader with a fence that does not reach the other launch.
#[kernel]
pub fn reader_block_scope(acc: &Acc, data: Atomic<u32>, flag: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..data.len() {
        while flag.load(round) != 20 {}
        acc.mem_fence(Scope::Block, Order::Acquire);
        seen[round] = data.load(round);
    }
}

/// The writer with a flag that is not atomic.
#[kernel]
pub fn writer_plain_flag(acc: &Acc, data: Atomic<u32>, flag: Shared<u32>) {
    for round in 0..data.len() {
        data.store(round, 10);
        acc.mem_fence(Scope::Device, Order::Release);
        flag[round] = 20;
    }
}

/// The reader with a flag that is not atomic.
#[kernel]
pub fn reader_plain_flag(acc: &Acc, data: Atomic<u32>, flag: Shared<u32>, seen: Shared<u32>) {
    for round in 0..data.len() {
        while flag[round] != 20 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        seen[round] = data.load(round);
    }
}

/// Launches the reader, which waits, and then the writer, on another queue. Both are made ready before: a driver that loads
/// the writer when it first meets it may wait for the reader then, which waits for the writer.
fn both(reading: &Queue, writing: &Queue, reader: impl Launch<1>, writer: impl Launch<1>) -> Result<()> {
    let one = ThreadSpec::new(1, 1);
    reading.prepare(one, &reader)?;
    writing.prepare(one, &writer)?;
    reading.launch(one, reader)?;
    writing.launch(one, writer)
}

/// Runs `rounds` rounds, and checks that all data were seen.
fn run(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, &Queue, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let stale = stale(device, rounds, launch)?;
    let mut summary = Summary::new(format!("{rounds} rounds between two launches"));
    summary.check(stale == 0, "who sees the flag sees the data", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}

/// `launch` is given the reader's queue and the writer's, the data, the flags, and what the reader sees; this gives in
/// how many rounds it was not the data.
fn stale(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, &Queue, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<usize> {
    device.needs_concurrent_queues(2)?;
    let data = device.alloc_zeroed::<u32>(rounds)?;
    let flag = device.alloc_zeroed::<u32>(rounds)?;
    let seen = device.alloc::<u32>(rounds)?;
    let (reading, writing) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    launch(&reading, &writing, &data, &flag, &seen)?;
    writing.wait()?;
    reading.wait()?;
    Ok(seen.read(&reading)?.iter().filter(|&&value| value != 10).count())
}
