//! Compares many random kernels on one device with the simulated one.

use std::fmt;

use wattle_check::Simulated;
use wattle_core::{Device, ErrorKind};
use wattle_memory::Target;

use crate::{Case, Profile, cannot, differs, generate};

/// The result of many random kernels.
#[derive(Debug, Default)]
pub struct Campaign {
    /// The number of kernels that gave the same on both devices.
    pub same: u64,
    /// How many of these the device could run only when made anew: for small blocks, or of 32-bit types alone.
    pub narrowed: u64,
    /// How many the device could not run even so, and its error for the first.
    pub not_possible: (u64, Option<String>),
    /// The kernels whose results differ.
    pub found: Vec<Found>,
    /// The reason why the device could not be used any more, which ended the campaign.
    pub ended: Option<String>,
}

/// A kernel whose results differ.
#[derive(Debug)]
pub struct Found {
    /// The seed and the profile that make it.
    pub seed: u64,
    /// The profile that has only the kinds that the device can run.
    pub profile: Profile,
    /// The kernel with its launch.
    pub case: Case,
    /// The difference, or the error.
    pub difference: String,
    /// Whether the kernel ran to its end on both devices: whoever makes it smaller can run it again.
    pub has_ended: bool,
}

impl fmt::Display for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Campaign { same, narrowed, not_possible: (not_possible, why), found, ended } = self;
        write!(f, "{same} kernels the same ({narrowed} made for less), {} differ", found.len())?;
        if let Some(why) = why {
            write!(f, ", {not_possible} not possible, the first: {why}")?;
        }
        match ended {
            Some(why) => write!(f, "; ended: {why}"),
            None => Ok(()),
        }
    }
}

/// The number of threads per block that every device supports, whatever the kernel.
const SMALL_BLOCK: u32 = 4;

/// The profile for the device's warps, without what the device is known to do wrong.
fn for_device(device: &Device, profile: &Profile) -> Profile {
    // A choice between -1 and 0 becomes a negated conversion of the condition there, and 0 so becomes -0.
    let loses_signs = device.properties().description.contains("llvmpipe");
    // Vulkan promises whole warps alone.
    let whole_warps = device.properties().target == Some(Target::Vulkan);
    let warp_size = device.properties().warp_width;
    Profile { signed_zeros: profile.signed_zeros && !loses_signs, warp_size, whole_warps, ..profile.clone() }
}

/// Runs the kernels of these seeds. One that the device cannot run is made anew for small blocks, then of 32-bit types
/// alone. It ends early where a kernel has left the device unusable.
/// `after` is called with what has come out so far, after each.
pub fn campaign(
    device: &Device,
    seeds: impl IntoIterator<Item = u64>,
    profile: &Profile,
    mut after: impl FnMut(&Campaign),
) -> Campaign {
    let mut campaign = Campaign::default();
    let profile = &for_device(device, profile);
    // Profiles for a device that lacks types, or large blocks for some kernels.
    let narrow = Profile { types: Profile::narrow().types, atomics: Profile::narrow().atomics, ..profile.clone() };
    let small = Profile { most_threads: SMALL_BLOCK, ..profile.clone() };
    for seed in seeds {
        let mut profile = profile;
        let mut case = generate(seed, profile);
        let mut outcome = differs(&case, &Device::simulated(seed), device);
        let lacks = outcome.as_ref().is_err_and(cannot);
        for less in [&small, &narrow] {
            if outcome.as_ref().is_err_and(cannot) {
                profile = less;
                case = generate(seed, less);
                outcome = differs(&case, &Device::simulated(seed), device);
            }
        }
        match outcome {
            Ok(None) => {
                campaign.same += 1;
                campaign.narrowed += u64::from(lacks);
            }
            Ok(Some(difference)) => campaign.found.push(Found {
                seed,
                profile: profile.clone(),
                case,
                difference: difference.to_string(),
                has_ended: true,
            }),
            // An earlier kernel holds it.
            Err(error) if matches!(error.kind(), ErrorKind::DeviceUnusable { .. }) => {
                campaign.ended = Some(error.to_string());
                break;
            }
            Err(error) if cannot(&error) => {
                campaign.not_possible.0 += 1;
                campaign.not_possible.1.get_or_insert_with(|| error.to_string());
            }
            Err(error) => {
                let has_ended = !matches!(error.kind(), ErrorKind::TimeLimit { .. });
                let (profile, difference) = (profile.clone(), error.to_string());
                campaign.found.push(Found { seed, profile, case, difference, has_ended });
            }
        }
        after(&campaign);
    }
    campaign
}
