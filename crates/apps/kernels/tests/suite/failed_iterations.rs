//! The failed iterations of a waiting loop: their accesses, assertions and indices count like others'.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;

fn kind(report: &Report) -> &'static str {
    report.violations.first().map_or("", |violation| violation.kind())
}

#[kernel]
fn asserts_while_it_waits(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        x.store(0, 1);
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {
            assert!(x.load(0) == 0, "seen while waiting");
        }
    }
}

#[kernel]
fn leaves_its_array_while_it_waits(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>, table: Read<u32>, out: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        x.store(0, 7);
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {
            if table[x.load(0)] == 5 {
                out.store(0, 1);
            }
        }
    }
}

/// The payload is looked at while the flag is not set.
#[kernel]
fn peeks_while_it_waits(acc: &Acc, payload: Shared<u32>, f: Atomic<u32>, out: PerItem<u32>) {
    let mut seen = 0;
    if acc.thread_in_grid() == 0 {
        payload[0] = 1;
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {
            seen = payload[0] * 0;
        }
    }
    for (_, o) in acc.items(&mut out) {
        *o = seen;
    }
}

/// The same after the flag: what every right program does.
#[kernel]
fn looks_after_it_waited(acc: &Acc, payload: Shared<u32>, f: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        payload[0] = 1;
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {}
        assert!(payload[0] == 1);
    }
}

/// A stage counter: the payload of a stage may be looked at once that stage is reached, in the loop too.
#[kernel]
fn looks_at_a_stage_that_is_reached(acc: &Acc, payload: Shared<u32>, stage: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        payload[0] = 1;
        stage.store_with(0, 1, Scope::Device, Order::Release);
        stage.store_with(0, 2, Scope::Device, Order::Release);
    } else {
        let mut now = stage.load_with(0, Scope::Device, Order::Acquire);
        while now != 2 {
            if now == 1 {
                assert!(payload[0] == 1);
            }
            now = stage.load_with(0, Scope::Device, Order::Acquire);
        }
    }
}

/// Two locks of one word at too narrow a scope: the attempts that fail race with each other and with the release.
#[kernel]
fn lock_of_block_scope(acc: &Acc, lock: Atomic<u32>, turns: Atomic<u32>) {
    if acc.thread_in_grid() < 3 {
        while lock.exchange_with(0, 1, Scope::Block, Order::AcqRel) != 0 {}
        turns.fetch_add(0, 1);
    }
}

/// Two loops wait one inside the other, and the assertion is in the inner one.
#[kernel]
fn asserts_in_an_inner_loop(acc: &Acc, x: Atomic<u32>, f: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        x.store(0, 1);
        f.store_with(0, 1, Scope::Device, Order::Release);
    } else {
        while f.load_with(0, Scope::Device, Order::Acquire) == 0 {
            while f.load(0) == 0 {
                assert!(x.load(0) == 0, "seen while waiting");
            }
        }
    }
}

fn pair() -> ThreadSpec<1> {
    ThreadSpec::new(2, 1)
}

fn two(launch: impl Fn(&Device, &Queue) -> Result<()>) -> Report {
    check(Model::Portable, launch)
}

fn check(model: Model, launch: impl Fn(&Device, &Queue) -> Result<()>) -> Report {
    let scenario = |device: &Device| {
        let queue = device.queue()?;
        launch(device, &queue)?;
        queue.wait()
    };
    Checker::new(model).check(scenario).unwrap()
}

#[test]
fn an_assertion_in_a_waiting_loop_is_judged_in_the_iterations_that_fail() {
    for model in [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust] {
        let report = check(model, |device, queue| {
            let (x, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(pair(), asserts_while_it_waits(&x, &f))
        });
        assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "fault"), "{model}");
    }
    let report = two(|device, queue| {
        let (x, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(pair(), asserts_in_an_inner_loop(&x, &f))
    });
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "fault"));
    let story = wattle_check::story::tell(&report.violations[0], &report).to_string();
    assert!(story.contains("seen while waiting"), "{story}");
}

#[test]
fn an_index_out_of_bounds_in_a_waiting_loop_is_a_fault() {
    let report = two(|device, queue| {
        let (x, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let (table, out) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(pair(), leaves_its_array_while_it_waits(&x, &f, &table, &out))
    });
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "fault"));
}

#[test]
fn a_plain_read_in_a_waiting_loop_races() {
    let report = two(|device, queue| {
        let (payload, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let mut out = device.alloc_zeroed::<u32>(2)?;
        queue.launch(pair(), peeks_while_it_waits(&payload, &f, &mut out))
    });
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "data race"));
}

#[test]
fn a_lock_at_too_narrow_a_scope_races() {
    let report = two(|device, queue| {
        let (lock, turns) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(pair(), lock_of_block_scope(&lock, &turns))
    });
    assert_eq!((report.verdict, kind(&report)), (Verdict::Violated, "data race"));
}

#[test]
fn loops_that_look_where_they_may_hold() {
    for model in [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust] {
        let after = check(model, |device, queue| {
            let (payload, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(pair(), looks_after_it_waited(&payload, &f))
        });
        let stages = check(model, |device, queue| {
            let (payload, f) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
            queue.launch(pair(), looks_at_a_stage_that_is_reached(&payload, &f))
        });
        assert_eq!(
            (after.verdict, stages.verdict),
            (Verdict::Holds, Verdict::Holds),
            "{model} {:?}",
            stages.violations
        );
    }
}
