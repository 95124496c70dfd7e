//! Which indices are checked: all but those whose bounds were tested on the way.

mod tools;

use wattle::prelude::*;
use wattle_ir::{ParamId, Place, SharedId};
use wattle_ptx::{Fault, Target};

#[kernel]
fn counts(_acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    for i in 0..x.len() {
        x[i] = 1;
        y[i] = 1;
    }
}

#[kernel]
fn items(acc: &Acc, x: PerItem<u32, 1>, y: Read<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x = y[i];
    }
}

#[kernel]
fn asks(acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let thread = acc.thread_in_grid();
    if thread + 1 < x.len() {
        x[thread + 1] = y[thread + 1];
    } else {
        y[thread] = x[thread];
    }
}

#[kernel]
fn leaves(acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let thread = acc.thread_in_grid();
    if thread >= x.len() {
        return;
    }
    x[thread] = 1;
    y[thread] = 1;
}

#[kernel]
fn moves_on(_acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let mut i = 0;
    if i < x.len() {
        i += 3;
        x[i] = 1;
    }
    y[i] = 1;
}

#[kernel]
fn moves_on_in_a_branch(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, moves: u32) {
    let mut i = 0;
    if i < x.len() {
        if moves > 2 {
            i = x[i] + moves * moves - 7;
            y[i] = 2;
        }
        x[i] = 1;
    }
}

#[kernel]
fn moves_on_under_a_predicate(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, to: u32) {
    let mut i = 0;
    if i < x.len() {
        if to > 2 {
            i = to;
        }
        x[i] = 1;
    }
    y[0] = 1;
}

#[kernel]
fn moves_on_in_a_loop(_acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let mut i = 0;
    if i < x.len() {
        while y[i] == 0 {
            x[i] = 1;
            i += 1;
        }
    }
}

#[kernel]
fn asks_both(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, i: u32, j: u32) {
    if (i < x.len()) & (j < y.len()) {
        x[i] = y[j];
    }
}

#[kernel]
fn asks_the_opposite(acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let thread = acc.thread_in_grid();
    if thread >= x.len() {
        x[thread] = 1;
        y[thread] = 1;
    }
}

#[kernel]
fn asks_for_another(acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let thread = acc.thread_in_grid();
    if thread + 2 < x.len() {
        x[thread * 2] = 1;
        y[0] = 1;
        x[thread + 3] = 1;
    }
}

#[kernel]
fn behind_the_block(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, i: u32) {
    if i < x.len() {
        y[i] = 1;
    }
    x[i] = 1;
}

#[kernel]
fn loads_its_index(_acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let mut i = 0;
    if i < x.len() {
        i = x[i];
        x[i] = 1;
        y[i] = 1;
    }
}

#[kernel]
fn planes(_acc: &Acc, x: Shared<u32, 2>, y: Shared<u32>) {
    for i in 0..x.extent()[0] {
        for j in 0..x.extent()[1] {
            x[[i, j]] = 1;
        }
        for j in 0..x.extent()[0] {
            y[j] = 1;
        }
    }
}

#[kernel]
fn turned(_acc: &Acc, x: Shared<u32, 2>, y: Shared<u32>) {
    for i in 0..x.extent()[0] {
        for j in 0..x.extent()[1] {
            x[[j, i]] = y[0];
        }
    }
}

#[kernel]
fn in_a_tile(acc: &Acc, x: Shared<u32>, y: Shared<u32>) {
    let large = acc.shared::<u32, 64>();
    let small = acc.shared::<u32, 16>();
    let thread = acc.thread_in_block();
    if thread < 64 {
        large[thread] = 1;
        small[thread] = 1;
    }
    x[0] = 1;
    y[0] = 1;
}

/// The places whose indices are checked somewhere in the kernel.
fn checked(kernel: &dyn wattle_core::Kernel) -> Vec<Place> {
    let module = tools::module(&kernel.build().unwrap(), &Target::new(90));
    let place = |site: &wattle_ptx::FaultSite| match site.fault {
        Fault::OutOfBounds { place, .. } => Some(place),
        _ => None,
    };
    let mut places: Vec<_> = module.sites.iter().filter_map(place).collect();
    places.dedup();
    places
}

const X: Place = Place::Param(ParamId(0));
const Y: Place = Place::Param(ParamId(1));

#[test]
fn what_has_been_asked_is_not_checked() {
    let device = Device::host();
    let (mut x, y) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    let plane = device.alloc_zeroed_nd::<u32, 2>([4, 4]).unwrap();
    assert_eq!(checked(&counts(&x, &y)), [Y]);
    assert_eq!(checked(&leaves(&x, &y)), [Y]);
    assert_eq!(checked(&asks(&x, &y)), [Y, X, Y], "the other branch knows nothing");
    assert_eq!(checked(&planes(&plane, &y)), [Y]);
    assert_eq!(checked(&in_a_tile(&x, &y)), [Place::Shared(SharedId(1)), X, Y]);
    assert_eq!(checked(&asks_both(&x, &y, 1, 1)), []);
    assert_eq!(checked(&items(&mut x, &y)), [Y]);
}

#[test]
fn what_may_have_changed_is_checked() {
    let device = Device::host();
    let (x, y) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    let plane = device.alloc_zeroed_nd::<u32, 2>([4, 4]).unwrap();
    assert_eq!(checked(&moves_on(&x, &y)), [X, Y]);
    assert_eq!(checked(&moves_on_in_a_branch(&x, &y, 3)), [Y, X]);
    assert_eq!(checked(&moves_on_under_a_predicate(&x, &y, 3)), [X, Y]);
    assert_eq!(checked(&moves_on_in_a_loop(&x, &y)), [Y, X]);
    assert_eq!(checked(&behind_the_block(&x, &y, 1)), [Y, X]);
    assert_eq!(checked(&loads_its_index(&x, &y)), [X, Y]);
    assert_eq!(checked(&asks_the_opposite(&x, &y)), [X, Y]);
    assert_eq!(checked(&asks_for_another(&x, &y)), [X, Y, X]);
    assert_eq!(checked(&turned(&plane, &y)), [Y, X]);
}
