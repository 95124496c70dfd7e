#![doc = include_str!("two_plus_two_w.md")]

use wattle::prelude::*;

use super::{Left, SIZES};
use crate::weak::unseen;

const PAGE: &str = include_str!("two_plus_two_w.md");

/// Two threads write two words in opposite orders, with SeqCst fences between.
#[scenario(name = "2-plus-2-w", sizes = SIZES, documentation = PAGE)]
fn two_plus_two_w(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, false>(device, rounds)
}

/// As 2-plus-2-w, with relaxed stores alone.
#[scenario(name = "2-plus-2-w-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false, false>(device, rounds)?)
}

/// As 2-plus-2-w, with release fences.
#[scenario(name = "2-plus-2-w-broken-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn release(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false, true>(device, rounds)?)
}

/// As 2-plus-2-w, with a fence in one thread alone.
#[scenario(name = "2-plus-2-w-broken-one-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn one_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, false>(device, rounds)?)
}

/// Block 0 writes X and Y, block 1 writes Y and X.
#[kernel]
pub fn threads<const FENCE_0: bool, const FENCE_1: bool, const RELEASE: bool>(
    acc: &Acc,
    x: Atomic<u32>,
    y: Atomic<u32>,
) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x.store(round, 1);
            if FENCE_0 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            if RELEASE {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            y.store(round, 2);
        } else {
            y.store(round, 1);
            if FENCE_1 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            if RELEASE {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            x.store(round, 2);
        }
    }
}

fn run<const FENCE_0: bool, const FENCE_1: bool, const RELEASE: bool>(
    device: &Device,
    rounds: usize,
) -> Result<Summary> {
    let both_first = |left: &Left| left.words[..2] == [1, 1];
    super::run::<0>(device, rounds, both_first, |queue, [x, y, ..]| {
        queue.launch(ThreadSpec::new(2, 1), threads::<FENCE_0, FENCE_1, RELEASE>(x, y))
    })
}
