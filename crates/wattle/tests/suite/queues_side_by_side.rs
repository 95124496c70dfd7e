//! Several launches on each of two queues: the end of a launch orders what comes after it on its own queue, and nothing of the
//! other's.

use wattle::checker::Verdict;
use wattle::prelude::*;

#[kernel]
fn writes(_acc: &Acc, x: Shared<u32>) {
    x[0] = 1;
}

#[kernel]
fn copies(_acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    y[0] = x[0];
}

#[kernel]
fn stores(_acc: &Acc, x: Atomic<u32>) {
    x.store(0, 1);
}

#[kernel]
fn loads(_acc: &Acc, x: Atomic<u32>, seen: Shared<u32>) {
    seen[0] = x.load(0);
}

/// A write in the first launch of one queue, a read in the second of the other.
fn races(device: &Device) -> Result<()> {
    let (q, r) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let buffer = || device.alloc_zeroed::<u32>(1);
    let (x, others, seen) = (buffer()?, [buffer()?, buffer()?], buffer()?);
    let one = || ThreadSpec::new(1, 1);
    q.launch(one(), writes(&x))?;
    q.launch(one(), writes(&others[0]))?;
    r.launch(one(), writes(&others[1]))?;
    r.launch(one(), copies(&x, &seen))?;
    r.wait()?;
    q.wait()
}

#[kernel]
fn publishes(_acc: &Acc, x: Shared<u32>, flag: Atomic<u32>) {
    x[0] = 1;
    flag.store_with(0, 1, Scope::Device, Order::Release);
    // The launch goes on for a while.
    for _ in 0..40 {
        flag.fetch_or(0, 1);
    }
}

#[kernel]
fn waits(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

/// What the first launch of a queue acquires, the second has behind it.
fn acquires_for_the_next(device: &Device) -> Result<()> {
    let (q, r) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let buffer = || device.alloc_zeroed::<u32>(1);
    let (x, flag, seen, one) = (buffer()?, buffer()?, buffer()?, || ThreadSpec::new(1, 1));
    q.launch(one(), publishes(&x, &flag))?;
    r.launch(one(), waits(&flag))?;
    r.launch(one(), copies(&x, &seen))?;
    r.wait()?;
    q.wait()?;
    assert_eq!(seen.read(&q)?, [1]);
    Ok(())
}

/// What one of four launches does: store or load, and of which word.
#[derive(Clone, Copy)]
enum Does {
    Store(usize),
    Load(usize),
}
use Does::{Load, Store};

/// Two launches on each of two queues; what the loads see must not be `never`.
fn never(device: &Device, programs: [[Does; 2]; 2], never: &[u32]) -> Result<()> {
    let queues = [device.queue_non_blocking()?, device.queue_non_blocking()?];
    let words = [device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?];
    let (mut seen, one) = (Vec::new(), || ThreadSpec::new(1, 1));
    for (queue, program) in queues.iter().zip(programs) {
        for does in program {
            match does {
                Store(word) => queue.launch(one(), stores(&words[word]))?,
                Load(word) => {
                    let result = device.alloc_zeroed::<u32>(1)?;
                    queue.launch(one(), loads(&words[word], &result))?;
                    seen.push(result);
                }
            }
        }
    }
    queues.iter().try_for_each(Queue::wait)?;
    let seen = seen.iter().map(|word| Ok(word.read(&queues[0])?[0])).collect::<Result<Vec<_>>>()?;
    assert_ne!(seen, never);
    Ok(())
}

/// What each queue does, outcomes that can be, and one that sequential consistency forbids.
type Pattern = ([[Does; 2]; 2], &'static [[u32; 2]], [u32; 2]);

const PATTERNS: [Pattern; 3] = [
    // Message passing.
    ([[Store(0), Store(1)], [Load(1), Load(0)]], &[[0, 0], [0, 1], [1, 1]], [1, 0]),
    // Store buffering.
    ([[Store(0), Load(1)], [Store(1), Load(0)]], &[[0, 1], [1, 0], [1, 1]], [0, 0]),
    // Load buffering.
    ([[Load(0), Store(1)], [Load(1), Store(0)]], &[[0, 0], [0, 1], [1, 0]], [1, 1]),
];

fn verdict(model: Model, scenario: impl Fn(&Device) -> Result<()>) -> Verdict {
    Checker::new(model).check(scenario).unwrap().verdict
}

const MODELS: [Model; 5] = [Model::Portable, Model::Ptx, Model::Vulkan, Model::Rust, Model::Sc];

#[test]
fn launches_of_two_queues_race() {
    for model in [Model::Portable, Model::Vulkan] {
        assert_eq!(verdict(model, races), Verdict::Violated, "{model}");
    }
}

#[test]
fn what_a_launch_acquires_the_next_one_of_its_queue_has() {
    for model in [Model::Portable, Model::Vulkan] {
        assert_eq!(verdict(model, acquires_for_the_next), Verdict::Holds, "{model}");
    }
    for seed in 0..60 {
        acquires_for_the_next(&Device::select(&format!("simulated:{seed}")).unwrap()).unwrap();
    }
}

#[test]
fn launches_of_two_queues_come_in_every_order() {
    for (programs, outcomes, impossible) in PATTERNS {
        for model in MODELS {
            for outcome in outcomes {
                let found = verdict(model, |device| never(device, programs, outcome));
                assert_eq!(found, Verdict::Violated, "{outcome:?} under {model}");
            }
        }
        // Nothing but the order of the launches keeps the others from it: their accesses are relaxed.
        assert_eq!(verdict(Model::Sc, |device| never(device, programs, &impossible)), Verdict::Holds);
    }
}

#[test]
fn seeds_show_every_order() {
    for (programs, outcomes, _) in PATTERNS {
        for outcome in outcomes {
            let shows = |seed: u32| {
                let device = Device::select(&format!("simulated:{seed}")).unwrap();
                let run = std::panic::AssertUnwindSafe(|| never(&device, programs, outcome));
                std::panic::catch_unwind(run).is_err()
            };
            assert!((0..200).any(shows), "no seed shows {outcome:?}");
        }
    }
}
