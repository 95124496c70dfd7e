//! Finds the scenarios and devices that names stand for.

use std::path::Path;

use wattle::{Device, ErrorKind, Scenario};

use crate::exit::Input;
use crate::near::near;

/// The advice where there are no scenarios at all.
pub const NO_SCENARIOS: &str = "\
There are no scenarios. Write `#[scenario]` above a function that takes a `&Device`; if it is in a library,
name that in the program (`use my_library as _;`), or it is not linked.";

/// The scenarios of these names.
pub fn scenarios<'s>(all: &'s [Scenario], names: &[String]) -> Result<Vec<&'s Scenario>, Input> {
    names.iter().map(|name| scenario(all, name)).collect()
}

/// The scenario of this name.
pub fn scenario<'s>(all: &'s [Scenario], name: &str) -> Result<&'s Scenario, Input> {
    all.iter().find(|scenario| scenario.name == name).ok_or_else(|| {
        let known = all.iter().map(|scenario| scenario.name.to_owned()).collect();
        let mut input = Input::unknown("unknown_scenario", "scenario", name, known);
        input.listed_by = Some("wattle list");
        if Path::new(name).is_file() {
            input.message += "; of files `wattle check` reads those that end with .litmus, .ptx, .spv or .spvasm";
        }
        if all.is_empty() {
            input.message = format!("{}\n{NO_SCENARIOS}", input.message);
        }
        input
    })
}

/// The devices of these names, `all` being all there are, each once; where none is named, those of `otherwise`.
pub fn devices(names: &[String], otherwise: impl FnOnce() -> Vec<Device>) -> Result<Vec<Device>, Input> {
    if names.is_empty() {
        return Ok(otherwise());
    }
    let mut devices: Vec<Device> = Vec::new();
    for name in names {
        let found = if name == "all" { Device::all() } else { vec![device(name)?] };
        for device in found {
            if devices.iter().all(|known| known.name() != device.name()) {
                devices.push(device);
            }
        }
    }
    Ok(devices)
}

/// The device of this name.
pub fn device(name: &str) -> Result<Device, Input> {
    Device::select(name).map_err(|error| {
        let mut input = Input::new("device", error.to_string());
        if let ErrorKind::UnknownDevice { .. } = error.kind() {
            input.kind = "unknown_device";
            let known = Device::all();
            input.near = near(name, known.iter().map(Device::name));
        }
        input
    })
}
