//! What is wrong in executions that come to the bound of a loop is found, although nothing can be said of what holds.

use wattle::checker::Verdict;
use wattle::prelude::*;

/// All threads count together; the loop's bound is below that.
#[device_fn]
fn counts_far(f: Atomic<u32>) {
    while f.fetch_add(0, 1) < 39 {}
}

#[kernel]
fn asserts_before(_acc: &Acc, f: Atomic<u32>, _data: Shared<u32>) {
    assert!(f.load(2) == 1);
    counts_far(f);
}

#[kernel]
fn is_out_of_bounds_before(_acc: &Acc, f: Atomic<u32>, data: Shared<u32>) {
    data[100] = 1;
    counts_far(f);
}

#[kernel]
fn reads_unwritten_before(acc: &Acc, f: Atomic<u32>, data: Shared<u32>) {
    let tile = acc.shared::<u32, 2>();
    data[0] = tile[1];
    counts_far(f);
}

#[kernel]
fn races_before(acc: &Acc, f: Atomic<u32>, data: Shared<u32>) {
    data[0] = acc.thread_in_grid();
    counts_far(f);
}

/// Each turn of block 0 may read what the other block writes with nothing between them.
#[kernel]
fn races_in_a_turn(acc: &Acc, f: Atomic<u32>, data: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        while f.fetch_add(0, 1) < 39 {
            data[1] = data[0];
        }
    } else {
        data[0] = 1;
    }
}

/// The other block does not wait, and its fault rests on what it reads of the counter.
#[kernel]
fn asserts_beside(acc: &Acc, f: Atomic<u32>, _data: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        counts_far(f);
    } else {
        assert!(f.load(0) < 2);
    }
}

/// An exchange that is not in the other block's scope, in a loop that nobody lets go.
#[kernel]
fn exchanges_narrowly(acc: &Acc, f: Atomic<u32>, data: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        data[0] = 1;
        while f.exchange_with(0, 0, Scope::Block, Order::Relaxed) == 0 {}
    } else {
        data[0] = 2;
        data[1] = f.load(0);
    }
}

/// Whatever is wrong is wrong behind the loop.
#[kernel]
fn asserts_behind(_acc: &Acc, f: Atomic<u32>, _data: Shared<u32>) {
    counts_far(f);
    assert!(f.load(2) == 1);
}

/// The other block's assertion fails only if what it waits for has happened, which no turn within the bound does.
#[kernel]
fn asserts_what_only_more_turns_break(acc: &Acc, f: Atomic<u32>, _data: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        counts_far(f);
    } else {
        assert!(f.load(0) < 30);
    }
}

type Launch = fn(&Queue, &Buffer<u32>, &Buffer<u32>) -> Result<()>;

/// The verdict, and the kinds of what is wrong.
fn judged(model: Model, launch: Launch) -> (Verdict, Vec<&'static str>) {
    let report = Checker::new(model).loop_bound(4).check(move |device: &Device| {
        let queue = device.queue()?;
        let (f, data) = (device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(2)?);
        launch(&queue, &f, &data)?;
        f.read(&queue)?;
        Ok(())
    });
    let report = report.expect("a report");
    (report.verdict, report.violations.iter().map(|violation| violation.kind()).collect())
}

#[test]
fn what_is_wrong_before_a_bound_is_found() {
    let one: [(&str, Launch, &str); 7] = [
        ("assertion", |q, f, data| q.launch(ThreadSpec::new(1, 1), asserts_before(f, data)), "fault"),
        ("index", |q, f, data| q.launch(ThreadSpec::new(1, 1), is_out_of_bounds_before(f, data)), "fault"),
        ("unwritten", |q, f, data| q.launch(ThreadSpec::new(1, 1), reads_unwritten_before(f, data)), "unwritten"),
        ("race", |q, f, data| q.launch(ThreadSpec::new(2, 1), races_before(f, data)), "race"),
        ("race in a turn", |q, f, data| q.launch(ThreadSpec::new(2, 1), races_in_a_turn(f, data)), "race"),
        ("beside", |q, f, data| q.launch(ThreadSpec::new(2, 1), asserts_beside(f, data)), "fault"),
        ("exchange", |q, f, data| q.launch(ThreadSpec::new(2, 1), exchanges_narrowly(f, data)), "race"),
    ];
    for (name, launch, kind) in one {
        for model in [Model::Portable, Model::Vulkan] {
            let (verdict, kinds) = judged(model, launch);
            let is_it = |found: &&str| found.contains(kind);
            // An assertion and an index out of bounds have names of their own.
            let found = kinds.iter().any(is_it) || kind == "fault" && kinds.iter().any(|found| !found.contains("race"));
            assert!(verdict == Verdict::Violated && found, "{name} under {model}: {verdict}, {kinds:?}");
        }
    }
}

/// A run of the simulated device, which has no bound, may show it.
#[test]
fn what_only_happens_beyond_a_bound_is_not_known() {
    let one: [Launch; 2] = [
        |q, f, data| q.launch(ThreadSpec::new(1, 1), asserts_behind(f, data)),
        |q, f, data| q.launch(ThreadSpec::new(2, 1), asserts_what_only_more_turns_break(f, data)),
    ];
    for launch in one {
        assert_eq!(judged(Model::Vulkan, launch), (Verdict::Unknown, vec![]));
        let (verdict, kinds) = judged(Model::Portable, launch);
        let is_seen = verdict == Verdict::Violated && kinds == ["seen in a run"];
        assert!(is_seen || (verdict == Verdict::Unknown && kinds.is_empty()), "{verdict}, {kinds:?}");
    }
}
