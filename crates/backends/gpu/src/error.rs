//! Errors that all drivers report.

use wattle_core::Error;

/// The error of something that a device cannot do: `what` reads after "device `x` cannot", and `instead` is what to do.
#[cold]
pub fn cannot(device: &str, what: impl Into<String>, instead: impl Into<String>) -> Error {
    Error::capability(device, what, instead)
}
