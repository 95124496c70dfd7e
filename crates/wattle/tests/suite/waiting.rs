//! What waits for what, where it is easily got wrong: several host threads, host tasks, launches that others end.

use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use wattle::ErrorKind;
use wattle::prelude::*;

/// Waits until `flag` is set.
#[kernel]
fn waits(acc: &Acc, flag: Atomic<u32>) {
    while flag.load(acc.thread_in_grid()) == 0 {}
}

/// Sets `flag`.
#[kernel]
fn sets(acc: &Acc, flag: Atomic<u32>) {
    flag.store(acc.thread_in_grid(), 1);
}

/// Adds up the numbers below 50 in `counter`.
#[kernel]
fn counts(acc: &Acc, counter: Atomic<u32>) {
    for i in 0..50 {
        counter.fetch_add(acc.thread_in_grid(), i);
    }
}

/// Writes `x`, when `flag` is set.
#[kernel]
fn writes_late(acc: &Acc, flag: Atomic<u32>, x: PerItem<u32>) {
    while flag.load(0) == 0 {}
    for (i, x) in acc.items(&mut x) {
        *x = i;
    }
}

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

/// A wait covers what had been enqueued when it began, and not what the queue is made to wait for meanwhile.
#[test]
fn a_wait_covers_what_was_there_when_it_began() -> Result<()> {
    let device = Device::host();
    let (a, b) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let mut x = device.alloc_zeroed::<u32>(64)?;
    let flag = device.alloc_zeroed::<u32>(1)?;
    a.host_task(|| {
        sleep(Duration::from_millis(200));
        Ok(())
    })?;
    scope(|scope| {
        let waiter = scope.spawn(|| a.wait());
        sleep(Duration::from_millis(50));
        b.launch(one(), writes_late(&flag, &mut x))?;
        a.wait_for(&b.record()?)?;
        waiter.join().expect("it does not panic")
    })?;
    // The kernel still runs, and no thread has waited for it.
    let refused = x.map().err().expect("the buffer is in use");
    assert!(matches!(refused.kind(), ErrorKind::Conflict { .. }), "{refused}");
    device.queue()?.launch(one(), sets(&flag))?;
    b.wait()?;
    assert_eq!(x.map()?[7], 7);
    Ok(())
}

/// A launch that waits is ended by what another queue has yet to begin.
#[test]
fn a_launch_is_ended_by_a_later_one() -> Result<()> {
    for device in Device::all() {
        if let Err(error) = device.needs_concurrent_queues(2) {
            println!("not possible: {error}");
            continue;
        }
        let (a, b) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        let (flag, counter) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        a.launch(one(), waits(&flag))?;
        b.launch(one(), counts(&counter))?;
        b.launch(one(), sets(&flag))?;
        a.wait()?;
        b.wait()?;
    }
    Ok(())
}

/// A launch that waits is ended by another queue also when that waits for an event of another device first.
#[test]
fn a_launch_is_ended_after_an_event_of_another_device() -> Result<()> {
    for device in Device::all() {
        if let Err(error) = device.needs_concurrent_queues(2) {
            println!("not possible: {error}");
            continue;
        }
        let (a, b) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        let flag = device.alloc_zeroed::<u32>(1)?;
        let host = Device::host().queue_non_blocking()?;
        host.host_task(|| {
            sleep(Duration::from_millis(50));
            Ok(())
        })?;
        a.launch(one(), waits(&flag))?;
        b.wait_for(&host.record()?)?;
        b.launch(one(), sets(&flag))?;
        a.wait()?;
        b.wait()?;
    }
    Ok(())
}

/// A host task can use other queues of its device.
#[test]
fn a_host_task_uses_another_queue() -> Result<()> {
    for device in Device::all() {
        for blocking in [true, false] {
            let queue = if blocking { device.queue()? } else { device.queue_non_blocking()? };
            let counter = device.alloc_zeroed::<u32>(1)?;
            let other = device.queue()?;
            let shared = counter.view();
            queue.host_task(move || {
                other.launch(one(), counts(&shared))?;
                other.wait()
            })?;
            queue.wait()?;
            assert_eq!(counter.read(&queue)?, [(0..50).sum::<u32>()], "{}", device.name());
        }
    }
    Ok(())
}

/// A host task that uses its own queue would wait for itself; it gets an error that says so.
#[test]
fn a_host_task_cannot_use_its_own_queue() -> Result<()> {
    for device in Device::all() {
        for blocking in [true, false] {
            let queue = std::sync::Arc::new(if blocking { device.queue()? } else { device.queue_non_blocking()? });
            let own = queue.clone();
            let refused = queue.host_task(move || own.wait()).and_then(|()| queue.wait());
            let refused = refused.expect_err("it waits for itself").to_string();
            assert!(refused.contains("used its own queue"), "{refused}");
            queue.wait()?;
        }
    }
    Ok(())
}

/// What a panicking task throws may panic when it is dropped; the queue lives on.
#[test]
fn a_queue_outlives_what_is_thrown() -> Result<()> {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    for device in Device::all() {
        let queue = device.queue_non_blocking()?;
        queue.host_task(|| std::panic::panic_any(Bomb))?;
        assert!(matches!(queue.wait().expect_err("it panicked").kind(), ErrorKind::Panic { .. }));
        queue.wait()?;
        let counter = device.alloc_zeroed::<u32>(1)?;
        queue.launch(one(), counts(&counter))?;
        queue.wait()?;
    }
    Ok(())
}

/// The time limit ends a launch of many short blocks.
#[test]
fn many_blocks_meet_the_time_limit() -> Result<()> {
    for device in [Device::host(), Device::host_serial()] {
        let counter = device.alloc_zeroed::<u32>(1)?;
        let queue = device.queue()?;
        let start = Instant::now();
        let options = LaunchOptions::new().time_limit(Duration::from_millis(50));
        let late = queue.launch_with(options, ThreadSpec::new(u32::MAX as usize, 1), counts(&counter));
        // Every index but the first is out of bounds, which the launch reports before its limit.
        assert!(late.is_err());
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
    Ok(())
}

#[device_fn]
fn forever(x: u32) -> u32 {
    and_ever(x + 1)
}

#[device_fn]
fn and_ever(x: u32) -> u32 {
    forever(x + 1)
}

/// Calls two functions that call each other without end.
#[kernel]
fn recursive(acc: &Acc, out: Shared<u32>) {
    out[acc.thread_in_grid()] = forever(1);
}

/// Recursion would overflow the host's stack: it is refused on every device, before it runs.
#[test]
#[allow(unconditional_recursion, reason = "that is the test")]
fn recursion_is_refused() -> Result<()> {
    for device in Device::all() {
        let out = device.alloc_zeroed::<u32>(1)?;
        let refused = device.queue()?.launch(one(), recursive(&out)).expect_err("it never ends").to_string();
        assert!(refused.contains("write the recursion as a loop") && refused.contains("waiting.rs"), "{refused}");
    }
    Ok(())
}

/// Adds up what is in `x`.
#[kernel]
fn adds_up(acc: &Acc, x: Shared<u32>, sum: Shared<u32>) {
    for i in 0..x.len() {
        sum[acc.thread_in_grid()] += x[i];
    }
}

/// A copy of elements that were not written counts as not written.
#[test]
fn copies_do_not_hide_what_nobody_wrote() -> Result<()> {
    let device = Device::simulated(0);
    let queue = device.queue()?;
    let mut source = device.alloc::<u32>(8)?;
    let mut copy = device.alloc::<u32>(8)?;
    let sum = device.alloc_zeroed::<u32>(1)?;
    queue.fill(source.slice_mut(0..6)?, 1)?;
    queue.copy(&mut copy, &source)?;
    queue.launch(one(), adds_up(&copy.slice(0..6)?, &sum))?;
    assert_eq!(sum.read(&queue)?, [6]);
    let told = queue.launch(one(), adds_up(&copy, &sum)).expect_err("two elements are missing").to_string();
    assert!(told.contains("nobody wrote it") && told.contains("index 6"), "{told}");
    Ok(())
}

/// All buffers together are held against the machine's memory, and what is dropped is given back.
#[test]
fn buffers_are_counted_together() -> Result<()> {
    let device = Device::host_serial();
    let memory = device.properties().memory as usize;
    if memory == 0 {
        test_skips::skipped("this machine does not tell its memory");
        return Ok(());
    }
    // Nothing touches them, so the operating system gives no pages.
    let len = (memory / 5 / size_of::<u64>()).min(u32::MAX as usize);
    let mut buffers = Vec::new();
    let refused = loop {
        match device.alloc::<u64>(len) {
            Ok(buffer) => buffers.push(buffer),
            Err(error) => break error,
        }
        assert!(buffers.len() * len * size_of::<u64>() <= memory, "more is granted than there is");
    };
    assert!(matches!(refused.kind(), ErrorKind::OutOfMemory { .. }), "{refused}");
    assert!(buffers.len() > 1);
    drop(buffers);
    device.alloc::<u64>(len).map(drop)
}
