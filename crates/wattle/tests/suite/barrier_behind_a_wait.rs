//! A loop that waits, with a barrier at its end: its iterations are counted for the barrier, and repeat all the same.

use wattle::checker::{Progress, Report, Verdict};
use wattle::prelude::*;

/// The threads of all blocks but the last wait for a flag, and meet within the loop; the last block sets it, or does not.
#[kernel]
fn meet_in_the_loop(acc: &Acc, flag: Atomic<u32>, sets: bool) {
    if acc.block_in_grid() + 1 < acc.blocks_in_grid() {
        loop {
            if flag.load_with(0, Scope::Device, Order::Acquire) != 0 {
                acc.sync_block();
                break;
            }
        }
    } else if sets {
        flag.store_with(0, 1, Scope::Device, Order::Release);
    }
}

/// The same with the barrier behind the loop.
#[kernel]
fn meet_behind_the_loop(acc: &Acc, flag: Atomic<u32>) {
    if acc.block_in_grid() + 1 < acc.blocks_in_grid() {
        while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        acc.sync_block();
    } else {
        flag.store_with(0, 1, Scope::Device, Order::Release);
    }
}

fn checked(threads: usize, launch: impl Fn(&Queue, ThreadSpec<1>, &Buffer<u32>) -> Result<()>) -> Vec<Report> {
    let scenario = |device: &Device| {
        let flag = device.alloc_zeroed::<u32>(1)?;
        launch(&device.queue()?, ThreadSpec::new(2, threads), &flag)
    };
    let models = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust];
    models.map(|model| Checker::new(model).progress(Progress::Fair).check(scenario).unwrap()).into()
}

#[test]
fn who_waits_for_nothing_is_stuck() {
    for threads in [1, 2] {
        for report in checked(threads, |queue, spec, flag| queue.launch(spec, meet_in_the_loop(flag, false))) {
            assert_eq!(report.verdict, Verdict::Violated, "{report}");
            assert_eq!(report.violations[0].kind(), "can be stuck for ever", "{report}");
        }
    }
}

#[test]
fn threads_may_come_to_the_barrier_in_different_iterations() {
    for report in checked(2, |queue, spec, flag| queue.launch(spec, meet_in_the_loop(flag, true))) {
        assert_eq!(report.verdict, Verdict::Violated, "{report}");
    }
    for report in checked(1, |queue, spec, flag| queue.launch(spec, meet_in_the_loop(flag, true))) {
        assert_eq!(report.verdict, Verdict::Holds, "{report}");
    }
    for report in checked(2, |queue, spec, flag| queue.launch(spec, meet_behind_the_loop(flag))) {
        assert_eq!(report.verdict, Verdict::Holds, "{report}");
    }
}
