//! Comparisons are of numbers, also where a user has written one of views.

use wattle::prelude::*;

#[kernel]
fn compares(_acc: &Acc, x: Read<u32>, y: Atomic<u32>) {
    if x == x {
        y.store(0, 1);
    }
}

fn main() {}
