//! The end of a process whose queues are at work. Each test runs in a process of its own, with soft-cuda, which aborts
//! the process if it is called after that.

mod common;

use std::time::Duration;

use common::{in_a_child, soft_devices};
use wattle::Device;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

#[kernel]
fn spins(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load(0) == 0 {}
}

/// The child process ends by itself, with the status that `in_child` returns.
fn ends(test: &str, in_child: impl FnOnce(Device) -> i32) {
    let Some(device) = soft_devices().into_iter().next() else { return };
    let Some(output) = in_a_child(test, &[("SOFT_CUDA_END_ABORTS", "1")]) else {
        std::process::exit(in_child(device));
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(17), "{}: {said}", output.status);
}

#[test]
fn while_launches_are_submitted() {
    ends("while_launches_are_submitted", |device| {
        for _ in 0..3 {
            let queue = device.queue_non_blocking().unwrap();
            let mut x = device.from_slice(&[1u32, 2]).unwrap();
            (0..20_000).for_each(|_| queue.launch(FrameSpec::cover(2, 2), affine(&mut x, 1, 1)).unwrap());
            // The queue's thread goes on.
            drop(queue);
        }
        17
    });
}

#[test]
fn while_a_launch_does_not_end() {
    ends("while_a_launch_does_not_end", |device| {
        for queue in [device.queue_non_blocking().unwrap(), device.queue_non_blocking().unwrap()] {
            let flag = device.alloc_zeroed::<u32>(1).unwrap();
            queue.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
        }
        // The launches are being waited for by then.
        std::thread::sleep(Duration::from_millis(100));
        17
    });
}
