//! Cases that are judged on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use wattle_check::search::{Limits, Watch};

/// Judges each case until a limit is reached, on all cores. `on_done` is called with each case's number and what was
/// judged, in no particular order.
pub fn on_all_cores<C: Sync, J: Send>(
    cases: &[C],
    limits: &Limits,
    judge: impl Fn(&C) -> J + Sync,
    mut on_done: impl FnMut(usize, J),
) {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(cases.len());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 0..workers {
            let (sender, next, judge) = (sender.clone(), &next, &judge);
            scope.spawn(move || {
                while Watch::new(limits).check().is_none() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { break };
                    // The receiver is gone only when the whole run is over.
                    let _ = sender.send((number, judge(case)));
                }
            });
        }
        drop(sender);
        receiver.into_iter().for_each(|(number, judged)| on_done(number, judged));
    });
}
