//! Kernels that several cases use.

use wattle::prelude::*;

#[kernel]
pub fn reads(acc: &Acc, x: Read<u32>) {
    assert!(x[0] != 0xdead_beef, "no such value");
}

#[kernel]
pub fn owns(acc: &Acc, x: PerItem<u32>) {
    for (_, x) in acc.items(&mut x) {
        *x += 1;
    }
}

#[kernel]
pub fn shares(acc: &Acc, x: Shared<u32>) {
    assert!(x[0] != 0xdead_beef, "no such value");
}

#[kernel]
pub fn counts(acc: &Acc, x: Atomic<u32>) {
    x.fetch_add(0, 1);
}

/// As [`counts`], also beside a host part that counts too.
#[kernel]
pub fn counts_with_host(acc: &Acc, x: Atomic<u32>) {
    x.fetch_add_with(0, 1, Scope::System, Order::Relaxed);
}

#[kernel]
pub fn owns_box(acc: &Acc<2>, x: PerItem<u32, 2>) {
    for (_, x) in acc.items(&mut x) {
        *x += 1;
    }
}

#[kernel]
pub fn reads_two(acc: &Acc, x: Read<u32>, y: Read<u32>) {
    assert!(x[0] != 0xdead_beef && y[0] != 0xdead_beef, "no such values");
}

#[kernel]
pub fn owns_two(acc: &Acc, x: PerItem<u32>, y: PerItem<u32>) {
    for (_, x) in acc.items(&mut x) {
        *x += 1;
    }
    for (_, y) in acc.items(&mut y) {
        *y += 1;
    }
}

#[kernel]
pub fn reads_and_owns(acc: &Acc, from: Read<u32>, to: PerItem<u32>) {
    for (i, to) in acc.items(&mut to) {
        *to = from[i];
    }
}

#[kernel]
pub fn shares_and_counts(acc: &Acc, plain: Shared<u32>, word: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        plain[0] = 1;
    }
    word.fetch_add(0, 1);
}

/// `x` becomes `factor * x + term`.
#[kernel]
pub fn affine(acc: &Acc, x: PerItem<u32>, factor: u32, term: u32) {
    for (_, x) in acc.items(&mut x) {
        *x = *x * factor + term;
    }
}

/// Waits until `flag` is `value`.
#[kernel]
pub fn wait_until(acc: &Acc, flag: Atomic<u32>, value: u32) {
    while flag.load_with(0, Scope::Device, Order::Acquire) != value {}
}

#[kernel]
pub fn set(acc: &Acc, flag: Atomic<u32>, value: u32) {
    flag.store_with(0, value, Scope::Device, Order::Release);
}

/// Takes its time, then writes.
#[kernel]
pub fn writes_late(acc: &Acc, turns: Atomic<u32>, x: Shared<u32>, rounds: u32, value: u32) {
    for _ in 0..rounds {
        turns.fetch_add(0, 1);
    }
    x[0] = value;
}

/// Writes the index behind the last.
#[kernel]
pub fn beyond(acc: &Acc, place: Shared<u32>) {
    place[place.len()] = 1;
}
