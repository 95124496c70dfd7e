#![doc = include_str!("publication.md")]

use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};

/// `publication`.
pub const PUBLICATION: Scenario = Scenario {
    name: "publication",
    summary: "one block publishes a payload, another waits for the flag and reads it",
    documentation: include_str!("publication.md"),
    expectation: Expectation::Holds,
    work: Work::Fixed(publication),
};

/// `publication-rounds`.
pub const ROUNDS: Scenario = Scenario {
    name: "publication-rounds",
    summary: "as publication, for an array of payloads and flags",
    documentation: include_str!("publication.md"),
    expectation: Expectation::Holds,
    work: Work::Sized(rounds, Sizes { full: 10_000, small: 200, proof: 1 }),
};

/// `publication-broken-block-scope`.
pub const BROKEN_BLOCK_SCOPE: Scenario = Scenario {
    name: "publication-broken-block-scope",
    summary: "as publication, with fences of block scope between two blocks: too narrow",
    documentation: include_str!("publication.md"),
    expectation: Expectation::Refuted,
    work: Work::Fixed(broken_block_scope),
};

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

const SHAPE: (usize, usize) = (3, 1);

/// One payload.
pub fn publication(device: &Device) -> Result<Summary> {
    rounds(device, 1)
}

/// `rounds` payloads, each with its flag.
pub fn rounds(device: &Device, rounds: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let payload = device.alloc_zeroed::<u32>(rounds)?;
    let ready = device.alloc_zeroed::<u32>(rounds)?;
    let mismatches = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(SHAPE.0, SHAPE.1), producer_consumer(&payload, &ready, &mismatches))?;
    let mut summary = Summary::new(match rounds {
        1 => "a payload from block 0 to block 2".into(),
        _ => format!("{rounds} payloads from block 0 to block 2"),
    });
    let stale = mismatches.read(&queue)?[0];
    summary.check(stale == 0, "the flag brings the payload", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}

/// One payload, and fences that are too narrow; says what was seen.
pub fn broken_block_scope(device: &Device) -> Result<Summary> {
    let queue = device.queue()?;
    let payload = device.alloc_zeroed::<u32>(1)?;
    let ready = device.alloc_zeroed::<u32>(1)?;
    let mismatches = device.alloc_zeroed::<u32>(1)?;
    let kernel = producer_consumer_block_scope(&payload, &ready, &mismatches);
    queue.launch(ThreadSpec::new(SHAPE.0, SHAPE.1), kernel)?;
    let mut summary = Summary::new("a payload from block 0 to block 2; this device does not notice the race");
    summary.observe(&[("stale", mismatches.read(&queue)?[0].into())]);
    Ok(summary)
}
