//! The checker and the clock, which may show anything: what depends on it is refused before the search, what is only kept
//! is said. And the checker and `println!`, which is no event.
#![forbid(unsafe_code)]

use wattle::checker::Verdict;
use wattle::prelude::*;

#[kernel]
fn keeps(acc: &Acc, flag: Atomic<u32>, took: PerItem<u64>) {
    for (_, took) in acc.items(&mut took) {
        let start = acc.clock();
        flag.fetch_add(0, 1);
        *took = acc.clock() - start;
    }
}

#[test]
fn what_is_kept_of_the_clock_is_said() {
    let report = Checker::new(Model::Portable).check(|device| -> Result<()> {
        let queue = device.queue()?;
        let (flag, mut took) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u64>(2)?);
        queue.launch(ThreadSpec::new(2, 1), keeps(&flag, &mut took))?;
        assert_eq!(flag.read(&queue)?, [2]);
        Ok(())
    });
    let report = report.unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    let lines: Vec<_> = report.assumes.iter().map(|site| site.line).collect();
    assert_eq!(lines, [13], "{report}");
    assert!(
        report.to_string().contains("assumes of the clock: what crates/wattle/tests/suite/clock_checked.rs:13"),
        "{report}"
    );
}

#[kernel]
fn waits_for_a_time(acc: &Acc, flag: Atomic<u32>, limit: u64) {
    let end = acc.clock() + limit;
    while flag.load(0) == 0 {
        if acc.clock() > end {
            break;
        }
    }
}

#[kernel]
fn gives_its_time_away(acc: &Acc, times: Atomic<u64>) {
    let now = acc.clock();
    let rounded = (now >> 3) << 3;
    times.fetch_max(0, rounded);
}

#[kernel]
fn asserts_its_time(acc: &Acc) {
    assert!(acc.clock() > 3, "late");
}

/// The error of a check that is not answered.
fn refused(scenario: impl Fn(&Device) -> Result<()>) -> String {
    match Checker::new(Model::Portable).check(scenario) {
        Ok(report) => panic!("it was answered: {report}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_depends_on_the_clock_is_refused() {
    let branch = refused(|device| {
        let (queue, flag) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(1, 1), waits_for_a_time(&flag, 10))?;
        queue.wait()
    });
    assert!(branch.contains("kernel `waits_for_a_time`") && branch.contains("depends on the clock"), "{branch}");
    let other = refused(|device| {
        let (queue, times) = (device.queue()?, device.alloc_zeroed::<u64>(1)?);
        queue.launch(ThreadSpec::new(2, 1), gives_its_time_away(&times))?;
        queue.wait()
    });
    assert!(other.contains("clock_checked.rs:50") && other.contains("PerItem"), "{other}");
    let assertion = refused(|device| {
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(1, 1), asserts_its_time())?;
        queue.wait()
    });
    assert!(assertion.contains("clock_checked.rs:55"), "{assertion}");
}

#[kernel]
fn publishes<const PRINTS: bool>(acc: &Acc, payload: Shared<u32>, flag: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        payload[0] = 42;
        if PRINTS {
            println!("written");
        }
        acc.mem_fence(Scope::Device, Order::Release);
        flag.store(0, 1);
    } else {
        let seen = flag.load(0);
        if PRINTS {
            println!("{seen} at {}", acc.clock());
        }
        if seen == 1 {
            acc.mem_fence(Scope::Device, Order::Acquire);
            assert!(payload[0] == 42, "seen {seen}");
        }
    }
}

#[test]
fn a_line_changes_no_verdict() {
    fn check<const PRINTS: bool>() -> (Verdict, u64) {
        let report = Checker::new(Model::Portable).check(|device| -> Result<()> {
            let queue = device.queue()?;
            let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(ThreadSpec::new(2, 1), publishes::<PRINTS>(&payload, &flag))?;
            queue.wait()
        });
        let report = report.unwrap();
        (report.verdict, report.statistics.complete)
    }
    assert_eq!(check::<true>(), check::<false>());
    assert_eq!(check::<true>().0, Verdict::Holds);
}

#[kernel]
fn sees_too_little(acc: &Acc, payload: Atomic<u32>, flag: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        payload.store(0, 42);
        flag.store(0, 1);
    } else {
        let (seen, value) = (flag.load(0), payload.load(0));
        assert!(seen == 0 || value == 42, "flag {seen}, payload {value:#x}");
    }
}

#[test]
fn an_assertion_says_its_values_in_a_story() {
    let report = Checker::new(Model::Portable).check(|device| -> Result<()> {
        let queue = device.queue()?;
        let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(2, 1), sees_too_little(&payload, &flag))?;
        queue.wait()
    });
    let report = report.unwrap();
    assert_eq!(report.verdict, Verdict::Violated);
    assert!(report.to_string().contains("flag 1, payload 0x0"), "{report}");
}
