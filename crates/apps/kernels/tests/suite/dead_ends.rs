//! A search builds few graphs of which no execution comes.

use wattle::prelude::*;

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
