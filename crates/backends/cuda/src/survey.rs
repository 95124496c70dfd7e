//! The devices that there are, and why others are not.

use std::sync::{Arc, OnceLock};

use wattle_core::{Device, Found, Missing, Provider};

use crate::backend::CudaBackend;
use crate::driver;
use crate::physical::{NAME, Physical};

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: NAME, find: survey, select };

/// What was found: the devices with the driver's names for them, and why others cannot be used.
struct Known {
    devices: Vec<(String, Device)>,
    missing: Vec<Missing>,
}

/// All CUDA devices, in the driver's order; and why others cannot be used.
///
/// They are looked for once, so a device is the same each time. None is opened before it is used.
pub fn survey() -> Found {
    let known = known();
    Found { devices: known.devices.iter().map(|(_, device)| device.clone()).collect(), missing: known.missing.clone() }
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| look().unwrap_or_else(|reason| Known { devices: Vec::new(), missing: vec![missing(reason)] }))
}

fn missing(reason: String) -> Missing {
    Missing { name: NAME, reason }
}

fn look() -> Result<Known, String> {
    let version = driver::load()?;
    let count = driver::count().map_err(|refusal| format!("the CUDA driver cannot list its devices: {refusal}"))?;
    if count == 0 {
        return Err("the CUDA driver is here, and has no device; is one hidden by CUDA_VISIBLE_DEVICES?".into());
    }
    let mut known = Known { devices: Vec::new(), missing: Vec::new() };
    for number in 0..count {
        match Physical::read(number, version) {
            Ok(physical) => {
                let label = physical.label.to_lowercase();
                known.devices.push((label, Device::new(Arc::new(CudaBackend::new(physical)))));
            }
            Err(why) => known.missing.push(missing(why)),
        }
    }
    Ok(known)
}

/// The first device whose driver's name for it contains `rest`. A number is a number, and no name.
fn select(rest: &str) -> Option<Device> {
    let wanted = rest.trim().to_lowercase();
    if wanted.is_empty() || wanted.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    known().devices.iter().find(|(label, _)| label.contains(&wanted)).map(|(_, device)| device.clone())
}
