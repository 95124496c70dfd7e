//! Loops that change something in each turn: which of them are looked at up to a bound, and what is said where one is
//! reached.

use wattle::checker::{Unknown, Verdict};
use wattle::prelude::*;

use crate::checked::checked;

#[kernel]
pub fn count_until(_acc: &Acc, count: Atomic<u32>, limit: u32) {
    while count.fetch_add(0, 1) < limit {}
}

/// Counts down to 0, which no run stands for: each step takes something away.
#[kernel]
fn count_down(_acc: &Acc, left: Atomic<u32>) {
    let mut seen = left.fetch_sub(0, 1);
    while seen > 0 && seen < 100 {
        seen = left.fetch_sub(0, 1);
    }
}

#[test]
fn a_bound_that_is_reached_is_said_and_a_larger_one_answers() {
    let with = |bound: u32| {
        let checker = Checker::new(Model::Portable).loop_bound(bound);
        checker.check(|device| {
            let left = device.from_slice(&[6u32])?;
            // Two threads: one by itself has a single execution, however long it is.
            device.queue()?.launch(ThreadSpec::new(2, 1), count_down(&left))
        })
    };
    let report = with(3).unwrap();
    assert_eq!((report.verdict, report.unknown.as_slice()), (Verdict::Unknown, &[Unknown::LoopBound(3)][..]));
    assert_eq!(with(8).unwrap().verdict, Verdict::Holds);
    // Each value of a counter that only grows is returned once, so that the loop ends whatever the bound is.
    let up = Checker::new(Model::Portable).loop_bound(3).check(|device| {
        let count = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(2, 1), count_until(&count, 6))
    });
    assert_eq!(up.unwrap().verdict, Verdict::Holds);
}

#[kernel]
fn wait_and_count(acc: &Acc, flag: Atomic<u32>, waited: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        flag.store(0, 1);
    } else {
        let mut looks = 0;
        while flag.load(0) == 0 {
            looks += 1;
        }
        waited.store(0, looks);
    }
}

/// A loop that counts while it waits goes on for as long as one likes: it is looked at up to the bound.
#[test]
fn a_loop_that_counts_while_it_waits_reaches_the_bound() {
    let report = checked(|device| {
        let (flag, waited) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        device.queue()?.launch(ThreadSpec::new(2, 1), wait_and_count(&flag, &waited))
    });
    assert_eq!((report.verdict, report.unknown.as_slice()), (Verdict::Unknown, &[Unknown::LoopBound(4)][..]));
    assert_eq!(report.statistics.complete, 5, "it looks in vain up to four times");
}

/// A tree of sums in block shared memory: the loop counts down for itself.
#[kernel]
fn tree(acc: &Acc, out: Shared<u32>) {
    let sums = acc.shared::<u32, 32>();
    let thread = acc.thread_in_block();
    sums[thread] = thread;
    let mut k = 16;
    while k > 0 {
        acc.sync_block();
        if thread < k {
            sums[thread] += sums[thread + k];
        }
        k /= 2;
    }
    if thread == 0 {
        out[0] = sums[0];
    }
}

/// The number of the loop's rounds is in a buffer, but in one that no thread writes.
#[kernel]
fn rounds_from_memory(acc: &Acc, rounds: Read<u32>, out: Atomic<u32>) {
    let mut left = rounds[acc.thread_in_grid()];
    loop {
        if left == 0 {
            break;
        }
        out.fetch_add(0, 1);
        left -= 1;
    }
}

/// Michael and Scott's queue, the enqueue alone; nodes are numbered from 1, and 0 is no node.
#[kernel]
fn enqueue(acc: &Acc, tail: Atomic<u32>, next: Atomic<u32>) {
    let node = acc.thread_in_grid() + 2;
    loop {
        let last = tail.load_with(0, Scope::Device, Order::Acquire);
        let after = next.load_with(last, Scope::Device, Order::Acquire);
        if after == 0 {
            if next.compare_exchange_with(last, 0, node, Scope::Device, Order::AcqRel) == 0 {
                tail.compare_exchange_with(0, last, node, Scope::Device, Order::AcqRel);
                break;
            }
        } else {
            tail.compare_exchange_with(0, last, after, Scope::Device, Order::AcqRel);
        }
    }
}

#[test]
fn loops_that_count_for_themselves_need_no_bound() {
    let report = checked(|device| {
        let out = device.alloc_zeroed::<u32>(1)?;
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(1, 32), tree(&out))?;
        assert_eq!(out.read(&queue)?, [496]);
        Ok(())
    });
    assert_eq!((report.verdict, &report.unknown[..]), (Verdict::Holds, &[][..]));
    let report = checked(|device| {
        let (rounds, out) = (device.from_slice(&[7u32, 1])?, device.alloc_zeroed::<u32>(1)?);
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(2, 1), rounds_from_memory(&rounds, &out))?;
        assert_eq!(out.read(&queue)?, [8]);
        Ok(())
    });
    assert_eq!((report.verdict, &report.unknown[..]), (Verdict::Holds, &[][..]));
}

#[test]
fn a_loop_that_nobody_needs_more_often_is_complete() {
    for blocks in [1, 2] {
        let report = checked(|device| {
            let (tail, next) = (device.from_slice(&[1u32])?, device.alloc_zeroed::<u32>(4)?);
            let queue = device.queue()?;
            queue.launch(ThreadSpec::new(blocks, 1), enqueue(&tail, &next))?;
            let next = next.read(&queue)?;
            let mut node = 1;
            for _ in 0..blocks {
                node = next[node] as usize;
                assert_ne!(node, 0, "a node is lost");
            }
            Ok(())
        });
        assert_eq!((report.verdict, &report.unknown[..]), (Verdict::Holds, &[][..]), "{blocks} blocks");
    }
}

/// Thread 0 counts the attempts that fail.
#[kernel]
fn attempts(acc: &Acc, x: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let mut n = 0;
        while x.compare_exchange(0, 1, 2) != 1 {
            n += 1;
        }
        seen.store(0, n);
    } else {
        x.store(0, 1);
    }
}

/// The loop goes round 21 times, which is beyond the bound; then the assertion fails.
#[kernel]
fn fails_beyond_the_bound(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, z: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        if seen.load(1) == 1 {
            let mut sum = 0;
            loop {
                let n = x.fetch_add(0, 1);
                sum += y.load(0);
                if n >= 20 {
                    break;
                }
            }
            assert!(sum > 1000);
        }
    } else {
        let a = z.load(0);
        seen.store(1, 1);
        seen.store(0, a);
    }
}

#[test]
fn attempts_that_fail_are_iterations_within_the_bound() {
    let report = checked(|device| {
        let (x, seen) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(2)?);
        device.queue()?.launch(ThreadSpec::new(2, 1), attempts(&x, &seen))
    });
    assert_eq!((report.verdict, &report.unknown[..]), (Verdict::Unknown, &[Unknown::LoopBound(4)][..]));
}

#[test]
fn what_fails_beyond_the_bound_is_not_said_to_hold() {
    let report = checked(|device| {
        let [x, y, z] =
            [device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?];
        let seen = device.alloc_zeroed::<u32>(2)?;
        device.queue()?.launch(ThreadSpec::new(2, 1), fails_beyond_the_bound(&x, &y, &z, &seen))
    });
    let kinds: Vec<_> = report.violations.iter().map(|violation| violation.kind()).collect();
    assert_eq!((report.verdict, &kinds[..]), (Verdict::Violated, &["seen in a run"][..]), "{report}");
}
