//! Limits hold within a step of the search, too.

use std::time::{Duration, Instant};

use wattle::prelude::*;
use wattle_check::checker::{Checker, Verdict};
use wattle_memory::Model;

/// Beyond this a check is said to hang. It says nothing about how quick one is.
const HANGS: Duration = Duration::from_secs(60);

/// Each thread leaves thousands of reads open, of each of which the search asks whether a write may still come.
#[kernel]
fn many_open_reads(acc: &Acc, x: Atomic<u32>, seen: Atomic<u32>, reads: u32) {
    let thread = acc.thread_in_grid();
    for _ in 0..reads {
        x.load(2);
    }
    x.store(thread, 1);
    seen.store(thread, x.load(1 - thread));
}

#[test]
fn a_check_of_many_open_reads_ends_at_its_time() {
    let began = Instant::now();
    let report = Checker::new(Model::Portable).time(Duration::from_secs(1)).check(|device| {
        let (queue, x, seen) = (device.queue()?, device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(2, 1), many_open_reads(&x, &seen, 2500))?;
        assert!(seen.read(&queue)? != [7, 7]);
        Ok(())
    });
    let report = report.expect("it can be checked");
    assert_eq!(report.verdict, Verdict::Unknown, "{report}");
    assert!(began.elapsed() < HANGS, "{:?}", began.elapsed());
}
