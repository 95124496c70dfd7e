//! For whom the threads of a kernel may wait: those who wait for nobody run one after another on the host.

use wattle::Kernel;
use wattle::prelude::*;
use wattle_ir::Waits;

/// What CUDA programs look like: an element for each thread.
#[kernel]
fn element(acc: &Acc, x: Read<u32>, y: Shared<u32>) {
    let i = acc.thread_in_grid();
    if i < x.len() {
        y[i] += x[i];
    }
}

/// Loops over ranges and over items, in which others' memory is read, and `while` loops in which it is not.
#[kernel]
fn loops(acc: &Acc, x: Read<u32>, y: Shared<u32>, z: PerItem<u32>, count: Atomic<u32>) {
    let mut sum = 0;
    for i in 0..y.len() {
        for j in (0..i).rev() {
            if j == 3 {
                continue;
            }
            sum += y[j] + count.load(0);
        }
    }
    for (i, z) in acc.items(&mut z) {
        *z = sum + y[i % y.len()];
    }
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        count.fetch_add(0, y[i]);
    }
    let (mut low, mut high) = (0, x.len());
    while low < high {
        let middle = (low + high) / 2;
        if x[middle] < 5 {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    loop {
        if low == 0 {
            break;
        }
        y[low] = low;
        low -= 1;
    }
}

#[kernel]
fn meets(acc: &Acc, y: Shared<u32>) {
    if y[0] == 0 {
        acc.sync_block();
    }
}

#[kernel]
fn meets_in_warp(acc: &Acc, y: Shared<u32>) {
    y[acc.thread_in_grid()] = acc.warp().shuffle_xor(y[acc.thread_in_grid()], 1);
}

#[device_fn]
fn wait_for(flag: Atomic<u32>) {
    while flag.load(0) == 0 {}
}

#[kernel]
fn spins(_acc: &Acc, flag: Atomic<u32>) {
    wait_for(flag);
}

#[kernel]
fn spins_a_while(_acc: &Acc, flag: Atomic<u32>, seen: Shared<u32>) {
    for _ in 0..1000 {
        if flag.load(0) == 1 {
            seen[0] = 1;
            return;
        }
    }
}

#[kernel]
fn spins_around(_acc: &Acc, flag: Atomic<u32>, seen: Shared<u32>) {
    'all: for _ in 0..1000 {
        for _ in 0..10 {
            if flag.load(0) == 1 {
                break 'all;
            }
        }
        seen[0] += 1;
    }
}

#[kernel]
fn spins_in_shared(acc: &Acc, seen: Shared<u32>) {
    let flag = acc.shared_atomic::<u32, 1>();
    if acc.thread_in_block() == 0 {
        flag.fetch_add(0, 1);
    }
    loop {
        if flag.load(0) != 0 {
            break;
        }
    }
    seen[0] = 1;
}

#[kernel]
fn exchanges(_acc: &Acc, x: Atomic<u32>) {
    let mut old = x.load(0);
    loop {
        let now = x.compare_exchange(0, old, old + 1);
        if now == old {
            break;
        }
        old = now;
    }
}

#[test]
fn a_thread_waits_where_it_meets_others_or_repeats_what_it_reads_of_them() -> Result<()> {
    let device = Device::host();
    let (x, y, mut z) = (device.alloc::<u32>(1)?, device.alloc::<u32>(1)?, device.alloc::<u32>(1)?);
    let waits = |kernel: &dyn Kernel| kernel.build().map(|built| Waits::of(&built));
    let none = Waits::default();
    assert_eq!(waits(&element(&x, &y))?, none);
    assert_eq!(waits(&loops(&x, &y, &mut z, &x))?, none);
    assert_eq!(waits(&meets_in_warp(&y))?, Waits { in_warp: true, ..none });
    let in_block = Waits { in_block: true, ..none };
    assert_eq!(waits(&meets(&y))?, in_block);
    assert_eq!(waits(&spins(&y))?, in_block);
    assert_eq!(waits(&spins_a_while(&x, &y))?, in_block);
    assert_eq!(waits(&spins_around(&x, &y))?, in_block);
    assert_eq!(waits(&spins_in_shared(&y))?, in_block);
    assert_eq!(waits(&exchanges(&y))?, in_block);
    Ok(())
}
