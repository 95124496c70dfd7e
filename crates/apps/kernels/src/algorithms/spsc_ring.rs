#![doc = include_str!("spsc_ring.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("spsc_ring.md");
const SIZES: Sizes = Sizes { full: 10_000, small: 100, proof: 3 };

/// The places of the ring.
const PLACES: u32 = 2;

/// A ring of two places from one block to another.
#[scenario(name = "ring-spsc", sizes = SIZES, documentation = PAGE)]
pub fn spsc(device: &Device, tries: usize) -> Result<Summary> {
    run::<true, true, true>(device, tries)
}

/// As ring-spsc, where the producer moves the tail by a relaxed store.
#[scenario(name = "ring-spsc-broken-tail-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn tail_relaxed(device: &Device, tries: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, tries)?)
}

/// As ring-spsc, where the consumer moves the head by a relaxed store.
#[scenario(name = "ring-spsc-broken-head-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn head_relaxed(device: &Device, tries: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, tries)?)
}

/// As ring-spsc, where the consumer looks at the tail by a relaxed load.
#[scenario(name = "ring-spsc-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_acquire(device: &Device, tries: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, tries)?)
}

/// Block 0 tries `tries` times to add the next number, block 1 as often to take one. `ends` has the head and the tail.
#[kernel]
pub fn produce_and_consume<const TAIL: bool, const HEAD: bool, const ACQUIRE: bool>(
    acc: &Acc,
    tries: u32,
    slots: Shared<u32>,
    head: Atomic<u32>,
    tail: Atomic<u32>,
    wrong: Atomic<u32>,
) {
    let mut at = 0;
    for _ in 0..tries {
        if acc.block_in_grid() == 0 {
            let oldest = head.load_with(0, Scope::Device, Order::Acquire);
            if at - oldest < PLACES {
                slots[at % PLACES] = at + 1;
                at += 1;
                if TAIL {
                    tail.store_with(0, at, Scope::Device, Order::Release);
                } else {
                    tail.store(0, at);
                }
            }
        } else {
            let end = if ACQUIRE { tail.load_with(0, Scope::Device, Order::Acquire) } else { tail.load(0) };
            if at != end {
                if slots[at % PLACES] != at + 1 {
                    wrong.fetch_add(0, 1);
                }
                at += 1;
                if HEAD {
                    head.store_with(0, at, Scope::Device, Order::Release);
                } else {
                    head.store(0, at);
                }
            }
        }
    }
}

fn run<const TAIL: bool, const HEAD: bool, const ACQUIRE: bool>(device: &Device, tries: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let slots = device.alloc_zeroed::<u32>(PLACES as usize)?;
    let (head, tail) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let wrong = device.alloc_zeroed::<u32>(1)?;
    let kernel =
        produce_and_consume::<TAIL, HEAD, ACQUIRE>(word(device, "tries", tries)?, &slots, &head, &tail, &wrong);
    queue.launch(ThreadSpec::new(2, 1), kernel)?;
    let wrong = wrong.read(&queue)?[0];
    let mut summary = Summary::new(format!("{tries} tries on each side of a ring of {PLACES}"));
    summary.check(wrong == 0, "items come in order and whole", || format!("{wrong} were wrong"))?;
    Ok(summary)
}
