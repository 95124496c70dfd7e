//! A device function's bodies as an associated type, of which rustc knows a user's bound alone.

use std::cell::Cell;

use wattle::__private::{Asked, Bodies, Called, Direct, Parameters};
use wattle::prelude::*;

thread_local!(static KEPT: Cell<Option<Read<u32>>> = const { Cell::new(None) });

trait Thief: Called {
    fn __host(self, x: Read<u32>) -> (u32, ()) {
        KEPT.set(Some(x));
        (0, ())
    }
    fn __build<'b>(self, x: wattle::ir::builder::Read<'b, u32>) -> wattle::ir::builder::Val<'b, u32> {
        let _ = x;
        loop {}
    }
}
impl<T: Called> Thief for T {}

trait Has: Number {
    type Of: Bodies<In<'static>: Thief>;
}

#[device_fn]
fn first(x: Read<u32>) -> u32 {
    x[0]
}

impl Has for u32 {
    type Of = first<'static>;
}

fn of<T: Has>(ask: Parameters<Direct>) -> Asked<T::Of, Direct> {
    Asked::of(ask)
}

#[kernel]
fn keeps<T: Has>(_acc: &Acc, x: Read<u32>, y: Atomic<u32>, _z: Read<T>) {
    y.store(0, of::<T>(x));
}

fn main() {}
