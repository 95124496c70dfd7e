#![doc = include_str!("mpmc_ring.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("mpmc_ring.md");
const SIZES: Sizes = Sizes { full: 5_000, small: 50, proof: 1 };

/// The places of the ring, and the item that is there at the beginning.
const PLACES: u32 = 2;
const FIRST: u32 = 1000;

/// A ring of two places, for any number of producers and consumers.
#[scenario(name = "ring-mpmc", sizes = SIZES, documentation = PAGE)]
pub fn mpmc(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As ring-mpmc, where an item is published by a relaxed store.
#[scenario(name = "ring-mpmc-broken-relaxed-full", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_full(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// As ring-mpmc, where a place is given back by a relaxed store.
#[scenario(name = "ring-mpmc-broken-relaxed-empty", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_empty(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As ring-mpmc, where the places' numbers are loaded relaxed.
#[scenario(name = "ring-mpmc-broken-relaxed-look", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_look(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// The number of a place.
#[device_fn]
pub fn look<const LOOK: bool>(numbers: Atomic<u32>, place: u32) -> u32 {
    if LOOK { numbers.load_with(place, Scope::Device, Order::Acquire) } else { numbers.load(place) }
}

/// Adds an item; returns whether there was room.
#[device_fn]
pub fn add<const FULL: bool, const LOOK: bool>(
    ends: Atomic<u32>,
    numbers: Atomic<u32>,
    items: Shared<u32>,
    item: u32,
) -> bool {
    let mut added = false;
    loop {
        let position = ends.load(0);
        let number = look::<LOOK>(numbers, position % PLACES);
        if number == position {
            if ends.compare_exchange(0, position, position + 1) == position {
                items[position % PLACES] = item;
                if FULL {
                    numbers.store_with(position % PLACES, position + 1, Scope::Device, Order::Release);
                } else {
                    numbers.store(position % PLACES, position + 1);
                }
                added = true;
                break;
            }
        } else if number < position {
            break;
        }
    }
    added
}

/// Takes an item; 0 where there is none.
#[device_fn]
pub fn take<const EMPTY: bool, const LOOK: bool>(ends: Atomic<u32>, numbers: Atomic<u32>, items: Shared<u32>) -> u32 {
    let mut item = 0;
    loop {
        let position = ends.load(1);
        let number = look::<LOOK>(numbers, position % PLACES);
        if number == position + 1 {
            if ends.compare_exchange(1, position, position + 1) == position {
                item = items[position % PLACES];
                if EMPTY {
                    numbers.store_with(position % PLACES, position + PLACES, Scope::Device, Order::Release);
                } else {
                    numbers.store(position % PLACES, position + PLACES);
                }
                break;
            }
        } else if number < position + 1 {
            break;
        }
    }
    item
}

/// In each round a block adds an item and takes one, and sums what it has added and taken.
#[kernel]
pub fn add_and_take<const FULL: bool, const EMPTY: bool, const LOOK: bool>(
    acc: &Acc,
    rounds: u32,
    ends: Atomic<u32>,
    numbers: Atomic<u32>,
    items: Shared<u32>,
    sums: Shared<u32>,
) {
    let (me, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    let (mut added, mut taken) = (0, 0);
    for round in 0..rounds {
        let item = 1 + me + blocks * round;
        if add::<FULL, LOOK>(ends, numbers, items, item) {
            added += item;
        }
        taken += take::<EMPTY, LOOK>(ends, numbers, items);
    }
    sums[me] = added;
    sums[blocks + me] = taken;
}

fn run<const FULL: bool, const EMPTY: bool, const LOOK: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let blocks = if rounds < 3 { 2 } else { 4 };
    let queue = device.queue()?;
    let ends = device.from_slice(&[1, 0])?;
    // One item is there already, so that the places are used again soon.
    let (numbers, items) = (device.from_slice(&[1, 1])?, device.from_slice(&[FIRST, 0])?);
    let sums = device.alloc_zeroed::<u32>(2 * blocks)?;
    let kernel = add_and_take::<FULL, EMPTY, LOOK>(word(device, "rounds", rounds)?, &ends, &numbers, &items, &sums);
    queue.launch(ThreadSpec::new(blocks, 1), kernel)?;
    let (ends, items, sums) = (ends.read(&queue)?, items.read(&queue)?, sums.read(&queue)?);
    let left = (ends[1]..ends[0]).fold(0u32, |sum, position| sum.wrapping_add(items[(position % PLACES) as usize]));
    let sum = |sums: &[u32]| sums.iter().fold(0u32, |sum, &part| sum.wrapping_add(part));
    let (added, taken) = (sum(&sums[..blocks]).wrapping_add(FIRST), sum(&sums[blocks..]).wrapping_add(left));
    let mut summary = Summary::new(format!("{blocks} blocks add and take {rounds} times each"));
    summary.check(added == taken, "what was added is taken or left", || format!("added {added}, taken {taken}"))?;
    Ok(summary)
}
