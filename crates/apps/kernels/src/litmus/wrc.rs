#![doc = include_str!("wrc.md")]

use wattle::prelude::*;

use super::{Left, SIZES};
use crate::weak::unseen;

const PAGE: &str = include_str!("wrc.md");

/// Who hears of a write from another sees it.
#[scenario(name = "wrc", sizes = SIZES, documentation = PAGE)]
fn wrc(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true>(device, rounds)
}

/// As wrc, where the block between does not release.
#[scenario(name = "wrc-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_release(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, rounds)?)
}

/// As wrc, where the last block does not acquire.
#[scenario(name = "wrc-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false>(device, rounds)?)
}

/// As wrc, with fences of block scope between blocks.
#[scenario(name = "wrc-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = super::run::<2>(device, rounds, unheard, |queue, [x, y, _, seen]| {
        queue.launch(ThreadSpec::new(3, 1), threads_block_scope(x, y, seen))
    })?;
    unseen(device, summary)
}

/// Block 0 writes X, block 1 hands it on as Y, block 2 looks at Y and reads X.
#[kernel]
pub fn threads<const RELEASE: bool, const ACQUIRE: bool>(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Shared<u32>) {
    let block = acc.block_in_grid();
    for round in 0..x.len() {
        if block == 0 {
            x.store(round, 1);
        } else if block == 1 {
            if x.load(round) == 1 {
                if RELEASE {
                    acc.mem_fence(Scope::Device, Order::Release);
                }
                y.store(round, 1);
            }
        } else {
            let heard = y.load(round);
            if ACQUIRE {
                acc.mem_fence(Scope::Device, Order::Acquire);
            }
            seen[2 * round + 1] = x.load(round);
            seen[2 * round] = heard;
        }
    }
}

/// The same with fences that do not reach the other blocks.
#[kernel]
pub fn threads_block_scope(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Shared<u32>) {
    let block = acc.block_in_grid();
    for round in 0..x.len() {
        if block == 0 {
            x.store(round, 1);
        } else if block == 1 {
            if x.load(round) == 1 {
                acc.mem_fence(Scope::Block, Order::Release);
                y.store(round, 1);
            }
        } else {
            let heard = y.load(round);
            acc.mem_fence(Scope::Block, Order::Acquire);
            seen[2 * round + 1] = x.load(round);
            seen[2 * round] = heard;
        }
    }
}

fn unheard(left: &Left) -> bool {
    left.seen == [1, 0]
}

fn run<const RELEASE: bool, const ACQUIRE: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    super::run::<2>(device, rounds, unheard, |queue, [x, y, _, seen]| {
        queue.launch(ThreadSpec::new(3, 1), threads::<RELEASE, ACQUIRE>(x, y, seen))
    })
}
