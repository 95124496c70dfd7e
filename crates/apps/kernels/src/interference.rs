#![doc = include_str!("interference.md")]

use wattle::prelude::*;
use wattle::{Launch, SyncDomain, View};

const PAGE: &str = include_str!("interference.md");

/// A launch with fences of device scope beside one that writes to the host, in domains of their own.
#[scenario(name = "interference", sizes = SIZES, documentation = PAGE)]
fn interference(device: &Device, rounds: usize) -> Result<Summary> {
    let (mut summary, stale) = run(device, rounds, send)?;
    summary.check(stale == 0, "the host sees what was sent", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}

/// As interference, with the sender's fence and flag of device scope, which the host is not in.
#[scenario(name = "interference-broken-device-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_device_scope(device: &Device, rounds: usize) -> Result<Summary> {
    let (mut summary, stale) = run(device, rounds, send_device_scope)?;
    summary.did.push_str("; this device does not notice the race");
    summary.observe(&[("stale", stale as i64)]);
    Ok(summary)
}

const SIZES: Sizes = Sizes { full: 2_000, small: 50, proof: 1 };

/// The launch that computes: block 0 hands values on to block 1, in the device's memory.
#[kernel]
pub fn compute(acc: &Acc, values: Shared<u32>, ready: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..values.len() {
        if acc.block_in_grid() == 0 {
            values[round] = 7 + round;
            acc.mem_fence(Scope::Device, Order::Release);
            ready.store(round, 1);
        } else {
            while ready.load(round) == 0 {}
            acc.mem_fence(Scope::Device, Order::Acquire);
            seen[round] = values[round];
        }
    }
}

/// The launch that sends: writes to the host's memory, and publishes at system scope.
#[kernel]
pub fn send(acc: &Acc, payload: Shared<u32>, sent: Atomic<u32>) {
    for round in 0..payload.len() {
        payload[round] = 42 + round;
        acc.mem_fence(Scope::System, Order::Release);
        sent.store_with(round, 1, Scope::System, Order::Relaxed);
    }
}

/// The same at a scope that ends before the host.
#[kernel]
pub fn send_device_scope(acc: &Acc, payload: Shared<u32>, sent: Atomic<u32>) {
    for round in 0..payload.len() {
        payload[round] = 42 + round;
        acc.mem_fence(Scope::Device, Order::Release);
        sent.store_with(round, 1, Scope::Device, Order::Relaxed);
    }
}

/// The host part of the launch that sends.
#[kernel]
pub fn receive(acc: &Acc, payload: Shared<u32>, sent: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..payload.len() {
        while sent.load_with(round, Scope::System, Order::Relaxed) == 0 {}
        acc.mem_fence(Scope::System, Order::Acquire);
        seen[round] = payload[round];
    }
}

/// Launches both, the sender that is made of the payload and the flags in a domain of its own; checks what was computed,
/// and gives how many values the host did not see as they were sent.
fn run<L: Launch<1>>(
    device: &Device,
    rounds: usize,
    sender: impl Fn(View<u32>, View<u32>) -> L,
) -> Result<(Summary, usize)> {
    device.needs_concurrent_queues(2)?;
    let near = device.queue_non_blocking()?;
    let far = device.queue_non_blocking()?.with_sync_domain(SyncDomain::Remote);
    let (values, ready) = (device.alloc_zeroed::<u32>(rounds)?, device.alloc_zeroed::<u32>(rounds)?);
    let computed = device.alloc_zeroed::<u32>(rounds)?;
    let payload = device.alloc_host_mapped::<u32, 1>(rounds)?;
    let sent = device.alloc_host_mapped::<u32, 1>(rounds)?;
    let received = device.alloc_host_mapped::<u32, 1>(rounds)?;
    let (sender, receiver) = (sender(payload.view(), sent.view()), receive(&payload, &sent, &received));
    let (two, one) = (ThreadSpec::new(2, 1), ThreadSpec::new(1, 1));
    far.prepare(one, &sender)?;
    near.launch(two, compute(&values, &ready, &computed))?;
    far.launch_with_host(LaunchOptions::new(), one, sender, receiver)?;
    near.wait()?;
    far.wait()?;
    let wrong = |seen: Vec<u32>, first: u32| {
        seen.iter().enumerate().filter(|&(round, &value)| value != first + round as u32).count()
    };
    let stale = wrong(computed.read(&near)?, 7);
    let mut summary = Summary::new(format!("{rounds} rounds within a launch, beside as many values sent to the host"));
    summary.check(stale == 0, "block 1 sees what block 0 computed", || format!("{stale} of {rounds} were stale"))?;
    Ok((summary, wrong(received.read(&far)?, 42)))
}
