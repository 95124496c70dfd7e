#![doc = include_str!("locks.md")]

use wattle::prelude::*;

use crate::data::word;

const PAGE: &str = include_str!("locks.md");

/// A plain counter under a lock of one word, with fences.
#[scenario(name = "lock-test-and-set", sizes = SIZES, documentation = PAGE)]
pub fn test_and_set(device: &Device, rounds: usize) -> Result<Summary> {
    held(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_test_and_set(rounds, lock, counter))
    })
}

/// A plain counter under a lock that is fair, with release and acquire.
#[scenario(name = "lock-ticket", sizes = SIZES, documentation = PAGE)]
pub fn ticket(device: &Device, rounds: usize) -> Result<Summary> {
    held(device, rounds, |queue, spec, rounds, lock, counter| queue.launch(spec, count_ticket(rounds, lock, counter)))
}

/// As lock-test-and-set, without the fence after the lock was had.
#[scenario(name = "lock-test-and-set-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn test_and_set_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_test_and_set_one_fence::<false, true>(rounds, lock, counter))
    })
}

/// As lock-test-and-set, without the fence before the lock is left.
#[scenario(name = "lock-test-and-set-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn test_and_set_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_test_and_set_one_fence::<true, false>(rounds, lock, counter))
    })
}

/// As lock-test-and-set, with fences of block scope between blocks.
#[scenario(name = "lock-test-and-set-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn test_and_set_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_test_and_set_block_scope(rounds, lock, counter))
    })
}

/// As lock-test-and-set, with a word that is not atomic: two may have it.
#[scenario(name = "lock-test-and-set-broken-plain", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn test_and_set_plain(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_test_and_set_plain(rounds, lock, counter))
    })
}

/// As lock-ticket, with a relaxed load of the ticket that is served.
#[scenario(name = "lock-ticket-broken-no-acquire", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn ticket_no_acquire(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_ticket_relaxed::<false, true>(rounds, lock, counter))
    })
}

/// As lock-ticket, with a relaxed store of the ticket that is next.
#[scenario(name = "lock-ticket-broken-no-release", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn ticket_no_release(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_ticket_relaxed::<true, false>(rounds, lock, counter))
    })
}

/// As lock-ticket, with nothing but relaxed accesses.
#[scenario(name = "lock-ticket-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn ticket_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_ticket_relaxed::<false, false>(rounds, lock, counter))
    })
}

/// As lock-ticket, with a lock of block scope between blocks.
#[scenario(name = "lock-ticket-broken-block-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn ticket_block_scope(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, spec, rounds, lock, counter| {
        queue.launch(spec, count_ticket_block_scope(rounds, lock, counter))
    })
}

const SIZES: Sizes = Sizes { full: 5_000, small: 50, proof: 1 };

/// Each block counts `rounds` times, each time under the lock, which is 1 while a block holds it.
#[kernel]
pub fn count_test_and_set(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        while lock.exchange(0, 1) == 1 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        counter[0] += 1;
        acc.mem_fence(Scope::Device, Order::Release);
        lock.store(0, 0);
    }
}

/// Each block counts `rounds` times, each time when its ticket is called: `lock[0]` is the next ticket, `lock[1]` the
/// one that is served.
#[kernel]
pub fn count_ticket(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        let ticket = lock.fetch_add(0, 1);
        while lock.load_with(1, Scope::Device, Order::Acquire) != ticket {}
        counter[0] += 1;
        lock.store_with(1, ticket + 1, Scope::Device, Order::Release);
    }
}

/// The lock of one word with a fence missing.
#[kernel]
pub fn count_test_and_set_one_fence<const ACQUIRE: bool, const RELEASE: bool>(
    acc: &Acc,
    rounds: u32,
    lock: Atomic<u32>,
    counter: Shared<u32>,
) {
    for _ in 0..rounds {
        while lock.exchange(0, 1) == 1 {}
        if ACQUIRE {
            acc.mem_fence(Scope::Device, Order::Acquire);
        }
        counter[0] += 1;
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        lock.store(0, 0);
    }
}

/// The lock of one word with fences that do not reach the other blocks.
#[kernel]
pub fn count_test_and_set_block_scope(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        while lock.exchange(0, 1) == 1 {}
        acc.mem_fence(Scope::Block, Order::Acquire);
        counter[0] += 1;
        acc.mem_fence(Scope::Block, Order::Release);
        lock.store(0, 0);
    }
}

/// The lock of one word that is not atomic: between looking and setting, another block may look.
#[kernel]
pub fn count_test_and_set_plain(acc: &Acc, rounds: u32, lock: Shared<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        while lock[0] == 1 {}
        lock[0] = 1;
        acc.mem_fence(Scope::Device, Order::Acquire);
        counter[0] += 1;
        acc.mem_fence(Scope::Device, Order::Release);
        lock[0] = 0;
    }
}

/// The lock with tickets, relaxed on one side or on both.
#[kernel]
pub fn count_ticket_relaxed<const ACQUIRE: bool, const RELEASE: bool>(
    acc: &Acc,
    rounds: u32,
    lock: Atomic<u32>,
    counter: Shared<u32>,
) {
    for _ in 0..rounds {
        let ticket = lock.fetch_add(0, 1);
        if ACQUIRE {
            while lock.load_with(1, Scope::Device, Order::Acquire) != ticket {}
        } else {
            while lock.load_with(1, Scope::Device, Order::Relaxed) != ticket {}
        }
        counter[0] += 1;
        if RELEASE {
            lock.store_with(1, ticket + 1, Scope::Device, Order::Release);
        } else {
            lock.store_with(1, ticket + 1, Scope::Device, Order::Relaxed);
        }
    }
}

/// The lock with tickets, called with block scope, which the other blocks need not see.
#[kernel]
pub fn count_ticket_block_scope(acc: &Acc, rounds: u32, lock: Atomic<u32>, counter: Shared<u32>) {
    for _ in 0..rounds {
        let ticket = lock.fetch_add(0, 1);
        while lock.load_with(1, Scope::Block, Order::Acquire) != ticket {}
        counter[0] += 1;
        lock.store_with(1, ticket + 1, Scope::Block, Order::Release);
    }
}

/// How many blocks count. For every execution of a single round, three are enough, and four are many.
fn blocks(rounds: usize) -> usize {
    if rounds == 1 { 3 } else { 4 }
}

/// The count after a launch of the rounds, the lock and the counter.
fn count(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<usize> {
    let queue = device.queue()?;
    word(device, "counts", rounds.saturating_mul(blocks(rounds)))?;
    let lock = device.alloc_zeroed::<u32>(2)?;
    let counter = device.alloc_zeroed::<u32>(1)?;
    launch(&queue, ThreadSpec::new(blocks(rounds), 1), word(device, "rounds", rounds)?, &lock, &counter)?;
    Ok(counter.read(&queue)?[0] as usize)
}

/// Runs a lock that is right.
fn held(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let (counted, blocks) = (count(device, rounds, launch)?, blocks(rounds));
    let mut summary = Summary::new(format!("{blocks} blocks count to {}", blocks * rounds));
    summary.check(counted == blocks * rounds, "no count is lost", || format!("counted {counted}"))?;
    Ok(summary)
}

/// Runs a lock that is wrong; says what was seen.
fn observed(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, ThreadSpec<1>, u32, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> Result<Summary> {
    let (counted, blocks) = (count(device, rounds, launch)?, blocks(rounds));
    let what = format!("{blocks} blocks count to {}; this device does not notice the race", blocks * rounds);
    let mut summary = Summary::new(what);
    summary.observe(&[("lost", (blocks * rounds) as i64 - counted as i64)]);
    Ok(summary)
}
