//! Events: between queues, between devices, and how long it took.

use std::time::Duration;

use wattle::ErrorKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, kind, not_possible, refused, size};
use crate::kernels::{affine, owns};
use crate::queues::{four, is_simulated};

pub const CASES: &[Case] = &[
    ("events", events),
    ("events tell how long it took between them", event_times),
    ("an event of another device", events_across_devices),
    ("an event of another simulated device", events_between_simulated),
];

fn events(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    // An event on an empty queue.
    let event = one.record()?;
    event.wait()?;
    assert!(event.is_complete());
    two.wait_for(&event)?;
    // A queue waits for its own event.
    one.wait_for(&one.record()?)?;
    one.wait()?;
    // Between two queues, back and forth.
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let rounds = size(device, 100, 10) as u32;
    for _ in 0..rounds {
        one.launch(four(), owns(&mut x))?;
        two.wait_for(&one.record()?)?;
        two.launch(four(), affine(&mut x, 1, 1))?;
        one.wait_for(&two.record()?)?;
    }
    let last = one.record()?;
    last.wait()?;
    assert!(last.is_complete());
    assert_eq!(x.read(&one)?, [2 * rounds; 4]);
    // An event outlives its queue, and waiting twice does no harm.
    let queue = device.queue_non_blocking()?;
    let event = queue.record()?;
    drop(queue);
    event.wait()?;
    event.clone().wait()?;
    two.wait_for(&event)?;
    Ok(two.wait()?)
}

fn event_times(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let before = queue.record()?;
    queue.launch(four(), owns(&mut x))?;
    queue.host_task(|| {
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    })?;
    let behind = queue.record()?;
    behind.wait()?;
    // By the device's own clock, whose ticks need not be the host's.
    let took = behind.elapsed_since(&before).expect("both are of one queue, and have been reached");
    assert!(took >= Duration::from_millis(3) && took < Duration::from_secs(50), "{took:?}");
    assert!(before.elapsed_since(&behind).is_none(), "the later one is not before");
    Ok(())
}

fn events_across_devices(device: &Device) -> Outcome {
    for other in Device::all() {
        // A simulated device moves only when it is asked, and another simulated device does not ask: see the next case.
        let other = if is_simulated(&other) && is_simulated(device) { device.clone() } else { other };
        let (here, there) = (device.queue_non_blocking()?, other.queue_non_blocking()?);
        let (mut x, mut y) = (device.alloc_zeroed::<u32>(4)?, other.alloc_zeroed::<u32>(4)?);
        there.launch(four(), owns(&mut y))?;
        kind!(refused(here.copy(&mut x, &y)), ErrorKind::Conflict { .. });
        here.wait_for(&there.record()?)?;
        here.copy(&mut x, &y)?;
        here.launch(four(), owns(&mut x))?;
        there.wait_for(&here.record()?)?;
        there.copy(&mut y, &x)?;
        there.launch(four(), owns(&mut y))?;
        assert_eq!(y.read(&there)?, [3; 4], "{}", other.name());
    }
    Ok(())
}

fn events_between_simulated(device: &Device) -> Outcome {
    if !is_simulated(device) {
        return not_possible("it moves by itself");
    }
    let other = Device::simulated(1);
    let (here, there) = (device.queue_non_blocking()?, other.queue_non_blocking()?);
    let mut y = other.alloc_zeroed::<u32>(4)?;
    there.launch(four(), owns(&mut y))?;
    here.wait_for(&there.record()?)?;
    Ok(here.wait()?)
}
