#![doc = include_str!("publication.md")]

use wattle::prelude::*;

const PAGE: &str = include_str!("publication.md");

/// One block publishes a payload, another waits for the flag and reads it.
#[scenario(name = "publication", documentation = PAGE)]
pub fn publication(device: &Device) -> Result<Summary> {
    rounds(device, 1)
}

/// As publication, for an array of payloads and flags.
#[scenario(name = "publication-rounds", sizes = Sizes { full: 10_000, small: 200, proof: 1 }, documentation = PAGE)]
pub fn rounds(device: &Device, rounds: usize) -> Result<Summary> {
    let stale = stale(device, rounds, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer(payload, ready, stale))
    })?;
    let mut summary = Summary::new(match rounds {
        1 => "a payload from block 0 to block 2".into(),
        _ => format!("{rounds} payloads from block 0 to block 2"),
    });
    summary.check(stale == 0, "the flag brings the payload", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}

/// As publication, with a SeqCst fence by the writer, which is a release fence too.
#[scenario(name = "publication-sc-writer", documentation = PAGE)]
pub fn sc_writer(device: &Device) -> Result<Summary> {
    let stale = stale(device, 1, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_sc_writer(payload, ready, stale))
    })?;
    let mut summary = Summary::new("a payload from block 0 to block 2, behind a SeqCst fence");
    summary.check(stale == 0, "the flag brings the payload", || "it was stale".into())?;
    Ok(summary)
}

/// As publication, without the writer's fence.
#[scenario(name = "publication-broken-no-release", expect = refuted, documentation = PAGE)]
fn broken_no_release(device: &Device) -> Result<Summary> {
    observed(device, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_one_fence::<false, true>(payload, ready, stale))
    })
}

/// As publication, without the reader's fence.
#[scenario(name = "publication-broken-no-acquire", expect = refuted, documentation = PAGE)]
fn broken_no_acquire(device: &Device) -> Result<Summary> {
    observed(device, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_one_fence::<true, false>(payload, ready, stale))
    })
}

/// As publication, with fences of block scope between two blocks: too narrow.
#[scenario(name = "publication-broken-block-scope", expect = refuted, documentation = PAGE)]
fn broken_block_scope(device: &Device) -> Result<Summary> {
    observed(device, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_block_scope(payload, ready, stale))
    })
}

/// As publication, with a flag of block scope between two blocks: its own accesses race.
#[scenario(name = "publication-broken-block-flag", expect = refuted, documentation = PAGE)]
fn broken_block_flag(device: &Device) -> Result<Summary> {
    observed(device, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_block_flag(payload, ready, stale))
    })
}

/// As publication, with a flag that is not atomic.
#[scenario(name = "publication-broken-plain-flag", expect = refuted, documentation = PAGE)]
fn broken_plain_flag(device: &Device) -> Result<Summary> {
    observed(device, |queue, payload, ready, stale| {
        queue.launch(spec(), producer_consumer_plain_flag(payload, ready, stale))
    })
}

/// Block 0 publishes each payload; block 2 waits for each flag, then reads what it stands for.
#[kernel]
pub fn producer_consumer(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        for round in 0..payload.len() {
            payload[round] = 42 + round;
            acc.mem_fence(Scope::Device, Order::Release);
            ready.exchange(round, 1);
        }
    } else if thread == 2 {
        for round in 0..payload.len() {
            while ready.compare_exchange(round, 0, 0) == 0 {}
            acc.mem_fence(Scope::Device, Order::Acquire);
            if payload[round] != 42 + round {
                mismatches.fetch_add(0, 1);
            }
        }
    }
}

/// One payload, with a fence of the writer that is more than a release fence.
#[kernel]
pub fn producer_consumer_sc_writer(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        acc.mem_fence(Scope::Device, Order::SeqCst);
        ready.exchange(0, 1);
    } else if thread == 2 {
        while ready.compare_exchange(0, 0, 0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

/// The same with one fence missing.
#[kernel]
pub fn producer_consumer_one_fence<const RELEASE: bool, const ACQUIRE: bool>(
    acc: &Acc,
    payload: Shared<u32>,
    ready: Atomic<u32>,
    mismatches: Atomic<u32>,
) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        ready.exchange(0, 1);
    } else if thread == 2 {
        while ready.compare_exchange(0, 0, 0) == 0 {}
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

/// The same with fences that do not reach the other block.
#[kernel]
pub fn producer_consumer_block_scope(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        acc.mem_fence(Scope::Block, Order::Release);
        ready.exchange(0, 1);
    } else if thread == 2 {
        while ready.compare_exchange(0, 0, 0) == 0 {}
        acc.mem_fence(Scope::Block, Order::Acquire);
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

/// The same with a flag that is atomic within a block alone.
#[kernel]
pub fn producer_consumer_block_flag(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        acc.mem_fence(Scope::Device, Order::Release);
        ready.store_with(0, 1, Scope::Block, Order::Relaxed);
    } else if thread == 2 {
        while ready.load_with(0, Scope::Block, Order::Relaxed) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

/// The same with a flag that is not atomic.
#[kernel]
pub fn producer_consumer_plain_flag(acc: &Acc, payload: Shared<u32>, ready: Shared<u32>, mismatches: Atomic<u32>) {
    let thread = acc.thread_in_grid();
    if thread == 0 {
        payload[0] = 42;
        acc.mem_fence(Scope::Device, Order::Release);
        ready[0] = 1;
    } else if thread == 2 {
        while ready[0] == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        if payload[0] != 42 {
            mismatches.fetch_add(0, 1);
        }
    }
}

fn spec() -> ThreadSpec<1> {
    ThreadSpec::new(3, 1)
}

/// How many of `rounds` payloads were stale in a launch of the payloads, the flags and the mismatches.
fn stale(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<u32> {
    let queue = device.queue()?;
    let payload = device.alloc_zeroed::<u32>(rounds)?;
    let ready = device.alloc_zeroed::<u32>(rounds)?;
    let mismatches = device.alloc_zeroed::<u32>(1)?;
    launch(&queue, &payload, &ready, &mismatches)?;
    Ok(mismatches.read(&queue)?[0])
}

/// Runs one payload through a kernel that is wrong; says what was seen.
fn observed(
    device: &Device,
    launch: impl FnOnce(&Queue, &Buffer<u32>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let stale = stale(device, 1, launch)?;
    let mut summary = Summary::new("a payload from block 0 to block 2; this device does not notice the race");
    summary.observe(&[("stale", stale.into())]);
    Ok(summary)
}
