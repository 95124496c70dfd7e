use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    assert!(y[0] > 0.0, "{} is negative", y[0]);
}

fn main() {}
