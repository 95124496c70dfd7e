#![doc = include_str!("seqlock.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("seqlock.md");
const SIZES: Sizes = Sizes { full: 10_000, small: 100, proof: 1 };

/// A writer of two words and a reader that takes no lock.
#[scenario(name = "seqlock", sizes = SIZES, documentation = PAGE)]
pub fn seqlock(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As seqlock, without the fence before the reader's second look at the number.
#[scenario(name = "seqlock-broken-no-reader-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_reader_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// As seqlock, without the fence behind the writer's odd number.
#[scenario(name = "seqlock-broken-no-writer-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_writer_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// As seqlock, with a relaxed first look at the number.
#[scenario(name = "seqlock-broken-relaxed-first-load", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_first_load(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As seqlock, with words that are not atomic.
#[scenario(name = "seqlock-broken-plain", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn plain(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = judged(device, rounds, |queue, rounds, number, pair, torn| {
        queue.launch(ThreadSpec::new(2, 1), read_and_write_plain(rounds, number, pair, torn))
    })?;
    unseen(device, summary)
}

/// Block 0 writes both words `rounds` times, block 1 reads as often and counts what it takes for a snapshot and is none.
#[kernel]
pub fn read_and_write<const WRITER: bool, const FIRST: bool, const READER: bool>(
    acc: &Acc,
    rounds: u32,
    number: Atomic<u32>,
    pair: Atomic<u32>,
    torn: Atomic<u32>,
) {
    for round in 0..rounds {
        if acc.block_in_grid() == 0 {
            number.store(0, 2 * round + 1);
            if WRITER {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            pair.store(0, round + 1);
            pair.store(1, round + 1);
            number.store_with(0, 2 * round + 2, Scope::Device, Order::Release);
        } else {
            let before = if FIRST { number.load_with(0, Scope::Device, Order::Acquire) } else { number.load(0) };
            let first = pair.load(0);
            let second = pair.load(1);
            if READER {
                acc.mem_fence(Scope::Device, Order::Acquire);
            }
            let after = number.load(0);
            if before == after && before % 2 == 0 && first != second {
                torn.fetch_add(0, 1);
            }
        }
    }
}

/// The same with plain words.
#[kernel]
pub fn read_and_write_plain(acc: &Acc, rounds: u32, number: Atomic<u32>, pair: Shared<u32>, torn: Atomic<u32>) {
    for round in 0..rounds {
        if acc.block_in_grid() == 0 {
            number.store(0, 2 * round + 1);
            acc.mem_fence(Scope::Device, Order::Release);
            pair[0] = round + 1;
            pair[1] = round + 1;
            number.store_with(0, 2 * round + 2, Scope::Device, Order::Release);
        } else {
            let before = number.load_with(0, Scope::Device, Order::Acquire);
            let first = pair[0];
            let second = pair[1];
            acc.mem_fence(Scope::Device, Order::Acquire);
            let after = number.load(0);
            if before == after && before % 2 == 0 && first != second {
                torn.fetch_add(0, 1);
            }
        }
    }
}

fn run<const WRITER: bool, const FIRST: bool, const READER: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    judged(device, rounds, |queue, rounds, number, pair, torn| {
        queue.launch(ThreadSpec::new(2, 1), read_and_write::<WRITER, FIRST, READER>(rounds, number, pair, torn))
    })
}

/// `launch` gets the rounds, the number, the two words and the count of torn reads.
fn judged(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, u32, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let (number, pair) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    let torn = device.alloc_zeroed::<u32>(1)?;
    launch(&queue, word(device, "rounds", rounds)?, &number, &pair, &torn)?;
    let torn = torn.read(&queue)?[0];
    let mut summary = Summary::new(format!("a writer and a reader, {rounds} rounds"));
    summary.check(torn == 0, "what a reader accepts is a snapshot", || format!("{torn} were torn"))?;
    Ok(summary)
}
