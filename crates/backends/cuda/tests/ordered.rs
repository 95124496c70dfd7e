//! Fills and copies in the order of a queue, without waiting on the host. Calls are counted by soft-cuda.

mod common;

use std::ffi::{CStr, c_char};
use std::time::{Duration, Instant};

use common::soft_devices;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

#[kernel]
fn spins(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load_with(0, Scope::System, Order::Acquire) == 0 {}
}

#[kernel]
fn opens(_acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::System, Order::Release);
}

const LOAD: &CStr = c"cuModuleLoadData";

fn calls(name: &CStr) -> u64 {
    type Count = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the driver is soft-cuda, which has this function, and is loaded.
    unsafe { cudarc::driver::sys::culib().get::<Count>(b"soft_cuda_calls\0").unwrap()(name.as_ptr()) }
}

/// Waits until the function was called `more` times, while what comes before it still runs.
#[track_caller]
fn await_calls(name: &CStr, before: u64, more: u64) {
    let began = Instant::now();
    while calls(name) < before + more {
        assert!(began.elapsed() < Duration::from_secs(30), "{name:?} is not called");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[kernel]
fn beyond(_acc: &Acc, place: Shared<u32>) {
    place[7] = 1;
}

/// A queue, and two buffers of which the second is a copy of the first. All kernels launched here are loaded.
fn prepared(device: &Device) -> (Queue, [Buffer<u32>; 2]) {
    let queue = device.queue_non_blocking().unwrap();
    let other = device.queue().unwrap();
    let (mut x, mut y) = (device.from_slice(&[7u32; 100]).unwrap(), device.from_slice(&[8u32; 100]).unwrap());
    let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
    other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
    other.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
    // The built-in kernels are loaded when nothing is in flight, so not always at the first time.
    let loads = calls(LOAD);
    for turn in 0.. {
        assert!(turn < 1000, "it is never loaded");
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        queue.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
        if calls(LOAD) == loads {
            queue.fill(&mut x, 3).unwrap();
        } else {
            queue.copy(&mut y, &x).unwrap();
        }
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        queue.wait().unwrap();
        if calls(LOAD) == loads + 2 {
            break;
        }
    }
    queue.launch(FrameSpec::cover(100, 50), affine(&mut x, 1, 0)).unwrap();
    assert_eq!((x.read(&queue).unwrap(), y.read(&queue).unwrap()), (vec![3; 100], vec![3; 100]));
    (queue, [x, y])
}

/// The counts are those of all threads of the process, so this is the only test here.
#[test]
fn nobody_waits_for_fills_and_copies() {
    for device in soft_devices() {
        let (b, [mut x, mut y]) = prepared(&device);
        let [a, other] = [device.queue_non_blocking().unwrap(), device.queue().unwrap()];
        // A queue waits for another; fills and copies follow, and a launch behind them.
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        let [fills, copies, launches] = [c"cuMemsetD32Async", c"cuMemcpyDtoDAsync_v2", c"cuLaunchKernelEx"].map(calls);
        a.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
        b.wait_for(&a.record().unwrap()).unwrap();
        b.fill(&mut x, 0x0102_0304).unwrap();
        b.copy(&mut y, &x).unwrap();
        b.launch(FrameSpec::cover(100, 50), affine(&mut y, 2, 1)).unwrap();
        await_calls(c"cuMemsetD32Async", fills, 1);
        await_calls(c"cuMemcpyDtoDAsync_v2", copies, 1);
        await_calls(c"cuLaunchKernelEx", launches, 2);
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        b.wait().unwrap();
        assert_eq!((x.read(&b).unwrap(), y.read(&b).unwrap()), (vec![0x0102_0304; 100], vec![0x0204_0609; 100]));
        // Behind a launch, which could fail, fills and copies are launches too.
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        let launches = calls(c"cuLaunchKernelEx");
        b.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
        b.fill(x.slice_mut(10..90).unwrap(), 0x0505).unwrap();
        b.copy(y.slice_mut(0..50).unwrap(), x.slice(45..95).unwrap()).unwrap();
        b.launch(FrameSpec::cover(100, 50), affine(&mut y, 1, 1)).unwrap();
        await_calls(c"cuLaunchKernelEx", launches, 4);
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        b.wait().unwrap();
        let filled: Vec<u32> = (0..100).map(|i| if (10..90).contains(&i) { 0x0505 } else { 0x0102_0304 }).collect();
        let copied: Vec<u32> = (0..50).map(|i| filled[i + 45] + 1).chain([0x0204_060a; 50]).collect();
        assert_eq!((x.read(&b).unwrap(), y.read(&b).unwrap()), (filled, copied));
        behind_a_fault(&device, &b, &mut x, &mut y);
        beside_a_launch(&device, &b);
    }
}

/// Memory is cleared by copies while a launch runs, since they need no room on the device.
fn beside_a_launch(device: &Device, queue: &Queue) {
    let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
    let launches = calls(c"cuLaunchKernelEx");
    queue.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
    await_calls(c"cuLaunchKernelEx", launches, 1);
    let (fills, other) = (calls(c"cuMemsetD8Async"), device.queue().unwrap());
    let z = device.alloc_zeroed::<u32>(2_500_001).unwrap();
    assert_eq!(calls(c"cuMemsetD8Async"), fills);
    assert!(z.read(&other).unwrap() == vec![0; 2_500_001]);
    other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
    queue.wait().unwrap();
    device.alloc_zeroed::<u32>(10).unwrap();
    assert_eq!(calls(c"cuMemsetD8Async"), fills + 1, "the driver's fill is the faster one");
}

/// Fills and copies behind a launch that fails are discarded.
fn behind_a_fault(device: &Device, queue: &Queue, x: &mut Buffer<u32>, y: &mut Buffer<u32>) {
    let other = device.queue().unwrap();
    let place = device.alloc_zeroed::<u32>(1).unwrap();
    assert!(other.launch(ThreadSpec::new(1, 1), beyond(&place)).is_err());
    queue.fill(&mut *x, 1).unwrap();
    queue.fill(&mut *y, 2).unwrap();
    let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
    let launches = calls(c"cuLaunchKernelEx");
    queue.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
    queue.launch(ThreadSpec::new(1, 1), beyond(&place)).unwrap();
    queue.fill(&mut *x, 3).unwrap();
    queue.copy(&mut *y, &*x).unwrap();
    await_calls(c"cuLaunchKernelEx", launches, 4);
    other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
    assert!(queue.wait().unwrap_err().to_string().contains("index 7"));
    assert_eq!((x.read(queue).unwrap(), y.read(queue).unwrap()), (vec![1; 100], vec![2; 100]));
}
