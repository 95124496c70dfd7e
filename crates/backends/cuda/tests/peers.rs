//! Two devices of soft-cuda, whose kernels use each other's memory.

mod common;

use std::time::Duration;

use common::{in_soft_that_ends, soft_devices};
use wattle::ErrorKind;
use wattle::prelude::*;

const TWO: [(&str, &str); 1] = [("SOFT_CUDA_DEVICES", "2")];

#[kernel]
fn hands_on(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>) {
    for i in 0..payload.len() {
        payload[i] = 42 + i;
        ready.store_with(i, 1, Scope::System, Order::Release);
    }
}

#[kernel]
fn takes(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, seen: Shared<u32>) {
    for i in 0..payload.len() {
        while ready.load_with(i, Scope::System, Order::Acquire) == 0 {}
        seen[i] = payload[i];
    }
}

/// The two devices of the child that this is.
fn two() -> [Device; 2] {
    soft_devices().try_into().expect("the stand-in has as many devices as the environment says")
}

#[test]
fn a_launch_waits_for_one_on_the_other_device_in_both_memories() {
    in_soft_that_ends("a_launch_waits_for_one_on_the_other_device_in_both_memories", &TWO, |_| {
        let [first, second] = two();
        assert!(first.peers().unwrap() == std::slice::from_ref(&second));
        let payload = first.alloc_zeroed::<u32>(100).unwrap();
        let ready = second.alloc_zeroed::<u32>(100).unwrap();
        let seen = second.alloc_zeroed::<u32>(100).unwrap();
        let one = ThreadSpec::new(1, 1);
        let refused = first.queue().unwrap().launch(one, hands_on(&payload, &ready)).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::WrongDevice { .. }), "{refused}");
        first.enable_peer_access(&second).unwrap();
        second.enable_peer_access(&first).unwrap();
        first.enable_peer_access(&second).unwrap();
        let (sends, receives) = (first.queue_non_blocking().unwrap(), second.queue_non_blocking().unwrap());
        receives.launch(one, takes(&payload, &ready, &seen)).unwrap();
        sends.launch(one, hands_on(&payload, &ready)).unwrap();
        receives.wait().unwrap();
        sends.wait().unwrap();
        assert_eq!(seen.read(&receives).unwrap(), (42..142).collect::<Vec<_>>());
    });
}

/// A kernel whose loop has a bound, so that it does not end when requested to.
#[kernel]
fn works(acc: &Acc, sum: Atomic<u32>) {
    for turn in 0..3_000_000 {
        sum.fetch_add(0, turn);
    }
}

/// A launch that goes on after it was requested to end may use a peer's memory, which the host leaves alone until then.
#[test]
fn a_launch_that_is_given_up_keeps_its_peers() {
    let variables = [("SOFT_CUDA_DEVICES", "2"), ("WATTLE_CUDA_GRACE_MS", "0")];
    in_soft_that_ends("a_launch_that_is_given_up_keeps_its_peers", &variables, |_| {
        let [first, second] = two();
        first.enable_peer_access(&second).unwrap();
        let mut sum = second.alloc_host_mapped::<u32, 1>(1).unwrap();
        let options = LaunchOptions::new().time_limit(Duration::from_millis(20));
        let launched = first.queue().unwrap().launch_with(options, ThreadSpec::new(1, 1), works(&sum));
        assert!(matches!(launched.unwrap_err().kind(), ErrorKind::TimeLimit { .. }));
        let refused = sum.map_mut().map(drop).unwrap_err();
        assert!(refused.to_string().contains("kernel `works` was asked to end and still runs"), "{refused}");
        while let Err(error) = sum.map_mut() {
            assert!(error.to_string().contains("still runs"), "{error}");
            std::thread::sleep(Duration::from_millis(10));
        }
        // The launch has ended, and nothing changes any more.
        let seen = sum.map().unwrap()[0];
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(sum.map().unwrap()[0], seen);
    });
}

#[test]
fn a_copy_between_devices_lets_no_kernel_reach_the_other() {
    in_soft_that_ends("a_copy_between_devices_lets_no_kernel_reach_the_other", &TWO, |_| {
        let [first, second] = two();
        let own = first.from_slice(&[1u32, 2]).unwrap();
        let mut theirs = second.alloc_zeroed::<u32>(2).unwrap();
        first.queue().unwrap().copy(&mut theirs, &own).unwrap();
        assert_eq!(theirs.read(&second.queue().unwrap()).unwrap(), [1, 2]);
        let queue = first.queue().unwrap();
        let refused = queue.launch(ThreadSpec::new(1, 1), hands_on(&theirs, &own)).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::WrongDevice { .. }), "{refused}");
    });
}

#[test]
fn one_device_reaches_none() {
    for device in soft_devices() {
        if let Err(error) = device.peers() {
            assert!(
                matches!(error.kind(), ErrorKind::Capability { .. }) && error.to_string().contains("no such access")
            );
            let refused = device.enable_peer_access(&Device::host()).unwrap_err().to_string();
            assert!(refused.contains("device `host`'s memory"), "{refused}");
        }
    }
}
