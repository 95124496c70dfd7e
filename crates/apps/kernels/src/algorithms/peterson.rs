#![doc = include_str!("peterson.md")]

use wattle::prelude::*;

use super::counted;
use crate::weak::unseen;

const PAGE: &str = include_str!("peterson.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// Two blocks exclude one another by reads, writes and SeqCst fences.
#[scenario(name = "peterson", sizes = SIZES, documentation = PAGE)]
pub fn peterson(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true, true>(device, rounds)
}

/// As peterson, without the fence between the flag and the turn.
#[scenario(name = "peterson-broken-no-first-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_first_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true, true>(device, rounds)?)
}

/// As peterson, without the fence between the turn and the look at the other's flag.
#[scenario(name = "peterson-broken-no-second-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_second_fence(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true, true>(device, rounds)?)
}

/// As peterson, without the fence behind the wait.
#[scenario(name = "peterson-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false, true>(device, rounds)?)
}

/// As peterson, without the fence before the flag comes down.
#[scenario(name = "peterson-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_release(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, true, false>(device, rounds)?)
}

/// As peterson, with release stores and acquire loads instead of SeqCst fences.
#[scenario(name = "peterson-broken-acq-rel", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn acq_rel(device: &Device, rounds: usize) -> Result<Summary> {
    let (flags, turn) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    let summary = counted(device, 2, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count_acq_rel(rounds, &flags, &turn, counter))
    })?;
    unseen(device, summary)
}

/// Each of two blocks counts `rounds` times.
#[kernel]
pub fn count<const FIRST: bool, const SECOND: bool, const ACQUIRE: bool, const RELEASE: bool>(
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
        if FIRST {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
        turn.store(0, other);
        if SECOND {
            acc.mem_fence(Scope::Device, Order::SeqCst);
        }
        while flags.load(other) == 1 && turn.load(0) == other {}
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        counter[0] += 1;
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        flags.store(me, 0);
    }
}

/// The same with orders that hand the data on, and do not exclude.
#[kernel]
pub fn count_acq_rel(acc: &Acc, rounds: u32, flags: Atomic<u32>, turn: Atomic<u32>, counter: Shared<u32>) {
    let me = acc.block_in_grid();
    let other = 1 - me;
    for _ in 0..rounds {
        flags.store_with(me, 1, Scope::Device, Order::Release);
        turn.store_with(0, other, Scope::Device, Order::Release);
        while flags.load_with(other, Scope::Device, Order::Acquire) == 1
            && turn.load_with(0, Scope::Device, Order::Acquire) == other
        {}
        counter[0] += 1;
        flags.store_with(me, 0, Scope::Device, Order::Release);
    }
}

fn run<const FIRST: bool, const SECOND: bool, const ACQUIRE: bool, const RELEASE: bool>(
    device: &Device,
    rounds: usize,
) -> Result<Summary> {
    let (flags, turn) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    counted(device, 2, rounds, |queue, spec, rounds, counter| {
        queue.launch(spec, count::<FIRST, SECOND, ACQUIRE, RELEASE>(rounds, &flags, &turn, counter))
    })
}
