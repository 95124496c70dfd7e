#![doc = include_str!("chained_scan.md")]

mod by_warps;

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::block_scan::reference;
use crate::data::{fits, integers};
use crate::reduce::in_lock_step;
pub use by_warps::scan_by_warps;

const PAGE: &str = include_str!("chained_scan.md");

/// Running sums of everything in one pass: each block looks back at those before it.
#[scenario(name = "chained-scan", sizes = Sizes { full: 1 << 21, small: 1 << 12, proof: 3 }, documentation = PAGE)]
pub fn chained_scan(device: &Device, n: usize) -> Result<Summary> {
    fits(device, n.saturating_mul(2), n.saturating_mul(3))?;
    let values = integers(n);
    let found = match n {
        0..=16 => scan::<1>(device, &values)?,
        17..=65536 => scan::<128>(device, &values)?,
        _ if device.properties().max_shared_memory < FOR_LARGE => scan::<MEDIUM>(device, &values)?,
        _ => scan::<LARGE>(device, &values)?,
    };
    let mut summary = Summary::new(format!("{n} u32 in one pass"));
    summary.check(found == reference(&values, n), "each is the sum of all up to there", || "some are not".into())?;
    Ok(summary)
}

/// Each block waits for the block before it, adds its number to the sum, and hands it on.
#[scenario(name = "chained", sizes = CHAIN, documentation = PAGE)]
pub fn chained(device: &Device, n: usize) -> Result<Summary> {
    let wrong = wrong(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on(status, prefixes)))?;
    let mut summary = Summary::new(format!("a sum handed on through {n} blocks"));
    summary.check(wrong == 0, "each is the sum of all up to there", || format!("{wrong} of {n} are not"))?;
    Ok(summary)
}

/// As chained, with a relaxed load of the status of the block before.
#[scenario(name = "chained-broken-no-acquire", expect = refuted, sizes = CHAIN, documentation = PAGE)]
fn broken_no_acquire(device: &Device, n: usize) -> Result<Summary> {
    observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_no_acquire(status, prefixes)))
}

/// As chained, with a relaxed store of the block's status.
#[scenario(name = "chained-broken-no-release", expect = refuted, sizes = CHAIN, documentation = PAGE)]
fn broken_no_release(device: &Device, n: usize) -> Result<Summary> {
    observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_no_release(status, prefixes)))
}

/// As chained, with status words of block scope between blocks.
#[scenario(name = "chained-broken-block-scope", expect = refuted, sizes = CHAIN, documentation = PAGE)]
fn broken_block_scope(device: &Device, n: usize) -> Result<Summary> {
    observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_block_scope(status, prefixes)))
}

/// As chained, with status words that are not atomic.
#[scenario(name = "chained-broken-plain-status", expect = refuted, sizes = CHAIN, documentation = PAGE)]
fn broken_plain_status(device: &Device, n: usize) -> Result<Summary> {
    observed(device, n, |queue, spec, status, prefixes| queue.launch(spec, hand_on_plain_status(status, prefixes)))
}

/// How many blocks a chain has.
const CHAIN: Sizes = Sizes { full: 1000, small: 100, proof: 3 };

/// The status of a block that has published the sum of its own tile; the status before is 0.
const AGGREGATE: u32 = 1;
/// The status of a block that has published the sum of everything up to the end of its tile.
const PREFIX: u32 = 2;

/// The most threads that a block of [`scan_tiles`] can have.
pub const MAX_THREADS: usize = 256;

/// The tile for many elements where a block has little shared memory: with what else there is, it fits into 16 KiB. With
/// [`MAX_THREADS`] threads each has a run of 11, an odd number, so that neighbours' runs are in different banks of shared
/// memory.
pub const MEDIUM: usize = 2816;

/// The tile where a block has more: runs of 23. The fewer tiles, the fewer look back; eight blocks of it still fit on a
/// multiprocessor with 227 KiB.
pub const LARGE: usize = 5888;

/// The most warps that a block of [`scan_by_warps`] can have, except in proofs: [`MAX_THREADS`] in warps of 8.
pub const WARPS: usize = MAX_THREADS / 8;

/// How much shared memory, in bytes, a block must be able to have for [`LARGE`].
const FOR_LARGE: u64 = 28 << 10;

/// Makes the first half of `sums`, an element per thread, the running sums of its elements, and returns where they are:
/// in that half or in the other (Hillis and Steele, with two generations). All threads of the block call it together.
#[device_fn]
fn running(acc: &Acc, sums: Shared<u32>) -> u32 {
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let mut from = 0;
    let mut distance = 1;
    while distance < threads {
        let to = threads - from;
        let mut sum = sums[from + thread];
        if thread >= distance {
            sum += sums[from + thread - distance];
        }
        sums[to + thread] = sum;
        acc.sync_block();
        from = to;
        distance *= 2;
    }
    from
}

/// The sum of all tiles before this block's. All threads of the block call it together: each asks one of the blocks
/// before, the nearest first, and they go on until one has published its prefix.
#[device_fn]
fn look_back(
    acc: &Acc,
    status: Atomic<u32>,
    aggregates: Shared<u32>,
    prefixes: Shared<u32>,
    told: Shared<u32>,
    sums: Shared<u32>,
) -> u32 {
    let (thread, threads) = (acc.thread_in_block(), acc.threads_in_block());
    let mut before = 0;
    let mut end = acc.block_in_grid();
    while end > 0 {
        let mut word = 0;
        let mut sum = 0;
        if thread < end {
            let at = end - 1 - thread;
            while word == 0 {
                word = status.load_with(at, Scope::Device, Order::Acquire);
            }
            if word == PREFIX {
                sum = prefixes[at];
            } else {
                sum = aggregates[at];
            }
        }
        if threads > 1 {
            told[thread] = word;
            sums[thread] = sum;
            acc.sync_block();
            // Neighbours are added up, unless the nearer has a prefix, behind which nothing counts.
            let mut distance = 1;
            while distance < threads {
                if thread % (2 * distance) == 0 && thread + distance < threads && told[thread] != PREFIX {
                    sums[thread] += sums[thread + distance];
                    told[thread] = told[thread + distance];
                }
                acc.sync_block();
                distance *= 2;
            }
            word = told[0];
            sum = sums[0];
            acc.sync_block();
        }
        before += sum;
        if word == PREFIX || end <= threads {
            end = 0;
        } else {
            end -= threads;
        }
    }
    before
}

/// Running sums of `input`, a tile of `TILE` elements per block. `TOGETHER` is for threads that run in lock step: they read
/// and write what is side by side, and exchange it in the tile; elsewhere each thread reads its own run. Where `RUN` is not
/// zero a block has exactly `TILE / RUN` threads, and the runs that they scan together have that many elements.
#[kernel]
pub fn scan_tiles<const TILE: usize, const RUN: usize, const TOGETHER: bool>(
    acc: &Acc,
    input: Read<u32>,
    out: Shared<u32>,
    status: Atomic<u32>,
    aggregates: Shared<u32>,
    prefixes: Shared<u32>,
) {
    let tile = acc.shared::<u32, TILE>();
    let sums = acc.shared::<u32, { 2 * MAX_THREADS }>();
    let told = acc.shared::<u32, MAX_THREADS>();
    let (thread, threads, block) = (acc.thread_in_block(), acc.threads_in_block(), acc.block_in_grid());
    let begin = block * TILE as u32;
    let count = TILE as u32;

    if TOGETHER {
        if input.len() - begin >= count && count % 4 == 0 {
            for quad in acc.indices(THREADS_IN_BLOCK, 0..count / 4) {
                tile.store_lanes::<4>(4 * quad, input.lanes::<4>(begin + 4 * quad));
            }
        } else {
            for t in acc.indices(THREADS_IN_BLOCK, 0..count) {
                tile[t] = if begin + t < input.len() { input[begin + t] } else { 0 };
            }
        }
        acc.sync_block();
    }

    // Each thread scans its run, and passes on the run's sum.
    let mut sum = 0;
    let run = RUN as u32;
    // A run is within the tile, which the compiler can tell from this alone.
    let first = (thread * run).min(count - run);
    if run > 0 {
        for k in 0..run {
            sum += tile[first + k];
            tile[first + k] = sum;
        }
    } else {
        for t in acc.indices(THREADS_IN_BLOCK, 0..count).contiguous() {
            if TOGETHER {
                sum += tile[t];
            } else if begin + t < input.len() {
                sum += input[begin + t];
            }
            tile[t] = sum;
        }
    }
    sums[thread] = sum;
    acc.sync_block();
    let place = running(acc, sums);
    let of_tile = sums[place + threads - 1];
    let of_runs_before = sums[place + thread] - sum;
    acc.sync_block();

    // One thread publishes the tile's sum, all look back, and one publishes the sum of everything up to here.
    if thread == 0 {
        aggregates[block] = of_tile;
        status.store_with(block, AGGREGATE, Scope::Device, Order::Release);
    }
    let of_tiles_before = look_back(acc, status, aggregates, prefixes, told, sums);
    if thread == 0 {
        prefixes[block] = of_tiles_before + of_tile;
        status.store_with(block, PREFIX, Scope::Device, Order::Release);
    }

    let before = of_tiles_before + of_runs_before;
    if TOGETHER {
        if run > 0 {
            for k in 0..run {
                tile[first + k] += before;
            }
        } else {
            for t in acc.indices(THREADS_IN_BLOCK, 0..count).contiguous() {
                tile[t] += before;
            }
        }
        acc.sync_block();
        for t in acc.indices(THREADS_IN_BLOCK, 0..count) {
            if begin + t < out.len() {
                out[begin + t] = tile[t];
            }
        }
    } else {
        for t in acc.indices(THREADS_IN_BLOCK, 0..count).contiguous() {
            if begin + t < out.len() {
                out[begin + t] = before + tile[t];
            }
        }
    }
}

/// Each block adds its number, which is one more than its index, to the sum of the blocks before, and publishes it.
#[kernel]
pub fn hand_on(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Release);
}

/// The same with a load that acquires nothing.
#[kernel]
pub fn hand_on_no_acquire(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Relaxed) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Release);
}

/// The same with a store that releases nothing.
#[kernel]
pub fn hand_on_no_release(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Device, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Device, Order::Relaxed);
}

/// The same with accesses that do not reach the other blocks.
#[kernel]
pub fn hand_on_block_scope(acc: &Acc, status: Atomic<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status.load_with(block - 1, Scope::Block, Order::Acquire) == 0 {}
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    status.store_with(block, PREFIX, Scope::Block, Order::Release);
}

/// The same with fences, and a status that is not atomic.
#[kernel]
pub fn hand_on_plain_status(acc: &Acc, status: Shared<u32>, prefixes: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut before = 0;
    if block > 0 {
        while status[block - 1] == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        before = prefixes[block - 1];
    }
    prefixes[block] = before + block + 1;
    acc.mem_fence(Scope::Device, Order::Release);
    status[block] = PREFIX;
}

/// The memory that scans of `n` words on a device need, with tiles of `TILE`.
pub struct Scan<const TILE: usize> {
    blocks: usize,
    threads: usize,
    together: bool,
    /// The status words of [`scan_by_warps`]; `None` where [`scan_tiles`] runs.
    words: Option<Buffer<u64>>,
    out: Buffer<u32>,
    status: Buffer<u32>,
    aggregates: Buffer<u32>,
    prefixes: Buffer<u32>,
}

impl<const TILE: usize> Scan<TILE> {
    /// Allocates the memory for scans of `n` words.
    ///
    /// # Errors
    /// The device has no memory left; all functions here return the device's errors.
    pub fn new(device: &Device, n: usize) -> Result<Self> {
        let blocks = n.div_ceil(TILE);
        // A block is one tile, on every device, so its threads must be as many as the device can give. More than run in
        // lock step make nothing faster on the cores of a machine.
        let properties = device.properties();
        let most = match properties.kind {
            DeviceKind::Host | DeviceKind::Software => properties.warp_width,
            _ => properties.max_threads_per_block,
        };
        let threads = (most as usize).min(TILE.div_ceil(8)).min(MAX_THREADS);
        let has_warps = properties.kind == DeviceKind::Gpu && threads.div_ceil(properties.warp_width as usize) <= WARPS;
        let by_warps = has_warps && threads == MAX_THREADS && TILE == LARGE;
        Ok(Scan {
            blocks,
            threads,
            together: in_lock_step(device),
            words: if by_warps { Some(device.alloc(blocks)?) } else { None },
            out: device.alloc(n)?,
            status: device.alloc(blocks)?,
            aggregates: device.alloc(blocks)?,
            prefixes: device.alloc(blocks)?,
        })
    }

    /// Launches the scan of `input`.
    pub fn launch(&mut self, queue: &Queue, input: &Buffer<u32>) -> Result<()> {
        let spec = ThreadSpec::new(self.blocks, self.threads);
        if let Some(words) = &mut self.words {
            queue.fill(&mut *words, 0)?;
            let kernel = scan_by_warps::<LARGE, { LARGE / MAX_THREADS }, WARPS>(input, &self.out, &*words);
            match queue.launch(spec, kernel) {
                Err(error) if matches!(error.kind(), ErrorKind::Capability { .. }) => self.words = None,
                launched => return launched,
            }
        }
        queue.fill(&mut self.status, 0)?;
        let Scan { out, status, aggregates, prefixes, .. } = &*self;
        macro_rules! launch {
            ($run:expr, $together:literal) => {
                queue.launch(spec, scan_tiles::<TILE, { $run }, $together>(input, out, status, aggregates, prefixes))
            };
        }
        match (self.together, TILE) {
            (false, _) => launch!(0, false),
            (true, LARGE) if self.threads == MAX_THREADS => launch!(LARGE / MAX_THREADS, true),
            (true, MEDIUM) if self.threads == MAX_THREADS => launch!(MEDIUM / MAX_THREADS, true),
            (true, _) => launch!(0, true),
        }
    }

    /// The buffer of the running sums.
    pub fn sums(&self) -> &Buffer<u32> {
        &self.out
    }
}

/// The running sums of `values`, with tiles of `TILE`.
pub fn scan<const TILE: usize>(device: &Device, values: &[u32]) -> Result<Vec<u32>> {
    let queue = device.queue()?;
    let mut scan = Scan::<TILE>::new(device, values.len())?;
    let input = device.from_slice(values)?;
    scan.launch(&queue, &input)?;
    scan.sums().read(&queue)
}

/// `launch` is given a shape, the status words and the sums of the blocks; returns how many of the sums are wrong.
fn wrong(
    device: &Device,
    n: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<usize> {
    let queue = device.queue()?;
    let status = device.alloc_zeroed::<u32>(n)?;
    let prefixes = device.alloc_zeroed::<u32>(n)?;
    launch(&queue, ThreadSpec::new(n, 1), &status, &prefixes)?;
    let prefixes = prefixes.read(&queue)?;
    Ok(prefixes.iter().enumerate().filter(|&(i, &sum)| sum as usize != (i + 1) * (i + 2) / 2).count())
}

/// Runs a chain that is wrong; says what was seen.
fn observed(
    device: &Device,
    n: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let wrong = wrong(device, n, launch)?;
    let mut summary = Summary::new(format!("a sum through {n} blocks; this device does not notice the race"));
    summary.observe(&[("wrong", wrong as i64)]);
    Ok(summary)
}
