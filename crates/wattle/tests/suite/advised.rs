//! Advice says of each line what its author can write there.

use std::time::Duration;

use wattle::Error;
use wattle::checker::Verdict;
use wattle::prelude::*;

/// Each of two threads announces itself and looks for the other, with sequentially consistent accesses.
#[kernel]
fn announces_and_looks(acc: &Acc, here: Atomic<u32>, mut seen: PerItem<u32>) {
    for (_, seen) in acc.items(&mut seen) {
        let me = acc.block_in_grid();
        here.store_with(me, 1, Scope::Device, Order::SeqCst);
        *seen = here.load_with(1 - me, Scope::Device, Order::SeqCst);
    }
}

/// The same with what the advice says of the loads.
#[kernel]
fn announces_and_looks_behind_a_fence(acc: &Acc, here: Atomic<u32>, mut seen: PerItem<u32>) {
    for (_, seen) in acc.items(&mut seen) {
        let me = acc.block_in_grid();
        here.store_with(me, 1, Scope::Device, Order::Relaxed);
        acc.mem_fence(Scope::Device, Order::SeqCst);
        *seen = here.load_with(1 - me, Scope::Device, Order::Relaxed);
    }
}

fn one_sees_the_other(device: &Device, fenced: bool) -> Result<()> {
    let (here, mut seen) = (device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(2)?);
    let (queue, spec) = (device.queue()?, ThreadSpec::new(2, 1));
    if fenced {
        queue.launch(spec, announces_and_looks_behind_a_fence(&here, &mut seen))?;
    } else {
        queue.launch(spec, announces_and_looks(&here, &mut seen))?;
    }
    match seen.read(&queue)?[..] {
        [0, 0] => Err(Error::check("nobody sees the other")),
        _ => Ok(()),
    }
}

#[test]
fn what_a_sequentially_consistent_access_could_be_is_said_of_the_access() {
    let checker = Checker::new(Model::Portable);
    let scenario = |device: &Device| one_sees_the_other(device, false);
    let report = checker.check(scenario).unwrap();
    let advice = checker.advise(scenario, &report, Duration::from_secs(20));
    let texts: Vec<&str> = advice.weaker.iter().map(|change| change.text.as_str()).collect();
    let store = "the store could be Relaxed at device scope, not SeqCst at device scope";
    let load = "the load could be Relaxed at device scope behind mem_fence(Scope::Device, Order::SeqCst), not SeqCst";
    assert_eq!(texts, [store, load]);
    let followed = checker.check(|device: &Device| one_sees_the_other(device, true)).unwrap();
    assert_eq!(followed.verdict, Verdict::Holds, "{followed}");
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair {
    low: u32,
    high: u32,
}

#[kernel]
fn writes_pairs(acc: &Acc, pairs: Shared<Pair>, small: Shared<u8>, word: Shared<u32>) {
    let me = acc.block_in_grid();
    pairs[0] = Pair { low: me, high: me };
    small[0] = me as u8;
    word[0] = me;
}

#[test]
fn only_what_has_atomic_operations_is_to_be_made_atomic() {
    let scenario = |device: &Device| -> Result<()> {
        let pairs = device.alloc_zeroed::<Pair>(1)?;
        let (small, word) = (device.alloc_zeroed::<u8>(1)?, device.alloc_zeroed::<u32>(1)?);
        device.queue()?.launch(ThreadSpec::new(2, 1), writes_pairs(&pairs, &small, &word))
    };
    let checker = Checker::new(Model::Portable);
    let report = checker.check(scenario).unwrap();
    let advice = checker.advise(scenario, &report, Duration::from_secs(20));
    assert!(report.verdict == Verdict::Violated && advice.fixes.is_empty(), "{advice:?}");
}

#[kernel]
fn writes_a_word(acc: &Acc, word: Shared<u32>) {
    word[0] = acc.block_in_grid();
}

#[test]
fn a_word_is_to_be_made_atomic() {
    let scenario = |device: &Device| -> Result<()> {
        let word = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(2, 1), writes_a_word(&word))
    };
    let checker = Checker::new(Model::Portable);
    let report = checker.check(scenario).unwrap();
    let advice = checker.advise(scenario, &report, Duration::from_secs(20));
    assert!(advice.fixes.iter().any(|change| change.text.starts_with("make `word` Atomic")), "{advice:?}");
}

/// Adds up a block's numbers; the threads do not wait until all are there.
#[kernel]
fn adds_up(acc: &Acc, x: Read<u32>, sum: Shared<u32>) {
    let tile = acc.shared::<u32, 4>();
    let t = acc.thread_in_block();
    tile[t] = x[t];
    let mut half = 2;
    while half > 0 {
        if t < half {
            tile[t] = tile[t] + tile[t + half];
        }
        acc.sync_block();
        half /= 2;
    }
    if t == 0 {
        sum[0] = tile[0];
    }
}

#[test]
fn a_barrier_is_advised_before_a_loop() {
    let scenario = |device: &Device| -> Result<()> {
        let (queue, x, sum) = (device.queue()?, device.from_slice(&[1, 2, 3, 4])?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(1, 4), adds_up(&x, &sum))?;
        assert_eq!(sum.read(&queue)?, [10]);
        Ok(())
    };
    let checker = Checker::new(Model::Portable);
    let report = checker.check(scenario).unwrap();
    let advice = checker.advise(scenario, &report, Duration::from_secs(20));
    let texts: Vec<&str> = advice.fixes.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(texts, ["sync_block() before the loop that begins here"], "{advice:?}");
}
