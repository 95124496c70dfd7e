//! Faults of launches that are too large to be searched: one interleaving comes to them, and the report shows what their thread did.

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
        "index 64 out of bounds of shared array `tile`, whose extent is 64",
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
