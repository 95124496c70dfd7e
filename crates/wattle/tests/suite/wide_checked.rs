//! Kernels with indices of 64 bits under the checker.

use wattle::prelude::*;

const MODELS: [Model; 3] = [Model::Portable, Model::Ptx, Model::Vulkan];

/// Block 0 writes an element and says so; block 1 waits for it, and reads the element by an index that it computes.
#[kernel(wide)]
fn publishes<const RELEASE: bool>(acc: &Acc, payload: Shared<u32>, ready: Atomic<u32>, seen: Shared<u32>) {
    let last = payload.len() - 1;
    if acc.thread_in_grid() == 0 {
        payload[last] = 42;
        if RELEASE {
            acc.mem_fence(Scope::Device, Order::Release);
        }
        ready.store(0, 1);
    } else {
        while ready.load(0) == 0 {}
        acc.mem_fence(Scope::Device, Order::Acquire);
        seen[0] = payload[payload.len() - acc.thread_in_grid()];
    }
}

fn publication<const RELEASE: bool, const LONG: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (payload, ready) = (device.alloc_zeroed::<u32>(3)?, device.alloc_zeroed::<u32>(1)?);
    let seen = device.alloc_zeroed::<u32>(1)?;
    let options = if LONG { LaunchOptions::new().long_indices() } else { LaunchOptions::new() };
    queue.launch_with(options, ThreadSpec::new(2, 1), publishes::<RELEASE>(&payload, &ready, &seen))?;
    assert_eq!(seen.read(&queue)?, [42]);
    Ok(())
}

#[test]
fn a_publication_holds_with_indices_of_either_width() {
    for model in MODELS {
        Checker::new(model).assert_holds(publication::<true, false>);
        Checker::new(model).assert_holds(publication::<true, true>);
        Checker::new(model).assert_refuted(publication::<false, false>);
        Checker::new(model).assert_refuted(publication::<false, true>);
    }
}
