//! Verdicts that rest on the value or the place of a store being computed from what is read.

use wattle::checker::Verdict;
use wattle::prelude::*;

use crate::dependencies::{TARGETS, judge};

/// What is stored, or where, is computed from what was read, and no branch is there: a value that nothing but itself would
/// justify.
#[kernel]
fn computed(acc: &Acc, case: u32, x: Atomic<u32>, y: Atomic<u32>, seen: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        match case {
            0 => y.store(1, a),
            1 => y.store(1, 2 - a),
            2 => y.store(1, a / 2 + 2),
            3 => y.store(a, 1),
            4 => y.store(1, a | 0x1000),
            // No number is one more than itself.
            5 => y.store(1, a + 1),
            _ => y.store(0, a),
        }
        seen.store(0, a);
    } else {
        let b = y.load(1);
        x.store(0, b);
        seen.store(1, b);
    }
}

#[test]
fn what_is_computed_from_what_was_read_is_a_dependency() {
    let text: Vec<&str> = include_str!("computed_dependencies.rs").lines().map(str::trim).collect();
    let line = |at: u32| text[at as usize - 1];
    let stores = [
        "0 => y.store(1, a),",
        "1 => y.store(1, 2 - a),",
        "2 => y.store(1, a / 2 + 2),",
        "3 => y.store(a, 1),",
        "4 => y.store(1, a | 0x1000),",
    ];
    for target in TARGETS {
        for case in 0..7 {
            let report = judge(Checker::for_target(target), |queue, [x, y, _, _, seen]| {
                queue.launch(ThreadSpec::new(2, 1), computed(case, x, y, seen))
            });
            assert_eq!(report.verdict, Verdict::Holds, "case {case} for {target}: {:?}", report.unknown);
            let lines: Vec<_> =
                report.rests_on.iter().map(|(read, store)| (line(read.line), line(store.line))).collect();
            match stores.get(case as usize) {
                Some(store) => {
                    let either = [("let a = x.load(0);", *store), ("let b = y.load(1);", "x.store(0, b);")];
                    assert!(
                        !lines.is_empty() && lines.iter().all(|pair| either.contains(pair)),
                        "{case} {target}: {lines:?}"
                    );
                }
                None => assert_eq!(lines, [], "case {case} for {target}"),
            }
        }
    }
}

/// What is added is read, and so is where a value lies: each adds a value of its own to those that a place may have.
#[kernel]
fn adds_what_it_read(acc: &Acc, words: Atomic<u32>) {
    let block = acc.block_in_grid();
    if block == 0 {
        words.store(0, 1);
    } else if block == 1 {
        let i = words.load(0);
        words.fetch_add(2, i);
        words.store(4, words.load(5 + i));
    } else if block == 2 {
        if words.load(2) == 0 {
            words.store(3, 1);
        }
    } else if words.load(4) == 0 {
        words.store(1, 1);
    }
}

#[test]
fn values_depend_on_operands_and_places() {
    for word in [1, 3] {
        let report = Checker::new(Model::Portable).check(|device| {
            let queue = device.queue()?;
            let mut words = device.alloc_zeroed::<u32>(7)?;
            words.write(&queue, &[0, 0, 0, 0, 0, 0, 5])?;
            queue.launch(ThreadSpec::new(4, 1), adds_what_it_read(&words))?;
            assert_eq!(words.read(&queue)?[word], 1);
            Ok(())
        });
        assert_eq!(report.expect("it can be checked").verdict, Verdict::Violated, "word {word}");
    }
}
