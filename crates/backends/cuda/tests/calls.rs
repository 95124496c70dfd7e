//! How many driver calls a launch makes, counted by soft-cuda, the driver for tests.

mod common;

use std::ffi::{CStr, c_char};

use common::soft_devices;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

/// How often each of these functions was called, and how often all functions together.
fn calls<const N: usize>(names: [&CStr; N]) -> ([u64; N], u64) {
    type Count = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the driver is soft-cuda, which has this function, and is loaded.
    unsafe {
        let count = cudarc::driver::sys::culib().get::<Count>(b"soft_cuda_calls\0").unwrap();
        (names.map(|name| count(name.as_ptr())), count(std::ptr::null()))
    }
}

/// The counts are those of all threads of the process, so this is the only test here.
#[test]
fn a_launch_is_one_call() {
    for device in soft_devices() {
        const ASKING: [&CStr; 2] = [c"cuStreamQuery", c"cuEventQuery"];
        const LAUNCHING: [&CStr; 3] = [c"cuLaunchKernelEx", c"cuEventRecord", c"cuEventCreate"];
        let queue = device.queue_non_blocking().unwrap();
        let mut x = device.from_slice(&[1u32; 100]).unwrap();
        let mut launches = |count: u64| {
            for _ in 0..count {
                queue.launch(FrameSpec::cover(100, 50), affine(&mut x, 1, 1)).unwrap();
            }
            queue.wait().unwrap();
        };
        // The first launches build and load the kernel, and make as many events as are ever in flight.
        launches(1000);
        let ((asked, all), (launched, _)) = (calls(ASKING), calls(LAUNCHING));
        launches(320);
        let ((asked_then, all_then), (launched_then, _)) = (calls(ASKING), calls(LAUNCHING));
        let made: Vec<_> = launched_then.iter().zip(launched).map(|(then, before)| then - before).collect();
        assert_eq!(made, [320, 10, 0], "an event for every 32 launches");
        let asking = asked_then.iter().sum::<u64>() - asked.iter().sum::<u64>();
        assert_eq!(all_then - all - asking, 330, "nothing else is called but to ask whether it is done");
        // The same with each launch waited for.
        let queue = device.queue().unwrap();
        queue.launch(FrameSpec::cover(100, 50), affine(&mut x, 1, 1)).unwrap();
        let ((asked, all), (launched, _)) = (calls(ASKING), calls(LAUNCHING));
        for _ in 0..20 {
            queue.launch(FrameSpec::cover(100, 50), affine(&mut x, 1, 1)).unwrap();
        }
        let ((asked_then, all_then), (launched_then, _)) = (calls(ASKING), calls(LAUNCHING));
        assert_eq!(launched_then[0] - launched[0], 20);
        let asking = asked_then.iter().sum::<u64>() - asked.iter().sum::<u64>();
        assert_eq!(all_then - all - asking, 20);
        assert_eq!(x.read(&queue).unwrap(), [1342; 100]);
    }
}
