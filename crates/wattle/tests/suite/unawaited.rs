//! Launches that the host does not wait for: what is enqueued later, on another queue, may overlap them.

use std::sync::Arc;

use wattle::checker::{Unknown, Verdict};
use wattle::prelude::*;

#[kernel]
fn stores(_acc: &Acc, x: Atomic<u32>) {
    x.store(0, 1);
}

#[kernel]
fn loads(_acc: &Acc, x: Atomic<u32>, seen: Shared<u32>) {
    // It goes on for a while before it looks.
    for _ in 0..20 {
        x.load(0);
    }
    seen[0] = x.load(0);
}

#[kernel]
fn waits(_acc: &Acc, x: Atomic<u32>) {
    while x.load(0) == 0 {}
}

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

/// What comes between a launch that nobody waits for, with another launch beside it, and a later launch.
#[derive(Clone, Copy, Debug)]
enum Between {
    Wait,
    EventWaited,
    EventOfAnotherQueue,
    Read,
    Copied,
    Task,
    LaunchOfTask,
}
use Between::{Copied, EventOfAnotherQueue, EventWaited, LaunchOfTask, Read, Task, Wait};

const BETWEEN: [Between; 7] = [Wait, EventWaited, EventOfAnotherQueue, Read, Copied, Task, LaunchOfTask];

/// The queues `a`, on which something has been launched, and one on which a launch of `stores(x)` has been enqueued that
/// nothing orders behind that.
fn store_later(device: &Device, between: Between, x: &Buffer<u32>) -> Result<Vec<Queue>> {
    let (b, c) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (mut y, z) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    b.launch(one(), stores(&z))?;
    match between {
        Wait => b.wait()?,
        EventWaited => b.record()?.wait()?,
        EventOfAnotherQueue => c.wait_for(&b.record()?)?,
        Read => assert_eq!(z.read(&b)?, [1]),
        Copied => b.copy(&mut y, &z)?,
        Task => b.host_task(|| Ok(()))?,
        LaunchOfTask => {
            let (c, x) = (Arc::new(c), x.view());
            let later = c.clone();
            b.host_task(move || later.launch(one(), stores(&x)))?;
            b.wait()?;
            c.wait()?;
            return Ok(vec![b]);
        }
    }
    let later = if matches!(between, EventOfAnotherQueue) { &c } else { &b };
    later.launch(one(), stores(x))?;
    Ok(vec![b, c])
}

/// The first launch has looked before the later one stores, which need not be.
fn looks_first(device: &Device, between: Between) -> Result<()> {
    let a = device.queue_non_blocking()?;
    let (x, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    a.launch(one(), loads(&x, &seen))?;
    let others = store_later(device, between, &x)?;
    others.iter().try_for_each(Queue::wait)?;
    a.wait()?;
    assert_eq!(seen.read(&a)?, [0]);
    Ok(())
}

/// The first launch waits for the later one.
fn is_let_go(device: &Device, between: Between) -> Result<()> {
    let a = device.queue_non_blocking()?;
    let x = device.alloc_zeroed::<u32>(1)?;
    a.launch(one(), waits(&x))?;
    let others = store_later(device, between, &x)?;
    a.wait()?;
    others.iter().try_for_each(Queue::wait)
}

/// The later launch is ordered behind the first one.
fn comes_behind(device: &Device, by_event: bool) -> Result<()> {
    let (a, b, c) = (device.queue_non_blocking()?, device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (x, y, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    a.launch(one(), loads(&x, &seen))?;
    b.launch(one(), stores(&y))?;
    if by_event {
        c.wait_for(&a.record()?)?;
    } else {
        b.wait()?;
        a.wait()?;
    }
    c.launch(one(), stores(&x))?;
    [&a, &b, &c].into_iter().try_for_each(Queue::wait)?;
    assert_eq!(seen.read(&a)?, [0]);
    Ok(())
}

/// Nobody ever lets the first launch go, for which the other queue waits.
fn is_never_let_go(device: &Device) -> Result<()> {
    let (a, b) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    a.launch(one(), waits(&x))?;
    b.launch(one(), stores(&y))?;
    b.wait_for(&a.record()?)?;
    b.launch(one(), stores(&x))?;
    b.wait()
}

const MODELS: [Model; 4] = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Sc];

fn report(model: Model, scenario: impl Fn(&Device) -> Result<()>) -> wattle::checker::Report {
    Checker::new(model).check(scenario).unwrap()
}

/// Whatever comes between, the checker says that it has not looked at all.
fn overlaps(scenario: fn(&Device, Between) -> Result<()>) {
    for between in BETWEEN {
        for model in MODELS {
            let found = report(model, |device| scenario(device, between));
            assert_eq!(found.verdict, Verdict::Unknown, "{between:?} under {model}: {found}");
            let why = [Unknown::Overlap, Unknown::WaitedElsewhere];
            assert!(found.unknown.iter().any(|unknown| why.contains(unknown)), "{between:?}: {found}");
        }
    }
}

#[test]
fn what_overlaps_a_launch_that_nobody_waits_for_is_not_left_out() {
    overlaps(looks_first);
}

#[test]
fn a_launch_that_a_later_one_lets_go_is_not_stuck() {
    overlaps(is_let_go);
    for between in BETWEEN {
        for device in ["simulated:3", "simulated:8", "host"] {
            is_let_go(&Device::select(device).unwrap(), between).unwrap_or_else(|error| panic!("{device}: {error}"));
        }
    }
}

#[test]
fn what_is_ordered_behind_a_launch_does_not_overlap_it() {
    for by_event in [false, true] {
        for model in MODELS {
            let found = report(model, |device| comes_behind(device, by_event));
            assert_eq!(found.verdict, Verdict::Holds, "by an event: {by_event}, {model}: {found}");
        }
    }
}

#[test]
fn a_launch_for_which_all_else_waits_is_stuck() {
    for model in MODELS {
        let found = report(model, is_never_let_go);
        assert_eq!(found.verdict, Verdict::Violated, "{model}: {found}");
        assert_eq!(found.violations[0].kind(), "can be stuck for ever");
    }
}

#[test]
fn seeds_show_what_overlaps_a_launch_that_nobody_waits_for() {
    for between in BETWEEN {
        let shows = |seed: u32| {
            let device = Device::select(&format!("simulated:{seed}")).unwrap();
            let run = std::panic::AssertUnwindSafe(|| looks_first(&device, between));
            std::panic::catch_unwind(run).is_err()
        };
        assert!((0..200).any(shows), "no seed shows it with {between:?}");
    }
}

/// The first queue's launch waits for ever, and the host waits for the other queue first, or for it.
fn waits_for_nothing(device: &Device, other_first: bool) -> Result<()> {
    let (a, b) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    a.launch(one(), waits(&x))?;
    b.launch(one(), stores(&y))?;
    if other_first { b.wait().and(a.wait()) } else { a.wait().and(b.wait()) }
}

#[test]
fn whoever_waits_for_another_queue_first_is_told_so() {
    let found = report(Model::Portable, |device| waits_for_nothing(device, true));
    assert_eq!(
        (found.verdict, found.unknown.as_slice()),
        (Verdict::Unknown, &[Unknown::WaitedElsewhere][..]),
        "{found}"
    );
    assert!(found.to_string().contains("wait for their launch's queue first"), "{found}");
    let found = report(Model::Portable, |device| waits_for_nothing(device, false));
    assert_eq!(found.verdict, Verdict::Violated, "{found}");
}
