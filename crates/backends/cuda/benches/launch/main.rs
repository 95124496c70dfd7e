//! What a launch of a known kernel costs beside `cuLaunchKernelEx` alone: `cargo bench -p wattle-cuda --bench launch`.
//!
//! `raw` launches the same code with the same arguments and nothing between the calls; Wattle's launches and these are
//! measured in turns in one process, many in a row and a wait behind them. The output is medians of elapsed time, and
//! the ratio. Nothing is measured without a driver; with soft-cuda in its place the device's part is an interpreter's.

mod raw;

use std::time::Instant;

use raw::Raw;
use wattle::prelude::*;
use wattle_core::Kernel;

/// Three views, a value, and next to no work.
#[kernel]
fn touch(acc: &Acc, x: Shared<u32>, y: Shared<u32>, z: Shared<u32>, value: u32) {
    if acc.thread_in_grid() == value {
        z[0] = x[0] + y[0];
    }
}

/// How many launches there are in each measurement.
const LAUNCHES: usize = 2000;

fn main() -> Result<()> {
    // Fewer measurements, for counting instructions.
    let turns = std::env::var("WATTLE_BENCH_TURNS").ok().and_then(|text| text.parse().ok()).unwrap_or(51);
    let device = match Device::select("cuda") {
        Ok(device) => device,
        Err(error) => {
            eprintln!("skipped: {error}");
            return Ok(());
        }
    };
    println!("{}: {}", device.name(), device.properties().description);
    let [x, y, z] = [device.alloc_zeroed::<u32>(64)?, device.alloc_zeroed(64)?, device.alloc_zeroed(64)?];
    let kernel = || touch(&x, &y, &z, 77);
    let raw = match Raw::new(&kernel().build()?) {
        Ok(raw) => raw,
        Err(refused) => {
            eprintln!("skipped: the driver refuses what is made by hand: {refused:?}");
            return Ok(());
        }
    };
    let queue = device.queue_non_blocking()?;
    let blocking = device.queue()?;
    let spec = ThreadSpec::new(1, 32);
    let each = |work: &dyn Fn() -> Result<()>| -> Result<f64> {
        let began = Instant::now();
        work()?;
        Ok(began.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64)
    };
    let ours = || (0..LAUNCHES).try_for_each(|_| queue.launch(spec, kernel())).and_then(|()| queue.wait());
    let theirs = || {
        raw.launch(LAUNCHES, false);
        Ok(())
    };
    report("many in a row", turns, || each(&ours), || each(&theirs))?;
    let ours = || (0..LAUNCHES).try_for_each(|_| blocking.launch(spec, kernel()));
    let theirs = || {
        raw.launch(LAUNCHES, true);
        Ok(())
    };
    report("each waited for", turns, || each(&ours), || each(&theirs))
}

fn report(what: &str, turns: usize, ours: impl Fn() -> Result<f64>, theirs: impl Fn() -> Result<f64>) -> Result<()> {
    // Both are warmed up after these calls.
    ours()?;
    theirs()?;
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        // The two take turns in being measured first.
        if turn % 2 == 0 {
            of_ours.push(ours()?);
        }
        of_theirs.push(theirs()?);
        if turn % 2 == 1 {
            of_ours.push(ours()?);
        }
    }
    let (ours, theirs) = (median(of_ours), median(of_theirs));
    println!("{what}: ours {ours:.2} µs a launch, cuLaunchKernelEx {theirs:.2} µs, ratio {:.2}", ours / theirs);
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
