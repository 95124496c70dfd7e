#![doc = include_str!("iriw.md")]

use wattle::prelude::*;

use super::{Left, SIZES};
use crate::weak::unseen;

const PAGE: &str = include_str!("iriw.md");

/// Two readers with SeqCst fences see two writes in one order.
#[scenario(name = "iriw", sizes = SIZES, documentation = PAGE)]
fn iriw(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, false>(device, rounds)
}

/// As iriw, with acquire loads instead of the fences.
#[scenario(name = "iriw-broken-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false, true>(device, rounds)?)
}

/// As iriw, with relaxed loads alone.
#[scenario(name = "iriw-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false, false>(device, rounds)?)
}

/// As iriw, with a fence in one reader alone.
#[scenario(name = "iriw-broken-one-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn one_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, false>(device, rounds)?)
}

/// Blocks 0 and 1 write X and Y, block 2 reads X and Y, block 3 reads Y and X.
#[kernel]
pub fn threads<const FENCE_2: bool, const FENCE_3: bool, const ACQUIRE: bool>(
    acc: &Acc,
    x: Atomic<u32>,
    y: Atomic<u32>,
    seen: Shared<u32>,
) {
    let block = acc.block_in_grid();
    for round in 0..x.len() {
        if block == 0 {
            x.store(round, 1);
        } else if block == 1 {
            y.store(round, 1);
        } else if block == 2 {
            let first = if ACQUIRE { x.load_with(round, Scope::Device, Order::Acquire) } else { x.load(round) };
            if FENCE_2 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            seen[4 * round + 1] = y.load(round);
            seen[4 * round] = first;
        } else {
            let first = if ACQUIRE { y.load_with(round, Scope::Device, Order::Acquire) } else { y.load(round) };
            if FENCE_3 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            seen[4 * round + 3] = x.load(round);
            seen[4 * round + 2] = first;
        }
    }
}

fn run<const FENCE_2: bool, const FENCE_3: bool, const ACQUIRE: bool>(
    device: &Device,
    rounds: usize,
) -> Result<Summary> {
    let two_orders = |left: &Left| left.seen == [1, 0, 1, 0];
    super::run::<4>(device, rounds, two_orders, |queue, [x, y, _, seen]| {
        queue.launch(ThreadSpec::new(4, 1), threads::<FENCE_2, FENCE_3, ACQUIRE>(x, y, seen))
    })
}
