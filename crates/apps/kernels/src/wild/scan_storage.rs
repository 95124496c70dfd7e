#![doc = include_str!("scan_storage.md")]

use wattle::prelude::*;

use crate::data::integers;

const PAGE: &str = include_str!("scan_storage.md");
const SIZES: Sizes = Sizes { full: 256, small: 32, proof: 4 };

/// The most threads of the block, and how many tiles it goes through.
const MOST: usize = 256;
const TILES: u32 = 2;

/// A scan of a tile by a block, tile after tile in the same storage.
#[scenario(name = "scan-storage", sizes = SIZES, documentation = PAGE)]
pub fn scan_storage(device: &Device, threads: usize) -> Result<Summary> {
    run::<true>(device, threads)
}

/// As scan-storage, without a barrier between a tile and the next.
#[scenario(name = "scan-storage-broken-no-barrier", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_barrier(device: &Device, threads: usize) -> Result<Summary> {
    run::<false>(device, threads)
}

/// The sum of the values of this thread and of all before it; the last element of the pair is that of all threads. The
/// storage must not be used again without a barrier.
#[device_fn]
pub fn block_scan(acc: &Acc, storage: Shared<u32>, value: u32) -> (u32, u32) {
    let me = acc.thread_in_block();
    storage[me] = value;
    let mut sum = value;
    let mut distance = 1;
    while distance < acc.threads_in_block() {
        acc.sync_block();
        let before = if me >= distance { storage[me - distance] } else { 0 };
        acc.sync_block();
        sum += before;
        storage[me] = sum;
        distance *= 2;
    }
    acc.sync_block();
    (sum, storage[acc.threads_in_block() - 1])
}

/// Scans the tiles, one after another.
#[kernel]
pub fn scan_tiles<const MENDED: bool>(acc: &Acc, values: Read<u32>, sums: Shared<u32>) {
    let storage = acc.shared::<u32, MOST>();
    let (me, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let mut before = 0;
    for tile in 0..TILES {
        let (sum, total) = block_scan(acc, storage, values[tile * threads + me]);
        sums[tile * threads + me] = before + sum;
        before += total;
        if MENDED {
            acc.sync_block();
        }
    }
}

fn run<const MENDED: bool>(device: &Device, threads: usize) -> Result<Summary> {
    let threads = threads.min(device.properties().max_threads_per_block as usize).min(MOST);
    let values = integers(threads * TILES as usize);
    let queue = device.queue()?;
    let sums = device.alloc_zeroed::<u32>(values.len())?;
    let kernel_values = device.from_slice(&values)?;
    queue.launch(ThreadSpec::new(1, threads), scan_tiles::<MENDED>(&kernel_values, &sums))?;
    let sums = sums.read(&queue)?;
    let mut sum = 0u32;
    let wrong = values.iter().zip(&sums).filter(|&(&value, &found)| {
        sum = sum.wrapping_add(value);
        found != sum
    });
    let wrong = wrong.count();
    let mut summary = Summary::new(format!("{TILES} tiles of {threads}"));
    summary.check(wrong == 0, "each sum is that of all values before", || format!("{wrong} are not"))?;
    Ok(summary)
}
