#![doc = include_str!("clh.md")]

use wattle::prelude::*;

use super::counted;
use crate::weak::unseen;

const PAGE: &str = include_str!("clh.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// A lock with a queue, whose waiters each spin on the word of the one before.
#[scenario(name = "lock-clh", sizes = SIZES, documentation = PAGE)]
pub fn clh(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As lock-clh, with a relaxed exchange of the tail.
#[scenario(name = "lock-clh-broken-relaxed-tail", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_tail(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// As lock-clh, where the lock is handed on by a relaxed store.
#[scenario(name = "lock-clh-broken-relaxed-handover", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_handover(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As lock-clh, where the wait is a relaxed load.
#[scenario(name = "lock-clh-broken-relaxed-wait", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_wait(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// Each block counts `rounds` times; it begins with the node of its number and one more. Node 0 is free.
#[kernel]
pub fn count<const TAIL: bool, const HANDOVER: bool, const WAIT: bool>(
    acc: &Acc,
    rounds: u32,
    tail: Atomic<u32>,
    held: Atomic<u32>,
    counter: Shared<u32>,
) {
    let mut node = acc.block_in_grid() + 1;
    for _ in 0..rounds {
        held.store(node, 1);
        let before = if TAIL {
            tail.exchange_with(0, node, Scope::Device, Order::AcqRel)
        } else {
            tail.exchange_with(0, node, Scope::Device, Order::Relaxed)
        };
        if WAIT {
            while held.load_with(before, Scope::Device, Order::Acquire) == 1 {}
        } else {
            while held.load(before) == 1 {}
        }
        counter[0] += 1;
        if HANDOVER {
            held.store_with(node, 0, Scope::Device, Order::Release);
        } else {
            held.store(node, 0);
        }
        node = before;
    }
}

fn run<const TAIL: bool, const HANDOVER: bool, const WAIT: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    // In a single round, which is for proofs, three blocks have a queue of two.
    let blocks = if rounds == 1 { 3 } else { 4 };
    let (tail, held) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(blocks + 1)?);
    counted(device, blocks, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count::<TAIL, HANDOVER, WAIT>(rounds, &tail, &held, counter))
    })
}
