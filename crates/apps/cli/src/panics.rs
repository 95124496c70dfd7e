//! Panics within scenarios, which are results: they are kept, with their place, and nothing is printed.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once};

use wattle_core::lock;

static INSIDE: AtomicBool = AtomicBool::new(false);
static PLACE: Mutex<Option<String>> = Mutex::new(None);
/// Held by the caller whose panics are kept: a panic may come from any thread, so there is one caller at a time.
static KEEPER: Mutex<()> = Mutex::new(());

/// Runs work whose panics are caught, and returns where the first of them came from. The work must not unwind, nor call
/// this again.
pub fn kept<R>(work: impl FnOnce() -> R) -> (R, Option<String>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.load(Ordering::SeqCst) {
                return before(info);
            }
            let place = info.location().map(ToString::to_string);
            let mut kept = lock(&PLACE);
            *kept = kept.take().or(place);
        }));
    });
    let keeper = lock(&KEEPER);
    let place = || lock(&PLACE).take();
    place();
    INSIDE.store(true, Ordering::SeqCst);
    let result = work();
    INSIDE.store(false, Ordering::SeqCst);
    let place = place();
    drop(keeper);
    (result, place)
}
