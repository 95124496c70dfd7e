//! Waits for what need never be seen: a weak load in a loop may be made once for all of them, and PTX says of no weak access, and
//! of none out of the other's scope, that it is seen in the end. On the host each is.

use wattle::checker::{Checker, Report, Verdict};
use wattle::memory::Target;
use wattle::prelude::*;

const PTX: Target = Target::Ptx { sm: 90 };

#[kernel]
fn plainly(acc: &Acc, flag: Shared<u32>, seen: Shared<u32>) {
    if acc.thread_in_grid() == 0 {
        flag[0] = 1;
    } else {
        while flag[0] == 0 {}
        seen[0] = 1;
    }
}

#[kernel]
fn with_scope(acc: &Acc, flag: Atomic<u32>, wide: bool) {
    if acc.thread_in_grid() == 0 {
        if wide {
            flag.store_with(0, 1, Scope::Device, Order::Relaxed);
        } else {
            flag.store_with(0, 1, Scope::Block, Order::Relaxed);
        }
    } else if wide {
        while flag.load_with(0, Scope::Device, Order::Relaxed) == 0 {}
    } else {
        while flag.load_with(0, Scope::Block, Order::Relaxed) == 0 {}
    }
}

/// What is waited for is ordered before the wait.
#[kernel]
fn behind_a_barrier(acc: &Acc, flag: Shared<u32>, seen: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        flag[0] = 1;
    }
    acc.sync_block();
    while flag[0] == 0 {}
    seen[acc.thread_in_block()] = 1;
}

fn checked(target: Target, scenario: impl Fn(&Device) -> Result<()>) -> Report {
    Checker::for_target(target).check(scenario).expect("it can be checked")
}

fn plain(device: &Device, spec: ThreadSpec<1>) -> Result<()> {
    let (flag, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    device.queue()?.launch(spec, plainly(&flag, &seen))
}

#[test]
fn a_weak_load_need_never_see_a_store_that_nothing_orders() {
    for spec in [ThreadSpec::new(2, 1), ThreadSpec::new(1, 2)] {
        let report = checked(PTX, |device| plain(device, spec));
        assert_eq!(
            report.violations.iter().map(|found| found.kind()).collect::<Vec<_>>(),
            ["can be stuck for ever"],
            "{report}"
        );
        let text = report.to_string();
        assert!(text.contains("the read need never find it") && text.contains("PTX ISA 8.5, 8.7:"), "{text}");
        assert_eq!(checked(Target::Host, |device| plain(device, spec)).verdict, Verdict::Holds);
        // Where a race is an error, that is what is wrong with it.
        let report = checked(Target::Portable, |device| plain(device, spec));
        assert_eq!(report.violations.iter().map(|found| found.kind()).collect::<Vec<_>>(), ["data race"], "{report}");
    }
}

#[test]
fn a_load_need_never_see_a_store_of_a_scope_without_it() {
    let of = |spec: ThreadSpec<1>, wide: bool| {
        checked(PTX, |device| {
            let flag = device.alloc_zeroed::<u32>(1)?;
            device.queue()?.launch(spec, with_scope(&flag, wide))
        })
    };
    let (apart, together) = (ThreadSpec::new(2, 1), ThreadSpec::new(1, 2));
    let report = of(apart, false);
    assert!(report.violations.iter().any(|found| found.kind() == "can be stuck for ever"), "{report}");
    for (spec, wide) in [(apart, true), (together, true), (together, false)] {
        assert_eq!(of(spec, wide).verdict, Verdict::Holds, "{wide}");
    }
}

#[test]
fn a_weak_load_sees_what_is_ordered_before_it() {
    let report = checked(PTX, |device| {
        let (flag, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
        device.queue()?.launch(ThreadSpec::new(1, 2), behind_a_barrier(&flag, &seen))
    });
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
}

/// The first thread of a block waits for the second one, by a load of lanes.
#[kernel]
fn by_lanes(acc: &Acc, flag: Shared<u32>, seen: Shared<u32>) {
    if acc.thread_in_block() == 0 {
        while flag.lanes::<1>(0)[0] == 0 {}
        seen[0] = 1;
    } else {
        flag[0] = 1;
    }
}

#[test]
fn a_wait_by_a_load_of_lanes_lets_the_other_threads_of_a_block_go_on_on_the_host() {
    for device in [Device::host(), Device::host_serial()] {
        let queue = device.queue().unwrap();
        let (flag, seen) = (device.alloc_zeroed::<u32>(1).unwrap(), device.alloc_zeroed::<u32>(1).unwrap());
        queue.launch(ThreadSpec::new(1, 2), by_lanes(&flag, &seen)).unwrap();
        assert_eq!(seen.read(&queue).unwrap(), [1], "{}", device.name());
    }
}
