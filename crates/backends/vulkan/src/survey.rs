//! The devices that there are, and why others are not.

use std::sync::{Arc, OnceLock};

use wattle_core::{Device, DeviceKind, Found, Missing, Provider};

use crate::backend::VulkanBackend;
use crate::exit;
use crate::loader::{NAME, loader, missing};
use crate::physical::Physical;

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: NAME, find: survey, select };

/// What was found: the devices with the drivers' names for them, and why others cannot be used.
struct Known {
    devices: Vec<(String, Device)>,
    missing: Vec<Missing>,
}

/// All Vulkan devices, hardware first, each group in the loader's order; and why others cannot be used.
///
/// They are looked for once, so a device is the same each time. None is opened before it is used.
pub fn survey() -> Found {
    let known = known();
    Found { devices: known.devices.iter().map(|(_, device)| device.clone()).collect(), missing: known.missing.clone() }
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(look)
}

fn look() -> Known {
    let nothing = |reason| Known { devices: Vec::new(), missing: vec![reason] };
    let loader = match loader() {
        Ok(loader) => loader,
        Err(reason) => return nothing(reason),
    };
    // SAFETY: the instance lives as long as the process.
    let handles = match unsafe { loader.instance.enumerate_physical_devices() } {
        Ok(handles) => handles,
        Err(error) => {
            let words = crate::error::words(error);
            return nothing(missing(format!("the Vulkan loader cannot list its devices: {words}")));
        }
    };
    // By now all drivers are here.
    exit::before_drivers();
    if handles.is_empty() {
        return nothing(missing(
            "the Vulkan loader is here, and no driver of it has a device; install the driver for your GPU, or the \
             software device (Debian: `mesa-vulkan-drivers`)",
        ));
    }
    let (mut usable, mut missing_ones) = (Vec::new(), Vec::new());
    for handle in handles {
        match Physical::read(&loader.instance, loader.version, handle) {
            Ok(physical) => usable.push(physical),
            Err(why) => missing_ones.push(missing(why)),
        }
    }
    usable.sort_by_key(|physical| physical.properties.kind == DeviceKind::Software);
    let named = usable.into_iter().enumerate().map(|(number, mut physical)| {
        physical.name(format!("{NAME}:{number}"));
        let label = physical.label.to_lowercase();
        (label, Device::new(Arc::new(VulkanBackend::new(physical))))
    });
    Known { devices: named.collect(), missing: missing_ones }
}

/// The first device whose driver's name for it contains `rest`. A number is a number, and no name.
fn select(rest: &str) -> Option<Device> {
    let wanted = rest.trim().to_lowercase();
    if wanted.is_empty() || wanted.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    known().devices.iter().find(|(label, _)| label.contains(&wanted)).map(|(_, device)| device.clone())
}
