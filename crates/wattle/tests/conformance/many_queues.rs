//! Many queues of one device, far ahead of it: events in both directions, allocation beside launches that run, and
//! queues that are dropped while they have work.

use std::time::{Duration, Instant};

use wattle::ErrorKind;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, kind, not_possible, refused, says, size};
use crate::kernels::{affine, beyond};
use crate::queues::is_simulated;

pub const CASES: &[Case] = &[
    ("the time between events is not more than what the host sees", times),
    ("events in both directions", both_ways),
    ("200 queues, and 40 at once", many),
    ("queues and buffers are dropped with work in flight", dropped_in_flight),
    ("launches wait for each other while memory is allocated", at_the_same_time),
    ("a queue waits for the event of one that an error has stopped", behind_a_failure),
    ("to the host and back", to_the_host_and_back),
    ("a device by a part of its description", by_label),
];

/// A kernel that takes a while and whose loop has a bound.
#[kernel]
fn works(acc: &Acc, sums: Atomic<u32>, turns: u32) {
    for turn in 0..turns {
        sums.fetch_add(acc.linear_thread_in_grid(), turn);
    }
}

#[kernel]
fn waits(_acc: &Acc, this: Atomic<u32>, other: Atomic<u32>) {
    this.store_with(0, 1, Scope::Device, Order::Release);
    while other.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

fn hundred() -> FrameSpec<1> {
    FrameSpec::cover(100, 16)
}

fn times(device: &Device) -> Outcome {
    let sums = device.alloc_zeroed::<u32>(8)?;
    let turns = size(device, 40_000, 2_000) as u32;
    for queue in [device.queue()?, device.queue_non_blocking()?] {
        queue.launch(ThreadSpec::new(1, 1), works(&sums, 1))?;
        let began = Instant::now();
        let first = queue.record()?;
        for _ in 0..10 {
            queue.launch(ThreadSpec::new(8, 1), works(&sums, turns))?;
        }
        let last = queue.record()?;
        last.wait()?;
        let (whole, elapsed) = (began.elapsed(), last.elapsed_since(&first).expect("both were recorded"));
        assert_eq!(first.elapsed_since(&first), Some(Duration::ZERO));
        // The clocks may differ a little.
        assert!(elapsed <= whole + whole / 10 + Duration::from_millis(1), "{elapsed:?} of {whole:?}");
        assert!(elapsed > Duration::ZERO);
    }
    Ok(())
}

fn both_ways(device: &Device) -> Outcome {
    let queues = [device.queue_non_blocking()?, device.queue_non_blocking()?, device.queue_non_blocking()?];
    let mut x = device.from_slice(&[1u32; 100])?;
    let mut expected = 1u32;
    for round in 0..30 {
        let (this, next) = (&queues[round % 3], &queues[(round + 1) % 3]);
        this.launch(hundred(), affine(&mut x, 3, round as u32))?;
        expected = expected.wrapping_mul(3).wrapping_add(round as u32);
        next.wait_for(&this.record()?)?;
    }
    assert_eq!(x.read(&queues[0])?, [expected; 100]);
    // Both directions at once: each queue waits for what the other has done before.
    let [a, b, _] = &queues;
    let (mut y, mut z) = (device.from_slice(&[1u32; 100])?, device.from_slice(&[1u32; 100])?);
    a.launch(hundred(), affine(&mut y, 2, 0))?;
    b.launch(hundred(), affine(&mut z, 5, 0))?;
    let (of_a, of_b) = (a.record()?, b.record()?);
    a.wait_for(&of_b)?;
    b.wait_for(&of_a)?;
    a.launch(hundred(), affine(&mut z, 1, 1))?;
    b.launch(hundred(), affine(&mut y, 1, 1))?;
    assert_eq!((z.read(a)?[0], y.read(b)?[0]), (6, 3));
    Ok(())
}

fn many(device: &Device) -> Outcome {
    let ten = || FrameSpec::cover(10, 4);
    let mut x = device.from_slice(&[0u32; 10])?;
    for round in 0..200 {
        let queue = if round % 2 == 0 { device.queue() } else { device.queue_non_blocking() }?;
        queue.launch(ten(), affine(&mut x, 1, 1))?;
        queue.wait()?;
    }
    let queues = (0..40).map(|_| device.queue_non_blocking()).collect::<Result<Vec<_>>>()?;
    let add = |queue: &Queue| -> Result<Buffer<u32>> {
        let mut own = device.alloc_zeroed::<u32>(10)?;
        (0..3).try_for_each(|_| queue.launch(ten(), affine(&mut own, 1, 2)))?;
        Ok(own)
    };
    let buffers = queues.iter().map(add).collect::<Result<Vec<_>>>()?;
    for (queue, own) in queues.iter().zip(&buffers) {
        assert_eq!(own.read(queue)?, [6; 10]);
    }
    assert_eq!(x.read(&queues[0])?, [200; 10]);
    Ok(())
}

fn dropped_in_flight(device: &Device) -> Outcome {
    let spec = || ThreadSpec::new(8, 1);
    for _ in 0..size(device, 10, 3) {
        let queue = device.queue_non_blocking()?;
        for turns in [1000, 10, 100] {
            let sums = device.alloc_zeroed::<u32>(8)?;
            // This is more than the maximum in flight.
            for _ in 0..20 {
                queue.launch(spec(), works(&sums, turns))?;
            }
            // Launches own the buffers that they use.
            drop(sums);
        }
        drop(queue);
        // The next allocation may get the same memory.
        let queue = device.queue()?;
        let sums = device.alloc_zeroed::<u32>(8)?;
        queue.launch(spec(), works(&sums, 2))?;
        assert_eq!(sums.read(&queue)?, [1; 8]);
    }
    Ok(())
}

fn at_the_same_time(device: &Device) -> Outcome {
    device.needs_concurrent_queues(2)?;
    let [a, b] = [device.queue_non_blocking()?, device.queue_non_blocking()?];
    let one = || ThreadSpec::new(1, 1);
    // The driver may wait for all that runs when it loads a kernel.
    let (x, y) = (device.from_slice(&[1])?, device.from_slice(&[1])?);
    a.launch(one(), waits(&x, &y))?;
    a.wait()?;
    for _ in 0..20 {
        let (x, y) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        a.launch(one(), waits(&x, &y))?;
        let freed = device.alloc_zeroed::<u32>(1000)?;
        // A read waits on the simulated device until all launches have ended, which these two do together.
        if !is_simulated(device) {
            assert_eq!(freed.read(&device.queue()?)?, [0; 1000]);
        }
        drop(freed);
        b.launch(one(), waits(&y, &x))?;
        a.wait()?;
        b.wait()?;
    }
    Ok(())
}

fn behind_a_failure(device: &Device) -> Outcome {
    let [a, b] = [device.queue_non_blocking()?, device.queue_non_blocking()?];
    let mut x = device.from_slice(&[1u32; 4])?;
    let place = device.alloc_zeroed::<u32>(1)?;
    a.launch(ThreadSpec::new(1, 1), beyond(&place))?;
    if let Ok(point) = a.record() {
        b.wait_for(&point)?;
    }
    b.launch(FrameSpec::cover(4, 2), affine(&mut x, 2, 1))?;
    b.wait()?;
    assert_eq!(x.read(&b)?, [3; 4]);
    says(&refused(a.wait()), &["beyond", "index"]);
    Ok(())
}

fn to_the_host_and_back(device: &Device) -> Outcome {
    let (here, there) = (device.queue_non_blocking()?, Device::host().queue_non_blocking()?);
    let mut x = device.from_slice(&[1u32; 100])?;
    let mut y = Device::host().alloc_zeroed::<u32>(100)?;
    for _ in 0..20 {
        here.launch(hundred(), affine(&mut x, 2, 1))?;
        there.wait_for(&here.record()?)?;
        there.copy(&mut y, &x)?;
        here.wait_for(&there.record()?)?;
        here.fill(&mut x, 1)?;
    }
    here.wait()?;
    assert_eq!((y.read(&there)?, x.read(&here)?), (vec![3; 100], vec![1; 100]));
    Ok(())
}

fn by_label(device: &Device) -> Outcome {
    let Some((family, _)) = device.name().split_once(':') else { return not_possible("the only one of its kind") };
    for name in ["", " ", "99", "no such device"] {
        kind!(refused(Device::select(&format!("{family}:{name}"))), ErrorKind::UnknownDevice { .. });
    }
    assert!(Device::select(device.name())? == *device);
    let label = device.properties().description.split(',').next().unwrap_or_default().to_owned();
    if Device::all().iter().filter(|other| other.properties().description.contains(&label)).count() > 1 {
        return not_possible(format!("there are several of {label}"));
    }
    for name in [label.clone(), label.to_uppercase(), label.chars().take(6).collect()] {
        let found = Device::select(&format!("{family}:{name}"))?;
        assert!(found.properties().description.to_lowercase().contains(&name.to_lowercase()), "{name}");
    }
    Ok(())
}
