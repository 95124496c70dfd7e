//! A search builds few graphs of which no execution comes.

use std::time::Duration;

use wattle::prelude::*;
use wattle_check::checker::Verdict;

/// A counter of readers, or the writer's mark, in one word: blocks 0 and 1 write, the others read.
#[kernel]
fn under_shared_lock(acc: &Acc, lock: Atomic<u32>, value: Shared<u32>, seen: Shared<u32>) {
    let writer = 1u32 << 31;
    let block = acc.block_in_grid();
    if block < 2 {
        while lock.compare_exchange_with(0, 0, writer, Scope::Device, Order::Acquire) != 0 {}
        value[0] += 1;
        lock.fetch_sub_with(0, writer, Scope::Device, Order::Release);
    } else {
        loop {
            let before = lock.fetch_add_with(0, 1, Scope::Device, Order::Acquire);
            if before < writer {
                break;
            }
            lock.fetch_sub(0, 1);
            return;
        }
        seen[block] = value[0];
        lock.fetch_sub_with(0, 1, Scope::Device, Order::Release);
    }
}

/// Two updates in loops that read from one write are no branch of the search: the second has its place taken.
#[test]
fn a_reader_writer_lock_abandons_no_graph() {
    for model in [Model::Portable, Model::Vulkan, Model::Rust] {
        let report = Checker::new(model).assert_holds(|device| {
            let queue = device.queue()?;
            let (lock, value) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            let seen = device.alloc_zeroed::<u32>(4)?;
            queue.launch(ThreadSpec::new(4, 1), under_shared_lock(&lock, &value, &seen))?;
            assert_eq!(value.read(&queue)?, [2]);
            Ok(())
        });
        assert!(report.statistics.complete > 10, "{model}: {:?}", report.statistics);
        assert_eq!(report.statistics.abandoned, 0, "{model}: {:?}", report.statistics);
    }
}

/// Flat combining (Hendler, Incze, Shavit, Tzafrir, SPAA 2010): who holds the lock does what all have asked for.
#[kernel]
fn combines(acc: &Acc, lock: Atomic<u32>, asked: Atomic<u32>, sum: Shared<u32>) {
    let me = acc.block_in_grid();
    asked.store_with(me, me + 1, Scope::Device, Order::Release);
    while asked.load_with(me, Scope::Device, Order::Acquire) != 0 {
        if lock.compare_exchange_with(0, 0, 1, Scope::Device, Order::Acquire) == 0 {
            for other in 0..acc.blocks_in_grid() {
                let value = asked.load_with(other, Scope::Device, Order::Acquire);
                if value != 0 {
                    sum[0] += value;
                    asked.store_with(other, 0, Scope::Device, Order::Release);
                }
            }
            lock.store_with(0, 0, Scope::Device, Order::Release);
        }
    }
}

/// Whether a thread may wait for ever is asked of the reads that it repeats, and of no others: with those of all iterations up to the
/// bound there was no answer.
#[test]
fn a_waiting_loop_with_a_section_under_a_lock_needs_no_larger_search_at_a_larger_bound() {
    let judged = |bound: u32| {
        let checker = Checker::new(Model::Portable).loop_bound(bound).time(Duration::from_secs(60));
        let report = checker.check(|device: &Device| -> Result<()> {
            let (queue, lock) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
            let (asked, sum) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(ThreadSpec::new(2, 1), combines(&lock, &asked, &sum))?;
            assert_eq!(sum.read(&queue)?, [3]);
            Ok(())
        });
        let report = report.expect("it can be checked");
        assert_eq!(report.verdict, Verdict::Holds, "{report}");
        (report.statistics.complete, report.statistics.abandoned)
    };
    assert_eq!(judged(1), judged(6));
}
