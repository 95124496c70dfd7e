//! The available devices, and why others cannot be used.

use std::sync::{Arc, OnceLock};

use wattle_core::{Device, DeviceKind, Found, Provider};
use wattle_gpu::Survey;

use crate::backend::VulkanBackend;
use crate::exit;
use crate::loader::{NAME, loader, missing};
use crate::physical::Physical;

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: NAME, find: survey, select: |rest| known().select(rest) };

/// All Vulkan devices, hardware first, each group in the loader's order; and why others cannot be used.
///
/// They are looked for once, so a device is the same each time. None is opened before it is used.
pub fn survey() -> Found {
    known().found()
}

fn known() -> &'static Survey {
    static KNOWN: OnceLock<Survey> = OnceLock::new();
    KNOWN.get_or_init(look)
}

fn look() -> Survey {
    let loader = match loader() {
        Ok(loader) => loader,
        Err(reason) => return Survey::nothing(reason),
    };
    // SAFETY: the instance lives as long as the process.
    let handles = match unsafe { loader.instance.enumerate_physical_devices() } {
        Ok(handles) => handles,
        Err(error) => {
            let words = crate::error::words(error);
            return Survey::nothing(missing(format!("the Vulkan loader cannot list its devices: {words}")));
        }
    };
    // All drivers have been loaded by now.
    exit::before_drivers();
    if handles.is_empty() {
        return Survey::nothing(missing(
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
    Survey { devices: named.collect(), missing: missing_ones }
}
