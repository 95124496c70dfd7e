use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    let sum = 0.0;
    sum = sum + y[0];
    y[0] = sum;
}

fn main() {}
