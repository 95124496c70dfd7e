//! Persistent threads: each takes work from a queue until a counter says that none is left.

use wattle::prelude::*;
use wattle::{Checker, Model};

/// Takes work, and counts it as done; the result of that is used by nobody.
#[kernel]
fn takes(acc: &Acc, left: Atomic<u32>, head: Atomic<u32>) {
    while left.load(0) > 0 {
        let at = head.load(0);
        if at < 2 && head.compare_exchange(0, at, at + 1) == at {
            left.fetch_sub(0, 1);
        }
    }
}

/// As [`takes`], and the first piece of work makes two others.
#[kernel]
fn extends(acc: &Acc, left: Atomic<u32>, head: Atomic<u32>, tail: Atomic<u32>) {
    while left.load(0) > 0 {
        let at = head.load(0);
        if at >= tail.load(0) {
            continue;
        }
        if head.compare_exchange(0, at, at + 1) != at {
            continue;
        }
        if at == 0 {
            left.fetch_add(0, 2);
            tail.fetch_add(0, 1);
            tail.fetch_add(0, 1);
        }
        left.fetch_sub(0, 1);
    }
}

/// A thread does not wait with what it has read behind an update that has not happened.
#[test]
fn what_is_counted_as_done_is_seen() {
    for model in [Model::Sc, Model::Portable, Model::Ptx, Model::Vulkan] {
        Checker::new(model).assert_holds(|device: &Device| {
            let queue = device.queue()?;
            let (left, head) = (device.from_slice(&[2u32])?, device.alloc_zeroed::<u32>(1)?);
            let cooperative = LaunchOptions::new().cooperative();
            queue.launch_with(cooperative, ThreadSpec::new(2, 1), takes(&left, &head))?;
            assert_eq!((left.read(&queue)?, head.read(&queue)?), (vec![0], vec![2]));
            Ok(())
        });
    }
}

#[test]
fn work_that_makes_work_is_done() {
    for model in [Model::Sc, Model::Portable] {
        Checker::new(model).assert_holds(|device: &Device| {
            let queue = device.queue()?;
            let (left, head) = (device.from_slice(&[1u32])?, device.alloc_zeroed::<u32>(1)?);
            let tail = device.from_slice(&[1u32])?;
            let cooperative = LaunchOptions::new().cooperative();
            queue.launch_with(cooperative, ThreadSpec::new(2, 1), extends(&left, &head, &tail))?;
            assert_eq!((left.read(&queue)?, head.read(&queue)?), (vec![0], vec![3]));
            Ok(())
        });
    }
}
