//! Finds the scenarios and devices that names stand for.

use wattle::{Device, ErrorKind, Scenario};

use crate::exit::Input;

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

/// The names, at most three, that `name` could have been meant to be.
pub fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut close: Vec<_> = known
        .filter_map(|other| {
            let distance = strsim::levenshtein(name, other);
            let part = name.len() >= 3 && (other.contains(name) || name.contains(other));
            let reach = 1 + name.len().min(other.len()) / 4;
            (distance <= reach || part).then_some((distance, other))
        })
        .collect();
    close.sort();
    close.truncate(3);
    close.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn nearest_first() {
        let known = ["swap", "swap-broken-fence-only", "stream", "orderings"];
        assert_eq!(near("swapp", known.into_iter()), ["swap"]);
        assert_eq!(near("broken", known.into_iter()), ["swap-broken-fence-only"]);
        assert!(near("zzz", known.into_iter()).is_empty());
        assert!(near("", known.into_iter()).is_empty());
    }
}
