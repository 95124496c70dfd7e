//! Programs whose threads go round for ever and change something in each turn: no execution of them ends, and what runs
//! of the simulated device show of them is said.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;

/// Both go on for ever; the first one's load reaches its block alone.
#[kernel]
fn race_on(acc: &Acc, words: Atomic<u32>) {
    if acc.block_in_grid() == 0 {
        while words.load(2) == 0 {
            let seen = words.load_with(1, Scope::Block, Order::Acquire);
            words.store(1, seen % 3);
        }
    } else {
        words.fetch_add(1, 0);
        while words.load(2) == 0 {
            words.fetch_add(1, 0);
        }
    }
}

#[kernel]
fn count_on(acc: &Acc, words: Atomic<u32>) {
    while words.load(2) == 0 {
        words.fetch_add(acc.block_in_grid(), 1);
    }
}

#[kernel]
fn store_and_count_on(acc: &Acc, words: Atomic<u32>, plain: Shared<u32>) {
    plain[0] = 1;
    while words.load(2) == 0 {
        words.fetch_add(acc.block_in_grid(), 1);
    }
}

/// The threads of a block part, while another one goes on.
#[kernel]
fn part_beside(acc: &Acc, words: Atomic<u32>) {
    if acc.block_in_grid() == 1 {
        while words.load(2) == 0 {
            words.fetch_add(0, 1);
        }
    } else if acc.thread_in_block() == 0 {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}

fn judged(threads: usize, launch: impl Fn(&Queue, ThreadSpec<1>, &Buffer<u32>) -> Result<()>) -> Report {
    let report = Checker::new(Model::Portable).check(|device| {
        let (queue, words) = (device.queue()?, device.alloc_zeroed::<u32>(3)?);
        launch(&queue, ThreadSpec::new(2, threads), &words)?;
        queue.wait()
    });
    report.expect("it can be checked")
}

#[test]
fn what_a_run_shows_is_said() {
    let race = judged(1, |queue, spec, words| queue.launch(spec, race_on(words)));
    assert_eq!(race.verdict, Verdict::Violated, "{race}");
    let text = race.to_string();
    assert!(text.contains("seen in a run with `--device simulated:") && text.contains("data race"), "{text}");
    let barriers = judged(2, |queue, spec, words| queue.launch(spec, part_beside(words)));
    assert_eq!(barriers.verdict, Verdict::Violated, "{barriers}");
}

/// Plain accesses that do not race are not asked for, and the simulated device reports those that do.
#[test]
fn runs_are_those_of_the_model() {
    let checker = Checker::new(Model::Portable).plain_as_relaxed();
    let report = checker.check(|device| {
        let (queue, words) = (device.queue()?, device.alloc_zeroed::<u32>(3)?);
        let plain = device.alloc_zeroed::<u32>(1)?;
        queue.launch(ThreadSpec::new(2, 1), store_and_count_on(&words, &plain))?;
        queue.wait()
    });
    let report = report.expect("it can be checked");
    assert_eq!(report.verdict, Verdict::Unknown, "{report}");
}

#[test]
fn a_run_that_shows_nothing_says_nothing() {
    let report = judged(1, |queue, spec, words| queue.launch(spec, count_on(words)));
    assert_eq!(report.verdict, Verdict::Unknown, "{report}");
}
