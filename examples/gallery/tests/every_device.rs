//! Every program, on every device there is.

use gallery as _;
use wattle::prelude::*;

#[test]
fn all_scenarios_on_every_device() -> Result<()> {
    let scenarios = Scenario::all()?;
    assert_eq!(scenarios.len(), 9);
    for device in Device::all() {
        for scenario in scenarios {
            let summary = scenario.run(&device, None)?;
            println!("{} on {}: {}", scenario.name, device.name(), summary.did);
        }
    }
    Ok(())
}
