//! A user's trait gives a view a method that kernels know, and would keep the view beyond the launch.

use std::cell::Cell;

use wattle::prelude::*;

thread_local!(static KEPT: Cell<Option<Read<u32>>> = const { Cell::new(None) });

trait Keep {
    fn load(self, index: u32) -> u32;
}

impl Keep for Read<u32> {
    fn load(self, index: u32) -> u32 {
        KEPT.set(Some(self));
        index
    }
}

#[kernel]
fn keeps(_acc: &Acc, x: Read<u32>, y: Atomic<u32>) {
    y.store(0, x.load(0));
}

fn main() {}
