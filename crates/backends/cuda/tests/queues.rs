//! Queues: events between them, times, and how they end.

mod common;

use std::time::{Duration, Instant};

use common::devices;
use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

/// A kernel that takes a while, and whose loop has a bound.
#[kernel]
fn works(acc: &Acc, sums: Atomic<u32>, turns: u32) {
    for turn in 0..turns {
        sums.fetch_add(acc.linear_thread_in_grid(), turn);
    }
}

#[test]
fn times() {
    for device in devices() {
        let sums = device.alloc_zeroed::<u32>(64).unwrap();
        for queue in [device.queue().unwrap(), device.queue_non_blocking().unwrap()] {
            queue.launch(ThreadSpec::new(1, 1), works(&sums, 1)).unwrap();
            let elapsed = |launches: u32| {
                let began = Instant::now();
                let first = queue.record().unwrap();
                for _ in 0..launches {
                    queue.launch(ThreadSpec::new(4, 16), works(&sums, 4000)).unwrap();
                }
                let last = queue.record().unwrap();
                last.wait().unwrap();
                let (whole, elapsed) = (began.elapsed(), last.elapsed_since(&first).unwrap());
                assert_eq!(first.elapsed_since(&first), Some(Duration::ZERO));
                assert!(elapsed > Duration::ZERO, "{}", device.name());
                // The clocks may differ a little.
                assert!(elapsed <= whole + whole / 10 + Duration::from_millis(1), "{elapsed:?} of {whole:?}");
                elapsed
            };
            let (one, ten) = (elapsed(1), elapsed(10));
            eprintln!("{}: {one:?} for one launch, {ten:?} for ten", device.name());
            assert!(ten > one, "{}: {ten:?} for ten launches, {one:?} for one", device.name());
        }
    }
}

/// Two queues pass a value back and forth, as far ahead of the device as possible.
#[test]
fn events_both_ways() {
    for device in devices() {
        let queues: Vec<Queue> = (0..3).map(|_| device.queue_non_blocking().unwrap()).collect();
        let mut x = device.from_slice(&[1u32; 100]).unwrap();
        let mut expected = 1u32;
        for round in 0..30 {
            let (this, next) = (&queues[round % 3], &queues[(round + 1) % 3]);
            this.launch(FrameSpec::cover(100, 16), affine(&mut x, 3, round as u32)).unwrap();
            expected = expected.wrapping_mul(3).wrapping_add(round as u32);
            next.wait_for(&this.record().unwrap()).unwrap();
        }
        assert_eq!(x.read(&queues[0]).unwrap(), [expected; 100], "{}", device.name());
        // Now both ways at once: each queue waits for what the other has done before.
        let (a, b) = (&queues[0], &queues[1]);
        let (mut y, mut z) = (device.from_slice(&[1u32; 100]).unwrap(), device.from_slice(&[1u32; 100]).unwrap());
        a.launch(FrameSpec::cover(100, 16), affine(&mut y, 2, 0)).unwrap();
        b.launch(FrameSpec::cover(100, 16), affine(&mut z, 5, 0)).unwrap();
        let (of_a, of_b) = (a.record().unwrap(), b.record().unwrap());
        a.wait_for(&of_b).unwrap();
        b.wait_for(&of_a).unwrap();
        a.launch(FrameSpec::cover(100, 16), affine(&mut z, 1, 1)).unwrap();
        b.launch(FrameSpec::cover(100, 16), affine(&mut y, 1, 1)).unwrap();
        assert_eq!((z.read(a).unwrap()[0], y.read(b).unwrap()[0]), (6, 3));
    }
}

#[test]
fn many_queues() {
    for device in devices() {
        let mut x = device.from_slice(&[0u32; 10]).unwrap();
        for round in 0..200 {
            let queue = if round % 2 == 0 { device.queue() } else { device.queue_non_blocking() }.unwrap();
            queue.launch(FrameSpec::cover(10, 4), affine(&mut x, 1, 1)).unwrap();
            queue.wait().unwrap();
        }
        let queues: Vec<Queue> = (0..40).map(|_| device.queue_non_blocking().unwrap()).collect();
        let buffers: Vec<Buffer<u32>> = queues
            .iter()
            .map(|queue| {
                let mut own = device.alloc_zeroed::<u32>(10).unwrap();
                (0..3).for_each(|_| queue.launch(FrameSpec::cover(10, 4), affine(&mut own, 1, 2)).unwrap());
                own
            })
            .collect();
        for (queue, own) in queues.iter().zip(&buffers) {
            assert_eq!(own.read(queue).unwrap(), [6; 10]);
        }
        assert_eq!(x.read(&queues[0]).unwrap(), [200; 10], "{}", device.name());
    }
}

#[test]
fn dropped_in_flight() {
    for device in devices() {
        for _ in 0..10 {
            let queue = device.queue_non_blocking().unwrap();
            for turns in [1000, 10, 100] {
                let sums = device.alloc_zeroed::<u32>(64).unwrap();
                // More launches than can be in flight.
                for _ in 0..20 {
                    queue.launch(ThreadSpec::new(4, 16), works(&sums, turns)).unwrap();
                }
                // Launches own the buffers that they use.
                drop(sums);
            }
            drop(queue);
            // The next allocation may get the same memory.
            let queue = device.queue().unwrap();
            let sums = device.alloc_zeroed::<u32>(64).unwrap();
            queue.launch(ThreadSpec::new(4, 16), works(&sums, 2)).unwrap();
            assert_eq!(sums.read(&queue).unwrap(), [1; 64], "{}", device.name());
        }
    }
}

#[kernel]
fn waits(_acc: &Acc, this: Atomic<u32>, other: Atomic<u32>) {
    this.store_with(0, 1, Scope::Device, Order::Release);
    while other.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

/// Two launches wait for each other, while memory is allocated and freed.
#[test]
fn at_the_same_time() {
    for device in devices() {
        device.needs_concurrent_queues(2).unwrap();
        let [a, b] = [(); 2].map(|()| device.queue_non_blocking().unwrap());
        // The driver may wait for all that runs when it loads a kernel.
        let [x, y] = [1, 1].map(|one| device.from_slice(&[one]).unwrap());
        a.launch(ThreadSpec::new(1, 1), waits(&x, &y)).unwrap();
        a.wait().unwrap();
        for _ in 0..20 {
            let [x, y] = [(); 2].map(|()| device.alloc_zeroed::<u32>(1).unwrap());
            a.launch(ThreadSpec::new(1, 1), waits(&x, &y)).unwrap();
            let freed = device.alloc_zeroed::<u32>(1000).unwrap();
            let read = freed.read(&device.queue().unwrap()).unwrap();
            assert_eq!(read, [0; 1000]);
            drop(freed);
            b.launch(ThreadSpec::new(1, 1), waits(&y, &x)).unwrap();
            a.wait().unwrap();
            b.wait().unwrap();
        }
    }
}

/// A queue waits for an event of another queue that an error has stopped, and goes on.
#[test]
fn behind_a_failure() {
    for device in devices() {
        let [a, b] = [(); 2].map(|()| device.queue_non_blocking().unwrap());
        let mut x = device.from_slice(&[1u32; 4]).unwrap();
        let place = device.alloc_zeroed::<u32>(1).unwrap();
        a.launch(ThreadSpec::new(1, 1), beyond(&place)).unwrap();
        if let Ok(point) = a.record() {
            b.wait_for(&point).unwrap();
        }
        b.launch(FrameSpec::cover(4, 2), affine(&mut x, 2, 1)).unwrap();
        b.wait().unwrap();
        assert_eq!(x.read(&b).unwrap(), [3; 4]);
        assert!(a.wait().unwrap_err().to_string().contains("index 7"));
    }
}

#[kernel]
fn beyond(_acc: &Acc, place: Shared<u32>) {
    place[7] = 1;
}

#[test]
fn by_label() {
    for device in devices() {
        let label = device.properties().description.split(',').next().unwrap().to_owned();
        if devices().iter().filter(|other| other.properties().description.contains(&label)).count() > 1 {
            eprintln!("not possible: there are several of {label}");
            continue;
        }
        for name in [label.clone(), label.to_uppercase(), label.chars().take(6).collect()] {
            let found = Device::select(&format!("cuda:{name}")).unwrap();
            assert!(found.properties().description.to_lowercase().contains(&name.to_lowercase()), "{name}");
        }
        assert!(Device::select(device.name()).unwrap() == device);
    }
    for name in ["cuda:", "cuda: ", "cuda:99", "cuda:no such device"] {
        let error = Device::select(name).map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownDevice { .. }), "{error}");
    }
}

/// A queue of another device waits for an event of this device, and this device for what comes behind that.
#[test]
fn to_another_device_and_back() {
    for device in devices() {
        let (here, there) = (device.queue_non_blocking().unwrap(), Device::host().queue_non_blocking().unwrap());
        let mut x = device.from_slice(&[1u32; 100]).unwrap();
        let mut y = Device::host().alloc_zeroed::<u32>(100).unwrap();
        for _ in 0..20 {
            here.launch(FrameSpec::cover(100, 16), affine(&mut x, 2, 1)).unwrap();
            there.wait_for(&here.record().unwrap()).unwrap();
            there.copy(&mut y, &x).unwrap();
            here.wait_for(&there.record().unwrap()).unwrap();
            here.fill(&mut x, 1).unwrap();
        }
        here.wait().unwrap();
        assert_eq!((y.read(&there).unwrap(), x.read(&here).unwrap()), (vec![3; 100], vec![1; 100]));
    }
}
