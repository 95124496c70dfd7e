#![doc = include_str!("z6.md")]

use wattle::prelude::*;

use super::{Left, SIZES};
use crate::weak::unseen;

const PAGE: &str = include_str!("z6.md");

/// Three threads in a chain with a link of write order, and SeqCst fences.
#[scenario(name = "z6", sizes = SIZES, documentation = PAGE)]
fn z6(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, false>(device, rounds)
}

/// As z6, with fences that release and acquire.
#[scenario(name = "z6-broken-acq-rel", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn acq_rel(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, rounds)?)
}

/// As z6, with relaxed accesses alone.
#[scenario(name = "z6-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false>(device, rounds)?)
}

/// Block 0 writes X and Y, block 1 writes Y and Z, block 2 reads Z and X.
#[kernel]
pub fn threads<const SEQ_CST: bool, const ACQ_REL: bool>(
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
            if SEQ_CST {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            if ACQ_REL {
                acc.mem_fence(Scope::Device, Order::AcqRel);
            }
            y.store(round, 1);
        } else if block == 1 {
            y.store(round, 2);
            if SEQ_CST {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            if ACQ_REL {
                acc.mem_fence(Scope::Device, Order::AcqRel);
            }
            z.store(round, 1);
        } else {
            let arrived = z.load(round);
            if SEQ_CST {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            if ACQ_REL {
                acc.mem_fence(Scope::Device, Order::AcqRel);
            }
            seen[2 * round + 1] = x.load(round);
            seen[2 * round] = arrived;
        }
    }
}

fn run<const SEQ_CST: bool, const ACQ_REL: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let cycle = |left: &Left| left.words[1] == 2 && left.seen == [1, 0];
    super::run::<2>(device, rounds, cycle, |queue, [x, y, z, seen]| {
        queue.launch(ThreadSpec::new(3, 1), threads::<SEQ_CST, ACQ_REL>(x, y, z, seen))
    })
}
