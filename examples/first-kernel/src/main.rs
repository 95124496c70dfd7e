//! Runs the scenario on every device there is.

use first_kernel::DOT;
use wattle::{Device, Result};

fn main() -> Result<()> {
    for device in Device::all() {
        let summary = DOT.run(&device, None)?;
        println!("{:<12} {}: {}", device.name(), summary.did, summary.checks.join(", "));
    }
    Ok(())
}
