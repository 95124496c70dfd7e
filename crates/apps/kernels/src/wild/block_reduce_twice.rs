#![doc = include_str!("block_reduce_twice.md")]

use wattle::prelude::*;

const PAGE: &str = include_str!("block_reduce_twice.md");
const SIZES: Sizes = Sizes { full: 256, small: 32, proof: 2 };

/// The most threads of the block.
const MOST: usize = 256;

/// The maximum and then the sum of a block's values, in the same shared memory.
#[scenario(name = "block-reduce-twice", sizes = SIZES, documentation = PAGE)]
pub fn block_reduce_twice(device: &Device, threads: usize) -> Result<Summary> {
    run::<true>(device, threads)
}

/// As block-reduce-twice, without a barrier between the two.
#[scenario(name = "block-reduce-twice-broken-no-barrier", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_barrier(device: &Device, threads: usize) -> Result<Summary> {
    run::<false>(device, threads)
}

/// The maximum, or the sum, of the values of all threads, whose number is a power of two.
#[device_fn]
pub fn block_reduce<const MENDED: bool, const SUM: bool>(acc: &Acc, parts: Shared<u32>, value: u32) -> u32 {
    let me = acc.thread_in_block();
    if MENDED {
        acc.sync_block();
    }
    parts[me] = value;
    let mut others = acc.threads_in_block() / 2;
    while others > 0 {
        acc.sync_block();
        if me < others {
            let other = parts[me + others];
            parts[me] = if SUM { parts[me] + other } else { parts[me].max(other) };
        }
        others /= 2;
    }
    acc.sync_block();
    parts[0]
}

/// Each thread gets the maximum and the sum of all values, and counts if they are not those.
#[kernel]
pub fn maximum_and_sum<const MENDED: bool>(acc: &Acc, values: Read<u32>, maximum: u32, sum: u32, wrong: Atomic<u32>) {
    let parts = acc.shared::<u32, MOST>();
    let value = values[acc.thread_in_block()];
    let found = block_reduce::<MENDED, false>(acc, parts, value);
    let total = block_reduce::<MENDED, true>(acc, parts, value);
    if found != maximum || total != sum {
        wrong.fetch_add(0, 1);
    }
}

fn run<const MENDED: bool>(device: &Device, threads: usize) -> Result<Summary> {
    let threads = threads.min(device.properties().max_threads_per_block as usize).min(MOST);
    // The first place has the least value, so that it is never a result by chance.
    let values: Vec<u32> = (1..=threads as u32).collect();
    let (maximum, sum) = (threads as u32, values.iter().sum());
    let queue = device.queue()?;
    let (values, wrong) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(1, threads), maximum_and_sum::<MENDED>(&values, maximum, sum, &wrong))?;
    let wrong = wrong.read(&queue)?[0];
    let mut summary = Summary::new(format!("two reductions of a block of {threads}"));
    summary.check(wrong == 0, "each thread has both results", || format!("{wrong} have not"))?;
    Ok(summary)
}
