//! Early termination of long computations.
//!
//! A closure of a relation of some thousand events takes seconds. A caller with less time passes a check to
//! [`watched`]; the computations call [`requested`] periodically, and once it returns `true` they end early, with a
//! meaningless result.

use std::cell::{Cell, RefCell};

thread_local! {
    static WATCH: RefCell<Option<Box<dyn FnMut() -> bool>>> = const { RefCell::new(None) };
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which [`requested`] calls `stop`. Watches do not nest: an inner one replaces the outer one until it
/// ends, and afterwards there is no watch.
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

/// Whether this thread's computations are to end. Once `true`, it stays so until the watch ends.
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
