//! Breaking long computations off.
//!
//! A closure of a relation of some thousand events takes seconds. Whoever has less time says with [`watched`] what to
//! look at meanwhile; the computations ask [`requested`] now and then, and come to an end early, with a result that means
//! nothing, once it says so.

use std::cell::{Cell, RefCell};

thread_local! {
    static WATCH: RefCell<Option<Box<dyn FnMut() -> bool>>> = const { RefCell::new(None) };
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which [`requested`] asks `stop`. Watches do not nest: an inner one takes the outer one's place until
/// it ends, and the outer one's afterwards is none.
pub fn watched<R>(stop: impl FnMut() -> bool + 'static, work: impl FnOnce() -> R) -> R {
    struct Unwatch;
    impl Drop for Unwatch {
        fn drop(&mut self) {
            WATCH.set(None);
            STOPPED.set(false);
        }
    }
    WATCH.set(Some(Box::new(stop)));
    STOPPED.set(false);
    let _unwatch = Unwatch;
    work()
}

/// Whether this thread's computations are to end. Once it has said so it always does, until the watch ends.
pub fn requested() -> bool {
    STOPPED.get()
        || WATCH.with_borrow_mut(|watch| {
            let stop = watch.as_mut().is_some_and(|stop| stop());
            STOPPED.set(stop);
            stop
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Relation;

    #[test]
    fn a_long_closure_ends_when_it_is_asked_to() {
        let mut chain = Relation::new(2000);
        (1..2000).for_each(|event| chain.insert(event - 1, event));
        assert!(chain.plus().has(0, 1999));
        let asked = std::rc::Rc::new(Cell::new(0));
        let counts = asked.clone();
        let broken_off = watched(
            move || {
                counts.set(counts.get() + 1);
                counts.get() > 3
            },
            || (chain.plus().has(0, 1999), requested()),
        );
        assert_eq!((broken_off, asked.get()), ((false, true), 4));
        assert!(!requested() && chain.plus().has(0, 1999));
    }
}
