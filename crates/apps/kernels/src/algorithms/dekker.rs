#![doc = include_str!("dekker.md")]

use wattle::prelude::*;

use super::counted;
use crate::weak::unseen;

const PAGE: &str = include_str!("dekker.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// Two blocks exclude one another by flags, a turn and SeqCst fences.
#[scenario(name = "dekker", sizes = SIZES, documentation = PAGE)]
pub fn dekker(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true>(device, rounds)
}

/// As dekker, without the SeqCst fences.
#[scenario(name = "dekker-broken-no-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, rounds)?)
}

/// As dekker, without the fence behind the wait.
#[scenario(name = "dekker-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false>(device, rounds)?)
}

/// As dekker, with fences that acquire and release instead of SeqCst ones.
#[scenario(name = "dekker-broken-acq-rel", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn acq_rel(device: &Device, rounds: usize) -> Result<Summary> {
    let (flags, turn) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    let summary = counted(device, 2, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count_acq_rel(rounds, &flags, &turn, counter))
    })?;
    unseen(device, summary)
}

/// Each of two blocks counts `rounds` times.
#[kernel]
pub fn count<const SEQ_CST: bool, const ACQUIRE: bool>(
    acc: &Acc,
    rounds: u32,
    flags: Atomic<u32>,
    turn: Atomic<u32>,
    counter: Shared<u32>,
) {
    let me = acc.block_in_grid();
    let other = 1 - me;
    for _ in 0..rounds {
        flags.store(me, 1);
        if SEQ_CST {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
        while flags.load(other) == 1 {
            if turn.load(0) == other {
                flags.store(me, 0);
                while turn.load(0) == other {}
                flags.store(me, 1);
                if SEQ_CST {
                    acc.mem_fence(Scope::Device, Order::SeqCst);
                }
            }
        }
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        counter[0] += 1;
        turn.store(0, other);
        acc.mem_fence(Scope::Device, Order::Release);
        flags.store(me, 0);
    }
}

/// The same with fences that order no store before a later load.
#[kernel]
pub fn count_acq_rel(acc: &Acc, rounds: u32, flags: Atomic<u32>, turn: Atomic<u32>, counter: Shared<u32>) {
    let me = acc.block_in_grid();
    let other = 1 - me;
    for _ in 0..rounds {
        flags.store(me, 1);
        acc.mem_fence(Scope::Device, Order::AcqRel);
        while flags.load(other) == 1 {
            if turn.load(0) == other {
                flags.store(me, 0);
                while turn.load(0) == other {}
                flags.store(me, 1);
                acc.mem_fence(Scope::Device, Order::AcqRel);
            }
        }
        acc.mem_fence(Scope::Device, Order::Acquire);
        counter[0] += 1;
        turn.store(0, other);
        acc.mem_fence(Scope::Device, Order::Release);
        flags.store(me, 0);
    }
}

fn run<const SEQ_CST: bool, const ACQUIRE: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let (flags, turn) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    counted(device, 2, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count::<SEQ_CST, ACQUIRE>(rounds, &flags, &turn, counter))
    })
}
