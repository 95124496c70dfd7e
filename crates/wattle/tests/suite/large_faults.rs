//! Faults of launches that are too large to be searched: one interleaving comes to them, and the report shows what their thread did.

use std::time::Duration;

use wattle::prelude::*;
use wattle::{Checker, Model};

#[kernel]
fn off_by_one(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let tile = acc.shared::<u32, 64>();
    let t = acc.thread_in_block();
    tile[t] = x[acc.thread_in_grid()];
    acc.sync_block();
    out[acc.thread_in_grid()] = tile[t + 1];
}

#[kernel]
fn counted(acc: &Acc, count: Atomic<u32>) {
    let before = count.fetch_add(0, 1);
    assert!(before < 127, "{before} came before");
}

#[kernel]
fn beyond(acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let t = acc.thread_in_grid();
    out[t] = x[t + 64];
}

/// The second block finds the place in what the first one has announced.
#[kernel]
fn follows(acc: &Acc, count: Atomic<u32>, out: Shared<u32>) {
    if acc.block_in_grid() == 0 {
        count.store(0, 1);
        count.store(1, 1);
    } else if count.load(1) == 1 {
        let place = 1 - count.load(0);
        out[place] = 1;
    }
}

fn told(scenario: impl Fn(&Device) -> Result<()>) -> String {
    [Model::Portable, Model::Vulkan].map(|model| Checker::new(model).assert_refuted(&scenario).to_string()).join("\n")
}

#[test]
fn an_index_beyond_a_tile() {
    let text = told(|device| {
        let queue = device.queue()?;
        let (x, out) = (device.from_slice(&[1u32; 128])?, device.alloc_zeroed::<u32>(128)?);
        queue.launch(ThreadSpec::new(2, 64), off_by_one(&x, &out))?;
        out.read(&queue).map(drop)
    });
    let parts = [
        "index 64 of `tile`, which has extent 64",
        "block 0, thread 63",
        "reads x[63] = 1; writes tile[63] = 1",
        "Of the launch only these accesses are shown.",
    ];
    for part in parts {
        assert_eq!(text.matches(part).count(), 2, "{part}: {text}");
    }
}

#[test]
fn an_assertion_behind_a_counter() {
    let text = told(|device| {
        let queue = device.queue()?;
        let count = device.alloc_zeroed::<u32>(1)?;
        queue.launch(ThreadSpec::new(2, 64), counted(&count))?;
        count.read(&queue).map(drop)
    });
    assert_eq!(text.matches("127 came before").count(), 2, "{text}");
}

/// Where a thread leaves its array whatever the others do, no fence is tried; where what it has read decides, fences are.
#[test]
fn no_fence_mends_an_index() {
    for threads in [1, 64] {
        let scenario = move |device: &Device| {
            let queue = device.queue()?;
            let (x, out) = (device.from_slice(&[1u32; 64])?, device.alloc_zeroed::<u32>(64)?);
            queue.launch(ThreadSpec::new(1, threads), beyond(&x, &out))?;
            out.read(&queue).map(drop)
        };
        let checker = Checker::new(Model::Portable);
        let report = checker.check(scenario).expect("it is checked");
        assert_eq!(report.violations.len(), 1, "{report}");
        assert_eq!(checker.advise(scenario, &report, Duration::from_secs(10)).tried, 0);
    }
    let scenario = |device: &Device| {
        let queue = device.queue()?;
        let (count, out) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(2, 1), follows(&count, &out))?;
        out.read(&queue).map(drop)
    };
    let checker = Checker::new(Model::Portable);
    let report = checker.check(scenario).expect("it is checked");
    assert!(checker.advise(scenario, &report, Duration::from_secs(10)).tried > 0, "{report}");
}
