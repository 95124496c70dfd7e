//! Panics that become errors: caught with their place, and without a trace on standard error.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::{Error, ErrorKind, Result};

thread_local! {
    /// The calls of [`caught`] that this thread is in, outermost first: for each, the place of the last panic within
    /// it.
    static PLACES: RefCell<Vec<Option<String>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`, which `what` names. A panic of it on this thread is an error with its message and its place, and prints
/// nothing: it is a result that the caller reports.
///
/// # Errors
/// Those of `work`, and [`ErrorKind::Panic`].
pub fn caught<R>(what: &str, work: impl FnOnce() -> Result<R>) -> Result<R> {
    quieten();
    PLACES.with_borrow_mut(|places| places.push(None));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    let place = PLACES.with_borrow_mut(Vec::pop).flatten();
    result.unwrap_or_else(|panic| {
        let mut message = message(panic);
        if let Some(place) = place {
            message = format!("{message}\n  at {place}");
        }
        Err(ErrorKind::Panic { what: what.to_owned(), message }.into())
    })
}

/// A panic in `what` as an error, with the panic's message.
#[cold]
pub fn panicked(what: &str, panic: Box<dyn Any + Send>) -> Error {
    ErrorKind::Panic { what: what.to_owned(), message: message(panic) }.into()
}

/// The text that a panic was given.
fn message(panic: Box<dyn Any + Send>) -> String {
    let message = panic
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(no message)".to_owned());
    // The payload may panic again when it is dropped.
    std::mem::forget(panic);
    message
}

/// Sets a panic hook, once, that keeps the place of a panic within [`caught`] and leaves every other panic to the hook
/// before it.
fn quieten() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept = PLACES.try_with(|places| match places.borrow_mut().last_mut() {
                Some(place) => {
                    *place = info.location().map(ToString::to_string);
                    true
                }
                None => false,
            });
            // A thread whose locals are gone is in no `caught` any more.
            if !kept.unwrap_or(false) {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_reported_with_their_message() {
        let message = |panic: Box<dyn Any + Send>| panicked("a task", panic).to_string();
        assert!(message(Box::new("words")).contains("words"));
        assert!(message(Box::new(String::from("owned"))).contains("owned"));
        assert!(message(Box::new(7)).contains("(no message)"));
    }

    #[test]
    fn a_panic_is_an_error_with_its_place() {
        let error = caught("the scenario", || -> Result<()> { panic!("on {}", "purpose") }).unwrap_err().to_string();
        assert!(error.starts_with("the scenario panicked: on purpose\n  at "), "{error}");
        assert!(error.contains("panics.rs:"), "{error}");
        let thrown = caught("it", || -> Result<()> { panic::panic_any(7) }).unwrap_err().to_string();
        assert!(thrown.starts_with("it panicked: (no message)"), "{thrown}");
        assert!(matches!(caught("it", || Ok(3)), Ok(3)));
    }

    #[test]
    fn the_outer_one_keeps_its_own_place() {
        let twice = || -> Result<()> {
            assert!(caught("inner", || -> Result<()> { panic!("first") }).is_err());
            panic!("second")
        };
        let outer = caught("outer", twice).unwrap_err();
        assert!(outer.to_string().starts_with("outer panicked: second\n  at "), "{outer}");
    }
}
