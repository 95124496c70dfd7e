#![doc = include_str!("orderings.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

const SIZES: Sizes = Sizes { full: 50_000, small: 300, proof: 1 };

const fn variant(name: &'static str, summary: &'static str, work: fn(&Device, usize) -> Result<Summary>) -> Scenario {
    let documentation = include_str!("orderings.md");
    Scenario { name, summary, documentation, expectation: Expectation::Holds, work: Work::Sized(work, SIZES) }
}

/// `orderings`.
pub const ORDERINGS: Scenario = variant(
    "orderings",
    "X then Y in one block, Y then X in another, a fence on both sides: never the second without the first",
    orderings::<true, true>,
);

/// `orderings-no-fence`.
pub const NO_FENCE: Scenario =
    variant("orderings-no-fence", "as orderings, without a fence: everything may come", |device, rounds| {
        orderings::<false, false>(device, rounds)
    });

/// `orderings-writer-fence`.
pub const WRITER_FENCE: Scenario = variant(
    "orderings-writer-fence",
    "as orderings, with the writer's fence alone: everything may come",
    orderings::<true, false>,
);

/// `orderings-reader-fence`.
pub const READER_FENCE: Scenario = variant(
    "orderings-reader-fence",
    "as orderings, with the reader's fence alone: everything may come",
    orderings::<false, true>,
);

/// Waits until the other block is in this round too, for `patience` looks at the most; gives the patience for the
/// next round, which grows when the blocks meet. Where the two run one after the other, little is lost so.
///
/// It makes the two race closely, and no more: what it looks at is relaxed, and comes before the round's own accesses.
#[device_fn]
pub fn meet(at: Atomic<u32>, block: u32, round: u32, patience: u32) -> u32 {
    at.store(block * APART, round + 1);
    for _ in 0..patience {
        if at.load((1 - block) * APART) > round {
            return (patience * 2).min(MOST_PATIENCE);
        }
    }
    (patience / 2).max(LEAST_PATIENCE)
}

/// How far the blocks' words are apart, so that they are in different cache lines.
const APART: u32 = 32;
const MOST_PATIENCE: u32 = 1 << 16;
const LEAST_PATIENCE: u32 = 1 << 8;

/// Block 0 writes X and Y, block 1 reads Y and X, in as many rounds as there are elements. Without patience they do
/// not wait for each other.
#[kernel]
pub fn write_and_read<const WRITER_FENCE: bool, const READER_FENCE: bool>(
    acc: &Acc,
    mut patience: u32,
    at: Atomic<u32>,
    x: Atomic<i32>,
    y: Atomic<i32>,
    a: Shared<i32>,
    b: Shared<i32>,
) {
    let block = acc.block_in_grid();
    for round in 0..x.len() {
        if patience > 0 {
            patience = meet(at, block, round, patience);
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

/// Runs `rounds` rounds from X = 1, Y = 2, and counts what the reader saw: A of X, B of Y.
pub fn orderings<const WRITER_FENCE: bool, const READER_FENCE: bool>(
    device: &Device,
    rounds: usize,
) -> Result<Summary> {
    let queue = device.queue()?;
    let at = device.alloc_zeroed::<u32>(2 * APART as usize)?;
    let mut x = device.alloc::<i32>(rounds)?;
    let mut y = device.alloc::<i32>(rounds)?;
    queue.fill(&mut x, 1)?;
    queue.fill(&mut y, 2)?;
    let a = device.alloc::<i32>(rounds)?;
    let b = device.alloc::<i32>(rounds)?;
    let patience = if rounds > 1 { MOST_PATIENCE } else { 0 };
    let kernel = write_and_read::<WRITER_FENCE, READER_FENCE>(patience, &at, &x, &y, &a, &b);
    queue.launch(ThreadSpec::new(2, 1), kernel)?;

    let mut summary = Summary::new(format!("{rounds} rounds between two blocks"));
    let (a, b) = (a.read(&queue)?, b.read(&queue)?);
    for (&a, &b) in a.iter().zip(&b) {
        summary.observe(&[("A", a.into()), ("B", b.into())]);
    }
    if WRITER_FENCE && READER_FENCE {
        let wrong = a.iter().zip(&b).filter(|&pair| pair == (&1, &20)).count();
        summary.check(wrong == 0, "A=1 B=20 never comes", || format!("it came {wrong} times in {rounds}"))?;
    }
    let known = a.iter().all(|a| [1, 10].contains(a)) && b.iter().all(|b| [2, 20].contains(b));
    summary.check(known, "A and B are values that were written", || "others were read".into())?;
    Ok(summary)
}
