//! What a verdict says of scenarios in which something could fail, and of those in which nothing could.

use wattle::checker::Verdict;
use wattle::prelude::*;
use wattle_memory::Target;

#[kernel]
fn ones(acc: &Acc, out: PerItem<u32>) {
    for (_, item) in acc.items(&mut out) {
        *item = 1;
    }
}

fn launched(device: &Device) -> Result<Vec<u32>> {
    let (queue, mut out) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(FrameSpec::new(2, 1), ones(&mut out))?;
    out.read(&queue)
}

/// Whether the checker says that the scenario asserts nothing, under a model in which no race is an error.
fn nothing_asserted(scenario: impl Fn(&Device) -> Result<Summary>) -> bool {
    let report = Checker::for_target(Target::Ptx { sm: 90 }).check(scenario).expect("it is judged");
    assert_eq!(report.verdict, Verdict::Holds);
    report.nothing_asserted()
}

#[test]
fn a_scenario_that_compares_what_it_reads_asserts_something() {
    assert!(!nothing_asserted(|device| {
        assert_eq!(launched(device)?, [1, 1]);
        Ok(Summary::new(""))
    }));
}

#[test]
fn a_scenario_that_only_reports_what_it_reads_asserts_nothing() {
    assert!(nothing_asserted(|device| {
        let mut summary = Summary::new("");
        summary.observe(&[("first", launched(device)?[0].into())]);
        Ok(summary)
    }));
}

#[test]
fn a_scenario_that_reads_nothing_asserts_nothing() {
    assert!(nothing_asserted(|device| {
        let mut out = device.alloc_zeroed::<u32>(2)?;
        device.queue()?.launch(FrameSpec::new(2, 1), ones(&mut out))?;
        Ok(Summary::new(""))
    }));
}
