//! The clock that kernels read.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::harness::{Case, Outcome, size};

pub const CASES: &[Case] = &[
    ("the clock never goes back", monotonic),
    ("the clock goes on", goes_on),
    ("the rate of the clock is the device's", rate),
];

#[kernel]
fn reads(acc: &Acc, mut ticks: PerItem<u64>, backwards: Atomic<u32>, turns: u32) {
    for (_, first) in acc.items(&mut ticks) {
        let mut last = acc.clock();
        *first = last;
        for _ in 0..turns {
            let now = acc.clock();
            if now < last {
                backwards.fetch_add(0, 1);
            }
            last = now;
        }
    }
}

fn monotonic(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let (blocks, turns) = (size(device, 64, 4), size(device, 1000, 50) as u32);
    let mut ticks = device.alloc_zeroed::<u64>(blocks)?;
    let backwards = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(blocks, 1), reads(&mut ticks, &backwards, turns))?;
    assert_eq!(backwards.read(&queue)?, [0]);
    Ok(())
}

#[kernel]
fn measures(acc: &Acc, x: Shared<u32>, mut took: PerItem<u64>, turns: u32) {
    for (i, ticks) in acc.items(&mut took) {
        let start = acc.clock();
        for turn in 0..turns {
            x[i] = x[i] * 3 + turn;
        }
        *ticks = acc.clock() - start;
    }
}

fn goes_on(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.alloc_zeroed::<u32>(1)?;
    let mut took = device.alloc_zeroed::<u64>(1)?;
    queue.launch(ThreadSpec::new(1, 1), measures(&x, &mut took, size(device, 100_000, 2000) as u32))?;
    assert_ne!(took.read(&queue)?, [0]);
    // It is the same again on the simulated device with the same seed.
    if device.properties().kind == DeviceKind::Simulated {
        let again = || -> wattle::Result<Vec<u64>> {
            let device = Device::simulated(7);
            let (queue, x) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
            let mut took = device.alloc_zeroed::<u64>(1)?;
            queue.launch(ThreadSpec::new(1, 1), measures(&x, &mut took, 5))?;
            took.read(&queue)
        };
        assert_eq!(again()?, again()?);
    }
    Ok(())
}

fn rate(device: &Device) -> Outcome {
    let properties = device.properties();
    let expected = (properties.kind == DeviceKind::Host).then_some(1_000_000_000);
    assert_eq!(properties.clock_ticks_per_second, expected);
    // A device without a clock says so before anything runs.
    let queue = device.queue()?;
    let mut ticks = device.alloc_zeroed::<u64>(1)?;
    let backwards = device.alloc_zeroed::<u32>(1)?;
    if let Err(error) = queue.launch(ThreadSpec::new(1, 1), reads(&mut ticks, &backwards, 1)) {
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("VK_KHR_shader_clock") || said.contains("shaderInt64"), "{said}");
    }
    Ok(())
}
