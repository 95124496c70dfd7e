//! Verdicts that rest on the progress of a block's threads say so.

use wattle::prelude::*;
use wattle_check::checker::{Checker, Report, Verdict};
use wattle_memory::Target;

#[kernel]
fn one_lets_the_other_go(acc: &Acc, flag: Atomic<u32>) {
    if acc.thread_in_grid() == 1 {
        while flag.load(0) == 0 {}
    } else {
        flag.store(0, 1);
    }
}

#[kernel]
fn spin_lock(_acc: &Acc, lock: Atomic<u32>, count: Shared<u32>) {
    while lock.compare_exchange_with(0, 0, 1, Scope::Device, Order::Acquire) != 0 {}
    count[0] += 1;
    lock.store_with(0, 0, Scope::Device, Order::Release);
}

/// The first thread of each block waits for the block before; the others wait at the barrier.
#[kernel]
fn one_behind_the_other(acc: &Acc, turn: Atomic<u32>) {
    let block = acc.block_in_grid();
    if acc.thread_in_block() == 0 {
        while turn.load(0) != block {}
    }
    acc.sync_block();
    if acc.thread_in_block() == 0 {
        turn.store(0, block + 1);
    }
}

/// Looks for a free place, at each once: nobody waits.
#[kernel]
fn probes(acc: &Acc, places: Atomic<u32>) {
    let (mut at, mut tried) = (acc.thread_in_grid() % 2, 0);
    while tried < 2 && places.compare_exchange(at, 0, 1) != 0 {
        at = 1 - at;
        tried += 1;
    }
    assert!(tried < 2);
}

fn table(device: &Device, spec: ThreadSpec<1>) -> Result<()> {
    let (queue, places) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(spec, probes(&places))?;
    queue.wait()
}

fn flag(device: &Device, spec: ThreadSpec<1>) -> Result<()> {
    let (queue, flag) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(spec, one_lets_the_other_go(&flag))?;
    queue.wait()
}

fn lock(device: &Device, spec: ThreadSpec<1>) -> Result<()> {
    let (queue, lock, count) = (device.queue()?, device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(spec, spin_lock(&lock, &count))?;
    assert_eq!(count.read(&queue)?, [2]);
    Ok(())
}

fn turns(device: &Device, spec: ThreadSpec<1>) -> Result<()> {
    let (queue, turn) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
    queue.launch(spec, one_behind_the_other(&turn))?;
    queue.wait()
}

type Launches = fn(&Device, ThreadSpec<1>) -> Result<()>;

fn judged(target: Target, launches: Launches, blocks: usize, threads: usize) -> Report {
    let spec = || ThreadSpec::new(blocks, threads);
    let report = Checker::for_target(target).check(|device| launches(device, spec())).expect("it can be checked");
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    report
}

#[test]
fn threads_of_a_block_that_wait_for_each_other_rest_on_its_progress() {
    for launches in [flag as Launches, lock] {
        for target in [Target::Portable, Target::Vulkan] {
            let report = judged(target, launches, 1, 2);
            assert!(!report.rests_on_progress.is_empty(), "{target}: {report}");
            assert!(report.to_string().contains("rests on progress within a block: where "), "{report}");
        }
        for target in [Target::Ptx { sm: 90 }, Target::Host] {
            assert_eq!(judged(target, launches, 1, 2).rests_on_progress, [], "{target}");
        }
    }
}

#[test]
fn blocks_that_wait_for_each_other_do_not_rest_on_it() {
    for (launches, threads) in [(flag as Launches, 1), (lock, 1), (turns, 2)] {
        let report = judged(Target::Vulkan, launches, 2, threads);
        assert_eq!(report.rests_on_progress, [], "{report}");
    }
}

#[test]
fn nobody_waits_in_a_loop_whose_iterations_all_change_something() {
    for target in [Target::Portable, Target::Vulkan] {
        assert_eq!(judged(target, table, 1, 2).rests_on_progress, [], "{target}");
    }
}
