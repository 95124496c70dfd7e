//! Queues: order, events, progress, errors, and what keeps buffers and queues alive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, Result};

use crate::harness::{Case, Outcome, kind, refused, says, size};
use crate::kernels::{affine, beyond, counts, owns, reads_and_owns, set, wait_until, writes_late};

pub const CASES: &[Case] = &[
    ("what is prepared is not launched", prepared),
    ("what is enqueued is done in order", in_order),
    ("host tasks are done in order", host_tasks),
    ("a host task that fails or panics", failing_tasks),
    ("a blocking queue has done what its methods return from", blocking),
    ("a launch that spins is ended by one on another queue", progress),
    ("more launches spin than there are cores", many_spinners),
    ("buffers live as long as what is queued", dropped_buffers),
    ("a queue that is dropped does its work", dropped_queue),
    ("a host part runs beside the launch", host_part),
    ("several host threads use one queue", several_threads),
    ("several host threads use one blocking queue", several_threads_blocking),
    ("several host threads copy while others launch", several_threads_copy),
    ("after an error a queue refuses, until the error is taken", stopped),
    ("nobody waits for ever for work that was skipped", skipped_work),
    ("after an error order is still kept", order_after_an_error),
    ("a copy to the host takes the queue's error", copy_takes_the_error),
];

pub fn four() -> FrameSpec<1> {
    FrameSpec::new(2, 2)
}

/// A task that holds the queue until something is sent, or the sender is gone.
fn gate(queue: &Queue) -> Result<Sender<()>> {
    let (open, gate) = channel();
    queue.host_task(move || {
        let _ = gate.recv();
        Ok(())
    })?;
    Ok(open)
}

pub fn is_simulated(device: &Device) -> bool {
    device.properties().kind == DeviceKind::Simulated
}

fn in_order(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let mut x = device.alloc::<u32>(4)?;
        let mut y = device.alloc::<u32>(4)?;
        let mut expected = 1u32;
        queue.fill(&mut x, 1)?;
        for round in 0..size(device, 100, 10) as u32 {
            queue.launch(four(), affine(&mut x, 3, round))?;
            queue.copy(&mut y, &x)?;
            queue.fill(&mut x, 0)?;
            queue.launch(four(), reads_and_owns(&y, &mut x))?;
            queue.launch(four(), owns(&mut x))?;
            expected = expected.wrapping_mul(3).wrapping_add(round).wrapping_add(1);
        }
        assert_eq!(x.read(&queue)?, [expected; 4]);
    }
    Ok(())
}

fn host_tasks(device: &Device) -> Outcome {
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let done = Arc::new(Mutex::new(Vec::new()));
        let mut x = device.alloc_zeroed::<u32>(4)?;
        for number in 0..10 {
            let done = done.clone();
            queue.launch(four(), owns(&mut x))?;
            queue.host_task(move || {
                done.lock().unwrap().push(number);
                Ok(())
            })?;
        }
        queue.wait()?;
        assert_eq!(*done.lock().unwrap(), Vec::from_iter(0..10));
        assert_eq!(x.read(&queue)?, [10; 4]);
    }
    // What is behind a task waits for it.
    let queue = device.queue_non_blocking()?;
    let opened = Arc::new(AtomicBool::new(false));
    let open = gate(&queue)?;
    queue.launch(four(), owns(&mut device.alloc_zeroed::<u32>(4)?))?;
    let event = queue.record()?;
    let opens = opened.clone();
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        opens.store(true, Ordering::SeqCst);
        drop(open);
    });
    if device.properties().kind != DeviceKind::Simulated {
        // The simulated device moves on when it is asked, and here it would not come back before the gate opens.
        assert!(!event.is_complete() || opened.load(Ordering::SeqCst), "the gate was still shut");
    }
    event.wait()?;
    assert!(opened.load(Ordering::SeqCst), "the event did not wait for the task");
    opener.join().unwrap();
    Ok(())
}

fn failing_tasks(device: &Device) -> Outcome {
    let (blocking, other) = (device.queue()?, device.queue_non_blocking()?);
    let fail = || -> Result<()> { Err(Error::check("the task says no")) };
    let panics = || -> Result<()> { panic!("the task panics with {}", 42) };
    let panics_plainly = || -> Result<()> { std::panic::panic_any("plain") };
    says(&refused(blocking.host_task(fail)), &["the task says no"]);
    let error = refused(blocking.host_task(panics));
    kind!(error, ErrorKind::Panic { .. });
    says(&error, &["a host task panicked: the task panics with 42"]);
    says(&refused(blocking.host_task(panics_plainly)), &["plain"]);
    blocking.host_task(|| Ok(()))?;
    blocking.wait()?;

    other.host_task(fail)?;
    says(&refused(other.wait()), &["the task says no"]);
    other.host_task(panics)?;
    says(&refused(other.wait()), &["a host task panicked: the task panics with 42"]);
    // Of two errors the first is reported.
    let open = gate(&other)?;
    other.host_task(fail)?;
    other.host_task(panics)?;
    drop(open);
    says(&refused(other.wait()), &["the task says no"]);
    other.wait()?;
    Ok(())
}

fn blocking(device: &Device) -> Outcome {
    let (one, two) = (device.queue()?, device.queue()?);
    let mut x = device.alloc_zeroed::<u32>(4)?;
    // Nothing has to be ordered between blocking queues of one host thread.
    for _ in 0..5 {
        one.launch(four(), owns(&mut x))?;
        two.launch(four(), owns(&mut x))?;
    }
    assert_eq!(x.read(&one)?, [10; 4]);
    let done = Arc::new(AtomicBool::new(false));
    let sets = done.clone();
    one.host_task(move || {
        sets.store(true, Ordering::SeqCst);
        Ok(())
    })?;
    assert!(done.load(Ordering::SeqCst));
    assert!(one.record()?.is_complete());
    Ok(())
}

fn prepared(device: &Device) -> Outcome {
    let one = ThreadSpec::new(1, 1);
    let other = device.queue_non_blocking()?;
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let mut x = device.alloc_zeroed::<u32>(1)?;
        queue.prepare(one, &counts(&x))?;
        // What was not launched uses nothing, and has done nothing.
        other.fill(&mut x, 5)?;
        other.wait()?;
        queue.wait()?;
        assert_eq!(x.read(&queue)?, [5]);
        queue.launch(one, counts(&x))?;
        assert_eq!(x.read(&queue)?, [6]);
    }
    Ok(())
}

fn progress(device: &Device) -> Outcome {
    device.needs_concurrent_queues(2)?;
    for _ in 0..size(device, 50, 3) {
        let flag = device.alloc_zeroed::<u32>(1)?;
        let (spins, sets) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        sets.prepare(ThreadSpec::new(1, 1), &set(&flag, 1))?;
        spins.launch(ThreadSpec::new(4, 1), wait_until(&flag, 1))?;
        let event = spins.record()?;
        sets.launch(ThreadSpec::new(1, 1), set(&flag, 1))?;
        sets.wait()?;
        event.wait()?;
        spins.wait()?;
    }
    Ok(())
}

fn many_spinners(device: &Device) -> Outcome {
    let count = device.properties().workers as usize * 2 + 3;
    device.needs_concurrent_queues(count as u32)?;
    let flag = device.alloc_zeroed::<u32>(1)?;
    let queues: Vec<_> = (0..count).map(|_| device.queue_non_blocking()).collect::<Result<_>>()?;
    let (last, spin) = queues.split_last().unwrap();
    last.prepare(ThreadSpec::new(1, 1), &set(&flag, 1))?;
    for (number, queue) in spin.iter().enumerate() {
        // All of these launches wait until the last queue's launch sets the flag.
        let blocks = if number % 2 == 0 { 1 } else { 3 };
        queue.launch(ThreadSpec::new(blocks, 1), wait_until(&flag, 1))?;
    }
    last.launch(ThreadSpec::new(1, 1), set(&flag, 1))?;
    for queue in &queues {
        queue.wait()?;
    }
    Ok(())
}

fn dropped_buffers(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let rounds = size(device, 50, 5);
    for _ in 0..rounds {
        let mut x = device.from_slice(&[5u32; 4])?;
        let mut y = device.alloc_zeroed::<u32>(4)?;
        let open = gate(&queue)?;
        queue.launch(four(), owns(&mut x))?;
        queue.launch(four(), reads_and_owns(&x, &mut y))?;
        queue.launch(four(), counts(&device.alloc_zeroed::<u32>(1)?))?;
        queue.copy(&mut device.alloc::<u32>(4)?, &y)?;
        queue.fill(x.view_mut(), 9)?;
        let owner = y.view();
        drop((x, y, open));
        let mut seen = [0; 4];
        queue.copy_to_host(&mut seen, &owner)?;
        assert_eq!(seen, [6; 4]);
    }
    Ok(())
}

fn dropped_queue(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let open = gate(&queue)?;
    for _ in 0..10 {
        queue.launch(four(), owns(&mut x))?;
    }
    let event = queue.record()?;
    drop((queue, open));
    event.wait()?;
    assert_eq!(x.read(&device.queue()?)?, [10; 4]);
    // This queue is dropped, and no thread waits for its work.
    let queue = device.queue_non_blocking()?;
    queue.launch(four(), owns(&mut x))?;
    drop((queue, x));
    Ok(())
}

/// Sends each value to the host, and waits for its answer.
#[kernel]
fn asks(acc: &Acc, word: Atomic<u32>, answer: Atomic<u32>, rounds: u32) {
    for round in 1..rounds + 1 {
        word.store_with(0, round, Scope::System, Order::Release);
        while answer.load_with(0, Scope::System, Order::Acquire) != round {}
    }
}

#[kernel]
fn answers(acc: &Acc, word: Atomic<u32>, answer: Atomic<u32>, log: Shared<u32>) {
    for round in 0..log.len() {
        while word.load_with(0, Scope::System, Order::Acquire) != round + 1 {}
        log[round] = round + 1;
        answer.store_with(0, round + 1, Scope::System, Order::Release);
    }
}

fn host_part(device: &Device) -> Outcome {
    let rounds = size(device, 1000, 10);
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let word = device.alloc_host_mapped::<u32, 1>(1)?;
        let answer = device.alloc_host_mapped::<u32, 1>(1)?;
        let log = device.alloc_host_mapped::<u32, 1>(rounds)?;
        queue.launch_with_host(
            LaunchOptions::new(),
            ThreadSpec::new(1, 1),
            asks(&word, &answer, rounds as u32),
            answers(&word, &answer, &log),
        )?;
        assert_eq!(log.read(&queue)?, Vec::from_iter(1..rounds as u32 + 1));
        // A fault in the host part is the launch's.
        let place = device.alloc_host_mapped::<u32, 1>(2)?;
        let launched = queue
            .launch_with_host(LaunchOptions::new(), ThreadSpec::new(1, 1), counts(&word), beyond(&place))
            .and_then(|()| queue.wait());
        says(&refused(launched), &["`beyond`", "index 2", "`place`"]);
    }
    Ok(())
}

fn hammer(device: &Device, queue: &Queue) -> Outcome {
    let (threads, rounds) = (4, size(device, 300, 10));
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let total = device.alloc_zeroed::<u32>(1)?;
    let views: Vec<_> = (0..threads).map(|_| x.view_mut()).collect();
    std::thread::scope(|scope| {
        let total = &total;
        let threads: Vec<_> = views
            .into_iter()
            .map(|mut view| {
                scope.spawn(move || {
                    for _ in 0..rounds {
                        queue.launch(four(), owns(&mut view))?;
                        queue.launch(ThreadSpec::new(1, 1), counts(total))?;
                    }
                    queue.wait()
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    assert_eq!(x.read(queue)?, vec![(threads * rounds) as u32; 4]);
    assert_eq!(total.read(queue)?, [(threads * rounds) as u32]);
    Ok(())
}

fn several_threads(device: &Device) -> Outcome {
    hammer(device, &device.queue_non_blocking()?)
}

fn several_threads_blocking(device: &Device) -> Outcome {
    hammer(device, &device.queue()?)
}

fn several_threads_copy(device: &Device) -> Outcome {
    let rounds = size(device, 500, 10);
    let elements = size(device, 4096, 64);
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        let mut x = device.alloc_zeroed::<u32>(elements)?;
        let (mut writes, reads) = (x.view_mut(), x.view());
        let queue = &queue;
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                (0..rounds).try_for_each(|_| queue.launch(FrameSpec::cover(elements, 64), owns(&mut writes)))
            });
            let mut seen = vec![0; elements];
            let mut last = 0;
            for _ in 0..rounds {
                queue.copy_to_host(&mut seen, &reads)?;
                // Between two launches all elements are equal.
                assert!(seen.iter().all(|&value| value == seen[0]), "a copy saw half a launch");
                assert!(seen[0] >= last, "a copy saw the past");
                last = seen[0];
            }
            writer.join().unwrap()
        })?;
        assert_eq!(x.read(queue)?, vec![rounds as u32; elements]);
    }
    Ok(())
}

fn stopped(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let place = device.alloc_zeroed::<u32>(4)?;
    let mut x = device.alloc_zeroed::<u32>(4)?;
    let open = gate(&queue)?;
    queue.launch(ThreadSpec::new(1, 1), beyond(&place))?;
    queue.launch(four(), owns(&mut x))?;
    let event = queue.record()?;
    drop(open);
    // The event reports the error, and leaves it with the queue.
    says(&refused(event.wait()), &["`beyond`", "`place`"]);
    assert!(event.is_complete());
    let first = ["stopped at an earlier error", "queue.wait()", "`beyond`", "index 4"];
    let results = [
        queue.launch(four(), owns(&mut x)),
        queue.fill(&mut x, 1),
        queue.copy(&mut x, &device.alloc_zeroed::<u32>(4)?),
        queue.copy_from_host(&mut x, &[1; 4]),
        queue.host_task(|| Ok(())),
        queue.record().map(drop),
        queue.wait_for(&event),
    ];
    for result in results {
        let error = refused(result);
        kind!(error, ErrorKind::QueueStopped { .. });
        says(&error, &first);
    }
    // The wait takes the error once, and then all is as before; operations behind the error were discarded.
    let error = refused(queue.wait());
    kind!(error, ErrorKind::Fault(_));
    queue.wait()?;
    assert_eq!(x.read(&queue)?, [0; 4]);
    queue.launch(four(), owns(&mut x))?;
    assert_eq!(x.read(&queue)?, [1; 4]);
    Ok(())
}

fn skipped_work(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let place = device.alloc_zeroed::<u32>(4)?;
    let (mut x, mut y) = (device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<u32>(4)?);
    let open = gate(&one)?;
    one.launch(ThreadSpec::new(1, 1), beyond(&place))?;
    one.launch(four(), owns(&mut x))?;
    let event = one.record()?;
    two.wait_for(&event)?;
    two.launch(four(), owns(&mut y))?;
    drop(open);
    two.wait()?;
    refused(event.wait());
    refused(one.wait());
    assert_eq!((x.read(&one)?, y.read(&two)?), (vec![0; 4], vec![1; 4]));
    Ok(())
}

fn order_after_an_error(device: &Device) -> Outcome {
    let queue = || device.queue_non_blocking();
    let (fails, reads, writes) = (queue()?, queue()?, queue()?);
    let place = device.alloc_zeroed::<u32>(4)?;
    let (turns, x) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(4)?);
    let mut seen = device.alloc_zeroed::<u32>(4)?;
    let (slow, fast) = (gate(&writes)?, gate(&fails)?);
    let rounds = size(device, 100_000, 2_000) as u32;
    writes.launch(ThreadSpec::new(1, 1), writes_late(&turns, &x, rounds, 7))?;
    let written = writes.record()?;
    // This queue passes on what the first did, and fails meanwhile.
    fails.launch(ThreadSpec::new(1, 1), beyond(&place))?;
    fails.wait_for(&written)?;
    let passed_on = fails.record()?;
    reads.wait_for(&passed_on)?;
    reads.launch(four(), reads_and_owns(&x, &mut seen))?;
    drop(fast);
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        drop(slow);
    });
    assert_eq!(seen.read(&reads)?[0], 7, "the reader did not wait for the writer");
    opener.join().unwrap();
    refused(fails.wait());
    Ok(writes.wait()?)
}

fn copy_takes_the_error(device: &Device) -> Outcome {
    let queue = device.queue_non_blocking()?;
    let place = device.alloc_zeroed::<u32>(4)?;
    let open = gate(&queue)?;
    queue.launch(ThreadSpec::new(1, 1), beyond(&place))?;
    // The copy must be enqueued before the launch fails.
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(open);
    });
    let error = refused(place.read(&queue));
    opener.join().unwrap();
    // It waits, so it takes the error, however long ago that was.
    says(&error, &["`beyond`"]);
    kind!(error, ErrorKind::Fault(_));
    Ok(queue.wait()?)
}
