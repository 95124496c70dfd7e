//! Literals beside a generic type.

use wattle::prelude::*;

#[kernel]
fn with_a_type<T: Number>(acc: &Acc, y: Shared<T>) {
    y[0] = y[1] + 1u32;
}

#[kernel]
fn compound<T: Number>(acc: &Acc, y: Shared<T>) {
    y[0] += 1;
}

#[kernel]
fn compound_with_a_type<T: Number>(acc: &Acc, y: Shared<T>) {
    y[0] *= 2.5f32;
}

#[kernel]
fn compared<T: Number>(acc: &Acc, y: Shared<T>, out: Shared<u32>) {
    if y[0] > 1 {
        out[0] = 1;
    }
}

fn main() {}
