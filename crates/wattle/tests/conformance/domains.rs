//! Memory synchronization domains: between two of them only system scope orders, and what counts on less is refused.

use wattle::prelude::*;
use wattle::{ErrorKind, SyncDomain, SyncDomainMap};

use crate::harness::{Case, Outcome, kind, says};
use crate::kernels::{counts, counts_with_host, reads};

pub const CASES: &[Case] = &[
    ("device scope between two domains is refused", device_scope),
    ("system scope orders between two domains", system_scope),
    ("a fence of device scope does not", fences),
    ("each instance of a generic kernel is judged by itself", instances),
    ("launches that are ordered may be in any domains", ordered),
    ("names that mean one domain are one", mapped),
    ("a queue's domain is that of its launches", of_a_queue),
    ("a queue's map is that of its launches", mapped_by_a_queue),
    ("reading goes together in any domains", reading),
];

fn remote() -> LaunchOptions {
    LaunchOptions::new().sync_domain(SyncDomain::Remote)
}

/// Hands a value on by a word of system scope, behind a fence.
#[kernel]
fn hands_on<const WIDE: bool>(acc: &Acc, mine: u32, payload: Shared<u32>, ready: Atomic<u32>) {
    payload[mine] = 1;
    if WIDE {
        acc.mem_fence(Scope::System, Order::Release);
    } else {
        acc.mem_fence(Scope::Device, Order::Release);
    }
    ready.store_with(0, 1, Scope::System, Order::Relaxed);
}

fn device_scope(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    one.launch(ThreadSpec::new(1, 1), counts(&x))?;
    two.launch(ThreadSpec::new(1, 1), counts(&x))?;
    for (first, second) in [(LaunchOptions::new(), remote()), (remote(), LaunchOptions::new())] {
        one.wait()?;
        two.wait()?;
        one.launch_with(first, ThreadSpec::new(1, 1), counts(&x))?;
        let error = two.launch_with(second, ThreadSpec::new(1, 1), counts(&x)).unwrap_err();
        kind!(error, ErrorKind::Conflict { .. });
        says(&error, &["the launch of `counts`", "different memory synchronization domains", "`Scope::System`"]);
    }
    one.wait()?;
    two.launch_with(remote(), ThreadSpec::new(1, 1), counts(&x))?;
    two.wait()?;
    Ok(())
}

fn system_scope(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    one.launch(ThreadSpec::new(1, 1), counts_with_host(&x))?;
    two.launch_with(remote(), ThreadSpec::new(1, 1), counts_with_host(&x))?;
    // One that counts on less than the other is enough to break it. (A queue that has failed would say so instead.)
    let error = device.queue_non_blocking()?.launch_with(remote(), ThreadSpec::new(1, 1), counts(&x)).unwrap_err();
    kind!(error, ErrorKind::Conflict { .. });
    two.wait()?;
    one.wait()?;
    assert_eq!(x.read(&device.queue()?)?, [2]);
    Ok(())
}

fn fences(device: &Device) -> Outcome {
    for (is_wide, is_refused) in [(true, false), (false, true)] {
        let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        let (payload, ready) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
        let (first, second) = if is_wide {
            (
                one.launch(ThreadSpec::new(1, 1), hands_on::<true>(0, &payload, &ready)),
                two.launch_with(remote(), ThreadSpec::new(1, 1), hands_on::<true>(1, &payload, &ready)),
            )
        } else {
            (
                one.launch(ThreadSpec::new(1, 1), hands_on::<false>(0, &payload, &ready)),
                two.launch_with(remote(), ThreadSpec::new(1, 1), hands_on::<false>(1, &payload, &ready)),
            )
        };
        first?;
        assert_eq!(second.is_err(), is_refused);
        two.wait()?;
        one.wait()?;
    }
    Ok(())
}

fn instances(device: &Device) -> Outcome {
    // Whichever was launched first on this device or another.
    fences(device)?;
    let queue = device.queue()?;
    let (payload, ready) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(1, 1), hands_on::<false>(0, &payload, &ready))?;
    queue.launch(ThreadSpec::new(1, 1), hands_on::<true>(0, &payload, &ready))?;
    fences(device)
}

fn ordered(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    one.launch(ThreadSpec::new(1, 1), counts(&x))?;
    one.launch_with(remote(), ThreadSpec::new(1, 1), counts(&x))?;
    two.wait_for(&one.record()?)?;
    two.launch(ThreadSpec::new(1, 1), counts(&x))?;
    two.wait()?;
    assert_eq!(x.read(&two)?, [3]);
    Ok(())
}

fn mapped(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    let both = SyncDomainMap { default: 0, remote: 0 };
    one.launch(ThreadSpec::new(1, 1), counts(&x))?;
    two.launch_with(remote().sync_domain_map(both), ThreadSpec::new(1, 1), counts(&x))?;
    two.wait()?;
    one.wait()?;
    assert_eq!(x.read(&two)?, [2]);
    let there = device.properties().sync_domains;
    if there > 1 {
        let none = there as u8;
        for map in [SyncDomainMap { default: 0, remote: none }, SyncDomainMap { default: none, remote: 0 }] {
            let error = two.launch_with(remote().sync_domain_map(map), ThreadSpec::new(1, 1), counts(&x)).unwrap_err();
            kind!(error, ErrorKind::Capability { .. });
            says(&error, &["memory synchronization domain", "sync_domain_map"]);
        }
    }
    Ok(())
}

fn of_a_queue(device: &Device) -> Outcome {
    let near = device.queue_non_blocking()?;
    let far = device.queue_non_blocking()?.with_sync_domain(SyncDomain::Remote);
    let (one, x) = (ThreadSpec::new(1, 1), device.alloc_zeroed::<u32>(1)?);
    near.launch(one, counts(&x))?;
    let error = far.launch(one, counts(&x)).unwrap_err();
    kind!(error, ErrorKind::Conflict { .. });
    says(&error, &["different memory synchronization domains"]);
    near.wait()?;
    far.wait()?;
    // What a launch says itself goes before.
    let far = device.queue_non_blocking()?.with_sync_domain(SyncDomain::Remote);
    near.launch(one, counts(&x))?;
    far.launch_with(LaunchOptions::new().sync_domain(SyncDomain::Default), one, counts(&x))?;
    near.wait()?;
    far.wait()?;
    assert_eq!(x.read(&near)?, [3]);
    Ok(())
}

fn mapped_by_a_queue(device: &Device) -> Outcome {
    let both = SyncDomainMap { default: 0, remote: 0 };
    let near = device.queue_non_blocking()?;
    let far = device.queue_non_blocking()?.with_sync_domain(SyncDomain::Remote).with_sync_domain_map(both)?;
    let (one, x) = (ThreadSpec::new(1, 1), device.alloc_zeroed::<u32>(1)?);
    near.launch(one, counts(&x))?;
    far.launch(one, counts(&x))?;
    let apart = LaunchOptions::new().sync_domain_map(SyncDomainMap::default());
    let error = far.launch_with(apart, one, counts(&x)).unwrap_err();
    kind!(error, ErrorKind::Conflict { .. });
    near.wait()?;
    let there = device.properties().sync_domains;
    if there > 1 {
        let none = SyncDomainMap { default: 0, remote: there as u8 };
        let Err(error) = device.queue()?.with_sync_domain_map(none) else { panic!("there is no such domain") };
        kind!(error, ErrorKind::Capability { .. });
        says(&error, &["memory synchronization domain", "sync_domain_map"]);
    }
    Ok(())
}

fn reading(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    one.launch(ThreadSpec::new(1, 1), reads(&x))?;
    two.launch_with(remote(), ThreadSpec::new(1, 1), reads(&x))?;
    two.wait()?;
    one.wait()?;
    Ok(())
}
