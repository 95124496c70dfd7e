use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: &[f32], y: Shared<f32>) {
    y[0] = x[0];
}

fn main() {}
