//! Threads that do the same: executions that differ by exchanging them are built once, and those in which several wait on
//! one write for ever are found.

use wattle::checker::{Progress, Report, Verdict};
use wattle::prelude::*;

/// Two blocks write; the others wait for the second one's value, which may be overwritten.
#[kernel]
fn waits_for_the_second(acc: &Acc, x: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block < 2 {
        x.store(0, block + 1);
    } else {
        loop {
            let seen = x.load(0);
            acc.mem_fence(Scope::Device, Order::AcqRel);
            if seen == 2 {
                break;
            }
        }
    }
}

/// Who leaves the first loop resets the flag, so that only both blocks together can stay in it.
#[kernel]
fn resets_behind_its_loop(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        x.store(0, 1);
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while x.load(0) == 1 {}
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        x.store(0, 0);
    }
}

/// As the kernel before, but the blocks begin the loop with different values, which they never read again.
#[kernel]
fn begins_its_loop_differently(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block == 0 {
        x.store(0, 1);
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        let mut seen = 2 - block;
        loop {
            if seen == 9 {
                break;
            }
            seen = x.load(0);
            if seen == 0 {
                break;
            }
        }
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        x.store(0, 0);
    }
}

/// Nobody writes what all wait for.
#[kernel]
fn waits_for_nothing(acc: &Acc, x: Atomic<u32>) {
    loop {
        let seen = x.load(0);
        acc.mem_fence(Scope::Device, Order::AcqRel);
        if seen == 2 {
            break;
        }
    }
}

/// What is read once decides whether a loop that reads nothing ends.
#[kernel]
fn goes_round_without_reading(acc: &Acc, x: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        let seen = x.load(0);
        while seen == 0 {}
    } else {
        x.store(0, 1);
    }
}

/// Threads 31 and 32 are of different warps, and only one of them wins.
#[kernel]
fn parts_a_warp(acc: &Acc, x: Atomic<u32>) {
    let mut first = true;
    if acc.thread_in_block() >= 31 {
        first = x.compare_exchange(0, 0, 1) == 0;
    }
    if first {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

/// Who wins may be stopped before it lets the other go on.
#[kernel]
fn one_waits_for_the_other(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>) {
    if x.compare_exchange(0, 0, 1) == 0 {
        f.store(0, 1);
    } else {
        while f.load(0) == 0 {}
    }
}

/// A cell that a block reads before another one may write it, beside more accesses than graphs are to have.
#[kernel]
fn reads_what_the_winner_writes(acc: &Acc, p: Shared<u32>, big: Shared<u32>, claim: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block == 2 {
        for i in 0..300 {
            big[i] = i;
        }
    } else {
        if block == 0 {
            let _unused = p[0];
        }
        if claim.compare_exchange(0, 0, 1) == 0 {
            p[0] = 1;
        }
    }
}

/// Two blocks write a word each; the others read both, every second one in the opposite order.
#[kernel]
fn read_both_ways(acc: &Acc, words: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block < 2 {
        words.store(block, 1);
    } else {
        let first = block % 2;
        let seen = words.load(first);
        let other = words.load(1 - first);
        assert!(seen + other <= 2);
    }
}

fn launched(
    checker: Checker,
    spec: ThreadSpec<1>,
    launch: impl Fn(&Queue, ThreadSpec<1>, &[Buffer<u32>; 3]) -> Result<()>,
) -> Report {
    let scenario = |device: &Device| -> Result<()> {
        let queue = device.queue()?;
        let buffers =
            [device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(300)?];
        launch(&queue, spec, &buffers)?;
        queue.wait()
    };
    checker.check(scenario).unwrap()
}

#[track_caller]
fn refuted_for(kind: &str, report: &Report) {
    assert_eq!(report.verdict, Verdict::Violated, "{report}");
    assert_eq!(report.violations.first().map(|violation| violation.kind()), Some(kind), "{report}");
}

#[test]
fn threads_that_wait_together_are_found() {
    let portable = || Checker::new(Model::Portable);
    let blocks = |blocks| ThreadSpec::new(blocks, 1);
    refuted_for(
        "can be stuck for ever",
        &launched(portable(), blocks(4), |queue, spec, [x, ..]| queue.launch(spec, waits_for_the_second(x))),
    );
    refuted_for(
        "can be stuck for ever",
        &launched(portable(), blocks(3), |queue, spec, [x, f, _]| queue.launch(spec, resets_behind_its_loop(x, f))),
    );
    refuted_for(
        "can be stuck for ever",
        &launched(portable(), blocks(3), |queue, spec, [x, f, _]| {
            queue.launch(spec, begins_its_loop_differently(x, f))
        }),
    );
    refuted_for(
        "can be stuck for ever",
        &launched(portable(), blocks(2), |queue, spec, [x, ..]| queue.launch(spec, waits_for_nothing(x))),
    );
    refuted_for(
        "can be stuck for ever",
        &launched(portable(), blocks(2), |queue, spec, [x, ..]| queue.launch(spec, goes_round_without_reading(x))),
    );
    let hsa = portable().progress(Progress::Hsa);
    refuted_for(
        "can be stuck for ever",
        &launched(hsa, blocks(2), |queue, spec, [x, f, _]| queue.launch(spec, one_waits_for_the_other(x, f))),
    );
    let ptx = Checker::new(Model::Ptx);
    refuted_for(
        "can be stuck for ever",
        &launched(ptx, ThreadSpec::new(1, 33), |queue, spec, [x, ..]| queue.launch(spec, parts_a_warp(x))),
    );
}

#[test]
fn a_cell_that_was_read_is_no_private_one_of_the_winner() {
    let report = launched(Checker::new(Model::Portable), ThreadSpec::new(3, 1), |queue, spec, [x, p, big]| {
        queue.launch(spec, reads_what_the_winner_writes(p, big, x))
    });
    refuted_for("data race", &report);
}

/// Of two pairs of readers that read in one order, each reader finds one of four pairs of values: ten multisets of two for
/// each order, which are the least that can be built.
#[test]
fn threads_that_have_done_with_their_index_are_taken_for_one_another() {
    let counted = |symmetry: bool| {
        let report = Checker::new(Model::Portable).symmetry(symmetry).check(|device| {
            let queue = device.queue()?;
            let words = device.alloc_zeroed::<u32>(2)?;
            queue.launch(ThreadSpec::new(6, 1), read_both_ways(&words))?;
            assert_eq!(words.read(&queue)?, [1, 1]);
            Ok(())
        });
        let report = report.unwrap();
        (report.verdict, report.statistics.complete, report.symmetric)
    };
    assert_eq!(counted(false), (Verdict::Holds, 256, false));
    let (verdict, built, symmetric) = counted(true);
    assert!(verdict == Verdict::Holds && symmetric && (100..256).contains(&built), "{built}");
}
