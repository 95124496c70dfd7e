use wattle::prelude::*;

const LIMIT: usize = 3;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = 1.0;
    let n = LIMIT;
}

#[kernel]
fn in_a_sum(acc: &Acc, y: Shared<u32>) {
    let n = y[0];
    y[0] = n + LIMIT;
}

fn main() {}
