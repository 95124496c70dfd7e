#![doc = include_str!("michael_scott.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("michael_scott.md");
const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// A queue without a lock: one block adds, another adds and takes.
#[scenario(name = "queue-michael-scott", sizes = SIZES, documentation = PAGE)]
pub fn michael_scott(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true>(device, rounds)
}

/// As queue-michael-scott, where a node is linked by a relaxed compare-exchange.
#[scenario(name = "queue-michael-scott-broken-link-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn link_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false>(device, rounds)?)
}

/// Adds a node, whose item is written. `ends` has the head and the tail.
#[device_fn]
pub fn add<const LINK: bool>(ends: Atomic<u32>, next: Atomic<u32>, node: u32) {
    loop {
        let last = ends.load_with(1, Scope::Device, Order::Acquire);
        let after = next.load_with(last, Scope::Device, Order::Acquire);
        if after == 0 {
            let found = if LINK {
                next.compare_exchange_with(last, 0, node, Scope::Device, Order::AcqRel)
            } else {
                next.compare_exchange(last, 0, node)
            };
            if found == 0 {
                ends.compare_exchange_with(1, last, node, Scope::Device, Order::AcqRel);
                break;
            }
        } else {
            ends.compare_exchange_with(1, last, after, Scope::Device, Order::AcqRel);
        }
    }
}

/// Takes the node of the oldest item; 0 if there is none.
#[device_fn]
pub fn take(ends: Atomic<u32>, next: Atomic<u32>) -> u32 {
    let mut node = 0;
    loop {
        let first = ends.load_with(0, Scope::Device, Order::Acquire);
        let last = ends.load_with(1, Scope::Device, Order::Acquire);
        let after = next.load_with(first, Scope::Device, Order::Acquire);
        if after == 0 {
            break;
        }
        if first == last {
            ends.compare_exchange_with(1, last, after, Scope::Device, Order::AcqRel);
        } else if ends.compare_exchange_with(0, first, after, Scope::Device, Order::AcqRel) == first {
            node = after;
            break;
        }
    }
    node
}

/// In each round each block adds an item, and the last block takes one too. Node 1 is the one without an item.
#[kernel]
pub fn add_and_take<const LINK: bool>(
    acc: &Acc,
    rounds: u32,
    ends: Atomic<u32>,
    next: Atomic<u32>,
    items: Shared<u32>,
    wrong: Atomic<u32>,
) {
    let (me, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    for round in 0..rounds {
        let node = 2 + me + blocks * round;
        items[node] = 10 * node;
        add::<LINK>(ends, next, node);
        if me + 1 == blocks {
            let taken = take(ends, next);
            // It has added one itself, so there is one.
            if taken == 0 || items[taken] != 10 * taken {
                wrong.fetch_add(0, 1);
            }
        }
    }
}

fn run<const LINK: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let blocks = if rounds == 1 { 2 } else { 3 };
    let (queue, count) = (device.queue()?, word(device, "rounds", rounds)?);
    let nodes = 2 + blocks * rounds;
    let (ends, next) = (device.from_slice(&[1, 1])?, device.alloc_zeroed::<u32>(nodes)?);
    let (items, wrong) = (device.alloc_zeroed::<u32>(nodes)?, device.alloc_zeroed::<u32>(1)?);
    let kernel = add_and_take::<LINK>(count, &ends, &next, &items, &wrong);
    queue.launch(ThreadSpec::new(blocks, 1), kernel)?;
    let (wrong, ends, next) = (wrong.read(&queue)?[0], ends.read(&queue)?, next.read(&queue)?);
    let mut node = ends[0] as usize;
    let mut left = 0;
    while next[node] != 0 && left < nodes {
        node = next[node] as usize;
        left += 1;
    }
    let mut summary = Summary::new(format!("{blocks} blocks add {rounds} items each, and one takes"));
    summary.check(wrong == 0, "each item taken is whole", || format!("{wrong} were not"))?;
    let expected = (blocks - 1) * rounds;
    summary.check(left == expected, "what is not taken is left", || format!("{left} of {expected} are left"))?;
    Ok(summary)
}
