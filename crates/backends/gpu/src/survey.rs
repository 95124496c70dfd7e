//! The devices that a driver has, and why others are missing.

use wattle_core::{Device, Found, Missing};

/// The devices found with a driver, and those missing.
#[derive(Debug, Default)]
pub struct Survey {
    /// The devices, each with the driver's name for it in lower case.
    pub devices: Vec<(String, Device)>,
    /// Why other devices are not there, or cannot be used.
    pub missing: Vec<Missing>,
}

impl Survey {
    /// A survey without devices, for this reason.
    pub fn nothing(missing: Missing) -> Survey {
        Survey { devices: Vec::new(), missing: vec![missing] }
    }

    /// The survey's result, as providers report it.
    pub fn found(&self) -> Found {
        Found {
            devices: self.devices.iter().map(|(_, device)| device.clone()).collect(),
            missing: self.missing.clone(),
        }
    }

    /// The first device whose name in the driver contains `rest`; `None` if none does, or if `rest` is a number.
    pub fn select(&self, rest: &str) -> Option<Device> {
        let wanted = rest.trim().to_lowercase();
        if wanted.is_empty() || wanted.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.devices.iter().find(|(label, _)| label.contains(&wanted)).map(|(_, device)| device.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_selected_by_a_part_of_their_name() {
        let devices = vec![("big gpu 100".to_owned(), Device::host()), ("gpu".to_owned(), Device::host_serial())];
        let survey = Survey { devices, missing: Vec::new() };
        assert_eq!(survey.select(" GPU "), Some(Device::host()));
        assert_eq!(survey.select("big"), Some(Device::host()));
        assert_eq!((survey.select("100"), survey.select(""), survey.select("small")), (None, None, None));
        assert_eq!(survey.found().devices.len(), 2);
    }
}
