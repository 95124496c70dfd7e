//! Every program, on every device there is.

use gallery as _;
use wattle::ErrorKind;
use wattle::prelude::*;

#[test]
fn all_scenarios_on_every_device() -> Result<()> {
    let scenarios = Scenario::all()?;
    assert_eq!(scenarios.len(), 10);
    for device in Device::all() {
        for scenario in scenarios {
            match scenario.run(&device, None) {
                Ok(summary) => println!("{} on {}: {}", scenario.name, device.name(), summary.did),
                // Some devices have no bytes, say.
                Err(error) if matches!(error.kind(), ErrorKind::Capability { .. }) => println!("{error}"),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}
