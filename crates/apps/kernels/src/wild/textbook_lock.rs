#![doc = include_str!("textbook_lock.md")]

use wattle::prelude::*;

use crate::weak::unseen;

const PAGE: &str = include_str!("textbook_lock.md");
const SIZES: Sizes = Sizes { full: 64, small: 8, proof: 2 };

/// Blocks add their parts to a sum, under a lock with the errata's fences.
#[scenario(name = "textbook-lock", sizes = SIZES, documentation = PAGE)]
pub fn textbook_lock(device: &Device, blocks: usize) -> Result<Summary> {
    run::<true, true>(device, blocks)
}

/// As textbook-lock, as it was printed.
#[scenario(name = "textbook-lock-broken-no-fences", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn no_fences(device: &Device, blocks: usize) -> Result<Summary> {
    unseen(device, run::<false, false>(device, blocks)?)
}

/// As textbook-lock, with the fence of the unlock alone.
#[scenario(name = "textbook-lock-broken-unlock-only", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn unlock_only(device: &Device, blocks: usize) -> Result<Summary> {
    unseen(device, run::<false, true>(device, blocks)?)
}

/// Each block adds its number and one more to the sum.
#[kernel]
pub fn add<const ACQUIRE: bool, const RELEASE: bool>(acc: &Acc, mutex: Atomic<u32>, sum: Shared<u32>) {
    while mutex.compare_exchange(0, 0, 1) != 0 {}
    if ACQUIRE {
        acc.mem_fence(Scope::Device, Order::Acquire);
    }
    sum[0] += acc.block_in_grid() + 1;
    if RELEASE {
        acc.mem_fence(Scope::Device, Order::Release);
    }
    mutex.exchange(0, 0);
}

fn run<const ACQUIRE: bool, const RELEASE: bool>(device: &Device, blocks: usize) -> Result<Summary> {
    let (queue, count) = (device.queue()?, u64::from(crate::data::word(device, "blocks", blocks)?));
    let (mutex, sum) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(blocks, 1), add::<ACQUIRE, RELEASE>(&mutex, &sum))?;
    // The kernel's sum wraps as this one does.
    let (sum, expected) = (sum.read(&queue)?[0], (count * (count + 1) / 2) as u32);
    let mut summary = Summary::new(format!("{blocks} blocks add their parts"));
    summary.check(sum == expected, "no part is lost", || format!("{sum} and not {expected}"))?;
    Ok(summary)
}
