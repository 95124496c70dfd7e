#![doc = include_str!("sense_barrier.md")]

use wattle::prelude::*;

use crate::data::word;
use crate::weak::unseen;

const PAGE: &str = include_str!("sense_barrier.md");
const SIZES: Sizes = Sizes { full: 500, small: 20, proof: 2 };

/// A barrier of all blocks that can be used again at once.
#[scenario(name = "sense-barrier", sizes = SIZES, documentation = PAGE)]
pub fn sense_barrier(device: &Device, rounds: usize) -> Result<Summary> {
    run::<true, true, true>(device, rounds)
}

/// As sense-barrier, with a relaxed countdown.
#[scenario(name = "sense-barrier-broken-relaxed-count", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_count(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, true, true>(device, rounds)?)
}

/// As sense-barrier, with a relaxed store of the sense.
#[scenario(name = "sense-barrier-broken-relaxed-sense", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_sense(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, false, true>(device, rounds)?)
}

/// As sense-barrier, with a relaxed wait.
#[scenario(name = "sense-barrier-broken-relaxed-wait", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed_wait(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<true, true, false>(device, rounds)?)
}

/// As sense-barrier, with relaxed operations alone.
#[scenario(name = "sense-barrier-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    unseen(device, run::<false, false, false>(device, rounds)?)
}

/// Waits for all blocks. `state[0]` is the number of blocks that have not come, `state[1]` the sense.
#[device_fn]
pub fn sync_blocks<const COUNT: bool, const SENSE: bool, const WAIT: bool>(
    state: Atomic<u32>,
    blocks: u32,
    sense: u32,
) {
    let left = if COUNT { state.fetch_sub_with(0, 1, Scope::Device, Order::AcqRel) } else { state.fetch_sub(0, 1) };
    if left == 1 {
        state.store(0, blocks);
        if SENSE {
            state.store_with(1, sense, Scope::Device, Order::Release);
        } else {
            state.store(1, sense);
        }
    } else if WAIT {
        while state.load_with(1, Scope::Device, Order::Acquire) != sense {}
    } else {
        while state.load(1) != sense {}
    }
}

/// In each round a block writes its cell and reads its neighbour's of the round before; a cell holds two generations.
#[kernel]
pub fn shift<const COUNT: bool, const SENSE: bool, const WAIT: bool>(
    acc: &Acc,
    rounds: u32,
    state: Atomic<u32>,
    cells: Shared<u32>,
    stale: Atomic<u32>,
) {
    let (me, blocks) = (acc.block_in_grid(), acc.blocks_in_grid());
    let mut sense = 0;
    for round in 0..rounds {
        cells[round % 2 * blocks + me] = round + 1;
        sense = 1 - sense;
        sync_blocks::<COUNT, SENSE, WAIT>(state, blocks, sense);
        if cells[round % 2 * blocks + (me + 1) % blocks] != round + 1 {
            stale.fetch_add(0, 1);
        }
    }
}

fn run<const COUNT: bool, const SENSE: bool, const WAIT: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let blocks = if rounds <= 2 { 2 } else { 4 };
    // As many as there can be at once: one alone on a device that promises nothing of several.
    let blocks = blocks.min(device.properties().max_cooperative_blocks.max(1) as usize);
    let queue = device.queue()?;
    let (state, cells) = (device.from_slice(&[blocks as u32, 0])?, device.alloc_zeroed::<u32>(2 * blocks)?);
    let stale = device.alloc_zeroed::<u32>(1)?;
    let kernel = shift::<COUNT, SENSE, WAIT>(word(device, "rounds", rounds)?, &state, &cells, &stale);
    queue.launch_with(LaunchOptions::new().cooperative(), ThreadSpec::new(blocks, 1), kernel)?;
    let stale = stale.read(&queue)?[0];
    let mut summary = Summary::new(format!("{rounds} barriers of {blocks} blocks"));
    summary.check(stale == 0, "each sees its neighbour's cell of this round", || format!("{stale} were stale"))?;
    Ok(summary)
}
