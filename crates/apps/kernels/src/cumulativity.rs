#![doc = include_str!("cumulativity.md")]

use wattle::prelude::*;
use wattle::{Launch, View};

const PAGE: &str = include_str!("cumulativity.md");

/// A write passed on from block to block at device scope, then to the host at system scope.
#[scenario(name = "cumulativity", sizes = SIZES, documentation = PAGE)]
fn cumulativity(device: &Device, rounds: usize) -> Result<Summary> {
    hand_on_rounds::<false>(device, rounds)
}

/// As cumulativity, with SeqCst where release and acquire would do.
#[scenario(name = "cumulativity-seq-cst", sizes = SIZES, documentation = PAGE)]
fn seq_cst(device: &Device, rounds: usize) -> Result<Summary> {
    hand_on_rounds::<true>(device, rounds)
}

/// As cumulativity, with b at device scope, which the host is not in.
#[scenario(name = "cumulativity-broken-device-scope", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_device_scope(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, [x, a, b, seen]| {
        let kernel = hand_on_device_scope(x, a, b);
        queue.launch_with_host(LaunchOptions::new(), ThreadSpec::new(2, 1), kernel, receive::<false>(x, b, seen))
    })
}

/// As cumulativity, with relaxed accesses by block 1: the chain breaks in the middle.
#[scenario(name = "cumulativity-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn broken_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    observed(device, rounds, |queue, [x, a, b, seen]| {
        let kernel = hand_on_relaxed(x, a, b);
        queue.launch_with_host(LaunchOptions::new(), ThreadSpec::new(2, 1), kernel, receive::<false>(x, b, seen))
    })
}

/// As cumulativity, with a second device in the host's place.
#[scenario(name = "cumulativity-peer", sizes = SIZES, documentation = PAGE)]
fn peer(device: &Device, rounds: usize) -> Result<Summary> {
    let (mut summary, stale) = run_with_peer(device, rounds, hand_on::<false>)?;
    let stale_text = || format!("{stale} of {rounds} were stale");
    summary.check(stale == 0, "the other device sees what block 0 wrote", stale_text)?;
    Ok(summary)
}

/// As cumulativity-peer, with relaxed accesses by block 1: the chain breaks in the middle.
#[scenario(name = "cumulativity-peer-broken-relaxed", expect = refuted, sizes = SIZES, documentation = PAGE)]
fn peer_broken_relaxed(device: &Device, rounds: usize) -> Result<Summary> {
    let (mut summary, stale) = run_with_peer(device, rounds, hand_on_relaxed)?;
    summary.did.push_str("; these devices do not notice the race");
    summary.observe(&[("stale", stale as i64)]);
    Ok(summary)
}

const SIZES: Sizes = Sizes { full: 5_000, small: 100, proof: 1 };

/// Block 0 writes x and sets a, at device scope; block 1 waits for a and sets b, at system scope.
#[kernel]
pub fn hand_on<const SEQ_CST: bool>(acc: &Acc, x: Shared<u32>, a: Atomic<u32>, b: Atomic<u32>) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x[round] = 42 + round;
            if SEQ_CST {
                a.store_with(round, 1, Scope::Device, Order::SeqCst);
            } else {
                a.store_with(round, 1, Scope::Device, Order::Release);
            }
        } else if SEQ_CST {
            while a.load_with(round, Scope::Device, Order::SeqCst) == 0 {}
            b.store_with(round, 1, Scope::System, Order::SeqCst);
        } else {
            while a.load_with(round, Scope::Device, Order::Acquire) == 0 {}
            b.store_with(round, 1, Scope::System, Order::Release);
        }
    }
}

/// The same with b at a scope that ends before the host.
#[kernel]
pub fn hand_on_device_scope(acc: &Acc, x: Shared<u32>, a: Atomic<u32>, b: Atomic<u32>) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x[round] = 42 + round;
            a.store_with(round, 1, Scope::Device, Order::Release);
        } else {
            while a.load_with(round, Scope::Device, Order::Acquire) == 0 {}
            b.store_with(round, 1, Scope::Device, Order::Release);
        }
    }
}

/// The same with block 1's accesses relaxed.
#[kernel]
pub fn hand_on_relaxed(acc: &Acc, x: Shared<u32>, a: Atomic<u32>, b: Atomic<u32>) {
    for round in 0..x.len() {
        if acc.block_in_grid() == 0 {
            x[round] = 42 + round;
            a.store_with(round, 1, Scope::Device, Order::Release);
        } else {
            while a.load_with(round, Scope::Device, Order::Relaxed) == 0 {}
            b.store_with(round, 1, Scope::System, Order::Relaxed);
        }
    }
}

/// The host part: waits for b, then reads x.
#[kernel]
pub fn receive<const SEQ_CST: bool>(acc: &Acc, x: Shared<u32>, b: Atomic<u32>, seen: Shared<u32>) {
    for round in 0..x.len() {
        if SEQ_CST {
            while b.load_with(round, Scope::System, Order::SeqCst) == 0 {}
        } else {
            while b.load_with(round, Scope::System, Order::Acquire) == 0 {}
        }
        seen[round] = x[round];
    }
}

/// Hands on `rounds` values, to the host.
pub fn hand_on_rounds<const SEQ_CST: bool>(device: &Device, rounds: usize) -> Result<Summary> {
    let (mut summary, stale) = run(device, rounds, |queue, [x, a, b, seen]| {
        let (kernel, host) = (hand_on::<SEQ_CST>(x, a, b), receive::<SEQ_CST>(x, b, seen));
        queue.launch_with_host(LaunchOptions::new(), ThreadSpec::new(2, 1), kernel, host)
    })?;
    summary.check(stale == 0, "the host sees what block 0 wrote", || format!("{stale} of {rounds} were stale"))?;
    Ok(summary)
}

/// Runs a kernel that is wrong; says what was seen.
fn observed(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, [&Buffer<u32>; 4]) -> Result<()>,
) -> Result<Summary> {
    let (mut summary, stale) = run(device, rounds, launch)?;
    summary.did.push_str("; this device does not notice the race");
    summary.observe(&[("stale", stale as i64)]);
    Ok(summary)
}

/// Runs the rounds and returns how many values were stale. `launch` is given the buffers x, a, b, and the one for the
/// values that the last reader saw.
fn run(
    device: &Device,
    rounds: usize,
    launch: impl FnOnce(&Queue, [&Buffer<u32>; 4]) -> Result<()>,
) -> Result<(Summary, usize)> {
    let queue = device.queue()?;
    let x = device.alloc_host_mapped::<u32, 1>(rounds)?;
    let a = device.alloc_zeroed::<u32>(rounds)?;
    let b = device.alloc_host_mapped::<u32, 1>(rounds)?;
    let seen = device.alloc_host_mapped::<u32, 1>(rounds)?;
    launch(&queue, [&x, &a, &b, &seen])?;
    let stale = stale(&seen.read(&queue)?);
    Ok((Summary::new(format!("{rounds} values from block 0 by block 1 to the host")), stale))
}

/// Runs the rounds with a launch on another device in the place of the host part. x and a are in the first device's memory,
/// b and what was seen in the other's.
fn run_with_peer<L: Launch<1>>(
    device: &Device,
    rounds: usize,
    hand_on: impl FnOnce(View<u32>, View<u32>, View<u32>) -> L,
) -> Result<(Summary, usize)> {
    let peers = device.peers()?;
    let peer = peers.first().unwrap_or(device);
    device.enable_peer_access(peer)?;
    peer.enable_peer_access(device)?;
    let (sends, receives) = (device.queue_non_blocking()?, peer.queue_non_blocking()?);
    let (x, a) = (device.alloc_zeroed::<u32>(rounds)?, device.alloc_zeroed::<u32>(rounds)?);
    let (b, seen) = (peer.alloc_zeroed::<u32>(rounds)?, peer.alloc_zeroed::<u32>(rounds)?);
    let (hand_on, receive) = (hand_on(x.view(), a.view(), b.view()), receive::<false>(&x, &b, &seen));
    receives.prepare(ThreadSpec::new(1, 1), &receive)?;
    sends.launch(ThreadSpec::new(2, 1), hand_on)?;
    receives.launch(ThreadSpec::new(1, 1), receive)?;
    sends.wait()?;
    receives.wait()?;
    let stale = stale(&seen.read(&receives)?);
    let what = format!("{rounds} values from block 0 by block 1 to device `{}`", peer.name());
    Ok((Summary::new(what), stale))
}

/// How many values are not those that block 0 wrote.
fn stale(seen: &[u32]) -> usize {
    seen.iter().enumerate().filter(|&(i, &value)| value != 42 + i as u32).count()
}
