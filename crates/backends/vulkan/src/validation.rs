//! The Khronos validation layer, enabled by `WATTLE_VULKAN_VALIDATION=1`.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

use ash::{Entry, Instance, vk};
use wattle_core::{Missing, lock};

use crate::loader::missing;

/// The layer's name.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The maximum number of messages kept; a faulty loop may repeat the same one for ever.
const KEPT: usize = 1000;

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The messages of the validation layer in this process, warnings and errors, oldest first: at most the first 1000.
///
/// Empty unless the layer was enabled with `WATTLE_VULKAN_VALIDATION=1`.
pub fn validation_messages() -> Vec<String> {
    lock(&MESSAGES).clone()
}

/// Whether the layer is requested.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os("WATTLE_VULKAN_VALIDATION").is_some_and(|value| !value.is_empty() && value != "0")
}

/// The features of the installed layer.
pub(crate) struct Found {
    /// Whether it can validate synchronization.
    pub(crate) has_validation_features: bool,
}

/// Looks for the layer.
///
/// # Errors
/// The layer is not installed.
pub(crate) fn find(entry: &Entry) -> Result<Found, Missing> {
    let absent = |why: String| {
        missing(format!(
            "WATTLE_VULKAN_VALIDATION is set, and {why}; install the layer (Debian: `vulkan-validationlayers`), or name \
             the folder of its VkLayer_khronos_validation.json in VK_ADD_LAYER_PATH, or unset the variable"
        ))
    };
    // SAFETY: the entry's functions are the loader's.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    if !layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER)) {
        return Err(absent("the layer VK_LAYER_KHRONOS_validation is not installed".into()));
    }
    let has = |layer, name: &CStr| {
        // SAFETY: as above.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(layer) }.unwrap_or_default();
        extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
    };
    if !has(Some(LAYER), ash::ext::debug_utils::NAME) && !has(None, ash::ext::debug_utils::NAME) {
        return Err(absent("neither loader nor layer has VK_EXT_debug_utils to report with".into()));
    }
    Ok(Found { has_validation_features: has(Some(LAYER), ash::ext::validation_features::NAME) })
}

/// The kinds of messages that are wanted, and the function that receives them.
pub(crate) fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(Kind::VALIDATION | Kind::PERFORMANCE)
        .pfn_user_callback(Some(keep))
}

/// The registration of the message callback. It lives as long as the instance.
pub(crate) struct Messenger {
    _extension: ash::ext::debug_utils::Instance,
    _messenger: vk::DebugUtilsMessengerEXT,
}

impl Messenger {
    pub(crate) fn new(entry: &Entry, instance: &Instance) -> Option<Messenger> {
        let extension = ash::ext::debug_utils::Instance::new(entry, instance);
        // SAFETY: the extension was enabled in this instance.
        let messenger = unsafe { extension.create_debug_utils_messenger(&messenger_info(), None) }.ok()?;
        Some(Messenger { _extension: extension, _messenger: messenger })
    }
}

fn text(text: Option<&CStr>) -> Cow<'_, str> {
    text.map_or(Cow::Borrowed(""), CStr::to_string_lossy)
}

/// Keeps a message, and prints it.
///
/// # Safety
/// Only Vulkan calls it, with pointers that are valid during the call.
unsafe extern "system" fn keep(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    if data.is_null() {
        return vk::FALSE;
    }
    // SAFETY: the pointer is valid during the call, and so are the texts in it.
    let data = unsafe { &*data };
    // SAFETY: as above.
    let (name, message) = unsafe { (data.message_id_name_as_c_str(), data.message_as_c_str()) };
    let severity = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) { "error" } else { "warning" };
    let line = format!("{severity}: {}: {}", text(name), text(message));
    eprintln!("vulkan validation {line}");
    let mut messages = lock(&MESSAGES);
    if messages.len() < KEPT {
        messages.push(line);
    }
    vk::FALSE
}
