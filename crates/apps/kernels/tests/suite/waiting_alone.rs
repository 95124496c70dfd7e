//! Loops that wait and do something besides in each turn, which is the same in each.

use wattle::checker::Verdict;
use wattle::prelude::*;

/// `GOES`: the first block lets the others go. Each has a cell of its own, or all have one.
#[kernel]
fn stores_the_same<const GOES: bool, const SHARED: bool>(acc: &Acc, flag: Atomic<u32>, cells: Shared<u32>) {
    let block = acc.block_in_grid();
    if GOES && block == 0 {
        flag.store(0, 1);
    } else {
        while flag.load(0) == 0 {
            cells[if SHARED { 0 } else { block }] = 2;
        }
    }
}

/// Each turn stores another value.
#[kernel]
fn counts_its_turns(acc: &Acc, flag: Atomic<u32>, cells: Shared<u32>) {
    let mut turns = 0;
    while flag.load(0) == 0 {
        turns += 1;
        cells[acc.block_in_grid()] = turns;
    }
}

/// Where it begins is read, and not whether it ends.
#[kernel]
fn counts_to_eight(acc: &Acc, flag: Atomic<u32>, cells: Shared<u32>) {
    let block = acc.block_in_grid();
    let mut turns = flag.load(0);
    flag.store(0, block);
    while turns < 8 {
        turns += 1;
        cells[block] = turns;
    }
    assert!(turns == 8);
}

/// The last value that it comes to is how often it has waited.
#[kernel]
fn halves_while_it_waits(acc: &Acc, flag: Atomic<u32>, cells: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        flag.store(0, 1);
        if flag.load(2) == 1 {
            flag.store(1, 8);
        }
    } else {
        let mut left = flag.load(1) + 8;
        while flag.load(0) == 0 {
            left /= 2;
        }
        cells[0] = left;
        flag.store(2, 1);
        assert!(left >= 8);
    }
}

#[kernel]
fn asks_its_warp<const GOES: bool>(acc: &Acc, flag: Atomic<u32>) {
    if GOES && acc.block_in_grid() == 0 {
        flag.store(0, 1);
    } else {
        while !acc.warp().all(flag.load(0) == 1) {}
    }
}

#[track_caller]
fn judged(
    blocks: usize,
    launch: impl Fn(&Queue, ThreadSpec<1>, &Buffer<u32>, &Buffer<u32>) -> Result<()>,
) -> (Verdict, &'static str) {
    let report = Checker::new(Model::Portable).check(|device| {
        let (queue, flag, cells) = (device.queue()?, device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(4)?);
        launch(&queue, ThreadSpec::new(blocks, 1), &flag, &cells)?;
        queue.wait()
    });
    let report = report.expect("it can be checked");
    (report.verdict, report.violations.first().map_or("", |violation| violation.kind()))
}

fn stores<const GOES: bool, const SHARED: bool>(blocks: usize) -> (Verdict, &'static str) {
    judged(blocks, |queue, spec, flag, cells| queue.launch(spec, stores_the_same::<GOES, SHARED>(flag, cells)))
}

const STUCK: (Verdict, &str) = (Verdict::Violated, "can be stuck for ever");

#[test]
fn a_store_of_the_same_value_is_no_progress() {
    for blocks in [1, 2, 3] {
        assert_eq!(stores::<false, false>(blocks), STUCK, "{blocks} blocks");
        assert_eq!(stores::<true, false>(blocks), (Verdict::Holds, ""), "{blocks} blocks");
    }
    assert_eq!(stores::<true, true>(3), (Verdict::Violated, "data race"));
    // No turn is the same as another one.
    assert_eq!(
        judged(1, |queue, spec, flag, cells| queue.launch(spec, counts_its_turns(flag, cells))).0,
        Verdict::Unknown
    );
}

#[test]
fn a_turn_that_divides_what_was_read_is_another_one() {
    let halves = judged(2, |queue, spec, flag, cells| queue.launch(spec, halves_while_it_waits(flag, cells)));
    assert_eq!(halves, (Verdict::Violated, "fault"));
}

#[test]
fn a_loop_that_counts_from_what_was_read_ends() {
    let counts = judged(2, |queue, spec, flag, cells| queue.launch(spec, counts_to_eight(flag, cells)));
    assert_eq!(counts, (Verdict::Holds, ""));
}

#[test]
fn a_vote_of_one_lane_is_no_progress() {
    assert_eq!(judged(2, |queue, spec, flag, _| queue.launch(spec, asks_its_warp::<true>(flag))), (Verdict::Holds, ""));
    assert_eq!(judged(2, |queue, spec, flag, _| queue.launch(spec, asks_its_warp::<false>(flag))), STUCK);
}
