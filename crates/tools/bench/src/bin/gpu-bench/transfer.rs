//! Measures memory's speed, sums, scans, launches, and how long code takes to make.

use std::time::{Duration, Instant};

use wattle::prelude::*;
use wattle_bench::{in_turns, median};
use wattle_kernels::{chained_scan, last_block_sum, stream};

use crate::Wanted;
use crate::peers::Peers;
use crate::report::{Measurement, Report};

/// How long `work` takes on the device, in seconds, by its own clock where it has one. It is done once before, so that
/// the first event is reached while the device is busy, and the time that the launch takes to come there is not
/// counted.
pub fn timed(queue: &Queue, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    let (host, from) = (Instant::now(), queue.record()?);
    work()?;
    let to = queue.record()?;
    to.wait()?;
    Ok(to.elapsed_since(&from).unwrap_or_else(|| host.elapsed()).as_secs_f64())
}

/// The medians of ours and the peer's, each measured in turn; the first turn warms both.
pub fn turns(
    count: usize,
    mut ours: impl FnMut() -> Result<f64>,
    mut theirs: impl FnMut() -> Option<f64>,
) -> Result<(f64, Option<f64>)> {
    ours()?;
    let has_peer = theirs().is_some();
    let (mut of_ours, mut of_theirs) = (Vec::new(), Vec::new());
    for turn in 0..count.max(1) {
        // Neither is always the first.
        if turn % 2 == 0 {
            of_ours.push(ours()?);
        }
        if has_peer {
            of_theirs.extend(theirs());
        }
        if turn % 2 == 1 {
            of_ours.push(ours()?);
        }
    }
    Ok((median(of_ours), (!of_theirs.is_empty()).then(|| median(of_theirs))))
}

fn filled(device: &Device, queue: &Queue, n: usize, value: f32) -> Result<Buffer<f32>> {
    let mut buffer = device.alloc::<f32>(n)?;
    queue.fill(&mut buffer, value)?;
    Ok(buffer)
}

/// The last of `n` elements, as a check that the work was done.
fn last(queue: &Queue, buffer: &Buffer<f32>) -> Result<f32> {
    let n = buffer.len();
    let mut found = [0.0];
    queue.copy_to_host(&mut found, &buffer.slice(n - 1..n)?)?;
    Ok(found[0])
}

pub fn expect(is_right: bool, what: &str, found: f32) -> Result<()> {
    if is_right { Ok(()) } else { Err(Error::check(format!("{what} is wrong: {found}"))) }
}

pub fn copy(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, n) = (device.queue_non_blocking()?, wanted.elements);
    let (from, mut to) = (filled(device, &queue, n, 1.5)?, filled(device, &queue, n, 0.0)?);
    let spec = FrameSpec::cover(n, 1024);
    let ours = || timed(&queue, || queue.launch(spec, stream::copy(&from, &mut to)));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.copy(n))?;
    let found = last(&queue, &to)?;
    expect(found == 1.5, "copy", found)?;
    let measurement = Measurement::new(format!("copy of {n} f32"), "seconds", ours).moving(8 * n);
    report.add(measurement.beside("cudaMemcpy between buffers of the device", theirs));
    Ok(())
}

pub fn triad(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, n) = (device.queue_non_blocking()?, wanted.elements);
    let (b, c) = (filled(device, &queue, n, 2.0)?, filled(device, &queue, n, 4.0)?);
    let mut a = filled(device, &queue, n, 0.0)?;
    let spec = FrameSpec::cover(n, 1024);
    let ours = || timed(&queue, || queue.launch(spec, stream::triad(0.25f32, &b, &c, &mut a)));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.triad(n))?;
    let found = last(&queue, &a)?;
    expect(found == 3.0, "triad", found)?;
    let measurement = Measurement::new(format!("triad of {n} f32"), "seconds", ours).moving(12 * n);
    report.add(measurement.beside("the plain kernel by nvcc", theirs));
    Ok(())
}

pub fn sum(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, n) = (device.queue_non_blocking()?, wanted.elements);
    let values = filled(device, &queue, n, 1.0)?;
    let sum = last_block_sum::Sum::new(device, n, 1)?;
    let ours = || timed(&queue, || sum.launch::<true>(&queue, &values, 0));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.sum(n))?;
    let found = sum.totals(&queue)?[0];
    expect((found - n as f32).abs() <= 1e-5 * n as f32, "the sum", found)?;
    let measurement = Measurement::new(format!("last-block-sum of {n} f32"), "seconds", ours).moving(4 * n);
    report.add(measurement.beside("cub::DeviceReduce::Sum", theirs));
    Ok(())
}

pub fn scan(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    let (queue, n) = (device.queue_non_blocking()?, wanted.elements);
    let mut values = device.alloc::<u32>(n)?;
    queue.fill(&mut values, 1)?;
    let mut scan = chained_scan::Scan::<{ chained_scan::LARGE }>::new(device, n)?;
    let ours = || timed(&queue, || scan.launch(&queue, &values));
    let (ours, theirs) = turns(wanted.turns, ours, || peers?.scan(n))?;
    let mut found = [0];
    queue.copy_to_host(&mut found, &scan.sums().slice(n - 1..n)?)?;
    expect(found[0] as usize == n, "the scan", found[0] as f32)?;
    let measurement = Measurement::new(format!("chained-scan of {n} u32"), "seconds", ours).moving(8 * n);
    report.add(measurement.beside("cub::DeviceScan::InclusiveSum", theirs));
    Ok(())
}

/// A kernel whose one thread does nothing.
#[kernel]
fn nothing(acc: &Acc, x: Shared<u32>, n: u32) {
    if n == u32::MAX {
        x[0] = 0;
    }
}

pub fn launches(device: &Device, peers: Option<&Peers>, wanted: &Wanted, report: &mut Report) -> Result<()> {
    const LAUNCHES: u32 = 10_000;
    let queue = device.queue_non_blocking()?;
    let x = device.alloc_zeroed::<u32>(1)?;
    let spec = ThreadSpec::new(1, 32.min(device.properties().max_threads_per_block as usize));
    let mut failed = Ok(());
    let mut ours = || {
        let all = (0..LAUNCHES).try_for_each(|_| queue.launch(spec, nothing(&x, 0))).and_then(|()| queue.wait());
        if failed.is_ok() {
            failed = all;
        }
    };
    let (of_ours, theirs) = match peers {
        Some(peers) if peers.launches(1) => {
            let (of_ours, theirs) = in_turns(wanted.turns, 1, &mut ours, || _ = peers.launches(LAUNCHES));
            (of_ours, Some(theirs / f64::from(LAUNCHES)))
        }
        _ => (in_turns(wanted.turns, 1, &mut ours, || {}).0, None),
    };
    failed?;
    let measurement = Measurement::new("a launch, of many in a row", "seconds", of_ours / f64::from(LAUNCHES));
    report.add(measurement.beside("cuLaunchKernel", theirs));
    Ok(())
}

/// Measures how long the slowest kernel of the scenarios takes from the representation to PTX.
pub fn code(report: &mut Report) {
    let (simulated, target) = (Device::simulated(0), wattle_ptx::PtxTarget::new(90));
    let mut slowest = (Duration::ZERO, "");
    for scenario in wattle_kernels::all() {
        let size = match scenario.work {
            wattle::Work::Fixed(_) => None,
            wattle::Work::Sized(_, sizes) => Some(sizes.proof.min(sizes.small)),
        };
        for kernel in scenario.launched(&simulated, size).kernels.iter().filter_map(|kernel| kernel.build().ok()) {
            let times = (0..5).filter_map(|_| {
                let began = Instant::now();
                wattle_ptx::build(&kernel, &target).ok().map(|_| began.elapsed())
            });
            slowest = slowest.max((times.min().unwrap_or_default(), scenario.name));
        }
    }
    let (time, name) = slowest;
    report.add(Measurement::new(format!("IR to PTX, the slowest: {name}"), "seconds", time.as_secs_f64()));
}
