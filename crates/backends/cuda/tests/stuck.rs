//! Launches that fail or do not end, and others that wait. Each test runs in a process of its own, with soft-cuda.

mod common;

use std::time::Duration;

use common::in_soft_that_ends as in_soft;
use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn adds(_acc: &Acc, sum: Atomic<u32>, summand: u32) {
    sum.fetch_add(0, summand);
}

#[kernel]
fn spins(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load_with(0, Scope::System, Order::Acquire) == 0 {}
}

#[kernel]
fn opens(_acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::System, Order::Release);
}

/// A kernel whose loop has a bound, so that it does not end when requested to.
#[kernel]
fn works(acc: &Acc, sums: Atomic<u32>, turns: u32) {
    for turn in 0..turns {
        sums.fetch_add(acc.linear_thread_in_grid(), turn);
    }
}

/// Block 1 waits for a value that block 0 fails to store.
#[kernel]
fn fails_and_waits(acc: &Acc, stored: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        stored.store(7, 1);
    } else {
        while stored.load(0) == 0 {}
    }
}

/// The time that a queue waits for another does not count for the launch before the wait.
#[test]
fn waiting_is_no_launch_s_time() {
    in_soft("waiting_is_no_launch_s_time", &[], |device| {
        let [a, b] = [(); 2].map(|()| device.queue_non_blocking().unwrap());
        let other = device.queue().unwrap();
        let (sum, flag) = (device.alloc_zeroed::<u32>(1).unwrap(), device.alloc_host_mapped::<u32, 1>(1).unwrap());
        let spec = ThreadSpec::new(1, 1);
        let short = LaunchOptions::new().time_limit(Duration::from_millis(200));
        a.launch(spec, spins(&flag)).unwrap();
        let point = a.record().unwrap();
        b.launch_with(short, spec, adds(&sum, 1)).unwrap();
        b.wait_for(&point).unwrap();
        b.launch_with(short, spec, adds(&sum, 10)).unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        other.launch(spec, opens(&flag)).unwrap();
        b.wait().unwrap();
        assert_eq!(sum.read(&b).unwrap(), [11]);
    });
}

/// A launch in which a thread has failed ends at once, though other threads wait for it for ever.
#[test]
fn a_fault_ends_those_that_wait_for_it() {
    in_soft("a_fault_ends_those_that_wait_for_it", &[], |device| {
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            let stored = device.alloc_zeroed::<u32>(1).unwrap();
            let options = LaunchOptions::new().no_time_limit();
            let launched = queue.launch_with(options, ThreadSpec::new(2, 1), fails_and_waits(&stored));
            let error = launched.and_then(|()| queue.wait()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Fault(_)), "{error}");
            assert!(error.to_string().contains("block 0"), "{error}");
        }
    });
}

/// A launch without a limit, behind one that was given up, does not wait for ever.
#[test]
fn without_a_limit_behind_one_that_does_not_end() {
    let variables = [("WATTLE_CUDA_GRACE_MS", "100")];
    in_soft("without_a_limit_behind_one_that_does_not_end", &variables, |device| {
        let [a, b] = [(); 2].map(|()| device.queue_non_blocking().unwrap());
        let (sums, sum) = (device.alloc_zeroed::<u32>(1).unwrap(), device.alloc_zeroed::<u32>(1).unwrap());
        let spec = ThreadSpec::new(1, 1);
        b.launch(spec, adds(&sum, 1)).unwrap();
        b.wait().unwrap();
        // The launch takes many seconds.
        let short = LaunchOptions::new().time_limit(Duration::from_millis(100));
        a.launch_with(short, spec, works(&sums, u32::MAX)).unwrap();
        b.wait_for(&a.record().unwrap()).unwrap();
        b.launch_with(LaunchOptions::new().no_time_limit(), spec, adds(&sum, 1)).unwrap();
        let error = b.wait().unwrap_err();
        assert!(error.to_string().contains("kernel `works` was asked to end and still runs"), "{error}");
        assert!(matches!(a.wait().unwrap_err().kind(), ErrorKind::TimeLimit { .. }));
        // The launch still runs, and keeps its buffers.
        std::process::exit(0);
    });
}

/// The error of an allocation reports the memory that cannot be freed yet.
#[test]
fn out_of_memory_while_a_launch_runs() {
    let variables = [("SOFT_CUDA_MEMORY", "100000000")];
    in_soft("out_of_memory_while_a_launch_runs", &variables, |device| {
        let (queue, other) = (device.queue_non_blocking().unwrap(), device.queue().unwrap());
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        let flag = device.alloc_host_mapped::<u32, 1>(1).unwrap();
        queue.launch(ThreadSpec::new(1, 1), spins(&flag)).unwrap();
        let held = device.alloc::<u32>(10_000_000).unwrap();
        drop(held);
        let error = loop {
            match device.alloc::<u32>(5_000_000) {
                Ok(buffer) => drop(buffer),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("are given back when no launch is in flight"), "{error}");
        other.launch(ThreadSpec::new(1, 1), opens(&flag)).unwrap();
        queue.wait().unwrap();
        device.alloc::<u32>(15_000_000).unwrap();
    });
}
