//! Fields are memory of their own for the checker and for the simulated device's race detector.
#![forbid(unsafe_code)]

use wattle::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Entry {
    keys: [u32; 2],
    value: u32,
}

/// Two threads, each with fields of its own; `BOTH` makes one of them touch a field of the other's.
#[kernel]
fn fields<const BOTH: bool>(acc: &Acc, entries: Shared<Entry>) {
    if acc.thread_in_grid() == 0 {
        entries[0].value = 7;
        entries[0].keys[1] = 2;
    } else {
        entries[0].keys[0] = 1;
        if BOTH {
            entries[0].keys[1] = entries[0].keys[0];
        }
    }
}

fn scenario<const BOTH: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let entries = device.alloc_zeroed::<Entry>(2)?;
    queue.launch(ThreadSpec::new(2, 1), fields::<BOTH>(&entries))?;
    assert_eq!(entries.read(&queue)?[0], Entry { keys: [1, 2], value: 7 });
    Ok(())
}

#[test]
fn threads_may_have_a_field_each() {
    Checker::new(Model::Portable).assert_holds(scenario::<false>);
    for seed in 0..20 {
        scenario::<false>(&Device::simulated(seed)).unwrap();
    }
}

#[test]
fn a_race_names_the_field() {
    let report = Checker::new(Model::Portable).check(scenario::<true>).unwrap().to_string();
    assert!(report.contains("entries[0].keys[1]"), "{report}");
    let error = scenario::<true>(&Device::simulated(1)).unwrap_err().to_string();
    assert!(error.contains("data race on `entries[0].keys[1]`"), "{error}");
}

/// Two threads that write one field of an element of the block's, and one each of another.
#[kernel]
fn in_block(acc: &Acc, entries: Shared<Entry>) {
    let tile = acc.shared::<Entry, 2>();
    let thread = acc.thread_in_block();
    tile[thread].keys = [1, 2];
    tile[1].value = thread;
    acc.sync_block();
    entries[thread] = Entry { value: 0, ..tile[thread] };
}

#[test]
fn a_race_in_block_shared_memory_names_the_field() {
    let scenario = |device: &Device| {
        let queue = device.queue()?;
        let entries = device.alloc_zeroed::<Entry>(2)?;
        queue.launch(ThreadSpec::new(1, 2), in_block(&entries))?;
        queue.wait()
    };
    let report = Checker::new(Model::Portable).check(scenario).unwrap().to_string();
    assert!(report.contains("tile[1].value"), "{report}");
    let error = scenario(&Device::simulated(1)).unwrap_err().to_string();
    assert!(error.contains("data race on `tile[1].value`"), "{error}");
}
