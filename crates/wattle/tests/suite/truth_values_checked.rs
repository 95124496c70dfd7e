//! `bool` in memory under the checker: each is a location, in views, in structs and in the block's shared memory.
#![forbid(unsafe_code)]

use wattle::prelude::*;

const MODELS: [Model; 3] = [Model::Portable, Model::Ptx, Model::Vulkan];

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Answer {
    valid: bool,
    yes: bool,
}

#[kernel]
fn publishes<const RELEASE: bool>(acc: &Acc, answer: Shared<Answer>, ready: Atomic<u32>, seen: Shared<bool>) {
    if acc.block_in_grid() == 0 {
        answer[0] = Answer { valid: true, yes: true };
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        ready.store(0, 1);
    } else {
        while ready.load(0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        seen[0] = answer[0].valid && answer[0].yes;
    }
}

fn publication<const RELEASE: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (answer, ready) = (device.alloc_zeroed::<Answer>(1)?, device.alloc_zeroed::<u32>(1)?);
    let seen = device.alloc_zeroed::<bool>(1)?;
    queue.launch(ThreadSpec::new(2, 1), publishes::<RELEASE>(&answer, &ready, &seen))?;
    assert_eq!(seen.read(&queue)?, [true]);
    Ok(())
}

#[test]
fn truth_values_are_published_by_fences() {
    for model in MODELS {
        Checker::new(model).assert_holds(publication::<true>);
        Checker::new(model).assert_refuted(publication::<false>);
    }
}

/// Neighbours are locations of their own, though they are bytes of one word.
#[kernel]
fn neighbours<const SAME: bool>(acc: &Acc, flags: Shared<bool>) {
    let mine = acc.shared::<bool, 2>();
    let i = acc.thread_in_block();
    mine[i] = i == 1;
    flags[if SAME { 0 } else { i }] = mine[i];
    acc.sync_block();
    flags[2 + i] = mine[1 - i];
}

fn side_by_side<const SAME: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let flags = device.alloc_zeroed::<bool>(4)?;
    queue.launch(ThreadSpec::new(1, 2), neighbours::<SAME>(&flags))?;
    assert_eq!(flags.read(&queue)?[2..], [true, false]);
    Ok(())
}

#[test]
fn neighbours_do_not_race() {
    for model in MODELS {
        Checker::new(model).assert_holds(side_by_side::<false>);
    }
    // PTX has no data races: of two weak writes one is last.
    let report = Checker::new(Model::Portable).assert_refuted(side_by_side::<true>);
    assert!(report.to_string().contains("data race"), "{report}");
}
