//! Queues: events between them, timestamps, and how they end.

mod common;

use std::time::{Duration, Instant};

use common::{devices, no_messages};
use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, summand: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + summand;
    }
}

/// A kernel that takes a while and whose loop has a bound.
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
    no_messages();
}

/// Two queues pass a value back and forth, as far ahead of the device as possible.
#[test]
fn events_both_ways() {
    for device in devices() {
        // At least two queues share a Vulkan queue, since software devices have one, and GPUs use two.
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
        // Both directions at once: each queue waits for what the other has done before.
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
    no_messages();
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
    no_messages();
}

#[test]
fn dropped_in_flight() {
    for device in devices() {
        for _ in 0..10 {
            let queue = device.queue_non_blocking().unwrap();
            for turns in [1000, 10, 100] {
                let sums = device.alloc_zeroed::<u32>(64).unwrap();
                // This is more than the maximum in flight.
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
    no_messages();
}

#[test]
fn by_label() {
    for device in devices() {
        let label = device.properties().description.split(',').next().unwrap().to_owned();
        for name in [label.clone(), label.to_uppercase(), label.chars().take(6).collect()] {
            let found = Device::select(&format!("vulkan:{name}")).unwrap();
            assert!(found.properties().description.to_lowercase().contains(&name.to_lowercase()), "{name}");
        }
        assert!(Device::select(device.name()).unwrap() == device);
    }
    for name in ["vulkan:", "vulkan: ", "vulkan:99", "vulkan:no such device"] {
        let error = Device::select(name).map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnknownDevice { .. }), "{error}");
    }
}
