#![doc = include_str!("isa2.md")]

use wattle::prelude::*;

use super::{Left, SIZES};
use crate::weak::unseen;

const PAGE: &str = include_str!("isa2.md");

/// A message through a third thread, released and acquired twice.
#[scenario(name = "isa2", sizes = SIZES, documentation = PAGE)]
fn isa2(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true>(device, rounds)
}

/// As isa2, where the thread between is relaxed.
#[scenario(name = "isa2-broken-relaxed-middle", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_middle(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false>(device, rounds)?)
}

/// As isa2, where the thread between does not acquire.
#[scenario(name = "isa2-broken-no-middle-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_middle_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, rounds)?)
}

/// As isa2, where the thread between does not release.
#[scenario(name = "isa2-broken-no-middle-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_middle_release(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false>(device, rounds)?)
}

/// Block 0 writes X and sets Y, block 1 hands Y on as Z, block 2 looks at Z and reads X.
#[kernel]
pub fn threads<const ACQUIRE: bool, const RELEASE: bool>(
    acc: &Acc,
    x: Atomic<u32>,
    y: Atomic<u32>,
    z: Atomic<u32>,
    seen: Shared<u32>,
) {
    let block = acc.block_in_grid();
    for round in 0..x.len() {
        if block == 0 {
            x.store(round, 1);
            acc.mem_fence(Scope::Device, Order::Release);
            y.store(round, 1);
        } else if block == 1 {
            if y.load(round) == 1 {
                if ACQUIRE {
                    acc.mem_fence(Scope::Device, Order::Acquire);
                }
                if RELEASE {
                    acc.mem_fence(Scope::Device, Order::Release);
                }
                z.store(round, 1);
            }
        } else {
            let arrived = z.load(round);
            acc.mem_fence(Scope::Device, Order::Acquire);
            seen[2 * round + 1] = x.load(round);
            seen[2 * round] = arrived;
        }
    }
}

fn run<const ACQUIRE: bool, const RELEASE: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let lost = |left: &Left| left.seen == [1, 0];
    super::run::<2>(device, rounds, lost, |queue, [x, y, z, seen]| {
        queue.launch(ThreadSpec::new(3, 1), threads::<ACQUIRE, RELEASE>(x, y, z, seen))
    })
}
