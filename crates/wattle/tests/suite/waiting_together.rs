//! Loops in which several threads wait as one: the first thread of a block polls, and stores what it saw for the others; or the
//! lanes of a warp poll and vote.

use wattle::checker::{Report, Verdict};
use wattle::prelude::*;

/// What there is to find.
mod how {
    /// Nothing: the poll acquires what the raise releases.
    pub const RIGHT: u32 = 0;
    /// The poll orders nothing.
    pub const RELAXED: u32 = 1;
    /// In an iteration that fails, the data is read.
    pub const PEEKS: u32 = 2;
    /// Nobody raises the flag.
    pub const NEVER: u32 = 3;
    /// In an iteration that fails, a cell that is written before the flag must be as it was, which nothing promises.
    pub const ASSERTS: u32 = 4;
    /// Nothing: the poll is an addition of 0.
    pub const ADDS: u32 = 5;
    /// The poll is an addition of 0, and whoever raises the flag does so for its own block alone.
    pub const NARROW: u32 = 6;
    /// Nothing: who polls gives up after some time, and the others with it.
    pub const GIVES_UP: u32 = 7;
    /// The data is read where the first thread has given up.
    pub const GIVES_UP_AND_READS: u32 = 8;
}

/// Writes the data, and raises the flag.
#[device_fn]
fn raise<const HOW: u32>(flag: Atomic<u32>, data: Shared<u32>, early: Atomic<u32>) {
    early.store(0, 1);
    data[0] = 42;
    if HOW == how::NARROW {
        flag.store_with(0, 1, Scope::Block, Order::Release);
    } else if HOW != how::NEVER {
        flag.store_with(0, 1, Scope::Device, Order::Release);
    }
}

/// Looks at the flag once.
#[device_fn]
fn poll<const HOW: u32>(flag: Atomic<u32>, data: Shared<u32>, early: Atomic<u32>) -> u32 {
    let seen = if HOW == how::RELAXED {
        flag.load(0)
    } else if HOW == how::ADDS || HOW == how::NARROW {
        flag.fetch_add_with(0, 0, Scope::Device, Order::Acquire)
    } else {
        flag.load_with(0, Scope::Device, Order::Acquire)
    };
    if HOW == how::ASSERTS && seen == 0 {
        assert!(early.load(0) == 0, "too early");
    }
    if HOW == how::PEEKS && seen == 0 {
        assert!(data[0] != 7, "a value that nobody writes");
    }
    seen
}

/// The second block's threads wait at its barrier for what its first thread sees.
#[kernel]
fn told_in_shared_memory<const HOW: u32>(
    acc: &Acc,
    flag: Atomic<u32>,
    data: Shared<u32>,
    early: Atomic<u32>,
    out: Shared<u32>,
) {
    let ready = acc.shared::<u32, 1>();
    let thread = acc.thread_in_block();
    if acc.block_in_grid() == 0 {
        if thread == 0 {
            raise::<HOW>(flag, data, early);
        }
    } else {
        let mut left = 3;
        loop {
            if thread == 0 {
                let mut seen = poll::<HOW>(flag, data, early);
                if HOW == how::GIVES_UP || HOW == how::GIVES_UP_AND_READS {
                    left -= 1;
                    if left == 0 && seen == 0 {
                        seen = 2;
                    }
                }
                ready[0] = seen;
            }
            acc.sync_block();
            let seen = ready[0];
            if seen == 1 || (HOW == how::GIVES_UP_AND_READS && seen == 2) {
                out[thread] = data[0];
                break;
            }
            if seen == 2 {
                out[thread] = 42;
                break;
            }
            acc.sync_block();
        }
    }
}

/// The second block's lanes wait until one of them has seen the flag.
#[kernel]
fn told_by_a_vote<const HOW: u32>(
    acc: &Acc,
    flag: Atomic<u32>,
    data: Shared<u32>,
    early: Atomic<u32>,
    out: Shared<u32>,
) {
    let (warp, thread) = (acc.warp(), acc.thread_in_block());
    if acc.block_in_grid() == 0 {
        if thread == 0 {
            raise::<HOW>(flag, data, early);
        }
    } else {
        let mut seen = false;
        while !warp.any(seen) {
            if warp.lane() == 0 {
                seen = poll::<HOW>(flag, data, early) == 1;
            }
        }
        warp.sync();
        out[thread] = data[0];
    }
}

fn run(device: &Device, by_vote: bool, launch: impl Fn(&Queue, [&Buffer<u32>; 4]) -> Result<()>) -> Result<()> {
    let queue = device.queue()?;
    let (flag, data, early) = (device.alloc_zeroed(1)?, device.alloc_zeroed(1)?, device.alloc_zeroed(1)?);
    let out = device.alloc_zeroed::<u32>(2)?;
    launch(&queue, [&flag, &data, &early, &out])?;
    assert_eq!(out.read(&queue)?, [42, 42], "by vote: {by_vote}");
    Ok(())
}

fn in_shared_memory<const HOW: u32>(device: &Device) -> Result<()> {
    run(device, false, |queue, [flag, data, early, out]| {
        queue.launch(ThreadSpec::new(2, 2), told_in_shared_memory::<HOW>(flag, data, early, out))
    })
}

fn by_a_vote<const HOW: u32>(device: &Device) -> Result<()> {
    run(device, true, |queue, [flag, data, early, out]| {
        let options = LaunchOptions::new().warp_size(2);
        queue.launch_with(options, ThreadSpec::new(2, 2), told_by_a_vote::<HOW>(flag, data, early, out))
    })
}

const MODELS: [Model; 3] = [Model::Portable, Model::Ptx, Model::Vulkan];

fn judged(model: Model, scenario: fn(&Device) -> Result<()>) -> Report {
    Checker::new(model).check(scenario).unwrap()
}

fn hold(scenarios: &[fn(&Device) -> Result<()>]) {
    for model in MODELS {
        for (number, scenario) in scenarios.iter().enumerate() {
            let report = judged(model, *scenario);
            assert_eq!(report.verdict, Verdict::Holds, "{number} under {model:?}: {report}");
        }
    }
}

fn violated(models: &[Model], says: &str, scenarios: &[fn(&Device) -> Result<()>]) {
    for &model in models {
        for (number, scenario) in scenarios.iter().enumerate() {
            let report = judged(model, *scenario);
            assert_eq!(report.verdict, Verdict::Violated, "{number} under {model:?}: {report}");
            assert!(report.to_string().contains(says), "{number} under {model:?}: {report}");
        }
    }
}

#[test]
fn a_wait_of_several_threads_is_one_wait() {
    hold(&[in_shared_memory::<{ how::RIGHT }>, by_a_vote::<{ how::RIGHT }>]);
    hold(&[in_shared_memory::<{ how::ADDS }>, by_a_vote::<{ how::ADDS }>]);
}

#[test]
fn what_is_wrong_behind_it_is_found() {
    // Vulkan's barriers acquire for the device.
    let models = [Model::Portable, Model::Ptx];
    violated(&models, "data", &[in_shared_memory::<{ how::RELAXED }>, by_a_vote::<{ how::RELAXED }>]);
}

#[test]
fn it_may_never_end() {
    violated(&MODELS, "wait for ever", &[in_shared_memory::<{ how::NEVER }>, by_a_vote::<{ how::NEVER }>]);
}

#[test]
fn what_its_failing_iterations_do_counts() {
    violated(&MODELS, "too early", &[in_shared_memory::<{ how::ASSERTS }>, by_a_vote::<{ how::ASSERTS }>]);
    let races = [Model::Portable, Model::Vulkan];
    violated(&races, "race", &[in_shared_memory::<{ how::PEEKS }>, by_a_vote::<{ how::PEEKS }>]);
    // Vulkan widens the scopes of kernels that use several.
    let narrow: &[fn(&Device) -> Result<()>] = &[in_shared_memory::<{ how::NARROW }>, by_a_vote::<{ how::NARROW }>];
    violated(&[Model::Portable], "race", narrow);
}

#[test]
fn a_wait_that_is_given_up_is_no_wait() {
    hold(&[in_shared_memory::<{ how::GIVES_UP }>]);
    violated(&MODELS, "data", &[in_shared_memory::<{ how::GIVES_UP_AND_READS }>]);
}
