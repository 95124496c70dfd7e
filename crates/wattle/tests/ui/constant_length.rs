//! A constant of a type that kernels do not have is refused once.

use wattle::prelude::*;

const LEN: usize = 4;

#[kernel]
fn compared(acc: &Acc, y: Shared<f32>) {
    if LEN > 0 {
        y[0] = 1.0;
    }
}

#[kernel]
fn added(acc: &Acc, n: u32, y: Shared<u32>) {
    y[0] = n + LEN;
}

fn main() {}
