//! A panic of a scenario is a result: nothing of it stands on standard error.

use std::sync::atomic::{AtomicU32, Ordering};

use wattle::checker::Verdict;
use wattle::prelude::*;

static TRACES: AtomicU32 = AtomicU32::new(0);

/// Leaves the number of the block that comes last.
#[kernel]
fn last(acc: &Acc, word: Atomic<u32>) {
    word.store(0, acc.block_in_grid());
}

fn never_zero(device: &Device) -> Result<()> {
    let (queue, word) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(ThreadSpec::new(2, 1), last(&word))?;
    assert_ne!(word.read(&queue)?, [0]);
    Ok(())
}

#[test]
fn the_checker_prints_no_trace_and_reports_the_place() {
    // Instead of printing, count: this is the hook before the library's.
    std::panic::set_hook(Box::new(|_| _ = TRACES.fetch_add(1, Ordering::SeqCst)));
    let report = Checker::new(Model::Portable).check(never_zero).unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert_eq!(TRACES.load(Ordering::SeqCst), 0);
    let text = report.to_string();
    assert!(text.contains("assertion `left != right` failed") && text.contains("quiet.rs:"), "{text}");
    // Every other panic goes to the hook that was set before.
    assert!(std::thread::spawn(|| panic!("elsewhere")).join().is_err());
    assert_eq!(TRACES.load(Ordering::SeqCst), 1);
    let _ = std::panic::take_hook();
}
