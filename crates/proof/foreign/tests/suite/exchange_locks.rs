//! Locks taken by an exchange: a thread waits for ever only where the lock is held, and not on what another one that
//! waits has written back. So it is with what is emitted, read back.

use wattle::prelude::*;
use wattle_check::checker::{Checker, Verdict};
use wattle_memory::Target;

#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    Load,
    AcquireLoad,
    Addition,
    /// A look at the lock itself.
    Peek,
}

const BEFORE: [Before; 5] = [Before::Nothing, Before::Load, Before::AcquireLoad, Before::Addition, Before::Peek];

/// `BEFORE` numbers what comes before the lock; `HELD` leaves it taken.
#[kernel]
fn lock<const BEFORE: u32, const HELD: bool>(_acc: &Acc, words: Atomic<u32>, count: Shared<u32>) {
    let mut seen = 0;
    if BEFORE == 1 {
        seen = words.load(0);
    } else if BEFORE == 2 {
        seen = words.load_with(0, Scope::Device, Order::Acquire);
    } else if BEFORE == 3 {
        seen = words.fetch_add(0, 1);
    } else if BEFORE == 4 {
        seen = words.load(1);
    }
    while words.exchange_with(1, 1, Scope::Device, Order::Acquire) != 0 {}
    count[0] += 1 + seen - seen;
    if !HELD {
        words.store_with(1, 0, Scope::Device, Order::Release);
    }
}

/// Looks at another word in each turn.
#[kernel]
fn looks_besides<const HELD: bool>(_acc: &Acc, words: Atomic<u32>, count: Shared<u32>) {
    let seen = words.load(0);
    while words.exchange_with(1, 1, Scope::Device, Order::Acquire) != 0 {
        if words.load(0) == 9 {
            continue;
        }
    }
    count[0] += 1 + seen - seen;
    if !HELD {
        words.exchange_with(1, 0, Scope::Device, Order::Release);
    }
}

fn run<const HELD: bool>(device: &Device, before: Option<Before>, blocks: usize) -> Result<()> {
    let (queue, words, count) = (device.queue()?, device.alloc_zeroed::<u32>(2)?, device.alloc_zeroed::<u32>(1)?);
    let spec = ThreadSpec::new(blocks, 1);
    match before {
        Some(Before::Nothing) => queue.launch(spec, lock::<0, HELD>(&words, &count))?,
        Some(Before::Load) => queue.launch(spec, lock::<1, HELD>(&words, &count))?,
        Some(Before::AcquireLoad) => queue.launch(spec, lock::<2, HELD>(&words, &count))?,
        Some(Before::Addition) => queue.launch(spec, lock::<3, HELD>(&words, &count))?,
        Some(Before::Peek) => queue.launch(spec, lock::<4, HELD>(&words, &count))?,
        None => queue.launch(spec, looks_besides::<HELD>(&words, &count))?,
    };
    assert_eq!(count.read(&queue)?, [blocks as u32]);
    Ok(())
}

#[test]
fn updates_do_not_wait_on_one_another_alone() {
    for before in BEFORE.map(Some).into_iter().chain([None]) {
        for target in Target::ALL {
            for blocks in [2, 3] {
                let checker = Checker::for_target(target);
                let emitted = matches!(target, Target::Ptx { .. } | Target::Vulkan).then(|| checker.clone().emitted());
                for checker in [Some(checker), emitted].into_iter().flatten() {
                    let report = checker.check(|device| run::<false>(device, before, blocks));
                    let report = report.expect("it can be checked");
                    assert_eq!(report.verdict, Verdict::Holds, "{before:?}, {blocks} blocks: {report}");
                }
            }
        }
    }
}

#[test]
fn a_lock_that_is_held_is_waited_for() {
    for before in BEFORE.map(Some).into_iter().chain([None]) {
        let checker = Checker::for_target(Target::Portable);
        let report = checker.check(|device| run::<true>(device, before, 3)).expect("it can be checked");
        let kinds: Vec<_> = report.violations.iter().map(|violation| violation.kind()).collect();
        assert_eq!(
            (report.verdict, &kinds[..]),
            (Verdict::Violated, &["can be stuck for ever"][..]),
            "{before:?}: {report}"
        );
    }
}
