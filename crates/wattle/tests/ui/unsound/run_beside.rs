//! A kernel that runs without the clocks knowing of it would share its memory with whatever else runs.

use wattle::prelude::*;

#[kernel]
fn adds(acc: &Acc, out: PerItem<u32>) {
    for (_, out) in acc.items(&mut out) {
        *out += 1;
    }
}

fn main() {
    let mut buffer = Device::host().alloc_zeroed::<u32>(1).unwrap();
    let kernel = adds(&mut buffer);
    wattle_core::run_beside(&kernel, &LaunchOptions::new(), || Ok(())).unwrap();
}
