//! What the tests of this crate share. Not every file uses all of it.
#![allow(dead_code, unused_imports)]

#[path = "../../../gpu/tests/drivers/child.rs"]
mod child;

pub use child::{in_a_child, is_a_child, passed};
use wattle::{Device, DeviceKind};

/// The devices; a line is printed for each reason why others are missing.
pub fn devices() -> Vec<Device> {
    let wattle_core::Found { devices, missing, .. } = wattle_cuda::survey();
    for missing in &missing {
        test_skips::skipped(&missing.reason);
    }
    devices
}

/// The devices of soft-cuda, the driver for tests that needs no GPU; a line is printed if it is not here.
pub fn soft_devices() -> Vec<Device> {
    let soft: Vec<_> =
        devices().into_iter().filter(|device| device.properties().kind == DeviceKind::Software).collect();
    if soft.is_empty() {
        test_skips::skipped("it needs soft-cuda");
    }
    soft
}

/// Runs one test in a process of its own, with soft-cuda and without a cache; the test fails if that hangs.
pub fn in_soft_that_ends(test: &str, variables: &[(&str, &str)], in_child: impl FnOnce(Device)) {
    let Some(device) = soft_devices().into_iter().next() else { return };
    let variables = [variables, &[("WATTLE_CACHE_DIR", "")]].concat();
    match in_a_child(test, &variables) {
        Some(output) => passed(&output),
        None => {
            std::thread::spawn(|| {
                std::thread::sleep(std::time::Duration::from_secs(60));
                eprintln!("it hangs");
                std::process::abort();
            });
            in_child(device);
        }
    }
}
