//! Vulkan's result codes in words.

use ash::vk;

/// Describes a Vulkan result code in words.
pub(crate) fn words(result: vk::Result) -> String {
    let meaning = match result {
        vk::Result::ERROR_DEVICE_LOST => "the driver has given the device up: a launch took too long for it, or failed",
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => "the device's memory is full",
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => "this machine's memory is full",
        vk::Result::ERROR_INITIALIZATION_FAILED => "the driver could not start",
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => "no driver for this version of Vulkan is installed",
        vk::Result::ERROR_TOO_MANY_OBJECTS => "the driver has no room for more objects of this kind",
        vk::Result::ERROR_FRAGMENTATION => "the driver's pool is in pieces",
        vk::Result::ERROR_UNKNOWN => "the driver gives no reason",
        _ => return format!("{result:?}"),
    };
    format!("{meaning} ({result:?})")
}
