//! The devices that the driver has, and why others cannot be used.

use std::sync::{Arc, OnceLock};

use wattle_core::{Device, Found, Missing, Provider};
use wattle_gpu::Survey;

use crate::backend::CudaBackend;
use crate::driver;
use crate::physical::{NAME, Physical};

#[linkme::distributed_slice(wattle_core::PROVIDERS)]
static PROVIDER: Provider = Provider { name: NAME, find: survey, select: |rest| known().select(rest) };

/// All CUDA devices, in the driver's order; and why others cannot be used.
///
/// The driver is asked once, so a device is the same each time. No device is opened before it is used.
pub fn survey() -> Found {
    known().found()
}

fn known() -> &'static Survey {
    static KNOWN: OnceLock<Survey> = OnceLock::new();
    KNOWN.get_or_init(|| look().unwrap_or_else(|reason| Survey::nothing(missing(reason))))
}

fn missing(reason: String) -> Missing {
    Missing { name: NAME, reason }
}

fn look() -> Result<Survey, String> {
    let version = driver::load()?;
    let count = driver::count().map_err(|refusal| format!("the CUDA driver cannot list its devices: {refusal}"))?;
    if count == 0 {
        return Err("the CUDA driver is here, and has no device; is one hidden by CUDA_VISIBLE_DEVICES?".into());
    }
    let mut known = Survey::default();
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
