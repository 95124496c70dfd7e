//! The running sums of everything in one pass, for devices with warps and 64-bit words: a warp of each block looks back, and a
//! status and its sum are one word.

use wattle::prelude::*;

use super::{AGGREGATE, PREFIX};

/// A status word of [`scan_by_warps`]: [`AGGREGATE`] or [`PREFIX`] in the upper half, the published sum in the lower.
#[device_fn]
fn status_word(status: u32, sum: u32) -> u64 {
    (status as u64) << 32 | sum as u64
}

/// The sum of all tiles before this block's, by one warp: each lane asks one of the blocks before, the nearest first, and
/// they go on until one has published its prefix. All lanes call it together.
#[device_fn]
fn look_back_by_warp(acc: &Acc, status: Atomic<u64>, of_tile: u32) -> u32 {
    let warp = acc.warp();
    let (lane, lanes, block) = (warp.lane(), warp.lane_count(), acc.block_in_grid());
    if lane == 0 {
        status.store_with(block, status_word(AGGREGATE, of_tile), Scope::Device, Order::Relaxed);
    }
    let mut before = 0;
    let mut end = block;
    while end > 0 {
        // Before the first tile there is nothing.
        let mut word = status_word(PREFIX, 0);
        if lane < end {
            word = 0;
            while word == 0 {
                word = status.load_with(end - 1 - lane, Scope::Device, Order::Relaxed);
            }
        }
        // Behind the nearest prefix nothing counts.
        let complete = warp.ballot((word >> 32) as u32 == PREFIX);
        let is_last = complete.count() > 0;
        let counts = !is_last || lane <= complete.lowest();
        before += warp.reduce_sum(if counts { word as u32 } else { 0 });
        if is_last || end <= lanes {
            end = 0;
        } else {
            end -= lanes;
        }
    }
    if lane == 0 {
        status.store_with(block, status_word(PREFIX, before + of_tile), Scope::Device, Order::Relaxed);
    }
    before
}

/// As [`scan_tiles`](super::scan_tiles), for devices with warps and 64-bit words. A tile's status and its published sum are one word, which an
/// access reads or writes whole: nothing else passes between blocks, so relaxed order is enough. A block has exactly
/// `TILE / RUN` threads in at most `WARPS` warps, of which the first looks back.
#[kernel]
pub fn scan_by_warps<const TILE: usize, const RUN: usize, const WARPS: usize>(
    acc: &Acc,
    input: Read<u32>,
    out: Shared<u32>,
    status: Atomic<u64>,
) {
    let tile = acc.shared::<u32, TILE>();
    let of_warps = acc.shared::<u32, WARPS>();
    let of_tiles_before = acc.shared::<u32, 1>();
    let (count, run) = (TILE as u32, RUN as u32);
    let (thread, number) = (acc.thread_in_block(), acc.warp_in_block());
    let begin = acc.block_in_grid() * count;

    if count % 4 == 0 && input.len() - begin >= count {
        for quad in acc.indices(THREADS_IN_BLOCK, 0..count / 4) {
            tile.store_lanes::<4>(4 * quad, input.lanes::<4>(begin + 4 * quad));
        }
    } else {
        for t in acc.indices(THREADS_IN_BLOCK, 0..count) {
            tile[t] = if begin + t < input.len() { input[begin + t] } else { 0 };
        }
    }
    acc.sync_block();

    // A run is within the tile, which the compiler can tell from this alone.
    let first = (thread * run).min(count - run);
    let mut sum = 0;
    for k in 0..run {
        sum += tile[first + k];
        tile[first + k] = sum;
    }
    let warp = acc.warp();
    let of_lanes = warp.inclusive_sum(sum);
    if warp.lane() + 1 == warp.lane_count() {
        of_warps[number] = of_lanes;
    }
    acc.sync_block();
    let mut before = of_lanes - sum;
    let mut of_tile = 0;
    for other in 0..acc.warps_in_block() {
        let of_warp = of_warps[other];
        if other < number {
            before += of_warp;
        }
        of_tile += of_warp;
    }
    if number == 0 {
        let found = look_back_by_warp(acc, status, of_tile);
        if warp.lane() == 0 {
            of_tiles_before[0] = found;
        }
    }
    acc.sync_block();
    before += of_tiles_before[0];
    for k in 0..run {
        tile[first + k] += before;
    }
    acc.sync_block();

    if count % 4 == 0 && out.len() - begin >= count {
        for quad in acc.indices(THREADS_IN_BLOCK, 0..count / 4) {
            out.store_lanes::<4>(begin + 4 * quad, tile.lanes::<4>(4 * quad));
        }
    } else {
        for t in acc.indices(THREADS_IN_BLOCK, 0..count) {
            if begin + t < out.len() {
                out[begin + t] = tile[t];
            }
        }
    }
}
