//! A table of constants where a number is needed.

use wattle::prelude::*;

const TABLE: [u32; 3] = [1, 2, 3];

#[kernel]
fn outside(acc: &Acc, x: Shared<u32>) {
    if TABLE > 0 {
        x[0] = 1;
    }
    if TABLE == [1, 2, 3] {
        x[1] = 2 * TABLE;
    }
}

#[kernel]
fn inside(acc: &Acc, x: Shared<u32>) {
    const WEIGHTS: [f32; 2] = [0.5, 0.5];
    x[0] = (1.0 < WEIGHTS) as u32;
}

fn main() {}
