#![doc = include_str!("reader_writer.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("reader_writer.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// The bit of an active writer, and what each reader adds.
const WRITER: u32 = 1;
const READER: u32 = 2;

/// A writer and readers of two plain words, under a lock of one word.
#[scenario(name = "reader-writer-lock", sizes = SIZES, documentation = PAGE)]
pub fn reader_writer(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As reader-writer-lock, where readers leave by a relaxed subtraction.
#[scenario(name = "reader-writer-lock-broken-reader-leaves-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn reader_leaves_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// As reader-writer-lock, where a writer leaves by a relaxed subtraction.
#[scenario(name = "reader-writer-lock-broken-writer-leaves-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn writer_leaves_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As reader-writer-lock, where a reader that had to wait looks with relaxed loads.
#[scenario(name = "reader-writer-lock-broken-relaxed-wait", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_wait(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// Block 0 writes both words `rounds` times; the others read them as often, and count where they differ.
#[kernel]
pub fn read_and_write<const READER_LEAVES: bool, const WRITER_LEAVES: bool, const WAIT: bool>(
    acc: &Acc,
    rounds: u32,
    lock: Atomic<u32>,
    pair: Shared<u32>,
    torn: Atomic<u32>,
) {
    for round in 0..rounds {
        if acc.block_in_grid() == 0 {
            while lock.compare_exchange_with(0, 0, WRITER, Scope::Device, Order::Acquire) != 0 {}
            pair[0] = round + 1;
            pair[1] = round + 1;
            if WRITER_LEAVES {
                lock.fetch_sub_with(0, WRITER, Scope::Device, Order::Release);
            } else {
                lock.fetch_sub(0, WRITER);
            }
        } else {
            let word = lock.fetch_add_with(0, READER, Scope::Device, Order::Acquire);
            if word & WRITER != 0 {
                if WAIT {
                    while lock.load_with(0, Scope::Device, Order::Acquire) & WRITER != 0 {}
                } else {
                    while lock.load(0) & WRITER != 0 {}
                }
            }
            if pair[0] != pair[1] {
                torn.fetch_add(0, 1);
            }
            if READER_LEAVES {
                lock.fetch_sub_with(0, READER, Scope::Device, Order::Release);
            } else {
                lock.fetch_sub(0, READER);
            }
        }
    }
}

fn run<const READER_LEAVES: bool, const WRITER_LEAVES: bool, const WAIT: bool>(
    device: &Device,
    rounds: usize,
) -> Result<Summary> {
    let blocks = if rounds == 1 { 3 } else { 4 };
    let queue = device.queue()?;
    let (lock, pair) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
    let torn = device.alloc_zeroed::<u32>(1)?;
    let kernel =
        read_and_write::<READER_LEAVES, WRITER_LEAVES, WAIT>(word(device, "rounds", rounds)?, &lock, &pair, &torn);
    queue.launch(ThreadSpec::new(blocks, 1), kernel)?;
    let torn = torn.read(&queue)?[0];
    let mut summary = Summary::new(format!("a writer and {} readers, {rounds} rounds", blocks - 1));
    summary.check(torn == 0, "readers see both words or neither", || format!("{torn} reads were torn"))?;
    Ok(summary)
}
