//! Wattle beside its peers, in turns in one process: the table of the README.
//!
//! A ratio above 1 means that Wattle is faster. `WATTLE_BENCH_TURNS` (default 15) makes it longer or shorter;
//! `WATTLE_BENCH_SHRINK` divides sizes. Names as arguments choose among the cases of `plane.rs`, and nothing else runs then:
//! `cargo bench -p wattle-bench --bench ratios -- stencil`.

mod plane;

use std::hint::black_box;
use std::time::Instant;

use wattle::prelude::*;
use wattle_bench::peers::{Arrays, Threads, sum};
use wattle_bench::{in_turns, setting};
use wattle_kernels::last_block_sum;
use wattle_kernels::stream::Stream;

/// A kernel that does nothing.
#[kernel]
fn nothing(_acc: &Acc) {}

fn main() -> Result<()> {
    let turns = setting("WATTLE_BENCH_TURNS", 15);
    let shrink = setting("WATTLE_BENCH_SHRINK", 1).max(1);
    let named = std::env::args().skip(1).any(|name| !name.starts_with('-'));
    println!("{:<12} {:<26} {:>12} {:>12} {:>7}", "device", "what", "wattle", "peer", "ratio");
    for (device, threads) in [(Device::host_serial(), Threads::One), (Device::host(), Threads::All)] {
        plane::all(&device, threads, turns, shrink)?;
        if named || turns == 0 {
            continue;
        }
        for n in [1 << 14, 1 << 25] {
            stream::<f32>(&device, threads, n, turns)?;
            stream::<f64>(&device, threads, n, turns)?;
        }
        last_block(&device, threads, 1 << 25, turns)?;
        empty_launch(&device, turns)?;
    }
    if !named && turns > 0 {
        build_time();
    }
    Ok(())
}

fn row(device: &Device, what: String, (ours, theirs): (f64, f64)) {
    let ratio = theirs / ours;
    println!("{:<12} {what:<26} {:>9.2} µs {:>9.2} µs {ratio:>7.2}", device.name(), ours * 1e6, theirs * 1e6);
}

fn stream<T>(device: &Device, threads: Threads, n: usize, turns: usize) -> Result<()>
where
    T: Float + std::ops::Add<Output = T> + std::ops::Mul<Output = T>,
{
    let (mut ours, mut theirs) = (Stream::<T>::new(device, n)?, Arrays::<T>::new(n));
    let calls = if n > 1 << 20 { 2 } else { 2000 };
    let name = |kernel: &str| format!("{kernel} {} 2^{}", std::any::type_name::<T>(), n.ilog2());
    macro_rules! pair {
        ($($kernel:ident),+) => {$({
            let pair = in_turns(
                turns,
                calls,
                || ours.$kernel().map(black_box).map(drop).unwrap_or_else(|error| panic!("{error}")),
                || { black_box(theirs.$kernel(threads)); },
            );
            row(device, name(stringify!($kernel)), pair);
        })+};
    }
    pair!(copy, mul, add, triad, dot);
    Ok(())
}

fn last_block(device: &Device, threads: Threads, n: usize, turns: usize) -> Result<()> {
    let values: Vec<f32> = (0..n).map(|i| (i % 7) as f32 * 0.25).collect();
    let queue = device.queue()?;
    let buffer = device.from_slice(&values)?;
    let sums = last_block_sum::Sum::new(device, n, 1)?;
    let pair = in_turns(
        turns,
        2,
        || {
            sums.launch::<true>(&queue, &buffer, 0).unwrap_or_else(|error| panic!("{error}"));
        },
        || {
            black_box(sum(&values, threads));
        },
    );
    row(device, format!("last-block-sum f32 2^{}", n.ilog2()), pair);
    Ok(())
}

/// A blocking launch of an empty kernel, back to back; there is no peer.
fn empty_launch(device: &Device, turns: usize) -> Result<()> {
    let queue = device.queue()?;
    let launch = || queue.launch(FrameSpec::new(64, 64), nothing()).unwrap_or_else(|error| panic!("{error}"));
    let (time, _) = in_turns(turns, 20_000, launch, || {});
    println!("{:<12} {:<26} {:>9.0} ns", device.name(), "empty launch", time * 1e9);
    Ok(())
}

/// Measures how long the builder needs for the slowest kernel of all scenarios.
fn build_time() {
    let slowest = std::sync::Arc::new(std::sync::Mutex::new((0.0, String::new())));
    let seen = slowest.clone();
    let device = Device::simulated(0).observed(std::sync::Arc::new(move |kernel| {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            let _ = black_box(kernel.build());
            best = best.min(start.elapsed().as_secs_f64());
        }
        if let Ok(mut slowest) = seen.lock()
            && best > slowest.0
        {
            *slowest = (best, kernel.info().name.to_owned());
        }
    }));
    for scenario in wattle_kernels::all() {
        // Some scenarios are there to be refuted; their kernels are built all the same.
        let _ = scenario.run(&device, None);
    }
    if let Ok(slowest) = slowest.lock() {
        println!("{:<12} {:<26} {:>9.0} µs  (`{}`, the slowest)", "all", "building the IR", slowest.0 * 1e6, slowest.1);
    }
}
