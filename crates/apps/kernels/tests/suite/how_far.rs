//! How far a check is, and how much of it was covered where a limit ended it.

use std::sync::Arc;
use std::time::Duration;

use wattle::checker::{Meter, Verdict};
use wattle::prelude::*;

fn scenario(name: &str) -> &'static wattle::Scenario {
    wattle_kernels::find(name).unwrap_or_else(|| panic!("no scenario {name}"))
}

#[test]
fn a_search_that_ends_has_been_through_its_whole_tree() {
    // Read-copy-update is over within the first worker's steps; the lock of four blocks is shared out; the transposition
    // is one run.
    for (name, size) in
        [("read-copy-update", None), ("reader-writer-lock", Some(1)), ("iriw", Some(1)), ("matrix-transpose", None)]
    {
        let meter = Arc::new(Meter::default());
        let checker = Checker::new(Model::Portable).symmetry(false).shown_on(meter.clone());
        let report = checker.check_scenario(scenario(name), size).expect("it is judged");
        assert_eq!((report.verdict, report.covered), (Verdict::Holds, None), "{name}");
        let read = meter.read();
        assert!((read.share - 1.0).abs() < 1e-9, "{name}: {read:?}");
        assert_eq!(read.executions, report.statistics.complete, "{name}");
        assert_eq!(read.events, report.events, "{name}");
        assert!(read.events > read.executions, "{name}: {read:?}");
    }
}

#[test]
fn a_search_that_a_limit_ends_says_what_it_covered() {
    let checker = Checker::new(Model::Portable).symmetry(false).time(Duration::from_millis(300));
    let report = checker.check_scenario(scenario("lock-ticket"), Some(4)).expect("it is judged");
    assert_eq!(report.verdict, Verdict::Unknown);
    let covered = report.covered.expect("a limit ended it");
    assert!((0.0..1.0).contains(&covered), "{covered}");
    let text = report.to_string();
    assert!(text.contains("looked at until then: about "), "{text}");
}
