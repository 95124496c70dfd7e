//! Kernels that are loaded while launches are in flight. Each test runs in a process of its own, with soft-cuda.

mod common;

use std::ffi::{CStr, c_char};
use std::time::{Duration, Instant};

use common::in_soft_that_ends as in_soft;
use wattle::prelude::*;
use wattle::{Device, ErrorKind};

#[kernel]
fn waits(_acc: &Acc, this: Atomic<u32>, other: Atomic<u32>) {
    this.store_with(0, 1, Scope::Device, Order::Release);
    while other.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

#[kernel]
fn answers(_acc: &Acc, this: Atomic<u32>) {
    this.store_with(0, 1, Scope::Device, Order::Release);
}

/// Two queues and a flag for each, with the kernel `waits` loaded.
fn prepared(device: &Device) -> ([Queue; 2], [Buffer<u32>; 2]) {
    let queues = [(); 2].map(|()| device.queue_non_blocking().unwrap());
    let [x, y] = [1, 1].map(|one| device.from_slice(&[one]).unwrap());
    queues[0].launch(ThreadSpec::new(1, 1), waits(&x, &y)).unwrap();
    queues[0].wait().unwrap();
    (queues, [(); 2].map(|()| device.alloc_zeroed::<u32>(1).unwrap()))
}

const LOAD_WAITS: [(&str, &str); 1] = [("SOFT_CUDA_LOAD_WAITS", "1")];

/// Two launches wait for each other, and the driver does not load the second one's kernel before the first has ended;
/// nor does it return from other threads' calls meanwhile.
#[test]
fn a_driver_that_waits() {
    in_soft("a_driver_that_waits", &LOAD_WAITS, |device| {
        let ([a, b], [x, y]) = prepared(&device);
        let (limit, began) = (Duration::from_secs(3), Instant::now());
        let options = LaunchOptions::new().time_limit(limit);
        launch(&a, options, &x, &y);
        b.launch(ThreadSpec::new(1, 1), answers(&y)).unwrap();
        let error = a.wait().unwrap_err();
        eprintln!("{:?}: {error}", began.elapsed());
        assert!(began.elapsed() >= limit);
        let ErrorKind::TimeLimit { kernel, limit: told, lines } = error.kind() else { panic!("{error}") };
        assert_eq!((&**kernel, *told, lines.len()), ("waits", limit, 1));
        b.wait().unwrap();
        assert_eq!(y.read(&b).unwrap(), [1]);
        // Both queues can be used again.
        a.launch(ThreadSpec::new(1, 1), waits(&x, &y)).unwrap();
        a.wait().unwrap();
    });
}

#[test]
fn interrupted_while_the_driver_waits() {
    in_soft("interrupted_while_the_driver_waits", &LOAD_WAITS, |device| {
        let ([a, b], [x, y]) = prepared(&device);
        launch(&a, LaunchOptions::new(), &x, &y);
        b.launch(ThreadSpec::new(1, 1), answers(&y)).unwrap();
        // The kernel is loaded all the same after two seconds.
        std::thread::sleep(Duration::from_secs(3));
        wattle_core::interrupt::request();
        let error = a.wait().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Interrupted { lines, .. } if lines.len() == 1), "{error}");
        let _ = b.wait();
        wattle_core::interrupt::clear();
        a.launch(ThreadSpec::new(1, 1), answers(&x)).unwrap();
        a.wait().unwrap();
    });
}

const LOAD: &CStr = c"cuModuleLoadData";

/// How often this driver function was called.
fn calls(name: &CStr) -> u64 {
    type Count = unsafe extern "C" fn(*const c_char) -> u64;
    // SAFETY: the driver is soft-cuda, which has this function, and is loaded.
    unsafe { cudarc::driver::sys::culib().get::<Count>(b"soft_cuda_calls\0").unwrap()(name.as_ptr()) }
}

/// Launches `waits`, and returns when the launch was submitted.
fn launch(queue: &Queue, options: LaunchOptions, this: &Buffer<u32>, other: &Buffer<u32>) {
    let before = calls(c"cuLaunchKernelEx");
    queue.launch_with(options, ThreadSpec::new(1, 1), waits(this, other)).unwrap();
    while calls(c"cuLaunchKernelEx") == before {
        std::thread::yield_now();
    }
}

/// A kernel is loaded when nothing is in flight, if there is such a moment soon.
#[test]
fn when_nothing_is_in_flight() {
    in_soft("when_nothing_is_in_flight", &[], |device| {
        let ([a, b], [x, _]) = prepared(&device);
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        launch(&a, LaunchOptions::new(), &x, &flag);
        let before = calls(LOAD);
        let began = Instant::now();
        b.launch(ThreadSpec::new(1, 1), answers(&flag)).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        if began.elapsed() < Duration::from_secs(1) {
            assert_eq!(calls(LOAD), before);
        }
        // No other launch stores the flag, so that the kernel is loaded after a while although something is in flight.
        a.wait().unwrap();
        b.wait().unwrap();
        assert_eq!(calls(LOAD), before + 1);
        assert!(began.elapsed() >= Duration::from_secs(2));
    });
}
