//! Kernels that use another device's memory: once that is enabled, and ordered by system scope alone.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind};

use crate::harness::{Case, Outcome, kind, says};
use crate::kernels::{counts, counts_with_host, reads};

pub const CASES: &[Case] = &[
    ("a launch uses the buffers of two devices", both),
    ("without being enabled it is refused", not_enabled),
    ("device scope between two devices is refused", device_scope),
    ("reading goes together on two devices", reading),
    ("a device that is no peer is refused", no_peer),
];

/// The device's first peer, each of which may use the other's memory.
fn peer(device: &Device) -> Result<Device> {
    let peer = device.peers()?.swap_remove(0);
    device.enable_peer_access(&peer)?;
    peer.enable_peer_access(device)?;
    Ok(peer)
}

#[kernel]
fn adds_to(acc: &Acc, from: Read<u32>, to: Shared<u32>) {
    for i in acc.thread_in_grid()..from.len() {
        to[i] = to[i] + from[i];
    }
}

fn both(device: &Device) -> Outcome {
    let peer = peer(device)?;
    let (queue, its_queue) = (device.queue_non_blocking()?, peer.queue_non_blocking()?);
    let (own, theirs) = (device.from_slice(&[1u32, 2, 3])?, peer.from_slice(&[10u32, 20, 30])?);
    let one = ThreadSpec::new(1, 1);
    queue.launch(one, adds_to(&own, &theirs))?;
    // An event orders the two devices' work.
    its_queue.wait_for(&queue.record()?)?;
    its_queue.launch(one, adds_to(&theirs, &own))?;
    its_queue.wait()?;
    assert_eq!(theirs.read(&its_queue)?, [11, 22, 33]);
    assert_eq!(own.read(&queue)?, [12, 24, 36]);
    Ok(())
}

fn not_enabled(device: &Device) -> Outcome {
    // One that nobody has enabled anything for.
    let device =
        if device.properties().kind == DeviceKind::Simulated { Device::select("simulated")? } else { return Ok(()) };
    let peer = device.peers()?.swap_remove(0);
    assert_ne!(peer, device);
    assert!(peer.peers()? == std::slice::from_ref(&device));
    let theirs = peer.alloc_zeroed::<u32>(1)?;
    let launch = |device: &Device| device.queue()?.launch(ThreadSpec::new(1, 1), counts(&theirs));
    // The other direction is enabled by itself.
    peer.enable_peer_access(&device)?;
    let error = launch(&device).unwrap_err();
    kind!(error, ErrorKind::WrongDevice { .. });
    says(&error, &["parameter", "`counts`", peer.name(), "enable_peer_access"]);
    device.enable_peer_access(&peer)?;
    launch(&device)?;
    assert_eq!(theirs.read(&peer.queue()?)?, [1]);
    Ok(())
}

fn device_scope(device: &Device) -> Outcome {
    let peer = peer(device)?;
    let one = ThreadSpec::new(1, 1);
    let (queue, its_queue) = (device.queue_non_blocking()?, peer.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    queue.launch(one, counts(&x))?;
    let error = its_queue.launch(one, counts(&x)).unwrap_err();
    kind!(error, ErrorKind::Conflict { .. });
    says(&error, &["the launch of `counts`", "on different devices", "`Scope::System`"]);
    queue.wait()?;
    // Of one device's launches nothing more is asked, and system scope orders those of both.
    queue.launch(one, counts_with_host(&x))?;
    its_queue.launch(one, counts_with_host(&x))?;
    its_queue.wait()?;
    queue.wait()?;
    its_queue.launch(one, counts(&x))?;
    its_queue.wait()?;
    assert_eq!(x.read(&queue)?, [4]);
    Ok(())
}

fn reading(device: &Device) -> Outcome {
    let peer = peer(device)?;
    let (queue, its_queue) = (device.queue_non_blocking()?, peer.queue_non_blocking()?);
    let x = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(1, 1), reads(&x))?;
    its_queue.launch(ThreadSpec::new(1, 1), reads(&x))?;
    its_queue.wait()?;
    queue.wait()?;
    Ok(())
}

fn no_peer(device: &Device) -> Outcome {
    device.enable_peer_access(device)?;
    let other =
        if device.properties().kind == DeviceKind::Host { Device::select("simulated")? } else { Device::host() };
    let error = device.enable_peer_access(&other).unwrap_err();
    kind!(error, ErrorKind::Capability { .. });
    says(&error, &[device.name(), "memory in kernels"]);
    Ok(())
}
