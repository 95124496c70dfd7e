//! Check hoisting: which loops have their checks made before the first turn, and that the fault of a turn is found whatever
//! the indices of the last one are.

use wattle::prelude::*;
use wattle_ptx::PtxTarget;

use crate::batching::agrees;

/// `far` and `by` are added to and multiplied with the number of a turn.
#[kernel]
fn strided(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32, by: u32, far: u32) {
    let mut sum = 1;
    for i in 0..turns {
        let at = i * by + far;
        sum = sum * 31 + y[at] * y[at + 1];
    }
    x[acc.thread_in_grid()] = sum;
}

/// The first turn's index comes from before the loop, and that of the others from the turn before.
#[kernel]
fn from_before(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32, first: u32) {
    let (mut sum, mut at) = (1, first);
    for i in 0..turns {
        sum = sum * 31 + y[at];
        at = i * 2;
        sum = sum * 31 + y[at] + y[at + 1] + y[at + 2];
    }
    x[acc.thread_in_grid()] = sum;
}

/// The index is set twice in a turn.
#[kernel]
fn set_twice(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32, far: u32) {
    let mut sum = 1;
    for i in 0..turns {
        let mut at = i;
        sum = sum * 31 + y[at] + y[at + 1] + y[at + 2];
        at += far;
        sum = sum * 31 + y[at];
    }
    x[acc.thread_in_grid()] = sum;
}

/// Threads wait for each other at one statement, which is not written twice.
#[kernel]
fn with_a_barrier(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32, by: u32) {
    for i in 0..turns {
        x[acc.thread_in_grid()] = y[i * by] + y[i * by + 1];
        acc.sync_block();
    }
}

/// An index that falls.
#[kernel]
fn falling(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32, from: u32) {
    let mut sum = 1;
    for i in 0..turns {
        sum = sum * 31 + y[from - i] + y[from - i + 1];
    }
    x[acc.thread_in_grid()] = sum;
}

/// Four elements at once; of a view that may begin anywhere.
#[kernel]
fn in_fours(acc: &Acc, x: Shared<u32>, y: Read<u32>, turns: u32) {
    let mut sum = 1;
    for i in 0..turns {
        let (a, b) = (y.lanes::<4>(8 * i), y.lanes::<4>(8 * i + 4));
        sum = sum * 31 + a[0] + a[3] * b[1] + b[2];
    }
    x[acc.thread_in_grid()] = sum;
}

fn is_hoisted(kernel: &dyn wattle_core::Kernel) -> bool {
    crate::tools::module(&kernel.build().unwrap(), &PtxTarget::new(90)).body.contains(crate::tools::HOISTED)
}

#[test]
fn which_loops() {
    let device = Device::host();
    let (x, y) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    assert!(is_hoisted(&strided(&x, &y, 4, 2, 1)));
    assert!(is_hoisted(&from_before(&x, &y, 4, 1)));
    assert!(is_hoisted(&in_fours(&x, &y, 4)));
    assert!(!is_hoisted(&set_twice(&x, &y, 4, 2)));
    assert!(!is_hoisted(&with_a_barrier(&x, &y, 4, 2)));
    assert!(!is_hoisted(&falling(&x, &y, 4, 8)));
}

fn one() -> ThreadSpec<1> {
    ThreadSpec::new(1, 1)
}

/// Each launch leaves and reports what it does on the simulated device, and it is known whether it fails.
#[test]
fn the_first_turn_that_fails_reports() {
    for (turns, by, far, fails) in [
        (0, 1, 0, false),
        (5, 3, 2, false),
        (5, 3, 3, true),
        (6, 3, 0, true),
        (0, 1, 99, false),
        (4, 0, 14, false),
        (4, 0, 15, true),
        // The index of the last turn has wrapped around: in the product, in the sum, and where no turn fails.
        (3, 0x8000_0000, 0, true),
        (5, 0x4000_0001, 0, true),
        (3, 0x2000_0000, 0xc000_0000, true),
        (2, 0xffff_fff8, 8, false),
        (2, 1, u32::MAX, true),
    ] {
        let said = agrees([4, 16], &move |queue, x, y| queue.launch(one(), strided(&*x, y, turns, by, far)));
        assert_eq!(!said.is_empty(), fails, "{turns} {by} {far}: {said}");
    }
}

#[test]
fn indices_that_a_turn_sets() {
    for (first, turns, fails) in [(3, 7, false), (16, 7, true), (16, 0, false), (3, 8, true)] {
        let said = agrees([4, 16], &move |queue, x, y| queue.launch(one(), from_before(&*x, y, turns, first)));
        assert_eq!(!said.is_empty(), fails, "{first} {turns}: {said}");
    }
    for (far, turns, fails) in [(2, 14, false), (3, 14, true), (12, 4, false), (12, 5, true), (2, 15, true)] {
        let said = agrees([4, 16], &move |queue, x, y| queue.launch(one(), set_twice(&*x, y, turns, far)));
        assert_eq!(!said.is_empty(), fails, "{far} {turns}: {said}");
    }
}

#[test]
fn several_elements_wherever_the_view_begins() {
    for skipped in 0..5 {
        for turns in 0..4 {
            let said = agrees([4, 20], &move |queue, x, y| {
                let y = y.slice(skipped..20)?;
                queue.launch(one(), in_fours(&*x, &y, turns))
            });
            assert_eq!(!said.is_empty(), skipped + 8 * turns as usize > 20, "{skipped} {turns}: {said}");
        }
    }
}
