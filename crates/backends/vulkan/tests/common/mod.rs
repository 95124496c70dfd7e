//! What the tests of this crate share. Not every file uses all of it.
#![allow(dead_code, unused_imports)]

#[path = "../../../gpu/tests/drivers/child.rs"]
mod child;

pub use child::{in_a_child, passed};
use wattle::Device;

/// The devices; prints each reason why there are none.
pub fn devices() -> Vec<Device> {
    let wattle_core::Found { devices, missing, .. } = wattle_vulkan::survey();
    for missing in &missing {
        test_skips::skipped(&missing.reason);
    }
    devices
}

/// Asserts that the validation layer, if enabled, has reported nothing.
pub fn no_messages() {
    assert_eq!(wattle_vulkan::validation_messages(), Vec::<String>::new());
}
