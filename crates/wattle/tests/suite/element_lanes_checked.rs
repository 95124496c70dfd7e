//! Lanes of a store, and elements of a tile, are memory of their own for the checker and the simulated device.
#![forbid(unsafe_code)]

use std::time::Duration;

use wattle::prelude::*;

/// Two threads write four elements each, which overlap if `OVERLAP`.
#[kernel]
fn writers<const OVERLAP: bool>(acc: &Acc, out: Shared<u32>) {
    let i = acc.thread_in_grid();
    let at = if OVERLAP { 3 * i } else { 4 * i };
    out.store_lanes(at, [i, i + 10, i + 20, i + 30]);
}

fn written<const OVERLAP: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(8)?;
    queue.launch(ThreadSpec::new(2, 1), writers::<OVERLAP>(&out))?;
    if !OVERLAP {
        assert_eq!(out.read(&queue)?, [0, 10, 20, 30, 1, 11, 21, 31]);
    }
    Ok(())
}

/// A payload of four elements behind a flag; without the release fence its lanes race.
#[kernel]
fn published<const FENCE: bool>(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, found: Shared<u32>) {
    if acc.thread_in_grid() == 0 {
        payload.store_lanes(0, [1, 2, 3, 4]);
        if FENCE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        ready.store(0, 1);
    } else {
        while ready.load(0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        let [a, b, c, d] = payload.lanes::<4>(0);
        found[0] = a * 1000 + b * 100 + c * 10 + d;
    }
}

fn publication<const FENCE: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (payload, ready) = (device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<u32>(1)?);
    let found = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(2, 1), published::<FENCE>(&payload, &ready, &found))?;
    assert_eq!(found.read(&queue)?, [1234]);
    Ok(())
}

#[test]
fn lanes_are_writes_of_their_own() {
    Checker::new(Model::Portable).assert_holds(written::<false>);
    let report = Checker::new(Model::Portable).check(written::<true>).unwrap().to_string();
    assert!(report.contains("out[3]") && report.contains("race"), "{report}");
    let error = written::<true>(&Device::simulated(1)).unwrap_err().to_string();
    assert!(error.contains("data race on `out` at index 3"), "{error}");
}

#[test]
fn lanes_are_published_by_a_fence() {
    Checker::new(Model::Portable).assert_holds(publication::<true>);
    let report = Checker::new(Model::Portable).check(publication::<false>).unwrap().to_string();
    assert!(report.contains("payload[0]") && report.contains("race"), "{report}");
}

/// Neighbours write to a tile and read the other's element; `BARRIER` stands between.
#[kernel]
fn turns<const BARRIER: bool>(acc: &Acc, out: Shared<u32>) {
    let tile = acc.shared_nd::<u32, 2, 3>();
    let i = acc.thread_in_block();
    tile[[i, 2]] = i + 5;
    if BARRIER {
        acc.sync_block();
    }
    out[i] = tile[[1 - i, 2]];
}

fn turned<const BARRIER: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let out = device.alloc_zeroed::<u32>(2)?;
    queue.launch(ThreadSpec::new(1, 2), turns::<BARRIER>(&out))?;
    assert_eq!(out.read(&queue)?, [6, 5]);
    Ok(())
}

#[test]
fn elements_of_a_tile_have_their_index() {
    Checker::new(Model::Portable).assert_holds(turned::<true>);
    let report = Checker::new(Model::Portable).check(turned::<false>).unwrap().to_string();
    assert!(report.contains("tile[0, 2]") || report.contains("tile[1, 2]"), "{report}");
    let error = turned::<false>(&Device::simulated(1)).unwrap_err().to_string();
    assert!(error.contains("`tile` at index (0, 2)") || error.contains("`tile` at index (1, 2)"), "{error}");
}

/// Each thread of a block writes a cell, and reads both with one access.
#[kernel]
fn gathers(acc: &Acc, cells: Shared<u32>, sums: Shared<u32>) {
    let t = acc.thread_in_block();
    cells[t] = t + 1;
    let [a, b] = cells.lanes::<2>(0);
    sums[t] = a + b;
}

#[test]
fn a_barrier_before_a_load_of_lanes_is_advised() {
    let scenario = |device: &Device| -> Result<()> {
        let queue = device.queue()?;
        let (cells, sums) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(1, 2), gathers(&cells, &sums))?;
        assert_eq!(sums.read(&queue)?, [3, 3]);
        Ok(())
    };
    let checker = Checker::new(Model::Portable);
    let report = checker.check(scenario).unwrap();
    let advice = checker.advise(scenario, &report, Duration::from_secs(20));
    let texts: Vec<&str> = advice.fixes.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(texts, ["sync_block() before this line"], "{advice:?}");
}
