//! Arms of a branch that some target has the same instructions for, and loops that end whatever they read.

use wattle::checker::Verdict;
use wattle::prelude::*;
use wattle_memory::Target;

use crate::dependencies::{TARGETS, judge};

/// The other thread of load buffering.
#[device_fn]
fn copy_back(x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    let b = y.load(0);
    x.store(0, b);
    seen.store(1, b);
}

/// Load buffering whose one thread stores 1 in both arms of a branch on what it has read: with scopes and orders that
/// differ.
#[kernel]
fn arms(acc: &Acc, case: u32, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        if case == 0 {
            if a == 1 {
                y.store_with(0, 1, Scope::Block, Order::Relaxed);
            } else {
                y.store(0, 1);
            }
        } else if case == 1 {
            if a == 1 {
                y.store_with(0, 1, Scope::Device, Order::Release);
            } else {
                y.store(0, 1);
            }
        } else if case == 2 {
            if a == 1 {
                acc.mem_fence(Scope::Block, Order::Release);
            } else {
                acc.mem_fence(Scope::Device, Order::Release);
            }
            y.store(0, 1);
        } else if case == 3 {
            if a == 1 {
                acc.mem_fence(Scope::Device, Order::Release);
                y.store(0, 1);
            } else {
                acc.mem_fence(Scope::Device, Order::AcqRel);
                y.store(0, 1);
            }
        } else if case == 4 {
            if a == 1 {
                acc.mem_fence(Scope::Device, Order::SeqCst);
                y.store(0, 1);
            } else {
                acc.mem_fence(Scope::Device, Order::AcqRel);
                y.store(0, 1);
            }
        } else {
            if a == 1 {
                y.exchange_with(0, 1, Scope::Block, Order::Relaxed);
            } else {
                y.exchange_with(0, 1, Scope::Device, Order::Relaxed);
            }
        }
        seen.store(0, a);
    } else {
        copy_back(x, y, seen);
    }
}

/// The same with a scope that Vulkan has not.
#[kernel]
fn system_arms(acc: &Acc, case: u32, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        if case == 0 {
            if a == 1 {
                y.store_with(0, 1, Scope::System, Order::Relaxed);
            } else {
                y.store(0, 1);
            }
        } else {
            if a == 1 {
                acc.mem_fence(Scope::System, Order::Release);
                y.store(0, 1);
            } else {
                acc.mem_fence(Scope::Device, Order::Release);
                y.store(0, 1);
            }
        }
        seen.store(0, a);
    } else {
        copy_back(x, y, seen);
    }
}

/// A target has a store that stands in both arms where it has one instruction for the two; what is portable holds for all
/// targets.
#[test]
fn arms_are_the_same_where_their_instructions_are() {
    let (sm_90, sm_80) = (Target::Ptx { sm: 90 }, Target::Ptx { sm: 80 });
    let all = [Target::Portable, sm_90, sm_80, Target::Vulkan, Target::Host];
    let checked = |target, system: bool, case| {
        let report = judge(Checker::for_target(target), |queue, [x, y, _, _, seen]| match system {
            true => queue.launch(ThreadSpec::new(2, 1), system_arms(case, x, y, seen)),
            false => queue.launch(ThreadSpec::new(2, 1), arms(case, x, y, seen)),
        });
        assert!(report.verdict != Verdict::Unknown, "case {case} for {target}: {:?}", report.unknown);
        report.verdict == Verdict::Violated
    };
    // The targets for which both threads can read 1.
    let cases: [(bool, u32, &[Target]); 8] = [
        (false, 0, &[Target::Portable, Target::Vulkan, Target::Host]),
        (false, 1, &[]),
        (false, 2, &[Target::Portable, Target::Vulkan]),
        (false, 3, &[Target::Portable, sm_80]),
        (false, 4, &[]),
        (false, 5, &[Target::Portable, Target::Vulkan, Target::Host]),
        (true, 0, &[Target::Portable, Target::Host]),
        (true, 1, &[Target::Portable, Target::Host]),
    ];
    for (system, case, violated) in cases {
        let targets = all.into_iter().filter(|&target| !system || target != Target::Vulkan);
        let found: Vec<Target> = targets.filter(|&target| checked(target, system, case)).collect();
        assert_eq!(found, violated, "case {case}, {}", if system { "system" } else { "device" });
    }
}

/// Load buffering whose one thread goes round until it reads something else or has counted to an end, and then stores 1.
#[kernel]
fn counts(acc: &Acc, case: u32, most: u32, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        let mut n = 0;
        if case == 0 {
            while x.load(0) == 0 && n < most {
                n += 1;
            }
        } else if case == 1 {
            while n < most && x.load(0) == 0 {
                n += 1;
            }
        } else if case == 2 {
            let mut goes_on = true;
            while goes_on {
                n += 1;
                if x.load(0) != 0 || n == most {
                    goes_on = false;
                }
            }
        } else if case == 3 {
            let mut left = most;
            loop {
                if x.load(0) != 0 {
                    break;
                }
                if left == 0 {
                    break;
                }
                left -= 1;
            }
        } else if case == 4 {
            let mut again = true;
            while again && x.load(0) == 0 {
                again = false;
            }
        } else if case == 5 {
            while x.load(0) == 0 {}
        } else if case == 6 {
            while x.load(0) == 0 {
                n += 1;
            }
        } else if case == 7 {
            // It counts only now and then.
            while x.load(0) == 0 && n < most {
                if x.load(1) != 0 {
                    n += 1;
                }
            }
        } else if case == 8 {
            while x.load(0) == 0 && n < most {
                n += 1;
                if x.load(1) == 0 {
                    n = 0;
                }
            }
        } else if case == 9 {
            // Never both at once.
            loop {
                let before = n == most;
                n += 1;
                if x.load(0) != 0 || before && n == most {
                    break;
                }
            }
        } else if case == 10 {
            let mut end = most;
            while x.load(0) == 0 && n < end {
                n += 1;
                end += 1;
            }
        } else {
            // What stands behind the jump is not done in each turn.
            while x.load(0) == 0 && n < most {
                if x.load(1) == 0 {
                    continue;
                }
                n += 1;
            }
        }
        y.store(0, 1);
        seen.store(0, a);
    } else {
        copy_back(x, y, seen);
    }
}

/// Where the loop may never end, the store is behind it: no execution has both threads read 1, and they may be stuck.
#[test]
fn a_loop_that_counts_to_an_end_ends() {
    for target in TARGETS {
        for case in 0..12 {
            for most in [1, 3] {
                let report = judge(Checker::for_target(target).every_kind(), |queue, [x, y, _, _, seen]| {
                    queue.launch(ThreadSpec::new(2, 1), counts(case, most, x, y, seen))
                });
                let early = report.violations.iter().any(|violation| violation.kind() == "assertion");
                assert_eq!(early, case < 5, "case {case} to {most} for {target}: {:?}", report.unknown);
            }
        }
    }
}
