//! Threads that take tickets, in scenarios: one run stands for all orders in which they do, unless the host looks at what that leaves
//! open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle::{Checker, Model};
use wattle_check::keep::{Keeper, Key};

/// Keeps what is not 0, side by side in some order.
#[kernel]
fn keep(acc: &Acc, values: Read<u32>, out: Shared<u32>, count: Atomic<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..values.len()).strided() {
        if values[i] != 0 {
            out[count.fetch_add(0, 1)] = values[i];
        }
    }
}

/// As [`keep`], with a counter that has a sign.
#[kernel]
fn keep_signed(acc: &Acc, values: Read<u32>, out: Shared<u32>, count: Atomic<i32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..values.len()).strided() {
        if values[i] != 0 {
            out[count.fetch_add(0, 1) as u32] = values[i];
        }
    }
}

/// Doubles what is left of the work, piece by piece.
#[kernel]
fn share(_acc: &Acc, values: Read<u32>, out: Shared<u32>, next: Atomic<u32>, done: Atomic<u32>) {
    let mut piece = next.fetch_add(0, 1);
    while piece < values.len() {
        out[piece] = 2 * values[piece];
        done.fetch_add(0, values[piece]);
        piece = next.fetch_add(0, 1);
    }
}

const MODELS: [Model; 4] = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Sc];

/// What the host looks at.
#[derive(Clone, Copy)]
enum Looks {
    Count,
    Sorted,
    /// It is sure of an order.
    Order,
}

fn kept(model: Model, len: usize, looks: Looks) -> Report {
    let scenario = move |device: &Device| {
        let queue = device.queue()?;
        let values: Vec<u32> = (1..=len as u32).collect();
        let (input, out) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(len)?);
        let count = device.alloc_zeroed::<u32>(1)?;
        queue.launch(ThreadSpec::new(2, len.div_ceil(2)), keep(&input, &out, &count))?;
        assert_eq!(count.read(&queue)?, [len as u32]);
        match looks {
            Looks::Count => {}
            Looks::Sorted => {
                let mut found = out.read(&queue)?;
                found.sort_unstable();
                assert_eq!(found, values);
            }
            Looks::Order => assert_eq!(out.read(&queue)?, values),
        }
        Ok(())
    };
    Checker::new(model).check(scenario).unwrap()
}

#[test]
fn what_is_kept_is_proved_in_one_run_where_its_order_matters_to_nobody() {
    for model in MODELS {
        let report = kept(model, 40, Looks::Count);
        assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 1), "{model:?}: {report}");
        // The host sees the order: each is tried.
        let report = kept(model, 4, Looks::Sorted);
        assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 24), "{model:?}: {report}");
        let report = kept(model, 4, Looks::Order);
        assert_eq!(report.verdict, Verdict::Violated, "{model:?}: {report}");
    }
}

#[test]
fn a_counter_may_have_a_sign() {
    for model in MODELS {
        let scenario = |device: &Device| {
            let queue = device.queue()?;
            let (values, out) = (device.from_slice(&[3u32; 24])?, device.alloc_zeroed::<u32>(24)?);
            let count = device.alloc_zeroed::<i32>(1)?;
            queue.launch(ThreadSpec::new(3, 8), keep_signed(&values, &out, &count))?;
            assert_eq!((count.read(&queue)?[0], out.read(&queue)?), (24, vec![3; 24]));
            Ok(())
        };
        let report: Report = Checker::new(model).check(scenario).unwrap();
        assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 1), "{model:?}: {report}");
    }
}

#[test]
fn shared_work_leaves_the_same_whoever_does_it() {
    for model in MODELS {
        let scenario = |device: &Device| {
            let queue = device.queue()?;
            let values: Vec<u32> = (1..=24).collect();
            let (input, out) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(24)?);
            let (next, done) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(ThreadSpec::new(4, 2), share(&input, &out, &next, &done))?;
            assert!(out.read(&queue)?.iter().zip(&values).all(|(out, value)| *out == 2 * value));
            assert_eq!((next.read(&queue)?[0], done.read(&queue)?[0]), (32, 300));
            Ok(())
        };
        let report: Report = Checker::new(model).check(scenario).unwrap();
        assert_eq!((report.verdict, report.statistics.complete), (Verdict::Holds, 1), "{model:?}: {report}");
    }
}

/// Writes what it is given.
#[kernel]
fn copy(acc: &Acc, from: Read<u32>, mut to: PerItem<u32>) {
    for (i, to) in acc.items(&mut to) {
        *to = from[i];
    }
}

/// What has been kept reaches the host by another buffer, or by another launch: its order is seen all the same.
#[test]
fn what_is_left_open_is_seen_on_every_way() {
    for by_launch in [false, true] {
        let scenario = move |device: &Device| {
            let queue = device.queue()?;
            let values: Vec<u32> = (1..=7).collect();
            let (input, out) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(7)?);
            let (count, mut other) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(7)?);
            queue.launch(ThreadSpec::new(1, 7), keep(&input, &out, &count))?;
            if by_launch {
                queue.launch(ThreadSpec::new(1, 1), copy(&out, &mut other))?;
            } else {
                queue.copy(&mut other, &out)?;
            }
            assert_eq!(other.read(&queue)?, values);
            Ok(())
        };
        let report: Report = Checker::new(Model::Portable).check(scenario).unwrap();
        assert_eq!(report.verdict, Verdict::Violated, "{by_launch}: {report}");
    }
}

/// Keeps results in memory.
#[derive(Debug, Default)]
struct InMemory(Mutex<HashMap<Key, Vec<u8>>>);

impl Keeper for InMemory {
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn keep(&self, key: &Key, result: &[u8]) {
        self.0.lock().unwrap().insert(*key, result.to_vec());
    }
}

/// Counts by compare-exchange, which is searched.
#[kernel]
fn count_up(_acc: &Acc, count: Atomic<u32>) {
    let mut seen = count.load(0);
    while count.compare_exchange(0, seen, seen + 1) != seen {
        seen = count.load(0);
    }
}

/// Where a launch's result was kept, the check that shows what is wrong behind it is made in full, and looks at open cells too.
#[test]
fn what_was_kept_before_does_not_hide_what_is_left_open() {
    let keeper = Arc::new(InMemory::default());
    let checked = |looks: bool| {
        let scenario = move |device: &Device| {
            let queue = device.queue()?;
            let counted = device.alloc_zeroed::<u32>(1)?;
            queue.launch(ThreadSpec::new(3, 1), count_up(&counted))?;
            assert_eq!(counted.read(&queue)?, [3]);
            let values: Vec<u32> = (1..=7).collect();
            let (input, out) = (device.from_slice(&values)?, device.alloc_zeroed::<u32>(7)?);
            queue.launch(ThreadSpec::new(1, 7), keep(&input, &out, &device.alloc_zeroed::<u32>(1)?))?;
            if looks {
                assert_eq!(out.read(&queue)?, values);
            }
            Ok(())
        };
        let report: Report = Checker::new(Model::Portable).kept_by(keeper.clone()).check(scenario).unwrap();
        report
    };
    let first = checked(false);
    assert_eq!((first.verdict, first.kept), (Verdict::Holds, 0), "{first}");
    let second = checked(false);
    assert_eq!((second.verdict, second.kept), (Verdict::Holds, 1), "{second}");
    let looks = checked(true);
    assert_eq!(looks.verdict, Verdict::Violated, "{looks}");
}

/// One thread of a block takes tickets until one of them ends the loop, and the other one waits at the barrier of its first turn: they
/// meet in different turns.
#[kernel]
fn meets_too_late(acc: &Acc, next: Atomic<u32>) {
    let mut goes_on = true;
    while goes_on {
        let mut ticket = 99;
        if acc.thread_in_block() == 0 {
            ticket = next.fetch_add(0, 1);
        }
        if ticket >= 6 {
            acc.sync_block();
            goes_on = false;
        }
    }
}

#[test]
fn threads_that_meet_in_different_turns_are_stuck() {
    for model in [Model::Portable, Model::Vulkan] {
        let scenario = |device: &Device| {
            let queue = device.queue()?;
            queue.launch(ThreadSpec::new(2, 2), meets_too_late(&device.alloc_zeroed::<u32>(1)?))?;
            queue.wait()
        };
        let report: Report = Checker::new(model).time(std::time::Duration::from_secs(20)).check(scenario).unwrap();
        assert_ne!(report.verdict, Verdict::Holds, "{model:?}: {report}");
    }
}

/// Goes round a loop as often as its ticket says. A search gives up on such a loop while the ticket is still open.
#[kernel]
fn turns_by_ticket(_acc: &Acc, next: Atomic<u32>, done: Atomic<u32>) {
    let ticket = next.fetch_add(0, 1);
    let mut sum = 0;
    for turn in 0..ticket + 1 {
        sum += turn;
    }
    if sum < 100 {
        done.fetch_add(0, 1);
    }
}

#[test]
fn what_a_search_does_not_answer_is_taken_from_the_runs() {
    for model in MODELS {
        let scenario = |device: &Device| {
            let queue = device.queue()?;
            let (next, done) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(ThreadSpec::new(2, 1), turns_by_ticket(&next, &done))?;
            assert_eq!(done.read(&queue)?, [2]);
            Ok(())
        };
        let report: Report = Checker::new(model).check(scenario).unwrap();
        assert_eq!(report.verdict, Verdict::Holds, "{model:?}: {report}");
    }
}
