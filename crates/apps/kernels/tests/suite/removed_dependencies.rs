//! Dependencies that compilers remove, systematically: whatever stands between a read and a store that does not need it,
//! the store may come first.
//!
//! Each program is load buffering. One thread reads `x`, performs one or two of the steps below, and then stores 1 to `y`;
//! the other copies `y` to `x`. None of the steps orders anything, and every way through them ends in the same store, so
//! that both threads can read 1.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;
use wattle_memory::Target;

const STEPS: u32 = 24;

#[device_fn]
fn step(number: u32, a: u32, x: Atomic<u32>, z: Atomic<u32>, p: Shared<u32>) {
    match number {
        1 => {
            if a == 1 {
                z.store(0, 2);
            } else {
                z.store(0, 3);
            }
        }
        2 => {
            if a == 1 {
                z.store(0, 2);
            }
        }
        3 => {
            z.load(0);
        }
        4 => z.store(0, a),
        5 => z.store(a & 1, 1),
        6 => {
            z.load(a & 1);
        }
        7 => {
            z.fetch_add(0, a);
        }
        8 => {
            z.fetch_add(a & 1, 1);
        }
        9 => {
            z.compare_exchange(0, a, 5);
        }
        10 => {
            if z.load(0) == 1 {
                z.store(1, 1);
            }
        }
        11 => {
            x.load(0);
        }
        12 => {
            if x.load(0) == a {
                z.store(1, 2);
            }
        }
        13 => {
            for i in 0..a {
                z.store(0, i);
            }
        }
        14 => {
            if a == 1 {
                z.fetch_add(0, 1);
            }
        }
        15 => {
            if a == 1 {
                x.load(0);
            }
        }
        16 => {
            if a == 1 {
                p[0] = 1;
            } else {
                p[0] = 2;
            }
        }
        17 => p[0] = p[0] + a,
        18 => {
            if a == 1 {
                z.load(0);
            } else {
                z.load(1);
            }
        }
        19 => z.store(0, z.load(1) + a),
        20 => {
            if z.exchange(0, a) == 1 {
                z.store(1, 3);
            }
        }
        21 => {
            if a == 1 {
                z.store(0, 2);
                z.store(1, 4);
            } else {
                z.store(1, 4);
            }
        }
        22 => {
            let c = z.load(z.load(0) & 1);
            z.store(0, c);
        }
        23 => {
            let mut left = a * 600;
            while left > 0 {
                left -= 1;
            }
        }
        _ => {}
    }
}

/// A store of 1 to `y`, whatever `a` is: in the end both arms do the same, if not in the same way.
#[device_fn]
fn store(number: u32, a: u32, x: Atomic<u32>, y: Atomic<u32>) {
    match number {
        1 => {
            // The second read may be the first one.
            if a == 1 {
                let b = x.load(0);
                y.store(0, b);
            } else {
                y.store(0, 1);
            }
        }
        2 => {
            if a == 1 {
                let b = x.load(0);
                let c = x.load(0);
                y.store(0, b + c - 1);
            } else {
                y.store(0, 1);
            }
        }
        3 => {
            if a == 1 {
                y.exchange(0, 1);
            } else {
                y.exchange(0, 1);
            }
        }
        4 => {
            if a == 1 {
                y.fetch_add(0, 1);
            } else {
                y.fetch_add(0, 1);
            }
        }
        5 => {
            if a == 1 {
                y.compare_exchange(0, 0, 1);
            } else {
                y.compare_exchange(0, 0, 1);
            }
        }
        // Behind another read-modify-write that both arms perform.
        6 => {
            if a == 1 {
                y.exchange(1, 4);
                y.store(0, 1);
            } else {
                y.exchange(1, 4);
                y.store(0, 1);
            }
        }
        // These differ.
        10 => {
            if a == 1 {
                y.exchange(0, 1);
            } else {
                y.exchange(0, 2);
            }
        }
        11 => {
            if a == 1 {
                y.exchange(0, 1);
            } else {
                y.fetch_or(0, 3);
            }
        }
        12 => {
            if a == 1 {
                y.exchange_with(0, 1, Scope::Device, Order::Release);
            } else {
                y.exchange(0, 1);
            }
        }
        _ => y.store(0, 1),
    }
}

#[kernel]
fn buffering(
    acc: &Acc,
    first: u32,
    second: u32,
    last: u32,
    x: Atomic<u32>,
    y: Atomic<u32>,
    z: Atomic<u32>,
    p: Shared<u32>,
    seen: Atomic<u32>,
) {
    if acc.thread_in_grid() == 0 {
        let a = x.load(0);
        step(first, a, x, z, p);
        step(second, a, x, z, p);
        store(last, a, x, y);
        seen.store(0, a);
    } else {
        let b = y.load(0);
        x.store(0, b);
        seen.store(1, b);
    }
}

fn check(target: Target, first: u32, second: u32, last: u32) -> Report {
    Checker::for_target(target)
        .check(move |device: &Device| {
            let [x, y, z, seen] = [(); 4].map(|()| device.alloc_zeroed::<u32>(2));
            let (x, y, z, seen, p) = (x?, y?, z?, seen?, device.alloc_zeroed::<u32>(1)?);
            let queue = device.queue()?;
            queue.launch(ThreadSpec::new(2, 1), buffering(first, second, last, &x, &y, &z, &p, &seen))?;
            assert_ne!(seen.read(&queue)?, [1, 1]);
            Ok(())
        })
        .expect("a report")
}

#[test]
fn nothing_between_a_read_and_a_store_that_does_not_need_it_keeps_the_store_back() {
    let mut kept = Vec::new();
    for (first, second) in (0..STEPS).flat_map(|first| (0..STEPS).map(move |second| (first, second))) {
        let report = check(Target::Portable, first, second, 0);
        if report.verdict != Verdict::Violated {
            kept.push((first, second, report.verdict));
        }
    }
    assert!(kept.is_empty(), "these keep the store back: {kept:?}");
}

#[test]
fn stores_of_both_arms_that_come_to_the_same_wait_for_no_read() {
    for target in [Target::Portable, Target::Ptx { sm: 90 }, Target::Vulkan, Target::Host] {
        for last in 1..=6 {
            let report = check(target, 0, 0, last);
            assert_eq!(report.verdict, Verdict::Violated, "{target}, {last}");
        }
    }
}

#[test]
fn read_modify_writes_that_differ_wait_for_what_was_read() {
    for last in 10..=12 {
        let report = check(Target::Portable, 0, 0, last);
        assert_eq!(report.verdict, Verdict::Holds, "{last}");
    }
}
