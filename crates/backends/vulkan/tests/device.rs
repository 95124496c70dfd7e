//! What a Vulkan device does, tested on every device present. Without one these tests pass and say so.

use std::time::{Duration, Instant};

use wattle::prelude::*;
use wattle::{Device, ErrorKind};

/// The devices; prints a line if there are none.
fn devices() -> Vec<Device> {
    let wattle_core::Found { devices, missing, .. } = wattle_vulkan::survey();
    for missing in &missing {
        test_skips::skipped(&missing.reason);
    }
    devices
}

fn no_messages() {
    assert_eq!(wattle_vulkan::validation_messages(), Vec::<String>::new());
}

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

#[test]
fn a_launch() {
    for device in devices() {
        eprintln!("{} {}", device.name(), device.properties().description);
        assert_eq!(device.properties().target, Some(wattle::memory::Target::Vulkan));
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            let mut x = device.from_slice(&[1u32, 2, 3, 4, 5]).unwrap();
            queue.launch(FrameSpec::cover(5, 2), affine(&mut x, 3, 1)).unwrap();
            queue.launch(FrameSpec::cover(5, 2), affine(&mut x, 2, 0)).unwrap();
            assert_eq!(x.read(&queue).unwrap(), [8, 14, 20, 26, 32]);
        }
    }
    no_messages();
}

#[kernel]
fn spins(acc: &Acc, turns: Atomic<u32>, flag: Atomic<u32>) {
    while flag.load(0) == 0 {
        turns.fetch_add(acc.linear_thread_in_grid(), 1);
    }
}

#[test]
fn a_time_limit() {
    for device in devices() {
        let queue = device.queue().unwrap();
        let turns = device.alloc_zeroed::<u32>(4).unwrap();
        let flag = device.alloc_zeroed::<u32>(1).unwrap();
        let began = Instant::now();
        let options = LaunchOptions::new().time_limit(Duration::from_millis(200));
        let error = queue.launch_with(options, ThreadSpec::new(2, 1), spins(&turns, &flag)).unwrap_err();
        eprintln!("{} {:?}: {error}", device.name(), began.elapsed());
        assert!(matches!(error.kind(), ErrorKind::TimeLimit { .. } | ErrorKind::Capability { .. }));
        let mut x = device.from_slice(&[1u32, 2, 3, 4, 5]).unwrap();
        queue.launch(FrameSpec::cover(5, 2), affine(&mut x, 3, 1)).unwrap();
        assert_eq!(x.read(&queue).unwrap(), [4, 7, 10, 13, 16]);
    }
    no_messages();
}

#[kernel]
fn beyond(acc: &Acc<2>, place: Shared<u32, 2>) {
    let [i, j] = acc.block_in_grid();
    if i == 1 && j == 2 {
        place[[j, i]] = 1;
    }
    place[[i, 0]] = 5;
}

#[test]
fn a_fault() {
    for device in devices() {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            let place = device.alloc_zeroed_nd::<u32, 2>([2, 3]).unwrap();
            let mut x = device.from_slice(&[1u32, 2]).unwrap();
            let launched = queue.launch(ThreadSpec::new([2, 3], [1, 1]), beyond(&place));
            let _ = queue.launch(FrameSpec::cover(2, 1), affine(&mut x, 3, 1));
            let error = launched.and_then(|()| queue.wait()).unwrap_err();
            eprintln!("{error}");
            assert!(
                error
                    .to_string()
                    .contains("block [1, 2], thread [0, 0]: index [2, 1] of `place`, which has extent [2, 3]")
            );
            assert_eq!(place.read(&queue).unwrap(), [5, 0, 0, 5, 0, 0]);
        }
    }
    no_messages();
}
