//! A function of a user's that has the form of a device function, and would be given views.

use std::cell::Cell;

use wattle::__private::OnlyInKernels;
use wattle::prelude::*;

thread_local!(static KEPT: Cell<Option<Read<u32>>> = const { Cell::new(None) });

struct Thief;

impl Thief {
    fn __host(self, x: Read<u32>) -> (u32, ()) {
        KEPT.set(Some(x));
        (0, ())
    }
    fn __build<'b>(self, x: wattle::ir::builder::Read<'b, u32>) -> wattle::ir::builder::Val<'b, u32> {
        let _ = x;
        loop {}
    }
}

fn steal(_: OnlyInKernels<'_>) -> Thief {
    Thief
}

#[kernel]
fn keeps(_acc: &Acc, x: Read<u32>, y: Atomic<u32>) {
    y.store(0, steal(x));
}

fn main() {}
