//! Two devices of soft-cuda, whose kernels use each other's memory.

mod common;

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
