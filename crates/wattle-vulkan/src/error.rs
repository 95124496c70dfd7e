//! What a driver says, as the errors that all devices have.

use std::fmt::Display;

use ash::vk;
use wattle_core::{Error, ErrorKind};

/// An error of the driver's or the operating system's.
pub(crate) fn system(what: impl Into<String>, message: impl Display) -> Error {
    ErrorKind::System { what: what.into(), message: message.to_string() }.into()
}

/// Something that a device cannot do: `what` reads after "device `x` cannot".
#[cold]
pub(crate) fn cannot(device: &str, what: impl Into<String>, instead: impl Into<String>) -> Error {
    ErrorKind::Capability { device: device.to_owned(), what: what.into(), instead: instead.into() }.into()
}

/// What a result of Vulkan means, in words.
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
