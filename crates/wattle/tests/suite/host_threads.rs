//! What of a scenario's host part may go several ways, and is not searched: its threads, its tasks, and whether an event is
//! complete.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wattle::ErrorKind;
use wattle::checker::Verdict;
use wattle::prelude::*;

#[kernel]
fn waits(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

#[kernel]
fn raises(_acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::Device, Order::Release);
}

fn raised_by_another_thread(device: &Device) -> Result<()> {
    let flag = device.alloc_zeroed::<u32>(1)?;
    let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    one.launch(ThreadSpec::new(1, 1), waits(&flag))?;
    std::thread::scope(|scope| {
        let later = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            other.launch(ThreadSpec::new(1, 1), raises(&flag))?;
            other.wait()
        });
        one.wait()?;
        later.join().expect("it does not panic")
    })
}

#[test]
fn is_not_judged() {
    for model in [Model::Portable, Model::Ptx, Model::Vulkan] {
        let error = Checker::new(model).check(raised_by_another_thread).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{error}");
        assert!(error.to_string().contains("in several threads of the host"), "{error}");
    }
}

/// Its verdict under a model, with what was not looked at.
fn judged(scenario: impl Fn(&Device) -> Result<()>) -> (Verdict, String) {
    let report = Checker::new(Model::Portable).check(scenario).unwrap();
    let unknown: Vec<String> = report.unknown.iter().map(ToString::to_string).collect();
    (report.verdict, unknown.join("; "))
}

#[test]
fn an_event_that_may_not_be_complete_has_no_answer() {
    let asks = |waits_before: bool, waits_elsewhere: bool| {
        judged(move |device| {
            let flag = device.alloc_zeroed::<u32>(1)?;
            let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
            one.launch(ThreadSpec::new(1, 1), raises(&flag))?;
            let event = one.record()?;
            if waits_elsewhere {
                other.wait()?;
            }
            if waits_before {
                one.wait()?;
            }
            assert!(event.is_complete());
            one.wait()
        })
    };
    for waits_elsewhere in [false, true] {
        let (verdict, unknown) = asks(false, waits_elsewhere);
        assert_eq!(verdict, Verdict::Unknown);
        assert!(unknown.contains("asks whether an event is complete"), "{unknown}");
        assert_eq!(asks(true, waits_elsewhere).0, Verdict::Holds);
    }
}

#[test]
fn tasks_of_two_queues_run_in_one_order_alone() {
    let runs = |is_ordered: bool, waits_between: bool, on_one: bool| {
        judged(move |device| {
            let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
            let second = if on_one { &one } else { &other };
            let (flag, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
            let (raised, looked, kept) = (flag.clone(), flag.clone(), seen.clone());
            one.host_task(move || {
                raised.store(1, Ordering::Relaxed);
                Ok(())
            })?;
            if is_ordered {
                second.wait_for(&one.record()?)?;
            }
            if waits_between {
                one.wait()?;
            }
            second.host_task(move || {
                kept.store(looked.load(Ordering::Relaxed), Ordering::Relaxed);
                Ok(())
            })?;
            one.wait()?;
            second.wait()?;
            assert_eq!(seen.load(Ordering::Relaxed), 1);
            Ok(())
        })
    };
    let (verdict, unknown) = runs(false, false, false);
    assert_eq!(verdict, Verdict::Unknown);
    assert!(unknown.contains("host tasks of several queues"), "{unknown}");
    for (is_ordered, waits_between, on_one) in [(true, false, false), (false, true, false), (false, false, true)] {
        assert_eq!(runs(is_ordered, waits_between, on_one), (Verdict::Holds, String::new()));
    }
}
