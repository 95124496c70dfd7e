use wattle::prelude::*;

#[kernel]
fn inner(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
}

#[kernel]
fn numbers(acc: &Acc, n: u32) {
    assert!(n > 0);
}

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    inner(acc, y);
    numbers(acc, 3);
}

fn main() {}
