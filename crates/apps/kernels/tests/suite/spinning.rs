//! Loops whose update leaves what it found, and that look at something besides: a thread in one may never leave it.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;

fn kind(report: &Report) -> &'static str {
    report.violations.first().map_or("", |violation| violation.kind())
}

/// The other block's exchange may come between this one's store and its loop.
#[kernel]
fn writes_back_and_looks(acc: &Acc, f: Atomic<u32>, data: Read<u32>, out: Atomic<u32>) {
    let mut seen = 0;
    f.store_with(0, 1, Scope::Device, Order::Release);
    if acc.block_in_grid() == 1 {
        while f.compare_exchange_with(0, 0, 0, Scope::Device, Order::Acquire) == 0 {
            seen = data[1];
        }
    }
    f.exchange_with(0, 0, Scope::Device, Order::Acquire);
    out.store(0, seen);
}

/// No thread ever stores 1.
#[kernel]
fn waits_for_what_nobody_stores(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    let mut seen = 0;
    if acc.thread_in_block() == 1 {
        while f.compare_exchange_with(0, 1, 2, Scope::Block, Order::Acquire) == 0 {
            seen = f.load_with(1, Scope::Device, Order::Acquire);
        }
    }
    out.store(0, seen + f.load(acc.thread_in_block()));
}

/// No thread ever adds anything else than 0.
#[kernel]
fn adds_nothing_and_looks(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    let tile = acc.shared::<u32, 2>();
    let mut seen = 0;
    tile[1] = 0;
    while f.fetch_add_with(0, 0, Scope::Device, Order::Acquire) != 1 {
        seen = tile[1];
    }
    out.store(0, seen);
}

/// What it looks at is what it has just written back.
#[kernel]
fn looks_at_what_it_wrote_back(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    let mut seen = acc.thread_in_grid();
    loop {
        let old = f.fetch_add_with(0, 0, Scope::Device, Order::Acquire);
        if old != 0 {
            break;
        }
        seen = f.load_with(old, Scope::Block, Order::Acquire);
    }
    out.store(0, seen);
}

/// Only failing iterations touch the second word, at a scope that leaves the other block out.
#[kernel]
fn updates_beside_its_flag(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {
            f.fetch_or_with(1, 0, Scope::Block, Order::Relaxed);
        }
        out.store(0, 1);
    }
}

/// Two blocks wait for the third. Only in iterations that fail does the one `looking` read the third word, at a scope that leaves
/// the other out, before an update of the second word that passes it on; the other updates both words in turn.
#[kernel]
fn looks_before_another_updates(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>, looking: u32) {
    let block = acc.block_in_grid();
    if block == 2 {
        f.store_with(0, 1, Scope::Device, Order::Relaxed);
    } else if block == looking {
        while f.load_with(0, Scope::Device, Order::Relaxed) == 0 {
            f.load_with(2, Scope::Block, Order::Relaxed);
            f.fetch_add_with(1, 0, Scope::Device, Order::AcqRel);
        }
    } else {
        while f.load_with(0, Scope::Device, Order::Relaxed) == 0 {
            f.fetch_add_with(1, 0, Scope::Device, Order::AcqRel);
            f.fetch_add_with(2, 0, Scope::Device, Order::Relaxed);
        }
        out.store(0, 1);
    }
}

/// The narrow update of nothing may write 0 over the other block's 1, whose writes nothing orders with it.
#[kernel]
fn updates_what_another_stores(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        f.store(0, 1);
        f.store(1, 1);
    } else {
        while f.load(1) == 0 {
            f.fetch_or_with(0, 0, Scope::Block, Order::Relaxed);
        }
        out.store(0, f.load(0));
    }
}

/// As before, but atomicity orders the update with the store.
#[kernel]
fn updates_widely_what_another_stores(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        f.store(0, 1);
        f.store(1, 1);
    } else {
        while f.load(1) == 0 {
            f.fetch_or_with(0, 0, Scope::Device, Order::Relaxed);
        }
        out.store(0, f.load(0));
    }
}

/// Block 1 waits for a word that no thread stores. The warp operation in its loop makes the checker tell iterations apart, so
/// that the thread comes to the loop bound while the load of block 0 is still pending.
#[kernel]
fn waits_before_an_operation_of_its_warp(acc: &Acc, f: Atomic<u32>, out: Atomic<u32>) {
    if acc.block_in_grid() == 1 {
        let mut all = 0;
        loop {
            let seen = f.load_with(1, Scope::Device, Order::Acquire);
            if seen != 0 {
                break;
            }
            if seen == 2 {
                all = acc.warp().reduce_and(all);
            }
            f.fetch_add(2, 0);
        }
        out.store(0, all);
    } else {
        f.load(0);
    }
}

fn judged(check: impl Fn(&Queue, &Buffer<u32>, &Buffer<u32>) -> Result<()> + Send + Sync + 'static) -> Report {
    Checker::new(Model::Portable)
        .check(move |device: &Device| {
            let queue = device.queue()?;
            let (f, out) = (device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(1)?);
            check(&queue, &f, &out)?;
            out.read(&queue)?;
            Ok(())
        })
        .expect("a report")
}

#[test]
fn a_loop_that_writes_back_what_it_read_may_never_end() {
    let report = judged(|queue, f, out| {
        let data = queue.device().alloc_zeroed::<u32>(2)?;
        queue.launch(ThreadSpec::new(2, 1), writes_back_and_looks(f, &data, out))
    });
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "can be stuck for ever"), "{report:?}");
}

#[test]
fn a_failing_update_and_another_look() {
    let report = judged(|queue, f, out| queue.launch(ThreadSpec::new(1, 2), waits_for_what_nobody_stores(f, out)));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "can be stuck for ever"), "{report:?}");
}

#[test]
fn an_update_by_nothing_and_a_plain_look() {
    let report = judged(|queue, f, out| queue.launch(ThreadSpec::new(1, 1), adds_nothing_and_looks(f, out)));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "can be stuck for ever"), "{report:?}");
}

#[test]
fn an_update_by_nothing_and_a_look_at_it() {
    let report = judged(|queue, f, out| queue.launch(ThreadSpec::new(1, 1), looks_at_what_it_wrote_back(f, out)));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "can be stuck for ever"), "{report:?}");
}

#[test]
fn a_cell_that_only_failing_iterations_touch() {
    let report = judged(|queue, f, out| queue.launch(ThreadSpec::new(3, 1), updates_beside_its_flag(f, out)));
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "data race"), "{report}");
}

/// The updates of the second word order the other two accesses in one of their orders alone: each is put back.
#[test]
fn two_failing_iterations_in_both_orders() {
    for looking in [0, 1] {
        let launch = move |queue: &Queue, f: &Buffer<u32>, out: &Buffer<u32>| {
            queue.launch(ThreadSpec::new(3, 1), looks_before_another_updates(f, out, looking))
        };
        let report = judged(launch);
        assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "data race"), "{looking}: {report}");
    }
}

#[test]
fn a_thread_at_the_bound_waits_while_another_reads() {
    let launch = |queue: &Queue, f: &Buffer<u32>, out: &Buffer<u32>| {
        queue.launch(ThreadSpec::new(2, 1), waits_before_an_operation_of_its_warp(f, out))
    };
    let report = judged(launch);
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "can be stuck for ever"), "{report:?}");
}

/// The value that is left in the word behind the waits, under PTX's model, where a race is no error.
fn left(wide: bool) -> Report {
    let scenario = move |device: &Device| {
        let queue = device.queue()?;
        let (f, out) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
        let spec = ThreadSpec::new(2, 1);
        match wide {
            true => queue.launch(spec, updates_widely_what_another_stores(&f, &out))?,
            false => queue.launch(spec, updates_what_another_stores(&f, &out))?,
        }
        assert_eq!(f.read(&queue)?[0], 1);
        Ok(())
    };
    Checker::new(Model::Ptx).check(scenario).unwrap()
}

#[test]
fn an_update_that_leaves_what_it_found_may_overwrite_what_it_did_not_see() {
    let narrow = left(false);
    assert_eq!((narrow.verdict, kind(&narrow)), (Verdict::Violated, "assertion"), "{narrow}");
    let wide = left(true);
    assert_eq!(wide.verdict, Verdict::Holds, "{wide}");
}
