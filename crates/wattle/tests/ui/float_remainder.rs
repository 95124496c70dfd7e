use wattle::prelude::*;

#[kernel]
fn example(acc: &Acc, y: Shared<f32>) {
    y[0] = y[1] % 2.0;
}

fn main() {}
