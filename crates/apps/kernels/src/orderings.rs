#![doc = include_str!("orderings.md")]

use wattle::DeviceKind;
use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("orderings.md");

const SIZES: Sizes = Sizes { full: 50_000, small: 300, proof: 1 };

/// X then Y in one block, Y then X in another, a fence on both sides: never the second without the first.
#[scenario(name = "orderings", sizes = SIZES, documentation = PAGE)]
fn orderings(device: &Device, rounds: usize) -> Result<Summary> {
    observe::<true, true>(device, rounds)
}

/// As orderings, without a fence: everything may come.
#[scenario(name = "orderings-no-fence", sizes = SIZES, documentation = PAGE)]
fn no_fence(device: &Device, rounds: usize) -> Result<Summary> {
    observe::<false, false>(device, rounds)
}

/// As orderings, with the writer's fence alone: everything may come.
#[scenario(name = "orderings-writer-fence", sizes = SIZES, documentation = PAGE)]
fn writer_fence(device: &Device, rounds: usize) -> Result<Summary> {
    observe::<true, false>(device, rounds)
}

/// As orderings, with the reader's fence alone: everything may come.
#[scenario(name = "orderings-reader-fence", sizes = SIZES, documentation = PAGE)]
fn reader_fence(device: &Device, rounds: usize) -> Result<Summary> {
    observe::<false, true>(device, rounds)
}

/// As orderings-reader-fence, and wrong to expect that A=1 B=20 never comes.
#[scenario(name = "orderings-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = never(observe::<false, true>(device, rounds)?)?;
    unseen(device, summary)
}

/// As orderings-writer-fence, and wrong to expect that A=1 B=20 never comes.
#[scenario(name = "orderings-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = never(observe::<true, false>(device, rounds)?)?;
    unseen(device, summary)
}

/// As orderings, with fences of block scope between two blocks.
#[scenario(name = "orderings-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |queue, _, [x, y, a, b]| {
        queue.launch(ThreadSpec::new(2, 1), write_and_read_block_scope(x, y, a, b))
    })?;
    unseen(device, never(summary)?)
}

/// As orderings, with words that are not atomic: a data race.
#[scenario(name = "orderings-broken-plain", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_plain(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |queue, _, [x, y, a, b]| queue.launch(ThreadSpec::new(2, 1), write_and_read_plain(x, y, a, b)))
}

/// Waits until the other block is in this round too, for `patience` looks at the most; gives the patience for the
/// next round, which grows up to `most` when the blocks meet. Where the two run one after the other, little is lost so.
///
/// It makes the two race closely, and no more: what it looks at is relaxed, and comes before the round's own accesses.
#[device_fn]
pub fn meet(at: Atomic<u32>, block: u32, round: u32, patience: u32, most: u32) -> u32 {
    at.store(block * APART, round + 1);
    for _ in 0..patience {
        if at.load((1 - block) * APART) > round {
            return (patience * 2).min(most);
        }
    }
    (patience / 2).max(LEAST_PATIENCE).min(most)
}

/// How far the blocks' words are apart, so that they are in different cache lines.
pub(crate) const APART: u32 = 32;
const MOST_PATIENCE: u32 = 1 << 16;
const LEAST_PATIENCE: u32 = 1 << 7;

/// How much patience is worth while: none in a single round, where no block needs to wait; little where blocks may run
/// one after the other anyway.
pub(crate) fn patience(device: &Device, rounds: usize) -> u32 {
    match (rounds, device.properties().kind) {
        (..=1, _) => 0,
        (_, DeviceKind::Software) => LEAST_PATIENCE,
        _ => MOST_PATIENCE,
    }
}

/// Block 0 writes X and Y, block 1 reads Y and X, in as many rounds as there are elements. Without patience they do
/// not wait for each other.
#[kernel]
pub fn write_and_read<const WRITER_FENCE: bool, const READER_FENCE: bool>(
    acc: &Acc,
    most: u32,
    at: Atomic<u32>,
    x: Atomic<i32>,
    y: Atomic<i32>,
    a: Shared<i32>,
    b: Shared<i32>,
) {
    let block = acc.block_in_grid();
    let mut patience = most;
    for round in 0..x.len() {
        if patience > 0 {
            patience = meet(at, block, round, patience, most);
        }
        if block == 0 {
            x.store(round, 10);
            if WRITER_FENCE {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            y.store(round, 20);
        } else {
            let seen = y.load(round);
            if READER_FENCE {
                acc.mem_fence(Scope::Device, Order::Acquire);
            }
            a[round] = x.load(round);
            b[round] = seen;
        }
    }
}

/// The same with fences that do not reach the other block.
#[kernel]
pub fn write_and_read_block_scope(acc: &Acc, x: Atomic<i32>, y: Atomic<i32>, a: Shared<i32>, b: Shared<i32>) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x.store(round, 10);
            acc.mem_fence(Scope::Block, Order::Release);
            y.store(round, 20);
        } else {
            b[round] = y.load(round);
            acc.mem_fence(Scope::Block, Order::Acquire);
            a[round] = x.load(round);
        }
    }
}

/// The same with plain accesses. A data race.
#[kernel]
pub fn write_and_read_plain(acc: &Acc, x: Shared<i32>, y: Shared<i32>, a: Shared<i32>, b: Shared<i32>) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x[round] = 10;
            acc.mem_fence(Scope::Device, Order::Release);
            y[round] = 20;
        } else {
            b[round] = y[round];
            acc.mem_fence(Scope::Device, Order::Acquire);
            a[round] = x[round];
        }
    }
}

/// Runs `rounds` rounds from X = 1, Y = 2, and counts what the reader saw: A of X, B of Y.
pub fn observe<const WRITER_FENCE: bool, const READER_FENCE: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |queue, at, [x, y, a, b]| {
        let kernel = write_and_read::<WRITER_FENCE, READER_FENCE>(patience(device, rounds), at, x, y, a, b);
        queue.launch(ThreadSpec::new(2, 1), kernel)
    })?;
    if WRITER_FENCE && READER_FENCE { never(summary) } else { Ok(summary) }
}

/// Checks that the later write was never seen without the earlier one.
fn never(mut summary: Summary) -> Result<Summary> {
    let wrong = summary.outcomes.get("A=1 B=20").copied().unwrap_or_default();
    summary.check(wrong == 0, "A=1 B=20 never comes", || format!("it came {wrong} times"))?;
    Ok(summary)
}

/// `launch` is given the words by which the blocks meet, and X, Y, A and B.
fn run(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, &Buffer<u32>, [&Buffer<i32>; 4]) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let at = device.alloc_zeroed::<u32>(2 * APART as usize)?;
    let mut x = device.alloc::<i32>(rounds)?;
    let mut y = device.alloc::<i32>(rounds)?;
    queue.fill(&mut x, 1)?;
    queue.fill(&mut y, 2)?;
    let a = device.alloc::<i32>(rounds)?;
    let b = device.alloc::<i32>(rounds)?;
    launch(&queue, &at, [&x, &y, &a, &b])?;

    let mut summary = Summary::new(format!("{rounds} rounds between two blocks"));
    let (a, b) = (a.read(&queue)?, b.read(&queue)?);
    for (&a, &b) in a.iter().zip(&b) {
        summary.observe(&[("A", a.into()), ("B", b.into())]);
    }
    let known = a.iter().all(|a| [1, 10].contains(a)) && b.iter().all(|b| [2, 20].contains(b));
    summary.check(known, "A and B are values that were written", || "others were read".into())?;
    Ok(summary)
}
