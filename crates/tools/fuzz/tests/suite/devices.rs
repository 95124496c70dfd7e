//! Random kernels, and those that once failed, give the same bytes on the simulated device and on each device with a
//! driver. `WATTLE_FUZZ_KERNELS` sets how many; `cargo run --release -p xtask -- fuzz` goes on for a given time.

use std::thread;

use wattle_check::Simulated as _;
use wattle_core::{Device, DeviceKind};
use wattle_fuzz::{Profile, campaign, compare, generate, outcome, replay};
// Linked, so that its devices are known.
use wattle_cuda as _;
use wattle_vulkan as _;

fn kernels() -> u64 {
    std::env::var("WATTLE_FUZZ_KERNELS").ok().and_then(|count| count.parse().ok()).unwrap_or(250)
}

fn devices() -> Vec<Device> {
    let devices = Device::all();
    let devices = devices.into_iter();
    let devices: Vec<_> =
        devices.filter(|d| matches!(d.properties().kind, DeviceKind::Gpu | DeviceKind::Software)).collect();
    if devices.is_empty() {
        test_skips::skipped("no device with a driver is here");
    }
    devices
}

/// Does something with each device, at the same time: most of them have one thread of work.
fn on_each(check: impl Fn(Device) + Sync) {
    thread::scope(|scope| {
        for device in devices() {
            scope.spawn(|| check(device));
        }
    });
}

#[test]
fn random_kernels_give_the_same_bytes() {
    on_each(|device| {
        let report = campaign(&device, 0..kernels(), &Profile::full(), |_| ());
        println!("{}: {report}", device.name());
        if let Some(found) = report.found.first() {
            panic!("{}: seed {}: {}\n{}", device.name(), found.seed, found.difference, found.case);
        }
    });
}

#[test]
fn random_kernels_with_indices_of_64_bits_give_the_same_bytes() {
    let simulated = Device::simulated(0);
    // SwiftShader loses the signs of zeros.
    let profile = Profile { signed_zeros: false, ..Profile::full() };
    for device in devices() {
        let mut compared = 0;
        for seed in 0..kernels() / 4 {
            let case = generate(seed, &profile);
            let expected = outcome(&case, &simulated).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
            let case = case.with_long_indices(seed % 2 == 0);
            let found = match outcome(&case, &device) {
                Ok(found) => found,
                Err(error) if wattle_fuzz::cannot(&error) => continue,
                Err(error) => panic!("{}: seed {seed}: {error}\n{case}", device.name()),
            };
            compared += 1;
            if let Some(difference) = compare(&case, &expected, &found) {
                panic!("{}: seed {seed}: {difference}\n{case}", device.name());
            }
        }
        println!("{}: {compared} compared", device.name());
    }
}

#[test]
fn what_once_failed_fails_no_more() {
    let kept = replay().unwrap_or_else(|error| panic!("{error}"));
    for device in devices() {
        for kept in &kept {
            match wattle_fuzz::differs(&kept.case, &Device::simulated(0), &device) {
                Ok(None) => {}
                Ok(Some(difference)) => panic!("{} on {}: {difference}\n{}", kept.name, device.name(), kept.case),
                Err(error) if wattle_fuzz::cannot(&error) => {
                    println!("not possible: {} on {}: {error}", kept.name, device.name());
                }
                Err(error) => panic!("{} on {}: {error}\n{}", kept.name, device.name(), kept.case),
            }
        }
    }
}
