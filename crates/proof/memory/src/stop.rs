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

/// Whether [`requested`] has returned `true` since the watch began; asks nothing.
pub fn requested_before() -> bool {
    STOPPED.get()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Label, Level, Model, Placement, Relation};

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

    /// What was computed before the end and what is computed after it are combined without a panic, wherever it ends,
    /// and little is asked after it.
    #[test]
    fn an_analysis_ends_wherever_it_is_asked_to() {
        let mut graph = Graph::new(vec![Placement::new(0, 0), Placement::new(0, 1)]);
        let location = graph.add_location(0, false);
        let word = graph.add_location(1, false);
        let mut last = None;
        for at in 0..140 {
            for thread in 0..2 {
                // What coherence follows of updates is inserted step by step.
                let read = graph.add(thread, Label::atomic_read(Level::Device), at);
                let update = graph.add(thread, Label::atomic_write(Level::Device), at);
                for half in [read, update] {
                    graph.set_location(half, word, 1);
                    graph.set_value(half, 1);
                }
                graph.join_halves(read, update);
                last.replace(update).into_iter().for_each(|source| graph.set_source(read, source));
                let write = graph.add(thread, Label::atomic_write(Level::Device), at);
                graph.set_location(write, location, 0);
                graph.set_value(write, 1);
                let read = graph.add(thread, Label::plain_read(), at);
                graph.set_location(read, location, 0);
                graph.set_source(read, write);
            }
        }
        for model in Model::ALL {
            let asked = |ends: u32| {
                let count = std::rc::Rc::new(Cell::new(0));
                let counts = count.clone();
                let stop = move || counts.replace(counts.get() + 1) >= ends;
                let _meaningless = watched(stop, || model.analyse(&graph).map(|found| model.races(&graph, &found)));
                count.get()
            };
            let all = asked(u32::MAX);
            for ends in (0..all).step_by(all as usize / 20 + 1) {
                assert_eq!(asked(ends), ends + 1, "{}", model.name());
            }
        }
    }
}
