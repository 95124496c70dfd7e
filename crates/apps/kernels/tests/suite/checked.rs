//! The checker's verdicts on scenarios that a user may write, right and wrong.

use std::cell::Cell;
use std::time::Duration;

use wattle::checker::{Progress, Report, Unknown, Verdict};
use wattle::prelude::*;

use crate::loop_bounds::count_until;

pub fn checked(scenario: impl Fn(&Device) -> Result<()>) -> Report {
    Checker::new(Model::Portable).check(scenario).unwrap()
}

fn kind(report: &Report) -> &'static str {
    report.violations.first().map_or("", |violation| violation.kind())
}

#[kernel]
fn write_past(acc: &Acc, out: Shared<u32>) {
    out[acc.thread_in_grid() + 1] = 1;
}

#[kernel]
fn read_unwritten(_acc: &Acc, values: Shared<u32>, out: Shared<u32>) {
    out[0] = values[0];
}

#[kernel]
fn assert_two(_acc: &Acc, value: Atomic<u32>) {
    value.fetch_add(0, 1);
    assert!(value.load(0) != 2, "both counted");
}

#[kernel]
fn half_the_barrier(acc: &Acc, out: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        acc.sync_block();
        out[0] = 1;
    }
}

#[kernel]
fn wait_for_two(acc: &Acc, flag: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        flag.store(0, 1);
    } else {
        while flag.load(0) != 2 {}
    }
}

#[kernel]
fn copy_one(_acc: &Acc, from: Read<u32>, to: Shared<u32>) {
    to[0] = from[0] + 1;
}

#[test]
fn an_index_out_of_bounds_is_a_fault() {
    let report = checked(|device| {
        let out = device.alloc_zeroed::<u32>(2)?;
        device.queue()?.launch(ThreadSpec::new(2, 1), write_past(&out))
    });
    assert_eq!(kind(&report), "fault");
}

#[test]
fn memory_that_nobody_wrote_is_told() {
    let report = checked(|device| {
        let (values, out) = (device.alloc::<u32>(1)?, device.alloc::<u32>(1)?);
        device.queue()?.launch(ThreadSpec::new(1, 1), read_unwritten(&values, &out))
    });
    assert_eq!(kind(&report), "unwritten memory");
}

#[test]
fn an_assertion_in_the_kernel_is_judged_in_every_execution() {
    let report = checked(|device| {
        let value = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(2, 1), assert_two(&value))
    });
    assert_eq!(kind(&report), "fault");
}

#[test]
fn a_barrier_that_too_few_reach_never_opens() {
    let report = checked(|device| {
        let out = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(1, 2), half_the_barrier(&out))
    });
    assert_eq!(kind(&report), "can be stuck for ever");
}

#[test]
fn a_wait_for_what_never_comes_is_stuck_under_any_promise() {
    for progress in Progress::ALL {
        let checker = Checker::new(Model::Portable).progress(progress);
        let report = checker.check(|device| {
            let flag = device.alloc_zeroed::<u32>(1)?;
            device.queue()?.launch(ThreadSpec::new(2, 1), wait_for_two(&flag))
        });
        assert_eq!(kind(&report.unwrap()), "can be stuck for ever", "{progress}");
    }
}

#[test]
fn what_nobody_waits_for_is_checked_too() {
    let report = checked(|device| {
        let out = device.alloc_zeroed::<u32>(2)?;
        device.queue_non_blocking()?.launch(ThreadSpec::new(2, 1), write_past(&out))
    });
    assert_eq!(kind(&report), "fault");
}

#[kernel]
fn peterson(acc: &Acc, interested: Atomic<u32>, turn: Atomic<u32>, counter: Shared<u32>) {
    let own = acc.block_in_grid();
    let other = 1 - own;
    interested.store(own, 1);
    acc.mem_fence(Scope::Device, Order::SeqCst);
    turn.store(0, other);
    acc.mem_fence(Scope::Device, Order::SeqCst);
    while interested.load(other) == 1 && turn.load(0) == other {}
    acc.mem_fence(Scope::Device, Order::Acquire);
    counter[0] += 1;
    acc.mem_fence(Scope::Device, Order::Release);
    interested.store(own, 0);
}

/// Both wait on what they see last; they see the same last.
#[test]
fn threads_that_wait_agree_on_one_order_of_writes() {
    for progress in [Progress::Fair, Progress::Lobe] {
        let report = Checker::new(Model::Portable).progress(progress).check(|device| {
            let interested = device.alloc_zeroed::<u32>(2)?;
            let (turn, counter) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            let queue = device.queue()?;
            let kernel = peterson(&interested, &turn, &counter);
            queue.launch_with(LaunchOptions::new().cooperative(), ThreadSpec::new(2, 1), kernel)?;
            assert_eq!(counter.read(&queue)?, [2]);
            Ok(())
        });
        assert_eq!(kind(&report.unwrap()), "", "{progress}");
    }
}

#[test]
fn a_lock_taken_twice_lets_everyone_in() {
    let scenario = wattle_kernels::find("lock-ticket").unwrap();
    let report = Checker::new(Model::Portable).check_scenario(scenario, Some(2)).unwrap();
    assert_eq!((report.verdict, kind(&report)), (Verdict::Holds, ""));
}

#[test]
fn launches_one_after_another_see_each_other_and_copies_stand_between() {
    let report = checked(|device| {
        let queue = device.queue_non_blocking()?;
        let mut from = device.alloc::<u32>(1)?;
        let to = device.alloc::<u32>(1)?;
        queue.fill(&mut from, 4)?;
        queue.launch(ThreadSpec::new(1, 1), copy_one(&from, &to))?;
        queue.copy(&mut from, &to)?;
        queue.launch(ThreadSpec::new(1, 1), copy_one(&from, &to))?;
        assert_eq!(to.read(&queue)?, [6]);
        Ok(())
    });
    assert_eq!(report.verdict, Verdict::Holds, "{:?}", report.violations);
}

#[test]
fn a_panic_of_the_scenario_is_its_assertion() {
    let report = checked(|device| {
        let count = device.alloc_zeroed::<u32>(1)?;
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(2, 1), count_until(&count, 0))?;
        assert_eq!(count.read(&queue)?, [3], "two threads count to three");
        Ok(())
    });
    assert_eq!(kind(&report), "assertion");
}

#[test]
fn a_scenario_that_is_not_deterministic_is_told_so() {
    let runs = Cell::new(0);
    let error = Checker::new(Model::Portable).check(|device| {
        runs.set(runs.get() + 1);
        let flag = device.alloc_zeroed::<u32>(2)?;
        let queue = device.queue()?;
        // Two outcomes of the first launch, so that it is run again; then it launches something else.
        queue.launch(ThreadSpec::new(2, 1), who_is_first(&flag))?;
        let _ = flag.read(&queue)?;
        queue.launch(ThreadSpec::new(runs.get(), 1), who_is_first(&flag))
    });
    let runs_again = Checker::new(Model::Portable).check(|device| {
        runs.set(runs.get() + 1);
        let flag = device.from_slice(&[runs.get() as u32, 0])?;
        device.queue()?.launch(ThreadSpec::new(2, 1), who_is_first(&flag))
    });
    let error = runs_again.err().or(error.err()).expect("it is not deterministic");
    assert!(error.to_string().contains("not deterministic"), "{error}");
}

#[kernel]
fn who_is_first(acc: &Acc, flag: Atomic<u32>) {
    flag.store(0, acc.thread_in_grid() + 1);
}

#[test]
fn a_time_limit_ends_it_with_what_was_found() {
    let checker = Checker::new(Model::Portable).symmetry(false).time(Duration::from_millis(300)).loop_bound(64);
    let began = std::time::Instant::now();
    let report = checker.check(|device| {
        let count = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(12, 1), count_until(&count, 0))
    });
    let report = report.unwrap();
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.statistics.complete > 0, "{:?}", report.statistics);
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// Also what has to be tried many times looks at the limits between.
#[test]
fn advice_without_time_tries_nothing_and_says_so() {
    for name in ["publication", "publication-broken-no-acquire"] {
        let (scenario, checker) = (wattle_kernels::find(name).unwrap(), Checker::new(Model::Portable));
        let report = checker.check_scenario(scenario, None).unwrap();
        let advice = checker.advise_scenario(scenario, None, &report, Duration::ZERO);
        assert!(advice.cut_short && advice.tried == 0 && advice.is_empty(), "{name}: {advice:?}");
        let cancelled = checker.clone().cancelled_by(std::sync::Arc::new(true.into()));
        let advice = cancelled.advise_scenario(scenario, None, &report, Duration::from_secs(60));
        assert!(advice.cut_short && advice.tried == 0 && advice.is_empty(), "{name}: {advice:?}");
    }
}

#[test]
fn samples_find_what_is_wrong_and_never_say_that_it_holds() {
    let broken = wattle_kernels::find("publication-broken-no-acquire").unwrap();
    let right = wattle_kernels::find("publication").unwrap();
    let sampled = |scenario| Checker::new(Model::Portable).sample(20, 7).check_scenario(scenario, None).unwrap();
    assert_eq!(sampled(broken).verdict, Verdict::Violated);
    let report = sampled(right);
    assert_eq!(report.verdict, Verdict::Unknown);
    assert!(report.unknown.contains(&Unknown::Sampled(20)));
}

/// The fences that are too narrow between two blocks do within one.
#[test]
fn block_scope_does_where_there_is_one_block() {
    let publication = |blocks: usize, threads: usize| {
        checked(|device| {
            let queue = device.queue()?;
            let payload = device.alloc_zeroed::<u32>(1)?;
            let ready = device.alloc_zeroed::<u32>(1)?;
            let mismatches = device.alloc_zeroed::<u32>(1)?;
            let kernel = wattle_kernels::publication::producer_consumer_block_scope(&payload, &ready, &mismatches);
            queue.launch(ThreadSpec::new(blocks, threads), kernel)?;
            assert_eq!(mismatches.read(&queue)?, [0]);
            Ok(())
        })
    };
    assert_eq!(kind(&publication(3, 1)), "data race");
    assert_eq!(publication(1, 3).verdict, Verdict::Holds);
}

/// Each thread goes through its own cells again and again.
#[kernel]
fn plain_accesses(acc: &Acc, x: Shared<u32>, rounds: u32) {
    let own = acc.thread_in_grid() * 4;
    for round in 0..rounds {
        x[own + round % 4] += round;
    }
}

#[test]
fn a_time_limit_holds_for_a_long_plain_kernel() {
    for time in [Duration::from_millis(300), Duration::from_millis(1)] {
        let begun = std::time::Instant::now();
        let report = Checker::new(Model::Portable)
            .time(time)
            .check(|device| {
                let x = device.alloc_zeroed::<u32>(8)?;
                device.queue()?.launch(ThreadSpec::new(2, 1), plain_accesses(&x, 1000))
            })
            .unwrap();
        assert!(report.verdict == Verdict::Unknown || report.verdict == Verdict::Holds, "{:?}", report.violations);
        // Without a look at the limit it is minutes.
        assert!(begun.elapsed() < time + Duration::from_secs(20), "{:?}", begun.elapsed());
        println!("{time:?}: {:?}", begun.elapsed());
    }
}

/// Gives an element of its own, or one that is out of bounds.
#[kernel]
fn index_from_memory(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let i = x.load(0);
        y.store(i, 1);
    } else if y.load(0) == 1 {
        x.store(0, 5);
    }
}

#[test]
fn an_index_that_only_itself_leads_to_is_none() {
    let report = checked(|device| {
        let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        device.queue()?.launch(ThreadSpec::new(2, 1), index_from_memory(&x, &y))
    });
    // Written is `y[0]` where `x` is 0; then `x` becomes 5, which the first thread has not read.
    assert_eq!(report.verdict, Verdict::Holds, "{:?}", report.violations);
}
