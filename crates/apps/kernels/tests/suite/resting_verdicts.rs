//! A verdict that rests on a dependency says so, with both lines; one that rests on none does not.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle_memory::Target;

use crate::dependencies::{TARGETS, judge};

/// Each thread stores only if it has read what the other stores: nothing but the dependencies keeps both from it.
#[kernel]
fn out_of_thin_air(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>, otherwise: u32) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        if a == 1 {
            y.store(0, 1);
        } else if otherwise != 0 {
            y.store(0, otherwise);
        }
        seen.store(0, a);
    } else {
        let b = y.load(0);
        if b == 1 {
            x.store(0, 1);
        }
        seen.store(1, b);
    }
}

#[test]
fn a_verdict_that_rests_on_both_dependencies_says_so() {
    for target in TARGETS {
        for otherwise in [0, 2] {
            let report = judge(Checker::for_target(target), |queue, [x, y, _, _, seen]| {
                queue.launch(ThreadSpec::new(2, 1), out_of_thin_air(x, y, seen, otherwise))
            });
            assert_eq!(report.verdict, Verdict::Holds, "{target}");
            assert!(!report.rests_on.is_empty(), "{target}, {otherwise}");
        }
    }
}

/// The one's store is the same whatever it reads, but not behind the same fences; so it waits for the read.
#[kernel]
fn kept_apart(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        if a == 1 {
            y.store(0, 1);
        } else {
            acc.mem_fence(Scope::Device, Order::AcqRel);
            y.store(0, 1);
        }
        // A loop of the thread's own, which waits for no other thread.
        let mut left = 5;
        while left > 0 {
            left /= 2;
        }
        seen.store(0, a);
    } else {
        let b = y.load(0);
        x.store(0, b);
        seen.store(1, b);
    }
}

/// A verdict that rests on a dependency alone names it, with both of its lines.
#[test]
fn a_verdict_that_rests_on_a_dependency_says_so() {
    let check = |checker| {
        judge(checker, |queue, [x, y, _, _, seen]| queue.launch(ThreadSpec::new(2, 1), kept_apart(x, y, seen)))
    };
    let text: Vec<&str> = include_str!("resting_verdicts.rs").lines().map(str::trim).collect();
    let line = |at: u32| text[at as usize - 1];
    for target in [Target::Portable, Target::Ptx { sm: 90 }, Target::Vulkan, Target::Host] {
        let report = check(Checker::for_target(target));
        assert_eq!(report.verdict, Verdict::Holds);
        let lines: Vec<_> = report.rests_on.iter().map(|(read, store)| (line(read.line), line(store.line))).collect();
        let either = [("let a = x.load(0);", "y.store(0, 1);"), ("let b = y.load(0);", "x.store(0, b);")];
        assert!(!lines.is_empty() && lines.iter().all(|pair| either.contains(pair)), "{target}: {lines:?}");
    }
    assert_eq!(check(Checker::new(Model::Sc)).rests_on, []);
}

/// A circle that goes on behind a barrier: what the first thread of a block reads comes of what the second one stores once both
/// have come there, but for the third thread's branch.
#[kernel]
fn behind_a_barrier(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    let i = acc.thread_in_block();
    if acc.block_in_grid() == 0 {
        if i == 0 && x.load(0) == 1 {
            seen.store(0, 1);
        }
        acc.sync_block();
        if i == 1 {
            y.store(0, 1);
        }
    } else if i == 0 && y.load(0) == 1 {
        x.store(0, 1);
    }
}

/// The same behind an operation of a warp.
#[kernel]
fn behind_a_vote(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    let i = acc.thread_in_block();
    let first = acc.block_in_grid() == 0;
    let read = if first && i == 0 { x.load(0) } else { 0 };
    if acc.warp().any(read == 1) && i == 0 {
        y.store(0, 1);
    }
    if !first && i == 1 && y.load(0) == 1 {
        x.store(0, 1);
        seen.store(0, 1);
    }
}

/// A lane reads, and another one stores what that brings.
#[kernel]
fn by_another_lane(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    let i = acc.thread_in_block();
    let first = acc.block_in_grid() == 0;
    let read = if first && i == 0 { x.load(0) } else { 0 };
    let brought = acc.warp().shuffle(read, 0);
    if i == 1 && brought == 1 {
        y.store(0, 1);
    }
    if !first && i == 1 && y.load(0) == 1 {
        x.store(0, 1);
        seen.store(0, 1);
    }
}

/// One thread stores in each turn of its loop, and what another one reads comes of two turns.
#[kernel]
fn in_two_turns(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        x.store(0, 3);
    } else if acc.block_in_grid() == 1 {
        let (first, second) = (y.load(0), y.load(0));
        if first == 1 && second == 2 {
            x.store(0, 1);
            x.store(0, 2);
            seen.store(0, 1);
        }
    } else {
        loop {
            let read = x.load(0);
            if read == 1 {
                y.store(0, 1);
            }
            if read == 2 {
                y.store(0, 2);
            }
            if read >= 2 {
                break;
            }
        }
    }
}

#[test]
fn a_verdict_that_rests_on_a_dependency_says_so_where_threads_wait_for_one_another() {
    let spec = || ThreadSpec::new(2, 2);
    let reports = [
        judge(Checker::new(Model::Portable), |queue, [x, y, _, _, seen]| {
            queue.launch(spec(), behind_a_barrier(x, y, seen))
        }),
        judge(Checker::new(Model::Portable), |queue, [x, y, _, _, seen]| {
            queue.launch(spec(), behind_a_vote(x, y, seen))
        }),
        judge(Checker::new(Model::Portable), |queue, [x, y, _, _, seen]| {
            queue.launch(spec(), by_another_lane(x, y, seen))
        }),
    ];
    for report in reports {
        assert_eq!((report.verdict, report.rests_unfinished), (Verdict::Holds, false), "{report}");
        assert!(!report.rests_on.is_empty(), "{report}");
    }
}

#[test]
fn a_verdict_that_rests_on_a_dependency_in_two_turns_of_a_loop_says_so() {
    let report = judge(Checker::new(Model::Portable), |queue, [x, y, _, _, seen]| {
        queue.launch(ThreadSpec::new(3, 1), in_two_turns(x, y, seen))
    });
    assert_eq!(report.verdict, Verdict::Holds, "{report}");
    assert!(!report.rests_on.is_empty(), "{report}");
}

/// Where the search for outcomes that dependencies exclude does not come to its end, the report names both lines of one that it
/// ignored: in a stack whose threads try again and again there are many.
#[test]
fn a_verdict_that_may_rest_on_a_dependency_says_so() {
    let report = judge_scenario("stack-treiber");
    let text = report.to_string();
    assert_eq!((report.verdict, report.rests_unfinished, report.rests_on.len()), (Verdict::Holds, true, 0), "{text}");
    assert!(
        text.contains("may rest on a dependency: for one, the store at crates/apps/kernels/src/algorithms/treiber.rs"),
        "{text}"
    );
    assert!(text.contains("(1 s at most) did not come to its end"), "{text}");
}

/// Locks, a barrier and queues in which threads wait for one another rest on none: release and acquire, fences, and what
/// does not race order all but one link of each circle, or coherence does.
#[test]
fn what_synchronizes_rests_on_no_dependency() {
    for name in ["lock-mcs", "peterson", "queue-michael-scott", "ring-mpmc", "sense-barrier"] {
        let report = judge_scenario(name);
        let rests = (report.verdict, report.rests_unfinished, report.rests_on.len());
        assert_eq!(rests, (Verdict::Holds, false, 0), "{name}: {report}");
    }
}

fn judge_scenario(name: &str) -> Report {
    let scenario = wattle_kernels::find(name).expect("a scenario");
    Checker::new(Model::Portable).check_scenario(scenario, None).unwrap()
}

/// The same beside a thread that waits: its loop orders what follows it, and nothing else.
#[kernel]
fn kept_apart_and_waited_for(acc: &Acc, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>, done: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        if a == 1 {
            y.store(0, 1);
        } else {
            acc.mem_fence(Scope::Device, Order::AcqRel);
            y.store(0, 1);
        }
        seen.store(0, a);
        done.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        let b = y.load(0);
        x.store(0, b);
        while done.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        seen.store(1, b);
    }
}

#[test]
fn a_verdict_that_rests_on_a_dependency_says_so_where_threads_wait_too() {
    let report = judge(Checker::new(Model::Portable), |queue, [x, y, done, _, seen]| {
        queue.launch(ThreadSpec::new(2, 1), kept_apart_and_waited_for(x, y, seen, done))
    });
    assert_eq!(report.verdict, Verdict::Holds);
    assert!(!report.rests_on.is_empty());
}
