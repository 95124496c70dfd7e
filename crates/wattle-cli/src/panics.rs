//! Panics within scenarios, which are results: they are kept, with their place, and nothing is printed.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

static INSIDE: AtomicUsize = AtomicUsize::new(0);
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Runs something whose panics are caught, and says where the first of them came from. It must not unwind.
pub fn kept<R>(work: impl FnOnce() -> R) -> (R, Option<String>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if INSIDE.load(Ordering::SeqCst) == 0 {
                return before(info);
            }
            let place = info.location().map(ToString::to_string);
            let mut kept = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
            *kept = kept.take().or(place);
        }));
    });
    let place = || PLACE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if INSIDE.fetch_add(1, Ordering::SeqCst) == 0 {
        place();
    }
    let result = work();
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    (result, place())
}
