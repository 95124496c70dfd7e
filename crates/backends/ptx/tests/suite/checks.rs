//! Which indices are checked: all but those whose bounds were tested on the way.

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_ir::{ParamId, Place, SharedId};
use wattle_ptx::{Fault, PtxTarget};

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

/// Each rule about ranges, with an index that is surely one of 64 elements, and one for which it just fails.
#[kernel]
fn in_range(acc: &Acc, i: u32, j: u32) {
    let fits = acc.shared::<u32, 64>();
    let fails = acc.shared::<u32, 64>();
    fits[i & 63] = 1;
    fails[i & 64] = 1;
    fits[i % 64] = 1;
    fails[i % 65] = 1;
    fits[i.min(63)] = 1;
    fails[i.min(64)] = 1;
    fits[i >> 26] = 1;
    fails[i >> 25] = 1;
    fits[i / 0x0400_0000] = 1;
    fails[i / 0x0200_0000] = 1;
    fits[(i & 31) + (j & 32)] = 1;
    fails[(i & 31) + (j & 33)] = 1;
    fits[(i & 7) * 9] = 1;
    fails[(i & 7) * 10] = 1;
    fits[(i & 63 | 1) - 1] = 1;
    fails[(i & 63) - 1] = 1;
    fits[(i | 0xffff_ffc0) - 0xffff_ffc0] = 1;
    fails[(i | 0xffff_ff80) - 0xffff_ff80] = 1;
    fits[acc.thread_in_block() / 16] = 1;
    fails[acc.thread_in_block() / 15] = 1;
    let held = i & 63;
    fits[held] = 1;
    fails[held + 1] = 1;
    let mut moved = i & 63;
    if j > 3 {
        moved = j;
    }
    fails[moved] = 1;
    if j <= 63 {
        fits[j] = 1;
    }
    if j <= 64 {
        fails[j] = 1;
    }
}

/// The same of loops, whose ends are no constants, so that they are not unrolled.
#[kernel]
fn in_loops(acc: &Acc, i: u32, j: u32) {
    let fits = acc.shared::<u32, 64>();
    let fails = acc.shared::<u32, 64>();
    for t in 0..j.min(64) {
        fits[t] = 1;
    }
    for t in 0..j.min(65) {
        fails[t] = 1;
    }
    for t in 1..j.min(65) {
        fits[t - 1] = 1;
    }
    for t in i..j.min(65) {
        fails[t - 1] = 1;
    }
    for t in (2..j.min(64)).step_by(i) {
        fits[t - 2] = 1;
    }
    for t in (1..j.min(64)).step_by(i) {
        fails[t - 2] = 1;
    }
    let mut walks = 0;
    while walks < j {
        fails[walks] = 1;
        walks += 1;
    }
    let mut down = 63;
    for t in 0..j {
        fails[down] = 1;
        down -= t;
    }
}

#[kernel]
fn clamped(_acc: &Acc, i: u32, x: Read<u32>, y: Shared<u32>) {
    if x.len() > 0 {
        y[0] = x[i.max(1).min(x.len()) - 1];
    }
}

#[kernel]
fn clamped_of_nothing(_acc: &Acc, i: u32, x: Read<u32>, y: Shared<u32>) {
    y[0] = x[i.max(1).min(x.len()) - 1];
}

#[kernel]
fn clamped_by_another(_acc: &Acc, i: u32, x: Read<u32>, y: Shared<u32>) {
    if x.len() > 0 {
        y[0] = x[i.max(1).min(y.len()) - 1];
    }
}

#[kernel]
fn asks_at_most(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, i: u32) {
    if i <= x.len() {
        x[i] = 1;
    }
    if i < y.len() {
        y[i] = 1;
    }
}

#[kernel]
fn from_the_end(_acc: &Acc, x: Shared<u32>, y: Shared<u32>, k: u32) {
    if x.len() > 8 {
        x[x.len() - (k & 7)] = 1;
    }
    if y.len() > 8 {
        y[y.len() - (k & 7 | 1)] = 1;
    }
}

/// The places whose indices are checked somewhere in the kernel.
fn checked(kernel: &dyn wattle_core::Kernel) -> Vec<Place> {
    let module = crate::tools::module(&kernel.build().unwrap(), &PtxTarget::new(90));
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
    assert_eq!(checked(&asks_at_most(&x, &y, 1)), [X]);
    assert_eq!(checked(&from_the_end(&x, &y, 1)), [X]);
}

#[test]
fn what_is_in_range_is_not_checked_and_what_may_just_not_be_is() {
    for (kernel, just_not) in [(in_range(1, 2).build().unwrap(), 13), (in_loops(1, 2).build().unwrap(), 5)] {
        let module = crate::tools::module(&kernel, &PtxTarget::new(90));
        let faults = |number: u32| {
            let of = Place::Shared(SharedId(number));
            let is_of =
                |site: &&wattle_ptx::FaultSite| matches!(site.fault, Fault::OutOfBounds { place, .. } if place == of);
            let lines = module.sites.iter().filter(is_of).map(|site| site.site.line);
            lines.collect::<std::collections::BTreeSet<_>>()
        };
        assert!(faults(0).is_empty(), "{} checks lines {:?}", kernel.name, faults(0));
        assert_eq!(faults(1).len(), just_not, "{} checks lines {:?}", kernel.name, faults(1));
    }
}

#[test]
fn what_is_clamped_to_an_extent_is_not_checked() {
    let device = Device::host();
    let (x, y) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    let (x_read, y_written) = (Place::Param(ParamId(1)), Place::Param(ParamId(2)));
    assert_eq!(checked(&clamped(1, &x, &y)), [y_written]);
    assert_eq!(checked(&clamped_of_nothing(1, &x, &y)), [x_read, y_written]);
    assert_eq!(checked(&clamped_by_another(1, &x, &y)), [x_read, y_written]);
}
