use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, x: Read<f32>, y: Shared<f32>) {
    y[0] = x[1..3][0];
}

fn main() {}
