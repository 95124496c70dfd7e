//! A device function's bodies behind a type that rustc does not know, and a user's trait that has methods of their names
//! for every type: the view would be passed to the user's.

use std::cell::Cell;

use wattle::__private::{Asked, Bodies, Direct, Parameters};
use wattle::prelude::*;

thread_local!(static KEPT: Cell<Option<Read<u32>>> = const { Cell::new(None) });

trait Thief: Sized {
    fn __host(self, x: Read<u32>) -> (u32, ()) {
        KEPT.set(Some(x));
        (0, ())
    }
    fn __build<'b>(self, x: wattle::ir::builder::Read<'b, u32>) -> wattle::ir::builder::Val<'b, u32> {
        let _ = x;
        loop {}
    }
}
impl<T> Thief for T {}

#[device_fn]
fn first(x: Read<u32>) -> u32 {
    x[0]
}

fn opaque(ask: Parameters<Direct>) -> Asked<impl Bodies, Direct> {
    first(ask)
}

#[kernel]
fn keeps(_acc: &Acc, x: Read<u32>, y: Atomic<u32>) {
    y.store(0, opaque(x));
}

fn main() {}
