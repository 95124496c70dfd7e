#![doc = include_str!("swap.md")]

use wattle::prelude::*;

const PAGE: &str = include_str!("swap.md");

/// A block's threads write an array, a barrier, and each reads what another wrote.
#[scenario(name = "swap", sizes = SIZES, documentation = PAGE)]
pub fn swap(device: &Device, n: usize) -> Result<Summary> {
    let wrong = wrong(device, n, true)?;
    let mut summary = Summary::new(format!("{n} elements, turned around within a block"));
    summary.check(wrong == 0, "each thread reads what another wrote", || format!("{wrong} of {n} were stale"))?;
    Ok(summary)
}

/// As swap, with a fence where the barrier belongs: a fence waits for no thread.
#[scenario(name = "swap-broken-fence-only", expect = refuted, sizes = SIZES, documentation = PAGE)]
pub fn broken_fence_only(device: &Device, n: usize) -> Result<Summary> {
    let wrong = wrong(device, n, false)?;
    let mut summary = Summary::new(format!("{n} elements; this device does not notice the race"));
    summary.observe(&[("stale", wrong as i64)]);
    Ok(summary)
}

const SIZES: Sizes = Sizes { full: 1024, small: 64, proof: 2 };

/// Sets `a` from the index, and `b` from `a` backwards. What stands between is a barrier, or a mere fence.
#[kernel]
pub fn backwards<const BARRIER: bool>(acc: &Acc, a: Shared<u32>, b: Shared<u32>) {
    let n = a.len();
    for i in acc.indices(THREADS_IN_BLOCK, 0..n) {
        a[i] = 3 * i + 1;
    }
    if BARRIER {
        acc.sync_block();
    } else {
        acc.mem_fence(Scope::Block, Order::AcqRel);
    }
    for i in acc.indices(THREADS_IN_BLOCK, 0..n) {
        b[i] = a[n - 1 - i];
    }
}

/// How many elements of `b` are not what they should be.
fn wrong(device: &Device, n: usize, barrier: bool) -> Result<usize> {
    let queue = device.queue()?;
    let a = device.alloc_zeroed::<u32>(n)?;
    let b = device.alloc_zeroed::<u32>(n)?;
    let spec = FrameSpec::new(1, n);
    if barrier {
        queue.launch(spec, backwards::<true>(&a, &b))?;
    } else {
        queue.launch(spec, backwards::<false>(&a, &b))?;
    }
    let b = b.read(&queue)?;
    Ok(b.iter().enumerate().filter(|&(i, &value)| value as usize != 3 * (n - 1 - i) + 1).count())
}
