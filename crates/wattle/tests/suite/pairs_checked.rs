//! Sums of pairs of halves are proved to be atomic, with both halves at once; a sum in two steps is refuted.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all)]

use wattle::pairs::fetch_add_f16x2;
use wattle::prelude::*;

#[kernel]
fn adds<const AT_ONCE: bool>(acc: &Acc, words: Atomic<u32>) {
    if AT_ONCE {
        let old = fetch_add_f16x2(words, 0, [1.0 as f16, 2.0 as f16]);
        assert!(old[1] == old[0] + old[0], "one half without the other");
    } else {
        let old = words.load(0);
        let (low, high) = (f16::from_bits(old as u16) + 1.0, f16::from_bits((old >> 16) as u16) + 2.0);
        words.store(0, low.to_bits() as u32 | (high.to_bits() as u32) << 16);
    }
}

fn scenario<const AT_ONCE: bool>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let words = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(3, 1), adds::<AT_ONCE>(&words))?;
    let word = words.read(&queue)?[0];
    assert_eq!([word as u16, (word >> 16) as u16].map(|bits| f16::from_bits(bits).to_f32()), [3.0, 6.0]);
    Ok(())
}

#[test]
fn sums_are_proved() {
    Checker::new(Model::Portable).assert_holds(scenario::<true>);
}

#[test]
fn two_steps_are_refuted() {
    Checker::new(Model::Portable).assert_refuted(scenario::<false>);
}
