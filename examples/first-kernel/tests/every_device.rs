//! The scenario, on every device there is.

use first_kernel::{DOT, dot_product};
use wattle::{Device, Result};

#[test]
fn on_every_device() -> Result<()> {
    for device in Device::all() {
        let summary = DOT.run(&device, None)?;
        assert_eq!(summary.checks, ["it is plain Rust's"], "{}", device.name());
    }
    Ok(())
}

#[test]
fn an_array_of_one() -> Result<()> {
    for device in Device::all() {
        assert_eq!(dot_product(&device, &[6], &[7])?, 42, "{}", device.name());
    }
    Ok(())
}
