#![doc = include_str!("block_fence.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("block_fence.md");

/// Two words in block shared memory, ordered by fences of block scope.
#[scenario(name = "block-fence", sizes = SIZES, documentation = PAGE)]
fn block_fence(device: &Device, rounds: usize) -> Result<Summary> {
    rounds_of::<true, true>(device, rounds)
}

/// As block-fence, with the plain accesses of the textbooks: a data race.
#[scenario(name = "block-fence-textbook", expect = refuted, sizes = SIZES, documentation = PAGE)]
pub fn textbook(device: &Device, rounds: usize) -> Result<Summary> {
    let (queue, count) = (device.queue()?, word(device, "rounds", rounds)?);
    let firsts = device.alloc(rounds * THREADS)?;
    let seconds = device.alloc(rounds * THREADS)?;
    queue.launch(FrameSpec::new(1, THREADS), write_and_read_plain(count, &firsts, &seconds))?;
    let mut summary = Summary::new(format!("{rounds} rounds; this device does not notice the race"));
    observe(&mut summary, &firsts.read(&queue)?, &seconds.read(&queue)?);
    Ok(summary)
}

/// As block-fence, without the writer's fence.
#[scenario(name = "block-fence-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    rounds_of::<false, true>(device, rounds)
}

/// As block-fence, without the readers' fence.
#[scenario(name = "block-fence-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    rounds_of::<true, false>(device, rounds)
}

const SIZES: Sizes = Sizes { full: 10_000, small: 100, proof: 1 };

/// In each round one thread makes `[1, 2]` to `[10, 20]`, with a fence between; all threads read it in the other order.
#[kernel]
pub fn write_and_read<const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    rounds: u32,
    firsts: Shared<i32>,
    seconds: Shared<i32>,
) {
    let pair = acc.shared_atomic::<i32, 2>();
    let readers = acc.frame_extent();
    for round in 0..rounds {
        for thread in acc.indices(THREADS_IN_BLOCK, 0..readers) {
            if thread == 0 {
                pair.store_with(0, 1, Scope::Block, Order::Relaxed);
                pair.store_with(1, 2, Scope::Block, Order::Relaxed);
            }
        }
        acc.sync_block();
        for thread in acc.indices(THREADS_IN_BLOCK, 0..readers) {
            if thread == 0 {
                pair.store_with(0, 10, Scope::Block, Order::Relaxed);
                if RELEASE {
                    acc.mem_fence(Scope::Block, Order::Release);
                }
                pair.store_with(1, 20, Scope::Block, Order::Relaxed);
            }
            let second = pair.load_with(1, Scope::Block, Order::Relaxed);
            if ACQUIRE {
                acc.mem_fence(Scope::Block, Order::Acquire);
            }
            let first = pair.load_with(0, Scope::Block, Order::Relaxed);
            firsts[round * readers + thread] = first;
            seconds[round * readers + thread] = second;
        }
        acc.sync_block();
    }
}

/// The same with plain accesses, as it is usually printed. A data race.
#[kernel]
pub fn write_and_read_plain(acc: &Acc, rounds: u32, firsts: Shared<i32>, seconds: Shared<i32>) {
    let pair = acc.shared::<i32, 2>();
    let readers = acc.frame_extent();
    for round in 0..rounds {
        for thread in acc.indices(THREADS_IN_BLOCK, 0..readers) {
            if thread == 0 {
                pair[0] = 1;
                pair[1] = 2;
            }
        }
        acc.sync_block();
        for thread in acc.indices(THREADS_IN_BLOCK, 0..readers) {
            if thread == 0 {
                pair[0] = 10;
                acc.mem_fence(Scope::Block, Order::Release);
                pair[1] = 20;
            }
            let second = pair[1];
            acc.mem_fence(Scope::Block, Order::Acquire);
            let first = pair[0];
            firsts[round * readers + thread] = first;
            seconds[round * readers + thread] = second;
        }
        acc.sync_block();
    }
}

const THREADS: usize = 2;

/// Runs `rounds` rounds; with both fences (first, second) is never (1, 20).
pub fn rounds_of<const RELEASE: bool, const ACQUIRE: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let (queue, count) = (device.queue()?, word(device, "rounds", rounds)?);
    let firsts = device.alloc(rounds * THREADS)?;
    let seconds = device.alloc(rounds * THREADS)?;
    let kernel = write_and_read::<RELEASE, ACQUIRE>(count, &firsts, &seconds);
    queue.launch(FrameSpec::new(1, THREADS), kernel)?;
    let mut summary = Summary::new(format!("{rounds} rounds of {THREADS} threads in a block"));
    let wrong = observe(&mut summary, &firsts.read(&queue)?, &seconds.read(&queue)?);
    summary.check(wrong == 0, "no thread reads (1, 20)", || format!("{wrong} did"))?;
    if RELEASE && ACQUIRE { Ok(summary) } else { unseen(device, summary) }
}

/// Counts the pairs; gives how often the second write was seen without the first.
fn observe(summary: &mut Summary, firsts: &[i32], seconds: &[i32]) -> usize {
    for (&first, &second) in firsts.iter().zip(seconds) {
        summary.observe(&[("first", first.into()), ("second", second.into())]);
    }
    firsts.iter().zip(seconds).filter(|&pair| pair == (&1, &20)).count()
}
