//! Errors that all drivers have.

use std::any::Any;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wattle_core::{Error, ErrorKind};

/// An error of the driver's or the operating system's: what was being done, and what was said.
pub fn system(what: impl Into<String>, message: impl Display) -> Error {
    ErrorKind::System { what: what.into(), message: message.to_string() }.into()
}

/// Something that a device cannot do: `what` reads after "device `x` cannot", and `instead` is what to do.
#[cold]
pub fn cannot(device: &str, what: impl Into<String>, instead: impl Into<String>) -> Error {
    Error::capability(device, what, instead)
}

/// A panic in `what` as an error.
pub fn panicked(what: &str, panic: Box<dyn Any + Send>) -> Error {
    let message = panic
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(no message)".to_owned());
    // What was thrown may throw again when it is dropped.
    std::mem::forget(panic);
    ErrorKind::Panic { what: what.to_owned(), message }.into()
}

/// Locks what is whole at every moment, so that a panic elsewhere while it was locked harms nothing.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_told_with_their_message() {
        let message = |panic: Box<dyn Any + Send>| panicked("a task", panic).to_string();
        assert!(message(Box::new("words")).contains("words"));
        assert!(message(Box::new(String::from("owned"))).contains("owned"));
        assert!(message(Box::new(7)).contains("(no message)"));
    }
}
