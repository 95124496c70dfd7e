//! Dependencies that compilers remove keep no order, and those that they cannot remove do.
//!
//! Each case is load buffering: one thread reads `x` and writes 1 to `y`, the other copies `y` to `x`. That both read 1
//! is possible exactly where the first thread's store does not need what it has read.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle_memory::Target;

/// What the first thread does between its read and its store, by number.
#[kernel]
fn buffering(
    acc: &Acc,
    case: u32,
    x: Atomic<u32>,
    y: Atomic<u32>,
    z: Atomic<u32>,
    plain: Shared<u32>,
    seen: Atomic<u32>,
) {
    let block = acc.shared::<u32, 2>();
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        match case {
            // Free: the store is the same whatever was read.
            0 => y.store(0, 1),
            1 => {
                if a == 1 {
                    y.store(0, 1);
                } else {
                    y.store(0, 1);
                }
            }
            2 => y.store(0, (a & 0) + 1),
            3 => y.store(0, a * 0 + 1),
            4 => y.store(0, if a == 1 { 1 } else { 1 }),
            5 => {
                if a == 1 {
                    z.store(0, 5);
                }
                y.store(0, 1);
            }
            6 => y.store(a & 0, 1),
            // `x` is never more than 1.
            7 => {
                if a < 2 {
                    y.store(0, 1);
                }
            }
            8 => {
                if a == 1 {
                    y.store(0, a);
                } else {
                    y.store(0, 1);
                }
            }
            9 => {
                if a == 1 {
                    acc.mem_fence(Scope::Block, Order::Release);
                    y.store(0, 1);
                } else {
                    acc.mem_fence(Scope::Block, Order::Release);
                    y.store(0, 1);
                }
            }
            // A loop that waits for no thread ends.
            10 => {
                let mut left = a + 2;
                while left > 0 {
                    left = left / 2;
                }
                y.store(0, 1);
            }
            // Two reads of one place, which may be made one.
            11 => {
                let b = x.load(0);
                if a == b {
                    y.store(0, 1);
                }
            }
            12 => y.store(0, 1 + a - x.load(0)),
            13 => {
                z.store(a & 0, 3);
                y.store(0, z.load(1) + 1);
            }
            // What a thread has stored plainly it reads, in block shared memory and in buffers.
            14 => {
                block[0] = a;
                y.store(0, block[0] - a + 1);
            }
            15 => {
                block[0] = 1;
                block[1] = 1;
                y.store(0, block[a & 1]);
            }
            16 => {
                plain[0] = a;
                y.store(0, plain[0] - a + 1);
            }
            // Kept: some value of what was read leads to something else.
            20 => y.store(0, a),
            21 => {
                if a == 1 {
                    y.store(0, 1);
                }
            }
            22 => {
                if a == 1 {
                    y.store(0, 1);
                } else {
                    y.store(0, 2);
                }
            }
            23 => y.store(1 - a, 1),
            24 => {
                if a == 1 {
                    y.store(0, 1);
                } else {
                    acc.mem_fence(Scope::Device, Order::AcqRel);
                    y.store(0, 1);
                }
            }
            25 => {
                if a == 1 {
                    y.store(0, 1);
                } else {
                    y.store_with(0, 1, Scope::Device, Order::Release);
                }
            }
            // A loop that waits may never end.
            26 => {
                while x.load(0) == 0 {}
                y.store(0, 1);
            }
            // The fence between the two reads keeps them two.
            27 => {
                acc.mem_fence(Scope::Device, Order::Acquire);
                if a == x.load(0) {
                    y.store(0, 1);
                }
            }
            28 => {
                if a == z.load(0) + 1 {
                    y.store(0, 1);
                }
            }
            29 => {
                plain[0] = a;
                y.store(0, plain[0]);
            }
            // Behind an acquire fence it may be another thread's.
            30 => {
                plain[0] = a;
                acc.mem_fence(Scope::Device, Order::Acquire);
                y.store(0, plain[0] - a + 1);
            }
            // An atomic store is read by atomic loads.
            _ => {
                z.store(0, a);
                y.store(0, z.load(0) - a + 1);
            }
        }
        seen.store(0, a);
    } else {
        let b = y.load(0);
        x.store(0, b);
        seen.store(1, b);
    }
}

/// Launches a kernel with `x`, `y`, a third place, and what its two threads have seen.
pub fn judge(checker: Checker, launch: impl Fn(&Queue, &[Buffer<u32>; 5]) -> wattle::Result<()>) -> Report {
    let scenario = |device: &Device| {
        let place = || device.alloc_zeroed::<u32>(2);
        let places = [place()?, place()?, place()?, place()?, place()?];
        let queue = device.queue()?;
        launch(&queue, &places)?;
        assert_ne!(places[4].read(&queue)?, [1, 1], "both have read 1");
        Ok(())
    };
    checker.check(scenario).unwrap()
}

fn check(checker: Checker, case: u32) -> Report {
    judge(checker, |queue, [x, y, z, plain, seen]| {
        queue.launch(ThreadSpec::new(2, 1), buffering(case, x, y, z, plain, seen))
    })
}

pub const TARGETS: [Target; 5] =
    [Target::Portable, Target::Ptx { sm: 90 }, Target::Ptx { sm: 80 }, Target::Vulkan, Target::Host];

#[test]
fn a_store_that_needs_no_read_does_not_wait_for_it() {
    for case in 0..=16 {
        for target in TARGETS {
            let report = check(Checker::for_target(target), case);
            assert_eq!(report.verdict, Verdict::Violated, "case {case} for {target}");
        }
    }
}

#[test]
fn a_store_that_needs_a_read_waits_for_it() {
    for case in (20..=25).chain(27..=31) {
        for target in TARGETS {
            let report = check(Checker::for_target(target), case);
            // The second read of case 26 is not the one that is recorded.
            assert_eq!(report.verdict, Verdict::Holds, "case {case} for {target}: {:?}", report.unknown);
        }
    }
}

/// The same stores in an order that depends on what was read, and between them nothing that orders.
#[kernel]
fn in_either_order(acc: &Acc, case: u32, x: Atomic<u32>, y: Atomic<u32>, z: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        match case {
            0 => {
                if a == 1 {
                    y.store(0, 1);
                    z.store(0, 1);
                } else {
                    z.store(0, 1);
                    y.store(0, 1);
                }
            }
            1 => {
                if a == 1 {
                    z.store(0, 1);
                    y.store(0, 1);
                } else {
                    y.store(0, 1);
                    z.store(0, 1);
                }
            }
            2 => {
                y.store(a & 1, 1);
                y.store(1 - (a & 1), 1);
            }
            3 => {
                y.store(1 - (a & 1), 1);
                y.store(a & 1, 1);
            }
            4 => {
                if a == 1 {
                    y.store(0, 1);
                }
                z.store(0, 1);
                if a != 1 {
                    y.store(0, 1);
                }
            }
            5 => {
                for i in 0..2 {
                    y.store(if a == 1 { i } else { 1 - i }, 1);
                }
            }
            // From here on a fence is between, or another value.
            10 => {
                if a == 1 {
                    y.store(0, 1);
                    acc.mem_fence(Scope::Device, Order::AcqRel);
                    z.store(0, 1);
                } else {
                    z.store(0, 1);
                    acc.mem_fence(Scope::Device, Order::AcqRel);
                    y.store(0, 1);
                }
            }
            _ => {
                if a == 1 {
                    y.store(0, 1);
                    z.store(0, 1);
                } else {
                    z.store(0, 1);
                    y.store(0, 2);
                }
            }
        }
        seen.store(0, a);
    } else {
        let b = y.load(0);
        x.store(0, b & 1);
        seen.store(1, b);
    }
}

#[test]
fn the_order_of_equal_stores_is_no_dependency() {
    for target in TARGETS {
        for (case, verdict) in
            (0..6).map(|case| (case, Verdict::Violated)).chain([10, 11].map(|case| (case, Verdict::Holds)))
        {
            let report = judge(Checker::for_target(target), |queue, [x, y, z, _, seen]| {
                queue.launch(ThreadSpec::new(2, 1), in_either_order(case, x, y, z, seen))
            });
            assert_eq!(report.verdict, verdict, "case {case} for {target}: {:?}", report.unknown);
        }
    }
}

#[test]
fn a_store_behind_a_loop_that_waits_is_behind_it() {
    for target in TARGETS {
        let report = check(Checker::for_target(target), 26);
        let kinds: Vec<_> = report.violations.iter().map(|violation| violation.kind()).collect();
        assert_eq!(kinds, ["can be stuck for ever"], "{target}");
    }
}

#[test]
fn without_load_buffering_no_dependency_matters() {
    for case in (0..=13).chain(20..=25).chain(27..=31) {
        let report = check(Checker::new(Model::Sc), case);
        assert_eq!(report.verdict, Verdict::Holds, "case {case}");
    }
}
