//! The Vulkan loader, found at run time, and the process's only instance.

use std::ffi::CStr;
use std::sync::OnceLock;

use ash::{Entry, Instance, vk};
use wattle_core::Missing;

use crate::error::words;
use crate::validation::{self, Messenger};

/// The lowest Vulkan version that a device may have.
pub(crate) const LEAST_VERSION: u32 = vk::API_VERSION_1_2;
/// The highest Vulkan version whose features are used.
const NEWEST_VERSION: u32 = vk::API_VERSION_1_3;

/// The name under which this crate's devices, and their absence, are reported.
pub(crate) const NAME: &str = "vulkan";

/// The loader and its instance, which live as long as the process.
pub(crate) struct Loader {
    /// Vulkan's functions for physical devices.
    pub(crate) instance: Instance,
    /// The instance's Vulkan version.
    pub(crate) version: u32,
    _messenger: Option<Messenger>,
    /// The loader's library, kept alive.
    _entry: Entry,
}

/// Returns the loader, which is looked for once.
///
/// # Errors
/// There is no loader, it is too old, or the requested validation layer is missing.
pub(crate) fn loader() -> Result<&'static Loader, Missing> {
    static LOADER: OnceLock<Result<Loader, Missing>> = OnceLock::new();
    LOADER.get_or_init(load).as_ref().map_err(Clone::clone)
}

/// Makes the error that explains why there is no device.
pub(crate) fn missing(reason: impl Into<String>) -> Missing {
    Missing { name: NAME, reason: reason.into() }
}

fn load() -> Result<Loader, Missing> {
    // SAFETY: the library that the system's linker finds under the loader's name is the Vulkan loader.
    let entry = unsafe { Entry::load() }.map_err(|error| {
        missing(format!(
            "the Vulkan loader was not found ({error}); install it (Debian: `libvulkan1`) and a driver for your GPU, or \
             the software device (Debian: `mesa-vulkan-drivers`)"
        ))
    })?;
    // SAFETY: the entry's functions are the loader's.
    let offered = unsafe { entry.try_enumerate_instance_version() };
    let offered = offered.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    if offered < LEAST_VERSION {
        return Err(missing(format!(
            "the Vulkan loader has version {}, and 1.2 is needed; install a newer one (Debian: `libvulkan1`)",
            version_text(offered)
        )));
    }
    let version = offered.min(NEWEST_VERSION);
    let info = vk::ApplicationInfo::default()
        .application_name(c"wattle")
        .engine_name(c"wattle")
        .api_version(if version >= NEWEST_VERSION { NEWEST_VERSION } else { LEAST_VERSION });
    let wanted = validation::is_wanted();
    let (mut layers, mut extensions): (Vec<&CStr>, Vec<&CStr>) = (Vec::new(), Vec::new());
    if wanted {
        let with = validation::find(&entry)?;
        layers.push(validation::LAYER);
        extensions.push(ash::ext::debug_utils::NAME);
        if with.has_validation_features {
            extensions.push(ash::ext::validation_features::NAME);
        }
    }
    let pointers = |names: &[&CStr]| names.iter().map(|name| name.as_ptr()).collect::<Vec<_>>();
    let (layers, extensions) = (pointers(&layers), pointers(&extensions));
    let enabled = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let mut messenger = validation::messenger_info();
    let mut create = vk::InstanceCreateInfo::default()
        .application_info(&info)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    if wanted {
        create = create.push_next(&mut messenger);
        if extensions.len() > 1 {
            create = create.push_next(&mut features);
        }
    }
    // SAFETY: what the description points to outlives the call.
    let instance = unsafe { entry.create_instance(&create, None) }.map_err(|error| {
        missing(format!(
            "the Vulkan loader is here, and no instance can be made: {}; install a driver for your GPU, or the software \
             device (Debian: `mesa-vulkan-drivers`)",
            words(error)
        ))
    })?;
    let messenger = wanted.then(|| Messenger::new(&entry, &instance)).flatten();
    Ok(Loader { instance, version, _messenger: messenger, _entry: entry })
}

/// Formats a version: `1.3.204`.
pub(crate) fn version_text(version: u32) -> String {
    let [major, minor, patch] =
        [vk::api_version_major(version), vk::api_version_minor(version), vk::api_version_patch(version)];
    format!("{major}.{minor}.{patch}")
}
