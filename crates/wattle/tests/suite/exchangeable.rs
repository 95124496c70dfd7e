//! Threads that are alike but for what they are about to write are not taken for one another, and what a thread would have
//! written is not read where it does not come to it.

use wattle::checker::Verdict;
use wattle::prelude::*;

/// Each block changes a word by its number, and none may find a certain value there.
#[kernel]
fn changes_by_its_number(acc: &Acc, word: Atomic<u32>, how: u32, never: u32) {
    let mine = acc.block_in_grid() + 1;
    let old = if how == 0 {
        word.fetch_add(0, mine)
    } else if how == 1 {
        word.fetch_max(0, mine)
    } else if how == 2 {
        word.fetch_or(0, mine)
    } else if how == 3 {
        word.exchange(0, mine)
    } else {
        word.compare_exchange(0, 0, mine)
    };
    assert!(old != never);
}

#[test]
fn updates_by_the_thread_s_number_are_different_ones() {
    for how in 0..5u32 {
        // Whichever block is second finds what the first one left.
        for never in [1, 2] {
            let scenario = move |device: &Device| -> Result<()> {
                let word = device.alloc_zeroed::<u32>(1)?;
                device.queue()?.launch(ThreadSpec::new(2, 1), changes_by_its_number(&word, how, never))
            };
            for model in [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust] {
                let report = Checker::new(model).check(scenario).unwrap();
                assert_eq!(report.verdict, Verdict::Violated, "how {how}, never {never}, {model:?}: {report}");
            }
        }
    }
}

/// The greatest and the least of what all bring: in whatever order, unless somebody brings no number.
#[kernel]
fn finds_bounds(acc: &Acc, bounds: Atomic<f32>, brings: Read<f32>) {
    let own = brings[acc.block_in_grid()];
    bounds.fetch_max(0, own);
    bounds.fetch_min(1, own);
}

#[test]
fn bounds_of_floats_are_the_same_in_every_order() {
    let checked = |brought: [f32; 4], expected: [f32; 2]| {
        let scenario = move |device: &Device| -> Result<()> {
            let queue = device.queue()?;
            let (bounds, brings) = (device.from_slice(&[-0.0f32, 0.0])?, device.from_slice(&brought)?);
            queue.launch(ThreadSpec::new(4, 1), finds_bounds(&bounds, &brings))?;
            let found = bounds.read(&queue)?;
            assert_eq!([found[0].to_bits(), found[1].to_bits()], expected.map(f32::to_bits), "{found:?}");
            Ok(())
        };
        Checker::new(Model::Portable).check(scenario).unwrap()
    };
    for (brought, expected) in [([1.5, -2.0, 7.0, 0.0], [7.0, -2.0]), ([0.0, -0.0, 0.0, -0.0], [0.0, -0.0])] {
        let report = checked(brought, expected);
        assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 1), "{report}");
    }
    let report = checked([1.5, f32::NAN, 7.0, -2.0], [7.0, -2.0]);
    assert!(report.verdict == Verdict::Holds && report.statistics.complete > 1, "{report}");
}

/// A lock of sequentially consistent operations.
#[kernel]
fn counts_under_a_lock(acc: &Acc, lock: Atomic<u32>, count: Shared<u32>) {
    while lock.compare_exchange_with(0, 0, 1, Scope::Device, Order::SeqCst) != 0 {}
    count[0] += 1;
    lock.store_with(0, 0, Scope::Device, Order::SeqCst);
}

#[test]
fn a_lock_of_sequentially_consistent_operations_races_nowhere() {
    let scenario = |device: &Device| -> Result<()> {
        let (lock, count) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        device.queue()?.launch(ThreadSpec::new(3, 1), counts_under_a_lock(&lock, &count))
    };
    for model in [Model::Portable, Model::Ptx, Model::Rust] {
        let report = Checker::new(model).check(scenario).unwrap();
        assert_eq!(report.verdict, Verdict::Holds, "{model:?}: {report}");
    }
    // Each fence is an update of a word of the device there, so that the iterations of the loop change something.
    let report = Checker::new(Model::Vulkan).check(scenario).unwrap();
    assert_ne!(report.verdict, Verdict::Violated, "{report}");
}
