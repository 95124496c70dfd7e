//! What kernels print, and what their assertions say: the same text on every device.

use std::sync::{Arc, Mutex};

use wattle::prelude::*;
use wattle::{ErrorKind, FaultKind, Printed};

use crate::harness::{Case, Outcome, is_small, kind, refused};

pub const CASES: &[Case] = &[
    ("a line for each thread, in their order", lines),
    ("every type and every format", formats),
    ("a thread's own order", loops),
    ("lines that are lost are counted", lost),
    ("several launches", launches),
    ("a launch that fails has its lines", fails),
    ("a queue that is not blocking", later),
    ("a sink that launches on its own queue", launches_itself),
    ("an assertion says its values", assertion),
    ("the values of an assertion that holds are not computed", lazy),
    ("values of 64 bits in an assertion", wide),
    ("printing in a device function, and in two dimensions", plane),
];

/// Keeps all that a queue's kernels print.
fn keep(queue: &Queue) -> Arc<Mutex<Vec<Printed>>> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let into = kept.clone();
    queue.print_to(move |printed| into.lock().unwrap().push(printed.clone()));
    kept
}

fn texts(printed: &Printed) -> Vec<&str> {
    printed.lines.iter().map(|line| line.text.as_str()).collect()
}

#[kernel]
fn each(acc: &Acc, x: Read<f32>) {
    let i = acc.thread_in_grid();
    println!("thread {}: {}", i, x[i]);
}

fn lines(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    let x: Vec<f32> = (0..12).map(|i| i as f32 / 4.0).collect();
    queue.launch(ThreadSpec::new(3, 4), each(&device.from_slice(&x)?))?;
    let kept = kept.lock().unwrap();
    assert_eq!((kept.len(), kept[0].kernel, kept[0].lost), (1, "each", 0));
    let expected: Vec<_> = x.iter().enumerate().map(|(i, x)| format!("thread {i}: {x}")).collect();
    assert_eq!(texts(&kept[0]), expected);
    let places: Vec<_> = kept[0].lines.iter().map(|line| (line.block, line.thread)).collect();
    let expected: Vec<_> = (0..3).flat_map(|block| (0..4).map(move |thread| (block, thread))).collect();
    assert_eq!(places, expected);
    assert_eq!(kept[0].to_string().lines().count(), 12);
    Ok(())
}

#[kernel]
fn all(acc: &Acc, x: Read<f32>, n: i32, small: i8, big: u64, yes: bool) {
    let half = x[0];
    println!();
    println!("text {{}} alone");
    println!("{half} {half:?} {half:8.3}| {half:<8}| {half:^+8}| {:e}", half);
    println!("{n} {n:06} {n:#x} {n:b} {n:>5}{n:<5}|", n = n);
    println!("{0} {1} {0}", small, yes);
    println!("{big:#018X} {:*^7} {}", yes, big == 3);
    println!("{:?} {} {}", -x[1], x[2] / 0.0, 7u8);
}

fn formats(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    let x = device.from_slice(&[0.5f32, 0.0, 1.0])?;
    queue.launch(ThreadSpec::new(1, 1), all(&x, -42, -7, 0xfedc_ba98_7654_3210, true))?;
    let (half, n, big) = (0.5f32, -42i32, 0xfedc_ba98_7654_3210u64);
    let expected = [
        String::new(),
        "text {} alone".into(),
        format!("{half} {half:?} {half:8.3}| {half:<8}| {half:^+8}| {half:e}"),
        format!("{n} {n:06} {n:#x} {n:b} {n:>5}{n:<5}|"),
        "-7 true -7".into(),
        format!("{big:#018X} *true** false"),
        "-0.0 inf 7".into(),
    ];
    assert_eq!(texts(&kept.lock().unwrap()[0]), expected);
    Ok(())
}

/// What a launch or a wait says from within the sink of its own queue, on both kinds of queue.
fn launches_itself(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let queue = Arc::new(queue);
        let x = device.from_slice(&[0.5f32])?;
        let refused = Arc::new(Mutex::new(Vec::new()));
        let (into, own, y) = (refused.clone(), Arc::downgrade(&queue), device.from_slice(&[0.25f32])?);
        queue.print_to(move |_| {
            let launched = own.upgrade().map(|queue| queue.launch(ThreadSpec::new(1, 1), each(&y)));
            into.lock().unwrap().push(launched.map(|launched| launched.map_err(|error| error.to_string())));
        });
        queue.launch(ThreadSpec::new(1, 1), each(&x))?;
        queue.wait()?;
        let refused = refused.lock().unwrap();
        let [Some(Err(message))] = &refused[..] else { panic!("{refused:?}") };
        assert!(message.contains("`Queue::print_to`"), "{message}");
    }
    Ok(())
}

#[kernel]
fn counts_up(acc: &Acc, n: u32) {
    let i = acc.thread_in_grid();
    for turn in 0..n {
        if (turn + i) % 2 == 0 {
            println!("{i}.{turn}");
        }
    }
}

fn loops(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    queue.launch(ThreadSpec::new(2, 2), counts_up(5))?;
    let of = |i: u32| (0..5).filter(move |turn| (turn + i).is_multiple_of(2)).map(move |turn| format!("{i}.{turn}"));
    assert_eq!(texts(&kept.lock().unwrap()[0]), (0..4).flat_map(of).collect::<Vec<_>>());
    Ok(())
}

fn lost(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    // A line takes 12 bytes and 4 for each of its two values, and 16 are the log's own.
    let options = LaunchOptions::new().print_buffer(16 + 20 * 20);
    let (turns, blocks) = (if is_small() { 20 } else { 50 }, 4);
    queue.launch_with(options, ThreadSpec::new(blocks, 1), counts_up(turns))?;
    let all = u64::from(turns / 2) * blocks as u64;
    let kept = kept.lock().unwrap();
    assert_eq!((kept[0].lines.len(), kept[0].lost), (20, all - 20));
    let places: Vec<_> = kept[0].lines.iter().map(|line| line.block).collect();
    assert!(places.is_sorted());
    assert!(kept[0].to_string().contains(&format!("has printed {} more lines", all - 20)));
    Ok(())
}

fn launches(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    for n in 1..4 {
        queue.launch(ThreadSpec::new(1, 1), counts_up(n))?;
    }
    // What a launch before left in the log is gone.
    let kept = kept.lock().unwrap();
    let all: Vec<_> = kept.iter().map(texts).collect();
    assert_eq!(all, [vec!["0.0"], vec!["0.0"], vec!["0.0", "0.2"]]);
    Ok(())
}

#[kernel]
fn prints_and_fails(acc: &Acc, n: u32) {
    let i = acc.thread_in_grid();
    println!("before {i}");
    assert!(i < n, "thread {i} of {n}");
}

fn fails(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    let error = refused(queue.launch(ThreadSpec::new(1, 1), prints_and_fails(0)));
    let ErrorKind::Fault(fault) = error.kind() else { panic!("{error}") };
    assert_eq!(fault.what.to_string(), "assertion failed: thread 0 of 0");
    assert_eq!(texts(&kept.lock().unwrap()[0]), ["before 0"]);
    queue.launch(ThreadSpec::new(1, 1), prints_and_fails(1))?;
    assert_eq!(kept.lock().unwrap().len(), 2);
    Ok(())
}

fn later(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let kept = keep(&queue);
    queue.prepare(ThreadSpec::new(2, 1), &counts_up(1))?;
    queue.launch(ThreadSpec::new(2, 1), counts_up(1))?;
    queue.launch(ThreadSpec::new(1, 1), counts_up(3))?;
    queue.wait()?;
    let kept = kept.lock().unwrap();
    assert_eq!(kept.iter().map(texts).collect::<Vec<_>>(), [vec!["0.0"], vec!["0.0", "0.2"]]);
    Ok(())
}

#[kernel]
fn checks(acc: &Acc, x: Read<i32>, limit: f32) {
    let i = acc.thread_in_grid();
    let (value, ratio) = (x[i], limit / 3.0);
    assert!(value < 100, "x[{i}] = {value:#x} ({value}), limit {ratio:.3}, {}", value > 0);
}

fn assertion(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[1, 2, 255, 3])?;
    let error = refused(queue.launch(ThreadSpec::new(2, 2), checks(&x, 1.0)));
    let ErrorKind::Fault(fault) = error.kind() else { panic!("{error}") };
    let expected = FaultKind::Assertion("x[2] = 0xff (255), limit 0.333, true".into());
    assert_eq!((&fault.what, &*fault.block, &*fault.thread), (&expected, "1", "0"));
    Ok(())
}

#[kernel]
fn looks_beyond(acc: &Acc, x: Read<u32>, n: u32) {
    let i = acc.thread_in_grid();
    assert!(i < n, "x[{}] = {}", i + 1, x[i + 1]);
}

fn lazy(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let x = device.from_slice(&[5u32, 6, 7, 8])?;
    // The index of the last thread's value is out of bounds, and it is not computed.
    queue.launch(ThreadSpec::new(4, 1), looks_beyond(&x, 4))?;
    let error = refused(queue.launch(ThreadSpec::new(1, 1), looks_beyond(&x, 0)));
    kind!(error, ErrorKind::Fault(_));
    assert!(error.to_string().contains("assertion failed: x[1] = 6"), "{error}");
    Ok(())
}

#[kernel]
fn checks_wide(acc: &Acc, x: f64, n: i64, m: u64) {
    assert_ne!(n, -1, "{x} {n} {m:x} {}", acc.thread_in_grid());
}

fn wide(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let error = refused(queue.launch(ThreadSpec::new(1, 1), checks_wide(1.0 / 3.0, -1, u64::MAX - 1)));
    if let ErrorKind::Capability { .. } = error.kind() {
        return Err(error.into());
    }
    let expected = format!("assertion failed: {} -1 fffffffffffffffe 0", 1.0f64 / 3.0);
    assert!(error.to_string().contains(&expected), "{error}");
    Ok(())
}

#[device_fn]
fn report<T: Scalar>(at: (u32, u32), value: T) {
    println!("({}, {}) {value}", at.0, at.1);
}

#[kernel]
fn prints_in_plane(acc: &Acc<2>, y: Shared<u32>) {
    let [row, column] = acc.thread_in_grid();
    report((row, column), y[0] + row);
    if row == column {
        report((row, column), row == 1);
    }
}

fn plane(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let kept = keep(&queue);
    let y = device.from_slice(&[10u32])?;
    queue.launch(ThreadSpec::new([2, 1], [1, 2]), prints_in_plane(&y))?;
    let expected = ["(0, 0) 10", "(0, 0) false", "(0, 1) 10", "(1, 0) 11", "(1, 1) 11", "(1, 1) true"];
    assert_eq!(texts(&kept.lock().unwrap()[0]), expected);
    Ok(())
}
