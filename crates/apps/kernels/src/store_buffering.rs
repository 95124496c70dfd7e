#![doc = include_str!("store_buffering.md")]

use wattle::prelude::*;

use crate::orderings::{APART, meet, patience};
use crate::weak::unseen;

const PAGE: &str = include_str!("store_buffering.md");

/// Two blocks, each sets its word and reads the other's: with SeqCst fences, one sees the other.
#[scenario(name = "store-buffering", sizes = SIZES, documentation = PAGE)]
fn store_buffering(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |queue, at, [x, y, a, b]| {
        let kernel = store_and_load::<true, true>(patience(device, rounds), at, x, y, a, b);
        queue.launch(ThreadSpec::new(2, 1), kernel)
    })
}

/// As store-buffering, between two threads of a block, with SeqCst fences of block scope.
#[scenario(name = "store-buffering-block", sizes = SIZES, documentation = PAGE)]
fn block(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |queue, _, [x, y, a, b]| {
        queue.launch(FrameSpec::new(1, 2), store_and_load_in_block(x, y, a, b))
    })
}

/// As store-buffering-block, where one thread's SeqCst fence has block scope and the other's device scope.
#[scenario(name = "store-buffering-mixed", sizes = SIZES, documentation = PAGE)]
fn mixed(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |queue, _, [x, y, a, b]| queue.launch(FrameSpec::new(1, 2), store_and_load_mixed(x, y, a, b)))
}

/// As store-buffering-block, with both words in the block's shared memory.
#[scenario(name = "store-buffering-shared", sizes = SIZES, documentation = PAGE)]
fn shared(device: &Device, rounds: usize) -> Result<Summary> {
    run(device, rounds, |queue, _, [_, _, a, b]| queue.launch(FrameSpec::new(1, 2), store_and_load_shared(a, b)))
}

/// As store-buffering, with a fence in one block alone.
#[scenario(name = "store-buffering-broken-one-fence", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_one_fence(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |queue, at, [x, y, a, b]| {
        let kernel = store_and_load::<true, false>(patience(device, rounds), at, x, y, a, b);
        queue.launch(ThreadSpec::new(2, 1), kernel)
    })?;
    unseen(device, summary)
}

/// As store-buffering, with fences that release and acquire: they do not order a store before a load.
#[scenario(name = "store-buffering-broken-acq-rel", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_acq_rel(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |queue, at, [x, y, a, b]| {
        let kernel = store_and_load_acq_rel(patience(device, rounds), at, x, y, a, b);
        queue.launch(ThreadSpec::new(2, 1), kernel)
    })?;
    unseen(device, summary)
}

/// As store-buffering, with fences of block scope between two blocks.
#[scenario(name = "store-buffering-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    let summary = run(device, rounds, |queue, at, [x, y, a, b]| {
        let kernel = store_and_load_block_scope(patience(device, rounds), at, x, y, a, b);
        queue.launch(ThreadSpec::new(2, 1), kernel)
    })?;
    unseen(device, summary)
}

const SIZES: Sizes = Sizes { full: 20_000, small: 200, proof: 1 };

/// In each round block 0 sets X and reads Y, block 1 sets Y and reads X. Without patience they do not wait for each
/// other.
#[kernel]
pub fn store_and_load<const FENCE_0: bool, const FENCE_1: bool>(
    acc: &Acc,
    most: u32,
    at: Atomic<u32>,
    x: Atomic<u32>,
    y: Atomic<u32>,
    a: Shared<u32>,
    b: Shared<u32>,
) {
    let block = acc.block_in_grid();
    let mut patience = most;
    for round in 0..x.len() {
        if patience > 0 {
            patience = meet(at, block, round, patience, most);
        }
        if block == 0 {
            x.store(round, 1);
            if FENCE_0 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            b[round] = y.load(round);
        } else {
            y.store(round, 1);
            if FENCE_1 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
            }
            a[round] = x.load(round);
        }
    }
}

/// The same between two threads of a block, where block scope is enough.
#[kernel]
pub fn store_and_load_in_block(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, a: Shared<u32>, b: Shared<u32>) {
    for round in 0..x.len() {
        for thread in acc.indices(THREADS_IN_BLOCK, 0..2) {
            if thread == 0 {
                x.store_with(round, 1, Scope::Block, Order::Relaxed);
                acc.mem_fence(Scope::Block, Order::SeqCst);
                b[round] = y.load_with(round, Scope::Block, Order::Relaxed);
            } else {
                y.store_with(round, 1, Scope::Block, Order::Relaxed);
                acc.mem_fence(Scope::Block, Order::SeqCst);
                a[round] = x.load_with(round, Scope::Block, Order::Relaxed);
            }
        }
    }
}

/// As [`store_and_load_in_block`], with fences of two scopes.
#[kernel]
pub fn store_and_load_mixed(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, a: Shared<u32>, b: Shared<u32>) {
    for round in 0..x.len() {
        for thread in acc.indices(THREADS_IN_BLOCK, 0..2) {
            if thread == 0 {
                x.store_with(round, 1, Scope::Block, Order::Relaxed);
                acc.mem_fence(Scope::Block, Order::SeqCst);
                b[round] = y.load(round);
            } else {
                y.store(round, 1);
                acc.mem_fence(Scope::Device, Order::SeqCst);
                a[round] = x.load_with(round, Scope::Block, Order::Relaxed);
            }
        }
    }
}

/// As [`store_and_load_in_block`], in the block's shared memory alone.
#[kernel]
pub fn store_and_load_shared(acc: &Acc, a: Shared<u32>, b: Shared<u32>) {
    let words = acc.shared_atomic::<u32, 2>();
    for round in 0..a.len() {
        for word in acc.indices(THREADS_IN_BLOCK, 0..2) {
            words.store_with(word, 0, Scope::Block, Order::Relaxed);
        }
        acc.sync_block();
        for thread in acc.indices(THREADS_IN_BLOCK, 0..2) {
            words.store_with(thread, 1, Scope::Block, Order::Relaxed);
            acc.mem_fence(Scope::Block, Order::SeqCst);
            let other = words.load_with(1 - thread, Scope::Block, Order::Relaxed);
            if thread == 0 {
                b[round] = other;
            } else {
                a[round] = other;
            }
        }
        acc.sync_block();
    }
}

/// As [`store_and_load`], with fences that are too weak.
#[kernel]
pub fn store_and_load_acq_rel(
    acc: &Acc,
    most: u32,
    at: Atomic<u32>,
    x: Atomic<u32>,
    y: Atomic<u32>,
    a: Shared<u32>,
    b: Shared<u32>,
) {
    let block = acc.block_in_grid();
    let mut patience = most;
    for round in 0..x.len() {
        if patience > 0 {
            patience = meet(at, block, round, patience, most);
        }
        if block == 0 {
            x.store(round, 1);
            acc.mem_fence(Scope::Device, Order::AcqRel);
            b[round] = y.load(round);
        } else {
            y.store(round, 1);
            acc.mem_fence(Scope::Device, Order::AcqRel);
            a[round] = x.load(round);
        }
    }
}

/// As [`store_and_load`], with fences that do not reach the other block.
#[kernel]
pub fn store_and_load_block_scope(
    acc: &Acc,
    most: u32,
    at: Atomic<u32>,
    x: Atomic<u32>,
    y: Atomic<u32>,
    a: Shared<u32>,
    b: Shared<u32>,
) {
    let block = acc.block_in_grid();
    let mut patience = most;
    for round in 0..x.len() {
        if patience > 0 {
            patience = meet(at, block, round, patience, most);
        }
        if block == 0 {
            x.store(round, 1);
            acc.mem_fence(Scope::Block, Order::SeqCst);
            b[round] = y.load(round);
        } else {
            y.store(round, 1);
            acc.mem_fence(Scope::Block, Order::SeqCst);
            a[round] = x.load(round);
        }
    }
}

/// `launch` is given the words by which the blocks meet, X and Y, which are 0, and A of X and B of Y, which must not
/// both stay so.
fn run(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, &Buffer<u32>, [&Buffer<u32>; 4]) -> Result<()>,
) -> Result<Summary> {
    let queue = device.queue()?;
    let at = device.alloc_zeroed::<u32>(2 * APART as usize)?;
    let x = device.alloc_zeroed::<u32>(rounds)?;
    let y = device.alloc_zeroed::<u32>(rounds)?;
    let a = device.alloc::<u32>(rounds)?;
    let b = device.alloc::<u32>(rounds)?;
    launch(&queue, &at, [&x, &y, &a, &b])?;

    let mut summary = Summary::new(format!("{rounds} rounds of two threads"));
    let (a, b) = (a.read(&queue)?, b.read(&queue)?);
    for (&a, &b) in a.iter().zip(&b) {
        summary.observe(&[("A", a.into()), ("B", b.into())]);
    }
    let wrong = a.iter().zip(&b).filter(|&pair| pair == (&0, &0)).count();
    summary.check(wrong == 0, "one sees the other", || format!("neither did, {wrong} times in {rounds}"))?;
    Ok(summary)
}
