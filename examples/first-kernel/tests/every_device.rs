//! The scenarios, on every device there is and under the checker.

use first_kernel::dot_product;
use wattle::prelude::*;

#[test]
fn all_scenarios_on_every_device() -> Result<()> {
    for scenario in Scenario::all()? {
        for device in Device::all() {
            let summary = scenario.run(&device, None)?;
            println!("{} on {}: {}", scenario.name, device.name(), summary.did);
        }
    }
    Ok(())
}

#[test]
fn proved() {
    Checker::new(Model::Portable).assert_holds(|device| first_kernel::scenario(device, 4));
}

#[test]
fn an_array_of_one() -> Result<()> {
    for device in Device::all() {
        assert_eq!(dot_product(&device, &[6], &[7])?, 42, "{}", device.name());
    }
    Ok(())
}
