#![doc = include_str!("mcs.md")]

use wattle::prelude::*;

use super::counted;
use crate::weak::unseen;

const PAGE: &str = include_str!("mcs.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// A lock with a queue, whose waiters each spin on their own word.
#[scenario(name = "lock-mcs", sizes = SIZES, documentation = PAGE)]
pub fn mcs(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As lock-mcs, where the lock is handed on by a relaxed store.
#[scenario(name = "lock-mcs-broken-relaxed-handover", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_handover(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As lock-mcs, where the wait is a relaxed load.
#[scenario(name = "lock-mcs-broken-relaxed-wait", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_wait(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// The scenario lock-mcs without acquire order for the thread that finds the queue empty.
#[scenario(name = "lock-mcs-broken-no-tail-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_tail_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// Each block counts `rounds` times; its node has its number and one more.
#[kernel]
pub fn count<const TAIL: bool, const HANDOVER: bool, const WAIT: bool>(
    acc: &Acc,
    rounds: u32,
    tail: Atomic<u32>,
    next: Atomic<u32>,
    waits: Atomic<u32>,
    counter: Shared<u32>,
) {
    let me = acc.block_in_grid() + 1;
    for _ in 0..rounds {
        next.store(me, 0);
        waits.store(me, 1);
        let before = if TAIL {
            tail.exchange_with(0, me, Scope::Device, Order::AcqRel)
        } else {
            tail.exchange_with(0, me, Scope::Device, Order::Release)
        };
        if before != 0 {
            next.store_with(before, me, Scope::Device, Order::Release);
            if WAIT {
                while waits.load_with(me, Scope::Device, Order::Acquire) == 1 {}
            } else {
                while waits.load(me) == 1 {}
            }
        }
        counter[0] += 1;
        let mut after = next.load_with(me, Scope::Device, Order::Acquire);
        if after == 0 {
            let last = tail.compare_exchange_with(0, me, 0, Scope::Device, Order::Release);
            if last != me {
                while after == 0 {
                    after = next.load_with(me, Scope::Device, Order::Acquire);
                }
            }
        }
        if after != 0 {
            if HANDOVER {
                waits.store_with(after, 0, Scope::Device, Order::Release);
            } else {
                waits.store(after, 0);
            }
        }
    }
}

fn run<const TAIL: bool, const HANDOVER: bool, const WAIT: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    // In a single round, which is for proofs, two blocks show each mistake.
    let blocks = if rounds == 1 { 2 } else { 4 };
    let tail = device.alloc_zeroed::<u32>(1)?;
    let (next, waits) = (device.alloc_zeroed::<u32>(blocks + 1)?, device.alloc_zeroed::<u32>(blocks + 1)?);
    counted(device, blocks, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count::<TAIL, HANDOVER, WAIT>(rounds, &tail, &next, &waits, counter))
    })
}
